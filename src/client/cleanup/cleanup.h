/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cleanup.h - cleanup directives for the server: checked, and with links resolved.
 *
 * The server follows no link when it removes a path, so that no link can lead it elsewhere.  Links
 * in a path now (/tmp may be one) are followed here, with this process's rights. */
#ifndef SX_CLIENT_CLEANUP_CLEANUP_H
#define SX_CLIENT_CLEANUP_CLEANUP_H

#include <pmix_common.h>

/* A copy of @info with resolved paths to be removed; all other values are borrowed from @info.
 * Return: PMIX_SUCCESS, and *ret_info is for sx_cleanup_free; PMIX_ERR_BAD_PARAM for a value that
 * is not a list of absolute paths, PMIX_ERR_OUT_OF_RESOURCE for more paths than a process may name:
 * both with one log line that names the path and the reason. */
pmix_status_t sx_cleanup_spell(const pmix_info_t *info, size_t ninfo, pmix_info_t **ret_info);
/* Return: NULL, always. */
pmix_info_t *sx_cleanup_free(pmix_info_t *spelled, const pmix_info_t *info, size_t ninfo);

#endif

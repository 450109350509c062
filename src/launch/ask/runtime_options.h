/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* runtime_options.h - PMIX_RUNTIME_OPTIONS of a spawn: attributes in words,
 * "NAME[=VALUE],NAME...". */
#ifndef SX_LAUNCH_ASK_RUNTIME_OPTIONS_H
#define SX_LAUNCH_ASK_RUNTIME_OPTIONS_H

#include <pmix_common.h>
#include <stddef.h>

/* Keys of words for which the Standard has no attribute. */
#define SX_RUN_AUTORESTART "shmix.run.autorestart"
#define SX_RUN_PROCTABLE "shmix.run.proctable"
#define SX_RUN_PROCTABLE_TO "shmix.run.proctable.to" /* a file, or "-", "+" for our streams */

/* Make the infos that @text stands for; the caller destructs and frees them.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM, with a line that names the word, for one that is unknown or has a value of
 * another kind. */
pmix_status_t sx_run_runtime_read(const char *text, pmix_info_t **ret_info, size_t *ret_ninfo);

#endif

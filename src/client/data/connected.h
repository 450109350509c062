/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connected.h - the connected namespaces that a process is in. */
#ifndef SX_CLIENT_DATA_CONNECTED_H
#define SX_CLIENT_DATA_CONNECTED_H

#include <pmix_common.h>

/* The value of SHMIX_CONNECTED for the process @rank of @nspace; *ret (uninitialised) owns its
 * content.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when it is in none; PMIX_ERR_OUT_OF_RESOURCE;
 * as sx_members_each. */
pmix_status_t sx_connected_find(const char *nspace, uint32_t rank, pmix_value_t *ret);

#endif

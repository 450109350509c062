/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_procs.h - processes of a job as queries tell of them. */
#ifndef SX_SERVER_ENGINE_QUERY_PROCS_H
#define SX_SERVER_ENGINE_QUERY_PROCS_H

#include "server/model/nspace.h"

/* The processes of @nspace, an array of PMIX_PROC_INFO in the order of their ranks; only those of
 * this node when @here.  What is not known of one is NULL, 0 or PMIX_PROC_STATE_UNDEF.  *ret
 * (uninitialised) owns its content.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_query_procs_table(const struct sx_nspace *nspace, bool here, pmix_value_t *ret);

/* Whether all processes of it that are on this node have ended. */
bool sx_query_procs_have_ended(const struct sx_nspace *nspace);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_procs.h - processes of a job, in the form that queries return. */
#ifndef SX_SERVER_QUERY_QUERY_PROCS_H
#define SX_SERVER_QUERY_QUERY_PROCS_H

#include "server/model/nspace.h"

/* The number of processes in the table of @nspace; only those of this node when @here. */
size_t sx_query_procs_count(const struct sx_nspace *nspace, bool here);
/* Fill @count processes of @table, from index @from on.  @table is an array of as many
 * PMIX_PROC_INFO as there are processes, in the order of their ranks.  A field without data is
 * NULL, 0 or PMIX_PROC_STATE_UNDEF. Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_query_procs_fill(const struct sx_nspace *nspace, bool here,
                                  pmix_data_array_t *table, size_t from, size_t count);

/* Whether all processes of the namespace on this node have ended. */
bool sx_query_procs_have_ended(const struct sx_nspace *nspace);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_local.h - answers to queries that need no request. */
#ifndef SX_CLIENT_QUERY_QUERY_LOCAL_H
#define SX_CLIENT_QUERY_QUERY_LOCAL_H

#include "base/call/query.h"

/* Whether each key is about the library itself, which answers before PMIx_Init as well. */
bool sx_query_is_of_library(const struct sx_queries *queries);

/* Answer all keys about the library itself, and, in a process that is initialised, those in shared
 * memory.  The node's store, or a job's, is fetched at its first use.  @ask: PMIx_Query_info.
 * Return: PMIX_SUCCESS; any error on the way. */
pmix_status_t sx_query_answer_here(struct sx_queries *queries, sx_query_fn ask);

#endif

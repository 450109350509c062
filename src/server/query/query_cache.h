/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_cache.h - the host's answers to queries, kept for processes that repeat the question.
 *
 * An answer is kept for the process that has asked, with its qualifiers.  It is dropped when a
 * newer one replaces it, its namespace is removed, or SX_QUERY_KEPT_MAX others have been added.
 * PMIX_QUERY_REFRESH_CACHE asks the host again. */
#ifndef SX_SERVER_QUERY_QUERY_CACHE_H
#define SX_SERVER_QUERY_QUERY_CACHE_H

#include "base/call/query.h"
#include "server/model/state.h"

#define SX_QUERY_KEPT_BYTES_MAX (64u << 10) /* a larger answer is not kept */

/* Answer from kept answers; without memory, nothing is answered. */
void sx_query_kept_answer(struct sx_server *server, const struct sx_client *client,
                          struct sx_queries *queries);
/* Keep the answer of the host. */
void sx_query_kept_add(struct sx_server *server, const struct sx_client *client,
                       const struct sx_queries *queries);

void sx_query_kept_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
void sx_query_kept_clear(struct sx_server *server);

#endif

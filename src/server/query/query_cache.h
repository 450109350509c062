/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_cache.h - what the host has answered to queries, for whoever asks the same again.
 *
 * An answer is kept for the process that has asked, with its qualifiers, until a newer one takes
 * its place, its namespace goes, or SX_QUERY_KEPT_MAX others have come.  PMIX_QUERY_REFRESH_CACHE
 * asks the host again. */
#ifndef SX_SERVER_QUERY_QUERY_CACHE_H
#define SX_SERVER_QUERY_QUERY_CACHE_H

#include "base/call/query.h"
#include "server/model/state.h"

#define SX_QUERY_KEPT_BYTES_MAX (64u << 10) /* a larger answer is not kept */

/* Answer what has been answered before; without memory, nothing. */
void sx_query_kept_answer(struct sx_server *server, const struct sx_client *client,
                          struct sx_queries *queries);
/* Keep what the host has answered. */
void sx_query_kept_add(struct sx_server *server, const struct sx_client *client,
                       const struct sx_queries *queries);

void sx_query_kept_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
void sx_query_kept_clear(struct sx_server *server);

#endif

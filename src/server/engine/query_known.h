/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_known.h - the keys of queries that a server answers itself. */
#ifndef SX_SERVER_ENGINE_QUERY_KNOWN_H
#define SX_SERVER_ENGINE_QUERY_KNOWN_H

#include "base/query.h"
#include "server/model/state.h"

/* Answer all keys that the server knows, for @client, who hears of what it may see only, and pays;
 * NULL: for the host.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE when the answers become too
 * much for one call of a client, those that there are stay; PMIX_ERR_UNPACK_FAILURE when a store
 * contradicts itself. */
pmix_status_t sx_query_known(struct sx_server *server, struct sx_client *client,
                             struct sx_queries *queries);

/* Whether only a host can know @key. */
bool sx_query_is_hosts(const char *key);

#endif

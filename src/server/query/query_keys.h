/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_keys.h - the keys of queries that a server answers itself. */
#ifndef SX_SERVER_QUERY_QUERY_KEYS_H
#define SX_SERVER_QUERY_QUERY_KEYS_H

#include "base/call/query.h"
#include "server/model/state.h"

/* How far the keys of one call have been answered.  Zeroed: not at all. */
struct sx_query_progress {
    size_t at;      /* the key that is next */
    uint64_t units; /* that the answers have cost so far (share.h) */
    /* Of that key, if its answer takes several steps. */
    size_t walked;
    char *text; /* malloc'ed: names, each with its NUL */
    size_t text_size, text_capacity, text_count;
    pmix_data_array_t *table;
    /* Of all keys: the memory of this server is read once. */
    bool has_memory;
    float memory_mib;
};

/* Answer the keys that the server knows, for @client, which gets what it may see only, and pays;
 * NULL: for the host.  For a client that is one step.  Return: PMIX_SUCCESS, when that was all;
 * PMIX_ERR_WOULD_BLOCK when there is more to do, in a later turn; PMIX_ERR_OUT_OF_RESOURCE when the
 * answers become too much for one call of a client, those that there are stay;
 * PMIX_ERR_UNPACK_FAILURE when a store contradicts itself. */
pmix_status_t sx_query_known(struct sx_server *server, struct sx_client *client,
                             struct sx_queries *queries, struct sx_query_progress *progress);
/* Nothing is left of the key that was under way.  Safe twice. */
void sx_query_progress_clear(struct sx_query_progress *progress);

/* Whether only a host can know @key. */
bool sx_query_is_hosts(const char *key);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_keys.h - the keys of queries that a server answers itself. */
#ifndef SX_SERVER_QUERY_QUERY_KEYS_H
#define SX_SERVER_QUERY_QUERY_KEYS_H

#include "base/call/query.h"
#include "server/model/state.h"

/* The progress through the keys of one call.  Zeroed: nothing is answered yet. */
struct sx_query_progress {
    size_t at;      /* the next key */
    uint64_t units; /* the cost of the answers so far (share.h) */
    /* The state of that key, if its answer takes several steps. */
    size_t walked;
    char *text; /* malloc'ed: names, each with its NUL */
    size_t text_size, text_capacity, text_count;
    pmix_data_array_t *table;
    /* For all keys: the memory of this server is read once. */
    bool has_memory;
    float memory_mib;
};

/* Answer the keys that the server has, for @client, which gets only data that it may see, and is
 * charged; NULL: for the host.  For a client this is one step.  Return: PMIX_SUCCESS, when all are
 * answered; PMIX_ERR_WOULD_BLOCK when more is to be done, in a later turn; PMIX_ERR_OUT_OF_RESOURCE
 * when the answers exceed the limit for one call of a client, and the answers so far stay;
 * PMIX_ERR_UNPACK_FAILURE when a store is inconsistent. */
pmix_status_t sx_query_known(struct sx_server *server, struct sx_client *client,
                             struct sx_queries *queries, struct sx_query_progress *progress);
/* Free the state of the key in progress.  Safe twice. */
void sx_query_progress_clear(struct sx_query_progress *progress);

/* Whether only a host can answer @key. */
bool sx_query_is_hosts(const char *key);

#endif

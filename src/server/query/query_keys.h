/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_keys.h - the answers to the keys of a query: the server's own, and those kept of the host.
 *
 * This header is for the files of this chapter. */
#ifndef SX_SERVER_QUERY_QUERY_KEYS_H
#define SX_SERVER_QUERY_QUERY_KEYS_H

#include "base/call/query.h"
#include "server/query/query.h"

/* ---- keys that the server answers ----------------------------------------------------------- */

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

/* ---- processes -------------------------------------------------------------------------------
 *
 * Processes of a job, in the form that queries return. */

/* The number of processes in the table of @nspace; only those of this node when @here. */
size_t sx_query_procs_count(const struct sx_nspace *nspace, bool here);
/* Fill @count processes of @table, from index @from on.  @table is an array of as many
 * PMIX_PROC_INFO as there are processes, in the order of their ranks.  A field without data is
 * NULL, 0 or PMIX_PROC_STATE_UNDEF. Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_query_procs_fill(const struct sx_nspace *nspace, bool here,
                                  pmix_data_array_t *table, size_t from, size_t count);

/* Whether all processes of the namespace on this node have ended. */
bool sx_query_procs_have_ended(const struct sx_nspace *nspace);

/* ---- kept answers ----------------------------------------------------------------------------
 *
 * The host's answers to queries, kept for processes that repeat the question.
 *
 * An answer is kept for the process that has asked, with its qualifiers.  It is dropped when a
 * newer one replaces it, its namespace is removed, or SX_QUERY_KEPT_MAX others have been added.
 * PMIX_QUERY_REFRESH_CACHE asks the host again. */

/* Answer from kept answers; without memory, nothing is answered. */
void sx_query_kept_answer(struct sx_server *server, const struct sx_client *client,
                          struct sx_queries *queries);
/* Keep the answer of the host. */
void sx_query_kept_add(struct sx_server *server, const struct sx_client *client,
                       const struct sx_queries *queries);

#endif

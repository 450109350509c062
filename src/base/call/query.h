/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.h - the keys of one call of PMIx_Query_info, and their answers.
 *
 *     sx_queries_open --> the keys are answered one by one --> sx_queries_results
 *
 * A key that is there twice is answered twice, but its answer is computed once.  A server sends
 * each answer once: repetitions are PMIX_UNDEF in the message (sx_queries_repeat).  Callers supply
 * the answers, and decide on the next place to ask.  The results of one query are its answered
 * keys.  Those of several are one PMIX_QUERY_RESULTS a query, in their order: an array of its
 * qualifiers, under PMIX_QUERY_QUALIFIERS, if it has any, and of its keys that were answered. */
#ifndef SX_BASE_CALL_QUERY_H
#define SX_BASE_CALL_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/call/directive_tables.h"

#define SX_QUERY_KEYS_MAX 4096u /* in all queries of one call */

struct sx_asked {
    const char *key; /* borrowed */
    uint32_t query;
    bool answered;
    bool passed_on;     /* to the host of a server */
    uint32_t first;     /* of those that ask the same: their key and their qualifiers are equal */
    pmix_value_t value; /* owned; none before */
    size_t bytes;       /* of it, flat; only a server of a client counts them */
};

struct sx_queries {
    const pmix_query_t *all; /* borrowed, with all that is in them */
    size_t count;
    struct sx_query_options *options; /* of each query */
    struct sx_asked *asked;           /* by query */
    size_t asked_count, answered_count;
    uint64_t walked; /* keys, for answers that were taken */
};

/* Judge @queries and list their keys.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for no queries, one
 * without keys, an invalid key, qualifiers that are invalid or contradict each other (logged);
 * PMIX_ERR_NOT_SUPPORTED (logged) for an unknown qualifier that is required;
 * PMIX_ERR_OUT_OF_RESOURCE, logged for more than SX_QUERY_KEYS_MAX keys. */
pmix_status_t sx_queries_open(struct sx_queries *ret, const pmix_query_t queries[], size_t count);
/* Safe on a zeroed one. */
void sx_queries_close(struct sx_queries *queries);

/* The answer to @asked, which has none; *value moves. */
void sx_queries_answer(struct sx_queries *queries, struct sx_asked *asked, pmix_value_t *value);

/* Remove the answer of @asked. */
void sx_queries_unanswer(struct sx_queries *queries, struct sx_asked *asked);

/* PMIx_Query_info: given to files that it is built on. */
typedef pmix_status_t (*sx_query_fn)(pmix_query_t *queries, size_t nqueries, pmix_info_t **info,
                                     size_t *ninfo);

/* One key, and its subject. */
struct sx_question {
    const char *key;
    const pmix_query_t *query;
    const struct sx_query_options *options;
    sx_query_fn ask; /* PMIx_Query_info, for who needs another answer first; NULL: there is none */
};

/* The answer of the first one that asks the same as @asked, which is not the first, as a copy in
 * *ret.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when that has none; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_queries_again(const struct sx_queries *queries, const struct sx_asked *asked,
                               pmix_value_t *ret);

/* Copy the answers of the first ones to those that ask the same and have none.  Return:
 * PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_queries_repeat(struct sx_queries *queries);

/* Whether another one before @asked asks the same. */
static inline bool sx_asked_again(const struct sx_queries *queries, const struct sx_asked *asked)
{
    return asked != &queries->asked[asked->first];
}

/* Put each key that has no answer to @know, those that ask the same once.  @know returns
 * PMIX_SUCCESS with *ret, or PMIX_ERR_NOT_FOUND without an answer.  Return: PMIX_SUCCESS; another
 * status of @know, and then it did not receive the remaining keys. */
pmix_status_t sx_queries_ask(struct sx_queries *queries,
                             pmix_status_t (*know)(void *arg, const struct sx_question *question,
                                                   pmix_value_t *ret),
                             void *arg);

/* The keys without an answer as queries of their own, in one block that is free'd; all else is
 * borrowed.  Return: NULL when memory is out. */
pmix_query_t *sx_queries_left(const struct sx_queries *queries, size_t *ret_count);

/* Copy the answers out of the results of the remaining queries.  Answers to other questions are
 * skipped, and those that cannot be passed on (logged).  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_queries_take(struct sx_queries *queries, const pmix_info_t info[], size_t ninfo);

/* The process that a query is about: only the job of @self, unless its qualifiers name a
 * process. */
pmix_proc_t sx_query_proc(const struct sx_query_options *options, const pmix_proc_t *self);

/* The results; answers move.  Return: PMIX_SUCCESS when all keys are answered;
 * PMIX_ERR_PARTIAL_SUCCESS when some are; else *ret_info is NULL: @missed when none is, or
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_queries_results(struct sx_queries *queries, pmix_status_t missed,
                                 pmix_info_t **ret_info, size_t *ret_ninfo);

#endif

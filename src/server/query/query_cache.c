/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_cache.c - a ring of answers; a new answer replaces the oldest. */
#include "server/query/query_keys.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/value/flat.h"
#include "base/value/value.h"

#define KEPT_BYTES_MAX (64u << 10) /* a larger answer is not kept */

/* The question and the asking process: these bytes distinguish it from all others. */
struct sx_query_question {
    char nspace[256];
    uint32_t rank;
    uint32_t key_size;
    /* the key with its NUL; the qualifiers, flat */
};

struct sx_query_answer {
    pmix_value_t value;
    uint64_t hash;
    size_t size; /* of the qualifiers */
    struct sx_query_question *question;
};

/* The same while it is being asked: the qualifiers of a query are encoded once for all of its
 * keys. */
struct question {
    const struct sx_client *client;
    const char *key;
    uint64_t hash;
    uint32_t query; /* the query that has these qualifiers */
    uint8_t *bytes; /* malloc'ed; NULL: answers to this query are not kept */
    size_t size;
    uint64_t bytes_hash;
};

/* The qualifiers without the request for a newer answer; borrowed, but for the array.  Return: NULL
 * when memory is out. */
static pmix_info_t *qualifiers_of(const pmix_query_t *query, size_t *ret_count)
{
    pmix_info_t *const infos = calloc(query->nqual + 1, sizeof(*infos));
    size_t count = 0;

    for (size_t i = 0; infos != NULL && i < query->nqual; i++) {
        if (!PMIx_Check_key(query->qualifiers[i].key, PMIX_QUERY_REFRESH_CACHE)) {
            infos[count++] = query->qualifiers[i];
        }
    }
    *ret_count = count;
    return infos;
}

static void qualifiers_encode(struct question *question, const pmix_query_t *query, uint64_t seed)
{
    size_t count;
    pmix_info_t *const infos = qualifiers_of(query, &count);

    free(question->bytes);
    question->bytes = NULL;
    if (infos != NULL && sx_flat_infos_size(infos, count, &question->size) == PMIX_SUCCESS &&
        question->size <= KEPT_BYTES_MAX) {
        question->bytes = malloc(question->size + 1);
    }
    if (question->bytes != NULL &&
        sx_flat_infos_encode(infos, count, question->bytes, question->size) != PMIX_SUCCESS) {
        free(question->bytes);
        question->bytes = NULL;
    }
    if (question->bytes != NULL) {
        question->bytes_hash = XXH3_64bits_withSeed(question->bytes, question->size, seed);
    }
    free(infos);
}

/* Set @question, zeroed at first, to @asked.  Return: whether an answer to it may be kept. */
static bool question_set(struct question *question, const struct sx_server *server,
                         const struct sx_client *client, const struct sx_queries *queries,
                         const struct sx_asked *asked)
{
    if (question->client == NULL || question->query != asked->query) {
        question->client = client;
        question->query = asked->query;
        qualifiers_encode(question, &queries->all[asked->query], server->seed);
    }
    question->key = asked->key;
    question->hash = XXH3_64bits_withSeed(asked->key, strlen(asked->key),
                                          question->bytes_hash + client->rank);
    return question->bytes != NULL;
}

static bool answers(const struct sx_query_answer *answer, const struct question *question)
{
    const struct sx_query_question *const kept = answer->question;
    const char *const key = (const char *)(kept + 1);

    return answer->hash == question->hash && answer->size == question->size &&
           kept->rank == question->client->rank && strcmp(key, question->key) == 0 &&
           strcmp(kept->nspace, question->client->nspace->name) == 0 &&
           memcmp(key + kept->key_size, question->bytes, question->size) == 0;
}

/* Return: NULL when no answer is kept. */
static struct sx_query_answer *answer_find(struct sx_server *server,
                                           const struct question *question)
{
    for (size_t i = 0; i < SX_QUERY_KEPT_MAX; i++) {
        struct sx_query_answer *const answer = server->query.kept.all[i];

        if (answer != NULL && answers(answer, question)) {
            return answer;
        }
    }
    return NULL;
}

static void answer_free(struct sx_query_answer *answer)
{
    if (answer != NULL) {
        sx_value_destruct(&answer->value);
        free(answer->question);
        free(answer);
    }
}

void sx_query_kept_answer(struct sx_server *server, const struct sx_client *client,
                          struct sx_queries *queries)
{
    struct question question = { .client = NULL };

    for (size_t i = 0; i < queries->asked_count; i++) {
        struct sx_asked *const asked = &queries->asked[i];
        pmix_value_t value;

        if (asked->answered || queries->options[asked->query].refreshes ||
            !question_set(&question, server, client, queries, asked)) {
            continue;
        }
        const struct sx_query_answer *const answer = answer_find(server, &question);

        if (answer != NULL && sx_value_copy(&value, &answer->value) == PMIX_SUCCESS) {
            sx_queries_answer(queries, asked, &value);
        }
    }
    free(question.bytes);
}

/* Return: NULL when memory is out. */
static struct sx_query_answer *answer_new(const struct question *question)
{
    const size_t key_size = strlen(question->key) + 1;
    struct sx_query_answer *const answer = calloc(1, sizeof(*answer));
    struct sx_query_question *const kept = calloc(1, sizeof(*kept) + key_size + question->size);

    if (answer == NULL || kept == NULL) {
        free(answer);
        free(kept);
        return NULL;
    }
    memcpy(kept->nspace, question->client->nspace->name, strlen(question->client->nspace->name));
    kept->rank = question->client->rank;
    kept->key_size = (uint32_t)key_size;
    memcpy(kept + 1, question->key, key_size);
    memcpy((char *)(kept + 1) + key_size, question->bytes, question->size);
    *answer = (struct sx_query_answer){ .hash = question->hash,
                                        .size = question->size,
                                        .question = kept };
    return answer;
}

static void answer_keep(struct sx_server *server, const struct question *question,
                        const pmix_value_t *value)
{
    struct sx_query_answer *answer = answer_find(server, question);
    pmix_value_t copy;

    if (sx_value_copy(&copy, value) != PMIX_SUCCESS) {
        return;
    }
    if (answer == NULL) {
        struct sx_query_answer **const at = &server->query.kept.all[server->query.kept.next];

        answer = answer_new(question);
        if (answer == NULL) {
            sx_value_destruct(&copy);
            return;
        }
        answer_free(*at);
        *at = answer;
        server->query.kept.next = (server->query.kept.next + 1) % SX_QUERY_KEPT_MAX;
    } else {
        sx_value_destruct(&answer->value);
    }
    answer->value = copy;
}

void sx_query_kept_add(struct sx_server *server, const struct sx_client *client,
                       const struct sx_queries *queries)
{
    struct question question = { .client = NULL };

    for (size_t i = 0; i < queries->asked_count; i++) {
        const struct sx_asked *const asked = &queries->asked[i];
        size_t size;

        if (asked->passed_on && asked->answered &&
            sx_flat_size(&asked->value, &size) == PMIX_SUCCESS && size <= KEPT_BYTES_MAX &&
            question_set(&question, server, client, queries, asked)) {
            answer_keep(server, &question, &asked->value);
        }
    }
    free(question.bytes);
}

void sx_query_kept_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    for (size_t i = 0; i < SX_QUERY_KEPT_MAX; i++) {
        struct sx_query_answer **const at = &server->query.kept.all[i];

        if (*at != NULL && strcmp((*at)->question->nspace, nspace->name) == 0) {
            answer_free(*at);
            *at = NULL;
        }
    }
}

void sx_query_kept_clear(struct sx_server *server)
{
    for (size_t i = 0; i < SX_QUERY_KEPT_MAX; i++) {
        answer_free(server->query.kept.all[i]);
        server->query.kept.all[i] = NULL;
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_kept.c - a ring of answers; the oldest makes room. */
#include "server/engine/query_kept.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/flat.h"
#include "base/value.h"

/* What was asked, by whom: the bytes tell it from everything else. */
struct sx_query_question {
    char nspace[256];
    uint32_t rank;
    uint32_t key_size;
    /* the key with its NUL, padded to 8; the qualifiers, flat */
};

struct sx_query_answer {
    pmix_value_t value;
    size_t size;
    struct sx_query_question *question;
};

/* The qualifiers without the wish for something newer; borrowed, but for the array.  Return: NULL
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

/* Return: malloc'ed; NULL when memory is out. */
static struct sx_query_question *question_new(const struct sx_client *client,
                                              const pmix_query_t *query, const char *key,
                                              size_t *ret_size)
{
    const size_t key_size = strlen(key) + 1;
    const size_t head = sizeof(struct sx_query_question) + (size_t)sx_align_up(key_size, 8);
    struct sx_query_question *question = NULL;
    size_t count, size;
    pmix_info_t *const infos = qualifiers_of(query, &count);

    if (infos != NULL && sx_flat_infos_size(infos, count, &size) == PMIX_SUCCESS) {
        question = calloc(1, head + size);
    }
    if (question != NULL) {
        memcpy(question->nspace, client->nspace->name, strlen(client->nspace->name));
        question->rank = client->rank;
        question->key_size = (uint32_t)key_size;
        memcpy(question + 1, key, key_size);
        if (sx_flat_infos_encode(infos, count, (uint8_t *)question + head, size) != PMIX_SUCCESS) {
            free(question);
            question = NULL;
        }
        *ret_size = head + size;
    }
    free(infos);
    return question;
}

/* Return: NULL when it was never answered. */
static struct sx_query_answer *answer_find(struct sx_server *server,
                                           const struct sx_query_question *question, size_t size)
{
    for (size_t i = 0; i < SX_QUERY_KEPT_MAX; i++) {
        struct sx_query_answer *const answer = server->query_kept.all[i];

        if (answer != NULL && answer->size == size &&
            memcmp(answer->question, question, size) == 0) {
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
    for (size_t i = 0; i < queries->asked_count; i++) {
        struct sx_asked *const asked = &queries->asked[i];
        pmix_value_t value;
        size_t size;

        if (asked->answered || queries->options[asked->query].refreshes) {
            continue;
        }
        struct sx_query_question *const question = question_new(client, &queries->all[asked->query],
                                                                asked->key, &size);
        const struct sx_query_answer *const answer = question != NULL
                                                         ? answer_find(server, question, size)
                                                         : NULL;

        if (answer != NULL && sx_value_copy(&value, &answer->value) == PMIX_SUCCESS) {
            sx_queries_answer(queries, asked, &value);
        }
        free(question);
    }
}

/* @question moves. */
static void answer_keep(struct sx_server *server, struct sx_query_question *question, size_t size,
                        const pmix_value_t *value)
{
    struct sx_query_answer *const old = answer_find(server, question, size);
    struct sx_query_answer *const answer = calloc(1, sizeof(*answer));
    pmix_value_t copy;

    if (answer == NULL || sx_value_copy(&copy, value) != PMIX_SUCCESS) {
        free(answer);
        free(question);
    } else if (old != NULL) {
        sx_value_destruct(&old->value);
        old->value = copy;
        free(answer);
        free(question);
    } else {
        struct sx_query_answer **const at = &server->query_kept.all[server->query_kept.next];

        *answer = (struct sx_query_answer){ .value = copy, .size = size, .question = question };
        answer_free(*at);
        *at = answer;
        server->query_kept.next = (server->query_kept.next + 1) % SX_QUERY_KEPT_MAX;
    }
}

void sx_query_kept_add(struct sx_server *server, const struct sx_client *client,
                       const struct sx_queries *queries)
{
    for (size_t i = 0; i < queries->asked_count; i++) {
        const struct sx_asked *const asked = &queries->asked[i];
        size_t size;

        if (!asked->passed_on || !asked->answered ||
            sx_flat_size(&asked->value, &size) != PMIX_SUCCESS || size > SX_QUERY_KEPT_BYTES_MAX) {
            continue;
        }
        struct sx_query_question *const question = question_new(client, &queries->all[asked->query],
                                                                asked->key, &size);

        if (question != NULL && size <= SX_QUERY_KEPT_BYTES_MAX) {
            answer_keep(server, question, size, &asked->value);
        } else {
            free(question);
        }
    }
}

void sx_query_kept_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    for (size_t i = 0; i < SX_QUERY_KEPT_MAX; i++) {
        struct sx_query_answer **const at = &server->query_kept.all[i];

        if (*at != NULL && strcmp((*at)->question->nspace, nspace->name) == 0) {
            answer_free(*at);
            *at = NULL;
        }
    }
}

void sx_query_kept_clear(struct sx_server *server)
{
    for (size_t i = 0; i < SX_QUERY_KEPT_MAX; i++) {
        answer_free(server->query_kept.all[i]);
        server->query_kept.all[i] = NULL;
    }
}

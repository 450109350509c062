/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_known.c - a row a key. */
#include "server/engine/query_known.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/value.h"
#include "server/model/visible.h"
#include "shmem/lists.h"

/* One key, what it is about, and who asks. */
struct question {
    struct sx_server *server;
    struct sx_client *client; /* NULL: the host */
    const char *key;
    const struct sx_query_options *options;
};

static bool may_see(const struct question *question, const struct sx_nspace *nspace)
{
    return question->client == NULL ||
           sx_nspace_visible(question->server, nspace, question->client);
}

/* ---- namespaces ------------------------------------------------------------------------------ */

/* Those that a host has registered, with commas. */
static pmix_status_t namespaces_answer(const struct question *question, pmix_value_t *ret)
{
    size_t size = 1;

    SX_LIST_EACH(it, &question->server->registry.nspaces) {
        size += strlen(SX_LIST_ENTRY(it, struct sx_nspace, link)->name) + 1;
    }
    char *const text = malloc(size), *at = text;

    if (text == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *at = '\0';
    SX_LIST_EACH(it, &question->server->registry.nspaces) {
        const struct sx_nspace *const nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        if (nspace->registered && may_see(question, nspace)) {
            at = stpcpy(stpcpy(at, at == text ? "" : ","), nspace->name);
        }
    }
    *ret = (pmix_value_t){ .type = PMIX_STRING, .data.string = text };
    return PMIX_SUCCESS;
}

/* ---- sets and groups ------------------------------------------------------------------------- */

static pmix_status_t lists_answer(const struct question *question, pmix_value_t *ret)
{
    const struct sx_memberships *const lists = &question->server->memberships;
    const bool of_sets = strcmp(question->key, PMIX_QUERY_PSET_MEMBERSHIP) == 0;

    return sx_lists_find(lists->has_store ? &lists->store.view : NULL, question->key,
                         of_sets ? question->options->pset : question->options->group, ret);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static const struct row {
    const char *key;
    pmix_status_t (*answer)(const struct question *question, pmix_value_t *ret);
} rows[] = {
    { PMIX_QUERY_NAMESPACES, namespaces_answer },
    { PMIX_QUERY_NUM_PSETS, lists_answer },
    { PMIX_QUERY_PSET_NAMES, lists_answer },
    { PMIX_QUERY_PSET_MEMBERSHIP, lists_answer },
    { PMIX_QUERY_NUM_GROUPS, lists_answer },
    { PMIX_QUERY_GROUP_NAMES, lists_answer },
    { PMIX_QUERY_GROUP_MEMBERSHIP, lists_answer },
    /* These are a host's to know. */
    { PMIX_QUERY_QUEUE_LIST, NULL },
    { PMIX_QUERY_QUEUE_STATUS, NULL },
    { PMIX_QUERY_AUTHORIZATIONS, NULL },
    { PMIX_QUERY_ALLOC_STATUS, NULL },
    { PMIX_QUERY_ALLOCATION, NULL },
    { PMIX_QUERY_ALLOC_IDS, NULL },
    { PMIX_QUERY_ALLOC_PROPERTIES, NULL },
    { PMIX_QUERY_AVAILABLE_SLOTS, NULL },
    { PMIX_QUERY_MIN_ALLOC_UNIT, NULL },
    { PMIX_QUERY_RES_BLOCKS, NULL },
    { PMIX_QUERY_RES_BLOCK_DEF, NULL },
    { PMIX_QUERY_STORAGE_LIST, NULL },
    { PMIX_TIME_REMAINING, NULL },
};

static const struct row *row_find(const char *key)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (strcmp(key, rows[i].key) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

bool sx_query_is_hosts(const char *key)
{
    const struct row *const row = row_find(key);

    return row != NULL && row->answer == NULL;
}

pmix_status_t sx_query_known(struct sx_server *server, struct sx_client *client,
                             struct sx_queries *queries)
{
    for (size_t i = 0; i < queries->asked_count; i++) {
        struct sx_asked *const asked = &queries->asked[i];
        const struct row *const row = asked->answered ? NULL : row_find(asked->key);
        const struct question question = { .server = server,
                                           .client = client,
                                           .key = asked->key,
                                           .options = &queries->options[asked->query] };
        pmix_value_t value;

        if (row == NULL || row->answer == NULL) {
            continue;
        }
        const pmix_status_t rc = row->answer(&question, &value);

        if (rc == PMIX_SUCCESS) {
            sx_queries_answer(queries, asked, &value);
        } else if (rc != PMIX_ERR_NOT_FOUND) {
            return rc;
        }
    }
    return PMIX_SUCCESS;
}

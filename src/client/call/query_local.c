/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_local.c - a row a key that is answered here, and everything else that PMIx_Get finds. */
#include "client/call/query_local.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/util.h"
#include "base/value.h"
#include "client/data/membership.h"
#include "client/link/process.h"

/* One key and what it is about. */
struct question {
    const char *key;
    const pmix_query_t *query;
    const struct sx_query_options *options;
};

/* ---- the library ----------------------------------------------------------------------------- */

static pmix_status_t abi_answer(const struct question *question, pmix_value_t *ret)
{
    (void)question;
    return sx_value_load(ret, "4.2", PMIX_STRING);
}

/* ---- shared memory --------------------------------------------------------------------------- */

static pmix_status_t sets_answer(const struct question *question, pmix_value_t *ret)
{
    return sx_members_lists(question->key, question->options->pset, ret);
}

static pmix_status_t groups_answer(const struct question *question, pmix_value_t *ret)
{
    return sx_members_lists(question->key, question->options->group, ret);
}

/* What a Get finds that waits for nobody. */
static pmix_status_t value_answer(const struct question *question, pmix_value_t *ret)
{
    const pmix_proc_t proc = sx_query_proc(question->options, &sx_process.self);
    const size_t count = question->query->nqual + 1;
    pmix_info_t *const infos = calloc(count, sizeof(*infos));
    pmix_value_t *value = NULL;

    if (infos == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    PMIx_Load_key(infos[0].key, PMIX_OPTIONAL);
    infos[0].value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    for (size_t i = 1; i < count; i++) {
        infos[i] = question->query->qualifiers[i - 1];
        infos[i].flags = 0;
    }
    const pmix_status_t rc = PMIx_Get(&proc, question->key, infos, count, &value);

    free(infos);
    if (rc == PMIX_SUCCESS) {
        *ret = *value;
        free(value);
    }
    return rc == PMIX_SUCCESS || rc == PMIX_ERR_OUT_OF_RESOURCE ? rc : PMIX_ERR_NOT_FOUND;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static const struct row {
    const char *key;
    pmix_status_t (*answer)(const struct question *question, pmix_value_t *ret);
    bool anytime; /* before PMIx_Init, too */
} rows[] = {
    { PMIX_QUERY_STABLE_ABI_VERSION, abi_answer, true },
    { PMIX_QUERY_PROVISIONAL_ABI_VERSION, abi_answer, true },
    { PMIX_QUERY_NUM_PSETS, sets_answer, false },
    { PMIX_QUERY_PSET_NAMES, sets_answer, false },
    { PMIX_QUERY_PSET_MEMBERSHIP, sets_answer, false },
    { PMIX_QUERY_NUM_GROUPS, groups_answer, false },
    { PMIX_QUERY_GROUP_NAMES, groups_answer, false },
    { PMIX_QUERY_GROUP_MEMBERSHIP, groups_answer, false },
};
static const struct row any_other = { .answer = value_answer };

static const struct row *row_find(const char *key)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (strcmp(key, rows[i].key) == 0) {
            return &rows[i];
        }
    }
    return &any_other;
}

bool sx_query_is_of_library(const struct sx_queries *queries)
{
    size_t i = 0;

    while (i < queries->asked_count && row_find(queries->asked[i].key)->anytime) {
        i++;
    }
    return i == queries->asked_count;
}

pmix_status_t sx_query_answer_here(struct sx_queries *queries)
{
    for (size_t i = 0; i < queries->asked_count; i++) {
        struct sx_asked *const asked = &queries->asked[i];
        const struct row *const row = row_find(asked->key);
        const struct question question = { .key = asked->key,
                                           .query = &queries->all[asked->query],
                                           .options = &queries->options[asked->query] };
        pmix_value_t value;

        if (!row->anytime && !sx_process_ready() && row != &any_other) {
            continue; /* a server's own store: sx_role_server.query */
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

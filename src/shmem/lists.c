/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lists.c - walk over the lists of one kind. */
#include "shmem/lists.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/value/value.h"

/* ---- names ----------------------------------------------------------------------------------- */

struct names {
    char **all;
    size_t count, capacity;
};

static bool name_add(struct names *names, const char *name)
{
    if (names->count == names->capacity) {
        const size_t capacity = names->capacity != 0 ? 2 * names->capacity : 16;
        char **const grown = realloc(names->all, capacity * sizeof(*grown));

        if (grown == NULL) {
            return false;
        }
        names->all = grown;
        names->capacity = capacity;
    }
    names->all[names->count] = strdup(name);
    return names->all[names->count] != NULL && ++names->count != 0;
}

/* Count the lists of @kind, with their names unless @names is NULL. */
static pmix_status_t lists_walk(const struct sx_store *store, uint32_t kind, struct names *names,
                                size_t *ret_count)
{
    struct sx_membership membership;
    uint32_t row = 0;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    *ret_count = 0;
    while (store != NULL && (rc = sx_membership_next(store, sx_membership_realm(kind), &row,
                                                     &membership)) == PMIX_SUCCESS) {
        if (membership.head.kind != kind) {
            continue;
        }
        ++*ret_count;
        if (names != NULL && !name_add(names, sx_membership_name(&membership))) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
}

/* ---- answers --------------------------------------------------------------------------------- */

static pmix_status_t count_answer(const struct sx_store *store, uint32_t kind, const char *name,
                                  pmix_value_t *ret)
{
    (void)name;
    *ret = (pmix_value_t){ .type = PMIX_SIZE };
    return lists_walk(store, kind, NULL, &ret->data.size);
}

static pmix_status_t array_make(pmix_data_type_t type, void *elements, size_t count,
                                pmix_value_t *ret)
{
    pmix_data_array_t *const array = malloc(sizeof(*array));

    if (array == NULL) {
        sx_elements_destruct(elements, count, type);
        free(elements);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *array = (pmix_data_array_t){ .type = type, .size = count, .array = elements };
    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    return PMIX_SUCCESS;
}

static pmix_status_t names_find(const struct sx_store *store, uint32_t kind, struct names *names)
{
    size_t count;
    const pmix_status_t rc = lists_walk(store, kind, names, &count);

    if (rc != PMIX_SUCCESS) {
        sx_elements_destruct(names->all, names->count, PMIX_STRING);
        free(names->all);
    }
    return rc;
}

static pmix_status_t array_answer(const struct sx_store *store, uint32_t kind, const char *name,
                                  pmix_value_t *ret)
{
    struct names names = { .all = NULL };
    const pmix_status_t rc = names_find(store, kind, &names);

    (void)name;
    return rc == PMIX_SUCCESS ? array_make(PMIX_STRING, names.all, names.count, ret) : rc;
}

static pmix_status_t text_answer(const struct sx_store *store, uint32_t kind, const char *name,
                                 pmix_value_t *ret)
{
    struct names names = { .all = NULL };
    const pmix_status_t rc = names_find(store, kind, &names);
    size_t size = 1;

    (void)name;
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    for (size_t i = 0; i < names.count; i++) {
        size += strlen(names.all[i]) + 1;
    }
    char *const text = malloc(size), *at = text;

    if (text != NULL) {
        *at = '\0';
        for (size_t i = 0; i < names.count; i++) {
            at = stpcpy(stpcpy(at, i == 0 ? "" : ","), names.all[i]);
        }
        *ret = (pmix_value_t){ .type = PMIX_STRING, .data.string = text };
    }
    sx_elements_destruct(names.all, names.count, PMIX_STRING);
    free(names.all);
    return text != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t members_answer(const struct sx_store *store, uint32_t kind, const char *name,
                                    pmix_value_t *ret)
{
    struct sx_membership list;
    const pmix_status_t rc = store == NULL || name == NULL
                                 ? PMIX_ERR_NOT_FOUND
                                 : sx_membership_find(store, sx_membership_realm(kind), name,
                                                      strlen(name), &list);

    if (rc != PMIX_SUCCESS || list.head.kind != kind) {
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_NOT_FOUND;
    }
    const uint32_t size = sx_membership_size(&list);
    pmix_proc_t *const procs = calloc(size + 1, sizeof(*procs));
    size_t count = 0;

    if (procs == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (uint32_t rank = 0; rank < size; rank++) { /* without those who have left */
        count += sx_membership_member(&list, rank, &procs[count]) == PMIX_SUCCESS;
    }
    return array_make(PMIX_PROC, procs, count, ret);
}

static const struct {
    const char *key;
    uint32_t kind;
    pmix_status_t (*answer)(const struct sx_store *store, uint32_t kind, const char *name,
                            pmix_value_t *ret);
} rows[] = {
    { PMIX_QUERY_NUM_PSETS, SX_MEMBERSHIP_PSET, count_answer },
    { PMIX_QUERY_PSET_NAMES, SX_MEMBERSHIP_PSET, text_answer },
    { PMIX_QUERY_PSET_MEMBERSHIP, SX_MEMBERSHIP_PSET, members_answer },
    { PMIX_QUERY_NUM_GROUPS, SX_MEMBERSHIP_GROUP, count_answer },
    { PMIX_QUERY_GROUP_NAMES, SX_MEMBERSHIP_GROUP, array_answer },
    { PMIX_QUERY_GROUP_MEMBERSHIP, SX_MEMBERSHIP_GROUP, members_answer },
};

pmix_status_t sx_lists_find(const struct sx_store *store, const char *key, const char *name,
                            pmix_value_t *ret)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (strcmp(key, rows[i].key) == 0) {
            return rows[i].answer(store, rows[i].kind, name, ret);
        }
    }
    return PMIX_ERR_NOT_FOUND;
}

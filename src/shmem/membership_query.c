/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership_query.c - answers to questions about the lists of processes of the node's store: their
 * names and members, and those that contain a process. */
#include "shmem/membership.h"

#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "base/array.h"
#include "base/util.h"
#include "base/value/value.h"

/* ---- the names of the lists of one kind ------------------------------------------------------ */

struct names {
    char **all;
    size_t count, capacity;
};

static bool name_add(struct names *names, const char *name)
{
    if (!SX_ARRAY_RESERVE(names->all, names->count, names->capacity, 16)) {
        return false;
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
} queries[] = {
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
    for (size_t i = 0; i < SX_COUNT(queries); i++) {
        if (strcmp(key, queries[i].key) == 0) {
            return queries[i].answer(store, queries[i].kind, name, ret);
        }
    }
    return PMIX_ERR_NOT_FOUND;
}

/* ---- the lists that contain a process --------------------------------------------------------
 *
 * Read all lists of a kind, and keep those with the process, oldest first. */

struct place {
    uint64_t serial; /* of the list: a later one has a higher one */
    const char *name;
    uint32_t rank; /* of the process in it */
};

struct search {
    struct place *places;
    size_t count;
};

/* Return: false when memory is out. */
static bool place_add(struct search *search, const struct sx_membership *membership, uint32_t rank)
{
    struct place *const grown = realloc(search->places, (search->count + 1) * sizeof(*grown));

    if (grown == NULL) {
        return false;
    }
    search->places = grown;
    grown[search->count++] = (struct place){
        .serial = membership->head.subject >> SX_MEMBERSHIP_ROW_BITS,
        .name = sx_membership_name(membership),
        .rank = rank,
    };
    return true;
}

static pmix_status_t search_run(struct search *search, const struct sx_store *store, uint32_t kind,
                                const char *nspace, uint32_t rank)
{
    struct sx_membership membership;
    uint32_t row = 0, place;
    pmix_status_t rc;

    while ((rc = sx_membership_next(store, sx_membership_realm(kind), &row, &membership)) ==
           PMIX_SUCCESS) {
        place = membership.head.kind == kind ? sx_membership_rank(&membership, nspace, rank)
                                             : PMIX_RANK_INVALID;
        if (place != PMIX_RANK_INVALID && !place_add(search, &membership, place)) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    return rc != PMIX_ERR_NOT_FOUND || search->count == 0 ? rc : PMIX_SUCCESS;
}

static int places_order(const void *a, const void *b)
{
    const struct place *const left = a, *const right = b;

    return left->serial < right->serial ? -1 : left->serial > right->serial;
}

/* ---- the two forms of an answer -------------------------------------------------------------- */

static bool proc_put(void *array, size_t index, const struct place *place)
{
    PMIx_Load_procid((pmix_proc_t *)array + index, place->name, place->rank);
    return true;
}

static bool name_put(void *array, size_t index, const struct place *place)
{
    char *const name = strdup(place->name);

    ((char **)array)[index] = name;
    return name != NULL;
}

static const struct form {
    const char *key;
    enum sx_membership_kind kind;
    pmix_data_type_t type;
    size_t size_bytes;
    bool (*put)(void *array, size_t index, const struct place *place);
} forms[] = {
    { SHMIX_CONNECTED, SX_MEMBERSHIP_CONNECTED, PMIX_PROC, sizeof(pmix_proc_t), proc_put },
    { PMIX_GROUP_NAMES, SX_MEMBERSHIP_GROUP, PMIX_STRING, sizeof(char *), name_put },
    { PMIX_PSET_NAMES, SX_MEMBERSHIP_PSET, PMIX_STRING, sizeof(char *), name_put },
};

static pmix_status_t answer(const struct search *search, const struct form *form, pmix_value_t *ret)
{
    pmix_data_array_t *const array = malloc(sizeof(*array));
    void *const elements = calloc(search->count, form->size_bytes);
    pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = array };

    if (array == NULL || elements == NULL) {
        free(array);
        free(elements);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *array = (pmix_data_array_t){ .type = form->type, .size = search->count, .array = elements };
    for (size_t i = 0; i < search->count; i++) {
        if (!form->put(elements, i, &search->places[i])) {
            sx_value_destruct(&value);
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    *ret = value;
    return PMIX_SUCCESS;
}

pmix_status_t sx_places_find(const struct sx_store *store, const char *key, const char *nspace,
                             uint32_t rank, pmix_value_t *ret)
{
    struct search search = { .places = NULL };
    size_t i = 0;

    while (i < SX_COUNT(forms) && strcmp(key, forms[i].key) != 0) {
        i++;
    }
    if (i == SX_COUNT(forms)) {
        return PMIX_ERR_NOT_FOUND;
    }
    pmix_status_t rc = search_run(&search, store, forms[i].kind, nspace, rank);

    if (rc == PMIX_SUCCESS) {
        qsort(search.places, search.count, sizeof(*search.places), places_order);
        rc = answer(&search, &forms[i], ret);
    }
    free(search.places);
    return rc;
}

bool sx_places_join(const struct sx_store *store, const char *nspace, uint32_t rank,
                    const char *other)
{
    struct sx_membership membership;
    uint32_t row = 0;
    bool join = false;

    while (!join &&
           sx_membership_next(store, SX_REALM_MEMBERS, &row, &membership) == PMIX_SUCCESS) {
        join = sx_membership_rank(&membership, nspace, rank) != PMIX_RANK_INVALID &&
               sx_membership_count_of(&membership, other) > 0;
    }
    return join;
}

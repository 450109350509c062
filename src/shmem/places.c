/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* places.c - read all lists of a kind, and keep those with the process, oldest first. */
#include "shmem/places.h"

#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "base/util.h"
#include "base/value/value.h"

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

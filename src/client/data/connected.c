/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connected.c - look at all lists of the node, and keep those with the process, oldest first. */
#include "client/data/connected.h"

#include <stdlib.h>
#include <string.h>

#include "client/data/membership.h"

struct place {
    uint64_t serial; /* of the list: a later one has a higher one */
    pmix_proc_t there;
};

struct search {
    const char *nspace;
    uint32_t rank;
    struct place *places;
    size_t count;
    bool short_of_memory;
};

/* Return: false to stop. */
static bool look_into(void *arg, const struct sx_membership *membership)
{
    struct search *const search = arg;
    const uint32_t rank = membership->head.kind == SX_MEMBERSHIP_CONNECTED
                              ? sx_membership_rank(membership, search->nspace, search->rank)
                              : PMIX_RANK_INVALID;

    if (rank == PMIX_RANK_INVALID) {
        return true;
    }
    struct place *const grown = realloc(search->places, (search->count + 1) * sizeof(*grown));

    search->short_of_memory = grown == NULL;
    if (grown == NULL) {
        return false;
    }
    search->places = grown;
    grown[search->count].serial = membership->head.subject >> SX_MEMBERSHIP_ROW_BITS;
    PMIx_Load_procid(&grown[search->count++].there, sx_membership_name(membership), rank);
    return true;
}

static int places_order(const void *a, const void *b)
{
    const struct place *const left = a, *const right = b;

    return left->serial < right->serial ? -1 : left->serial > right->serial;
}

static pmix_status_t places_load(const struct search *search, pmix_value_t *ret)
{
    pmix_data_array_t *const array = malloc(sizeof(*array));
    pmix_proc_t *const procs = malloc(search->count * sizeof(*procs));

    if (array == NULL || procs == NULL) {
        free(array);
        free(procs);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < search->count; i++) {
        procs[i] = search->places[i].there;
    }
    *array = (pmix_data_array_t){ .type = PMIX_PROC, .size = search->count, .array = procs };
    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    return PMIX_SUCCESS;
}

pmix_status_t sx_connected_find(const char *nspace, uint32_t rank, pmix_value_t *ret)
{
    struct search search = { .nspace = nspace, .rank = rank };
    pmix_status_t rc = sx_members_each(look_into, &search);

    if (rc == PMIX_SUCCESS) {
        rc = search.short_of_memory ? PMIX_ERR_OUT_OF_RESOURCE
             : search.count == 0    ? PMIX_ERR_NOT_FOUND
                                    : PMIX_SUCCESS;
    }
    if (rc == PMIX_SUCCESS) {
        qsort(search.places, search.count, sizeof(*search.places), places_order);
        rc = places_load(&search, ret);
    }
    free(search.places);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* derived.c - answer from the question itself, or from values stored under other keys. */
#include "client/data/lookup.h"

#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "base/system/locality.h"
#include "base/value/value.h"
#include "client/data/view.h"

/* Another key of @rank in the same namespace. */
static bool related(const struct sx_lookup *lookup, uint32_t rank, const char *key,
                    struct sx_item *ret)
{
    struct sx_lookup other;
    pmix_proc_t proc = { .rank = rank };

    memcpy(proc.nspace, lookup->view->nspace, sizeof(proc.nspace));
    if (sx_lookup_init(&other, &proc, key, NULL, 0) != PMIX_SUCCESS ||
        sx_lookup_find(&other, ret) != PMIX_SUCCESS) {
        return false;
    }
    sx_box_hand_out(ret); /* the text is read without the lock */
    return true;
}

static bool related_number(const struct sx_lookup *lookup, uint32_t rank, const char *key,
                           uint64_t *ret)
{
    struct sx_item item;

    if (!related(lookup, rank, key, &item) || item.cell.len != 0) {
        return false;
    }
    *ret = item.cell.bits;
    return true;
}

/* Return: NULL when there is no such text. */
static const char *related_text(const struct sx_lookup *lookup, uint32_t rank, const char *key)
{
    struct sx_item item;

    if (!related(lookup, rank, key, &item) || item.cell.type != PMIX_STRING || item.cell.len == 0 ||
        ((const char *)item.body)[item.cell.len - 1] != '\0') {
        return NULL;
    }
    return item.body;
}

static bool rank_of(const struct sx_lookup *lookup, uint32_t *ret)
{
    const struct sx_site site = sx_lookup_site(lookup->view);

    return sx_wanted_rank(&lookup->wanted, &site, ret);
}

/* Is @rank on this node or on another?  Return: false when its place is not stored. */
static bool is_here(const struct sx_lookup *lookup, uint32_t rank, bool *ret)
{
    uint64_t ours, its;

    *ret = rank == sx_process.self.rank;
    if (*ret) {
        return true;
    }
    if (!related_number(lookup, sx_process.self.rank, PMIX_NODEID, &ours) ||
        !related_number(lookup, rank, PMIX_NODEID, &its)) {
        return false;
    }
    *ret = ours == its;
    return true;
}

/* Ranks whose places are not stored count as sharing the node. */
static pmix_status_t locality_find(const struct sx_lookup *lookup, pmix_value_t *ret)
{
    pmix_locality_t locality = PMIX_LOCALITY_NONLOCAL;
    uint32_t rank;
    bool here;

    if (lookup->view != sx_process.own || !rank_of(lookup, &rank) ||
        !is_here(lookup, rank, &here)) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (here) {
        const char *const ours = related_text(lookup, sx_process.self.rank, PMIX_LOCALITY_STRING);
        const char *const its = related_text(lookup, rank, PMIX_LOCALITY_STRING);

        if (ours == NULL || its == NULL ||
            sx_locality_compare(ours, its, &locality) != PMIX_SUCCESS) {
            locality = PMIX_LOCALITY_SHARE_NODE;
        }
    }
    return sx_value_load(ret, &locality, PMIX_UINT16);
}

/* Distances from the processors that the rank is bound to.  A rank that is not bound has no place;
 * this process may ask the kernel for its own. */
static pmix_status_t distances_find(const struct sx_lookup *lookup, pmix_value_t *ret)
{
    pmix_device_distance_t *distances = NULL;
    pmix_data_array_t *array;
    pmix_cpuset_t cpuset = { .source = NULL };
    size_t count = 0;
    uint32_t rank;
    bool here;

    if (lookup->view != sx_process.own || !rank_of(lookup, &rank) ||
        !is_here(lookup, rank, &here) || !here) {
        return PMIX_ERR_NOT_FOUND;
    }
    const char *const text = related_text(lookup, rank, PMIX_CPUSET);
    const bool is_bound = text != NULL && sx_locality_cpuset_read(text, &cpuset) == PMIX_SUCCESS;
    if (!is_bound && rank != sx_process.self.rank) {
        return PMIX_ERR_NOT_FOUND;
    }
    const pmix_status_t rc = PMIx_Compute_distances(NULL, is_bound ? &cpuset : NULL, NULL, 0,
                                                    &distances, &count);
    PMIx_Cpuset_destruct(&cpuset);
    if (rc != PMIX_SUCCESS) {
        return PMIX_ERR_NOT_FOUND;
    }
    array = malloc(sizeof(*array));
    if (array == NULL) {
        PMIx_Device_distance_free(distances, count);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *array = (pmix_data_array_t){ .type = PMIX_DEVICE_DIST, .size = count, .array = distances };
    memset(ret, 0, sizeof(*ret));
    ret->type = PMIX_DATA_ARRAY;
    ret->data.darray = array;
    return PMIX_SUCCESS;
}

static pmix_status_t places_find(const struct sx_lookup *lookup, pmix_value_t *ret)
{
    uint32_t rank;

    return rank_of(lookup, &rank)
               ? sx_members_places(lookup->wanted.key, lookup->view->nspace, rank, ret)
               : PMIX_ERR_NOT_FOUND;
}

static const struct {
    const char *key;
    pmix_status_t (*find)(const struct sx_lookup *lookup, pmix_value_t *ret);
} implied[] = {
    { PMIX_LOCALITY, locality_find }, { PMIX_DEVICE_DISTANCES, distances_find },
    { SHMIX_CONNECTED, places_find }, { PMIX_GROUP_NAMES, places_find },
    { PMIX_PSET_NAMES, places_find },
};

bool sx_implied_is_key(const char *key)
{
    static const char *const names[] = { PMIX_NSPACE, PMIX_RANK, PMIX_PROCID };
    bool is = false;

    for (size_t i = 0; i < SX_COUNT(implied) && !is; i++) {
        is = strcmp(key, implied[i].key) == 0;
    }
    for (size_t i = 0; i < SX_COUNT(names) && !is; i++) {
        is = strcmp(key, names[i]) == 0;
    }
    return is;
}

pmix_status_t sx_implied_find(const struct sx_lookup *lookup, pmix_value_t *ret)
{
    const struct sx_wanted *const wanted = &lookup->wanted;

    if (!wanted->reserved || wanted->realm != SX_REALM_JOB || lookup->view == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    for (size_t i = 0; i < SX_COUNT(implied); i++) {
        if (strcmp(wanted->key, implied[i].key) == 0) {
            return implied[i].find(lookup, ret);
        }
    }
    const struct sx_site site = sx_lookup_site(lookup->view);
    return sx_wanted_name(wanted, &site, lookup->view->nspace, ret);
}

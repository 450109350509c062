/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collect.h - everything that stores know of one row, as one array of infos.
 *
 * init, then one sx_collect_add a store, the one whose word counts first; then take or drop. */
#ifndef SX_SHMEM_COLLECT_H
#define SX_SHMEM_COLLECT_H

#include "shmem/store.h"

struct sx_collect {
    enum sx_realm realm;
    uint32_t row;
    /* Which values count, NULL: all.  May put another item in place of @item. */
    bool (*wants)(void *arg, struct sx_item *item);
    void *arg;

    const struct sx_store *first; /* what has been added already */
    const struct sx_store *store; /* under way */
    bool qualified;               /* of it: the qualified values */
    pmix_info_t *infos;
    size_t count, capacity;
    pmix_status_t status;
};

/* Add the values of the row in @store, deep copies, except for keys that the store before has; of a
 * process or job the qualified ones too, under PMIX_QUALIFIED_VALUE. */
void sx_collect_add(struct sx_collect *all, const struct sx_store *store);

/* The end: a DATA_ARRAY of infos in @ret (uninitialised).  Return: PMIX_SUCCESS; else all is freed:
 * PMIX_ERR_NOT_FOUND when there was nothing; what went wrong while adding. */
pmix_status_t sx_collect_take(struct sx_collect *all, pmix_value_t *ret);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collect.c - walk over the columns of a store and copy what one row has in them. */
#include "shmem/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/value.h"
#include "shmem/qualified.h"

static pmix_info_t *next_info(struct sx_collect *all)
{
    if (all->count == all->capacity) {
        const size_t capacity = all->capacity != 0 ? 2 * all->capacity : 16;
        pmix_info_t *const infos = realloc(all->infos, capacity * sizeof(*infos));

        if (infos == NULL) {
            return NULL;
        }
        all->infos = infos;
        all->capacity = capacity;
    }
    memset(&all->infos[all->count], 0, sizeof(*all->infos));
    return &all->infos[all->count];
}

static bool is_known(const struct sx_collect *all, enum sx_realm realm, const char *key)
{
    struct sx_item item;

    return all->first != NULL &&
           sx_store_find(all->first, realm, all->row, key, &item) == PMIX_SUCCESS;
}

static bool collect_one(void *arg, const char *key, const struct sx_item *found)
{
    struct sx_collect *const all = arg;
    const enum sx_realm realm = all->qualified ? SX_REALM_QUALIFIED : all->realm;
    struct sx_item item = *found;

    if (is_known(all, realm, key) || (all->wants != NULL && !all->wants(all->arg, &item))) {
        return true;
    }
    pmix_info_t *const info = next_info(all);
    if (info == NULL) {
        all->status = PMIX_ERR_OUT_OF_RESOURCE;
        return false;
    }
    if (all->qualified) {
        const pmix_status_t rc = sx_qualified_whole(all->store, key, &item, &info->value);

        if (rc == PMIX_ERR_NOT_FOUND) {
            return true;
        }
        key = PMIX_QUALIFIED_VALUE;
        all->status = rc;
    } else {
        all->status = sx_flat_decode(&info->value, &item.cell, item.body, item.cell.len);
    }
    memcpy(info->key, key, sx_name_len(key, PMIX_MAX_KEYLEN));
    all->count += all->status == PMIX_SUCCESS;
    return all->status == PMIX_SUCCESS;
}

void sx_collect_add(struct sx_collect *all, const struct sx_store *store)
{
    if (all->status != PMIX_SUCCESS) {
        return;
    }
    all->store = store;
    all->qualified = false;
    sx_store_each(store, all->realm, all->row, collect_one, all);
    if (all->realm == SX_REALM_JOB && all->status == PMIX_SUCCESS) {
        all->qualified = true;
        sx_store_each(store, SX_REALM_QUALIFIED, all->row, collect_one, all);
    }
    all->first = store;
}

pmix_status_t sx_collect_take(struct sx_collect *all, pmix_value_t *ret)
{
    pmix_data_array_t *array = NULL;

    if (all->status == PMIX_SUCCESS) {
        array = all->count > 0 ? malloc(sizeof(*array)) : NULL;
        all->status = array != NULL    ? PMIX_SUCCESS
                      : all->count > 0 ? PMIX_ERR_OUT_OF_RESOURCE
                                       : PMIX_ERR_NOT_FOUND;
    }
    if (all->status != PMIX_SUCCESS) {
        sx_elements_destruct(all->infos, all->count, PMIX_INFO);
        free(all->infos);
        return all->status;
    }
    *array = (pmix_data_array_t){ .type = PMIX_INFO, .size = all->count, .array = all->infos };
    memset(ret, 0, sizeof(*ret));
    ret->type = PMIX_DATA_ARRAY;
    ret->data.darray = array;
    return PMIX_SUCCESS;
}

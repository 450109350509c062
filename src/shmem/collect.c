/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collect.c - walk over the columns of both stores and copy what one row has in them. */
#include "shmem/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/value/value.h"
#include "shmem/qualified.h"

struct collect {
    const struct sx_site *site;
    enum sx_realm realm;
    uint32_t row;
    pmix_scope_t scope;
    const struct sx_store *store; /* under way */
    bool qualified;               /* of it: the qualified values */
    pmix_info_t *infos;
    size_t count, capacity;
    pmix_status_t status;
};

static pmix_info_t *next_info(struct collect *all)
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

/* The own store decides, even for an absent value.  May put another item at @item. */
static bool is_wanted(const struct collect *all, enum sx_realm realm, const char *key,
                      struct sx_item *item)
{
    const struct sx_site *const site = all->site;
    struct sx_item known;

    if (all->store == site->own) {
        if (site->open != NULL) {
            site->open(item);
        }
        if (item->cell.type == PMIX_UNDEF) {
            return false;
        }
    } else if (site->own != NULL &&
               sx_store_find(site->own, realm, all->row, key, &known) == PMIX_SUCCESS) {
        return false;
    }
    return sx_item_has_scope(item, all->scope);
}

static bool collect_one(void *arg, const char *key, const struct sx_item *found)
{
    struct collect *const all = arg;
    const enum sx_realm realm = all->qualified ? SX_REALM_QUALIFIED : all->realm;
    struct sx_item item = *found;

    if (!is_wanted(all, realm, key, &item)) {
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

static void collect_store(struct collect *all, const struct sx_store *store)
{
    if (store == NULL || all->status != PMIX_SUCCESS) {
        return;
    }
    all->store = store;
    all->qualified = false;
    sx_store_each(store, all->realm, all->row, collect_one, all);
    if (all->realm == SX_REALM_JOB && all->status == PMIX_SUCCESS) {
        all->qualified = true;
        sx_store_each(store, SX_REALM_QUALIFIED, all->row, collect_one, all);
    }
}

static pmix_status_t collected(struct collect *all, pmix_value_t *ret)
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

pmix_status_t sx_collect(const struct sx_site *site, enum sx_realm realm, uint32_t row,
                         pmix_scope_t scope, pmix_value_t *ret)
{
    struct collect all = { .site = site, .realm = realm, .row = row, .scope = scope };

    collect_store(&all, site->own);
    collect_store(&all, site->shared);
    return collected(&all, ret);
}

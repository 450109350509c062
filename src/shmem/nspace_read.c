/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nspace_read.c - read a cell, or all cells of a row: from the own store first, then from the
 * shared one. */
#include "shmem/nspace_read.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/util.h"
#include "base/value/value.h"
#include "shmem/qualified.h"

pmix_status_t sx_columns_read(const struct sx_columns *columns, uint32_t row, struct sx_item *ret)
{
    pmix_scope_t hidden = PMIX_SCOPE_UNDEF;

    if (columns->own != 0) {
        pmix_status_t rc = sx_store_read(columns->site->own, columns->own, row, ret);

        if (rc == PMIX_SUCCESS && columns->site->open != NULL) {
            columns->site->open(ret);
        }
        if (rc == PMIX_SUCCESS && ret->cell.type == PMIX_UNDEF) {
            hidden = sx_item_scope(ret);
            rc = PMIX_ERR_NOT_FOUND;
        }
        if (rc != PMIX_ERR_NOT_FOUND) {
            return rc;
        }
    }
    if (columns->shared == 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    const pmix_status_t rc = sx_store_read(columns->site->shared, columns->shared, row, ret);
    if (rc == PMIX_SUCCESS && hidden != PMIX_SCOPE_UNDEF &&
        sx_item_scope(ret) != PMIX_SCOPE_UNDEF) {
        return PMIX_ERR_NOT_FOUND; /* removed here, and not yet removed in the server */
    }
    /* A stand-in of another process is not taken for this process's own. */
    return rc == PMIX_SUCCESS && ret->cell.type == PMIX_POINTER ? PMIX_ERR_UNPACK_FAILURE : rc;
}

bool sx_site_number(const struct sx_site *site, enum sx_realm realm, uint32_t row, const char *key,
                    uint64_t max, uint32_t *ret)
{
    const struct sx_columns columns = sx_columns_of(site, realm, key, strlen(key));
    struct sx_item item;

    if (sx_columns_read(&columns, row, &item) != PMIX_SUCCESS || item.cell.len != 0 ||
        item.cell.bits >= max) {
        return false;
    }
    *ret = (uint32_t)item.cell.bits;
    return true;
}

bool sx_site_int(const struct sx_site *site, enum sx_realm realm, uint32_t row, const char *key,
                 int *ret)
{
    const struct sx_columns columns = sx_columns_of(site, realm, key, strlen(key));
    pmix_value_t value = { .type = PMIX_UNDEF };
    struct sx_item item;
    int64_t number;

    if (sx_columns_read(&columns, row, &item) != PMIX_SUCCESS || item.cell.len != 0) {
        return false;
    }
    value.type = item.cell.type;
    memcpy(&value.data, &item.cell.bits, sizeof(item.cell.bits));
    if (sx_value_get_int(&value, &number) != PMIX_SUCCESS || number < INT_MIN || number > INT_MAX) {
        return false;
    }
    *ret = (int)number;
    return true;
}

uint32_t sx_site_count(const struct sx_site *site, const char *key)
{
    uint32_t count = 0;

    (void)sx_site_number(site, SX_REALM_JOB, SX_ROW_JOB, key, SX_STORE_ROW_MAX + 1, &count);
    return count;
}

/* Return: NULL when there is no text, or the text does not end. */
static const char *text_read(const struct sx_columns *columns, uint32_t row)
{
    struct sx_item item;

    return sx_columns_read(columns, row, &item) == PMIX_SUCCESS && item.cell.type == PMIX_STRING &&
                   item.cell.len > 0 && ((const char *)item.body)[item.cell.len - 1] == '\0'
               ? item.body
               : NULL;
}

const char *sx_site_text(const struct sx_site *site, enum sx_realm realm, uint32_t row,
                         const char *key)
{
    const struct sx_columns columns = sx_columns_of(site, realm, key, strlen(key));

    return text_read(&columns, row);
}

bool sx_names_hold(const char *list, const char *name)
{
    const size_t len = strlen(name);

    while (list != NULL) {
        if (strncmp(list, name, len) == 0 && (list[len] == ',' || list[len] == '\0')) {
            return true;
        }
        list = strchr(list, ',');
        list = list != NULL ? list + 1 : NULL;
    }
    return false;
}

uint32_t sx_site_node(const struct sx_site *site, uint32_t count, const char *name)
{
    static const char *const keys[] = { PMIX_HOSTNAME, PMIX_HOSTNAME_ALIASES };

    for (size_t i = 0; i < SX_COUNT(keys); i++) {
        const struct sx_columns columns = sx_columns_of(site, SX_REALM_NODE, keys[i],
                                                        strlen(keys[i]));

        for (uint32_t row = 0; row < count && sx_columns_exist(&columns); row++) {
            if (sx_names_hold(text_read(&columns, row), name)) {
                return row;
            }
        }
    }
    return count;
}

/* ---- all values of one row -------------------------------------------------------------------
 *
 * Walk over the columns of both stores and copy what one row has in them. */

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
    if (!SX_ARRAY_RESERVE(all->infos, all->count, all->capacity, 16)) {
        return NULL;
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

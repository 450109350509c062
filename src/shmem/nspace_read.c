/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nspace_read.c - read a cell: from the own store first, then from the shared one. */
#include "shmem/nspace_read.h"

#include <string.h>

#include "base/util.h"

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

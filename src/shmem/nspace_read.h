/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nspace_read.h - the values of one namespace: from its two stores, as if they were one.
 *
 * Everything here reads mapped memory only, takes no lock and keeps no state. */
#ifndef SX_SHMEM_NSPACE_READ_H
#define SX_SHMEM_NSPACE_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "shmem/store.h"

/* The process that a launcher has started as a rank: PMIX_PROC_PID is the one that has connected,
 * which may be a child of it. */
#define SX_STARTED_PID "shmix.started.pid"

/* The stores of one namespace, and the asker. */
struct sx_site {
    const struct sx_store *own, *shared; /* NULL: none; @own has precedence */
    /* Puts a value in the place of an item of @own that stands for one; NULL: none does.  A value
     * that is PMIX_UNDEF is absent; if it has a scope, the put value that still lies in @shared is
     * hidden. */
    void (*open)(struct sx_item *item);
    uint32_t self; /* the asker's rank in this namespace; PMIX_RANK_INVALID: it is not of it */
};

/* ---- one key in all rows ------------------------------------------------------------------ */

struct sx_columns {
    const struct sx_site *site;
    sx_column own, shared; /* 0: none */
};

static inline struct sx_columns sx_columns_of(const struct sx_site *site, enum sx_realm realm,
                                              const char *key, size_t key_len)
{
    const uint64_t hash = sx_store_hash(realm, key, key_len);
    struct sx_columns columns = { .site = site };

    if (site->own != NULL) {
        columns.own = sx_store_column_hashed(site->own, hash, realm, key, key_len);
    }
    if (site->shared != NULL) {
        columns.shared = sx_store_column_hashed(site->shared, hash, realm, key, key_len);
    }
    return columns;
}

static inline bool sx_columns_exist(const struct sx_columns *columns)
{
    return columns->own != 0 || columns->shared != 0;
}

/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND; PMIX_ERR_UNPACK_FAILURE when a store contradicts
 * itself. */
pmix_status_t sx_columns_read(const struct sx_columns *columns, uint32_t row, struct sx_item *ret);

/* Does what @asked may see hold the item?  PMIX_SCOPE_UNDEF: any. */
static inline bool sx_item_has_scope(const struct sx_item *item, pmix_scope_t asked)
{
    const pmix_scope_t has = sx_item_scope(item);

    if (asked == PMIX_SCOPE_UNDEF || has == PMIX_SCOPE_UNDEF || asked == has) {
        return true;
    }
    return asked == PMIX_GLOBAL ? has != PMIX_INTERNAL
                                : asked != PMIX_INTERNAL && has == PMIX_GLOBAL;
}

/* ---- single cells ------------------------------------------------------------------------- */

/* A number below @max.  Return: false when there is none. */
bool sx_site_number(const struct sx_site *site, enum sx_realm realm, uint32_t row, const char *key,
                    uint64_t max, uint32_t *ret);

/* A number of any integer type that an int holds, such as an exit code.  Return: false when there
 * is none. */
bool sx_site_int(const struct sx_site *site, enum sx_realm realm, uint32_t row, const char *key,
                 int *ret);

/* The job's number of @key, of ranks or nodes; 0 when unknown. */
uint32_t sx_site_count(const struct sx_site *site, const char *key);

/* The text where it lies.  Return: NULL when there is none. */
const char *sx_site_text(const struct sx_site *site, enum sx_realm realm, uint32_t row,
                         const char *key);

/* ---- nodes -------------------------------------------------------------------------------- */

/* The row below @count of the node that has the name, else of the one that has it as an alias.
 * Return: @count when there is none. */
uint32_t sx_site_node(const struct sx_site *site, uint32_t count, const char *name);

/* Is @name one of @list, which commas separate? */
bool sx_names_hold(const char *list, const char *name);

/* ---- all values of one row ------------------------------------------------------------------ */

/* Deep copies of the values of the row that @scope may see, as a DATA_ARRAY of infos in @ret
 * (uninitialised); of a process or job the qualified ones too, under PMIX_QUALIFIED_VALUE.  A value
 * that @site->open puts in place has to stay until this returns.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when there is no value; else the first error. */
pmix_status_t sx_collect(const struct sx_site *site, enum sx_realm realm, uint32_t row,
                         pmix_scope_t scope, pmix_value_t *ret);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* qualified.h - values that hold under conditions: several of one key, each with its qualifiers.
 *
 * A put gives PMIX_QUALIFIED_VALUE an array of infos: first the key and its value, then the
 * qualifiers.  A Get names the key and the same qualifiers, in any order.
 *
 * The key and its qualifiers make a name of fixed length.  The value lies in a column of that name
 * in SX_REALM_QUALIFIED, so a Get finds it like any other value, with one probe and one cell.  The
 * meaning of a name (its legend) is stored once, in the job's cell of the column NAME".q".  It is
 * an array of infos, and the first one has the key and the value true. */
#ifndef SX_SHMEM_QUALIFIED_H
#define SX_SHMEM_QUALIFIED_H

#include <stdbool.h>

#include "shmem/store.h"

#define SX_QUALIFIED_NAME_LEN 32

/* A qualified value taken apart; everything is borrowed. */
struct sx_qualified {
    const char *key;
    size_t key_len;
    const pmix_value_t *value;
    const pmix_info_t *infos; /* the qualifiers, whether they are marked or not */
    size_t count;
    char name[SX_QUALIFIED_NAME_LEN + 1];
};

/* Take @value apart.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM when it is not an array of infos,
 * has no qualifier, or an invalid key; the status of sx_flat_size for a qualifier. */
pmix_status_t sx_qualified_read(struct sx_qualified *ret, const pmix_value_t *value);

/* True when @info has an element that is marked as a qualifier. */
bool sx_qualified_asked(const pmix_info_t *info, size_t ninfo);

/* The name of @key under those of @info that are marked as qualifiers.  No allocation unless a
 * qualifier takes more than 512 bytes.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM (a key that does
 * not end); PMIX_ERR_OUT_OF_RESOURCE; what sx_flat_size says. */
pmix_status_t sx_qualified_name(const char *key, size_t key_len, const pmix_info_t *info,
                                size_t ninfo, char ret_name[SX_QUALIFIED_NAME_LEN + 1]);

/* The legend of a name, as a value to store.  Free ret->data.darray and its array (not what the
 * infos own).  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_qualified_legend(const struct sx_qualified *qualified, pmix_value_t *ret);

/* The column of the legend of @name. */
#define SX_QUALIFIED_LEGEND_LEN (SX_QUALIFIED_NAME_LEN + 2)
void sx_qualified_legend_key(const char *name, char ret_key[SX_QUALIFIED_LEGEND_LEN + 1]);

/* Store @value, which is one for PMIX_QUALIFIED_VALUE, and its legend.  @ret_name may be NULL.
 * Return: as sx_qualified_read, sx_store_put. */
pmix_status_t sx_qualified_put(struct sx_store_writer *writer, uint32_t row, pmix_scope_t scope,
                               const pmix_value_t *value, char *ret_name);

/* Qualifiers are part of a name: in a long value they take no more, as flat infos. */
#define SX_QUALIFIERS_BYTES_MAX ((uint64_t)128 << 10)
uint64_t sx_qualifiers_bytes(const struct sx_flat_first *first);

/* The same for a flat value that is long, but for its own part: store the legend, and return the
 * name under which *ret_first is to be stored in row of SX_REALM_QUALIFIED.  @cell and @body have
 * been checked.  Return: as sx_qualified_put; PMIX_ERR_OUT_OF_RESOURCE also for too many
 * qualifiers. */
pmix_status_t sx_qualified_begin(struct sx_store_writer *writer, const struct sx_cell *cell,
                                 const void *body, char ret_name[SX_QUALIFIED_NAME_LEN + 1],
                                 struct sx_flat_first *ret_first);

/* The column @name of SX_REALM_QUALIFIED, which holds @item, as the value that was put, in deep
 * copies.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND for a column that is a legend or has none; as
 * sx_flat_decode. */
pmix_status_t sx_qualified_whole(const struct sx_store *store, const char *name,
                                 const struct sx_item *item, pmix_value_t *ret);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* native_read.c - the reads of <shmix.h>: one binding, one cell, one check of its type.
 *
 * Nothing here allocates, locks, enters the kernel or changes a shared word by more than a plain
 * store, but for a thread's first read (sx_grace_join).  A test disassembles the machine code to
 * ensure that.  Bodies were checked against their cells before they were stored.  Properties that a
 * view depends on (the NUL of a string, the bounds of an array) are checked all the same. */
#include "base/util.h"
#include "base/value/flat_layout.h"
#include "base/value/type.h"
#include "client/native/native.h"

/* A key that had no value when the job moved to this generation. */
static sx_column column_look_again(const shmix_key_t *key, struct sx_binding *binding)
{
    const sx_column column = sx_store_column_hashed(&binding->store, key->hash, key->realm,
                                                    key->text, key->text_len);

    if (column != 0) {
        /* R-column -> A-column (item_read): other threads see of the column what this one has seen.
         * Two threads may store the same number. */
        atomic_store_explicit(&binding->column, column, memory_order_release);
    }
    return column;
}

static inline sx_column column_of(const shmix_key_t *key, struct sx_binding *binding)
{
    /* A-column <- R-column (column_look_again) */
    const sx_column column = atomic_load_explicit(&binding->column, memory_order_acquire);

    return __builtin_expect(column == 0, 0) ? column_look_again(key, binding) : column;
}

static inline pmix_status_t binding_read(const shmix_key_t *key, struct sx_binding *binding,
                                         pmix_rank_t rank, struct sx_item *ret)
{
    const sx_column column = column_of(key, binding);
    const pmix_status_t rc = sx_store_read(&binding->store, column, rank, ret); /* 0: not found */
    /* relaxed: the thread that frees the hold reads it after this one has left (R-inside in
     * epoch.h). */
    if (rc == PMIX_SUCCESS && ret->body != NULL &&
        !atomic_load_explicit(&binding->hold->handed_out, memory_order_relaxed)) {
        atomic_store_explicit(&binding->hold->handed_out, true, memory_order_relaxed);
    }
    return rc;
}

/* The body of @ret, if it has one, stays until the job is unpinned. */
static inline pmix_status_t item_read(const shmix_key_t *key, pmix_rank_t rank, struct sx_item *ret)
{
    if (key == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const struct sx_grace grace = sx_grace_enter();
    /* A-bind <- R-bind (job_move in native.c): store and column belong together. */
    struct sx_binding *const binding = atomic_load_explicit(&key->binding, memory_order_acquire);
    const pmix_status_t rc = binding != NULL ? binding_read(key, binding, rank, ret)
                                             : PMIX_ERR_INIT;

    sx_grace_exit(&grace);
    return rc;
}

pmix_status_t shmix_key_next(const shmix_key_t *key, pmix_rank_t from, pmix_rank_t *ret_rank)
{
    pmix_status_t rc = PMIX_ERR_INIT;

    if (key == NULL || ret_rank == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const struct sx_grace grace = sx_grace_enter();
    /* A-bind <- R-bind (job_move in native.c) */
    struct sx_binding *const binding = atomic_load_explicit(&key->binding, memory_order_acquire);

    if (binding != NULL) {
        rc = sx_store_row_next(&binding->store, column_of(key, binding), from, ret_rank);
    }
    sx_grace_exit(&grace);
    return rc;
}

/* ---- scalars -------------------------------------------------------------------------------- */

/* Return: how @type reads as a number; its row in *ret_row. */
static inline enum sx_number number_of(pmix_data_type_t type, const struct sx_type **ret_row)
{
    *ret_row = sx_type_find(type);
    return *ret_row != NULL ? (enum sx_number)(*ret_row)->number : SX_NUMBER_NONE;
}

/* Cells hold a signed number in its own width, zero-extended. */
static inline int64_t signed_of(uint64_t bits, const struct sx_type *row)
{
    const unsigned spare = 64 - 8 * (unsigned)row->size_bytes;

    return (int64_t)(bits << spare) >> spare;
}

static inline double float_of(uint64_t bits, const struct sx_type *row)
{
    union {
        uint64_t bits;
        double number;
    } wide = { .bits = bits };
    union {
        uint32_t bits;
        float number;
    } narrow = { .bits = (uint32_t)bits };

    return row->size_bytes == sizeof(narrow) ? (double)narrow.number : wide.number;
}

/* The bits of a scalar that reads as @want. */
static inline pmix_status_t scalar_read(const shmix_key_t *key, pmix_rank_t rank,
                                        enum sx_number want, uint64_t *ret_bits,
                                        const struct sx_type **ret_row)
{
    struct sx_item item;
    const pmix_status_t rc = item_read(key, rank, &item);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    *ret_bits = item.cell.bits;
    return number_of(item.cell.type, ret_row) == want ? PMIX_SUCCESS : PMIX_ERR_TYPE_MISMATCH;
}

pmix_status_t shmix_read_u64(const shmix_key_t *key, pmix_rank_t rank, uint64_t *ret_number)
{
    const struct sx_type *row;
    uint64_t bits;

    if (ret_number == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = scalar_read(key, rank, SX_NUMBER_UINT, &bits, &row);
    if (rc == PMIX_SUCCESS) {
        *ret_number = bits;
    }
    return rc;
}

pmix_status_t shmix_read_i64(const shmix_key_t *key, pmix_rank_t rank, int64_t *ret_number)
{
    const struct sx_type *row;
    uint64_t bits;

    if (ret_number == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = scalar_read(key, rank, SX_NUMBER_INT, &bits, &row);
    if (rc == PMIX_SUCCESS) {
        *ret_number = signed_of(bits, row);
    }
    return rc;
}

pmix_status_t shmix_read_f64(const shmix_key_t *key, pmix_rank_t rank, double *ret_number)
{
    const struct sx_type *row;
    uint64_t bits;

    if (ret_number == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = scalar_read(key, rank, SX_NUMBER_FLOAT, &bits, &row);
    if (rc == PMIX_SUCCESS) {
        *ret_number = float_of(bits, row);
    }
    return rc;
}

pmix_status_t shmix_read_bool(const shmix_key_t *key, pmix_rank_t rank, bool *ret_flag)
{
    const struct sx_type *row;
    uint64_t bits;

    if (ret_flag == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = scalar_read(key, rank, SX_NUMBER_BOOL, &bits, &row);
    if (rc == PMIX_SUCCESS) {
        *ret_flag = bits != 0;
    }
    return rc;
}

/* ---- views ---------------------------------------------------------------------------------- */

static inline bool is_null(const struct sx_item *item)
{
    return (item->cell.flags & SX_CELL_NULL) != 0 || item->cell.len == 0;
}

static inline pmix_status_t string_view(const struct sx_item *item, const char **ret_text,
                                        size_t *ret_len)
{
    const char *const text = item->body;

    if (is_null(item)) {
        *ret_text = NULL;
        *ret_len = 0;
        return PMIX_SUCCESS;
    }
    if (text[item->cell.len - 1] != '\0') {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    *ret_text = text;
    *ret_len = item->cell.len - 1;
    return PMIX_SUCCESS;
}

pmix_status_t shmix_read_string(const shmix_key_t *key, pmix_rank_t rank, const char **ret_text,
                                size_t *ret_len)
{
    struct sx_item item;
    size_t len;

    if (ret_text == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = item_read(key, rank, &item);
    if (rc == PMIX_SUCCESS) {
        rc = item.cell.type == PMIX_STRING ? string_view(&item, ret_text, &len)
                                           : PMIX_ERR_TYPE_MISMATCH;
    }
    if (rc == PMIX_SUCCESS && ret_len != NULL) {
        *ret_len = len;
    }
    return rc;
}

pmix_status_t shmix_read_bytes(const shmix_key_t *key, pmix_rank_t rank, const void **ret_bytes,
                               size_t *ret_size)
{
    struct sx_item item;

    if (ret_bytes == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = item_read(key, rank, &item);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const struct sx_type *const row = sx_type_find(item.cell.type);
    if (row == NULL || row->kind != SX_TYPE_BYTES) {
        return PMIX_ERR_TYPE_MISMATCH;
    }
    *ret_bytes = is_null(&item) ? NULL : item.body;
    if (ret_size != NULL) {
        *ret_size = is_null(&item) ? 0 : item.cell.len;
    }
    return PMIX_SUCCESS;
}

/* Elements in the layout of an array of this process. */
struct elements {
    pmix_data_type_t type;
    const void *at;
    size_t count;
};

static pmix_status_t elements_view(const struct sx_item *item, struct elements *ret)
{
    const struct sx_flat_record *const record = item->body;

    *ret = (struct elements){ .type = PMIX_UNDEF };
    if (is_null(item)) {
        return PMIX_SUCCESS;
    }
    if (item->cell.len < sizeof(*record)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    ret->type = record->type;
    if (record->count == 0) {
        return PMIX_SUCCESS;
    }
    const struct sx_type *const row = sx_type_find(record->type);
    if (row == NULL || row->kind != SX_TYPE_PLAIN) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (record->count > (item->cell.len - sizeof(*record)) / row->size_bytes) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    ret->at = record + 1;
    ret->count = record->count;
    return PMIX_SUCCESS;
}

pmix_status_t shmix_read_array(const shmix_key_t *key, pmix_rank_t rank, pmix_data_type_t type,
                               const void **ret_elements, size_t *ret_count)
{
    struct sx_item item;
    struct elements elements;

    if (ret_elements == NULL || ret_count == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = item_read(key, rank, &item);
    if (rc == PMIX_SUCCESS && item.cell.type != PMIX_DATA_ARRAY) {
        rc = PMIX_ERR_TYPE_MISMATCH;
    }
    if (rc == PMIX_SUCCESS) {
        rc = elements_view(&item, &elements);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    /* An array without elements fits any type unless it states one. */
    if (elements.type != type && elements.type != PMIX_UNDEF) {
        return PMIX_ERR_TYPE_MISMATCH;
    }
    *ret_elements = elements.at;
    *ret_count = elements.count;
    return PMIX_SUCCESS;
}

/* ---- of any type ---------------------------------------------------------------------------- */

/* A string, bytes or elements; @ret is filled on success. */
static pmix_status_t value_view(const struct sx_item *item, const struct sx_type *row,
                                shmix_value_t *ret)
{
    struct elements view = { .type = PMIX_BYTE };
    pmix_status_t rc = PMIX_SUCCESS;

    if (row->kind == SX_TYPE_STRING) {
        const char *text = NULL;

        rc = string_view(item, &text, &view.count);
        view.at = text;
    } else if (row->kind == SX_TYPE_BYTES) {
        view.at = is_null(item) ? NULL : item->body;
        view.count = is_null(item) ? 0 : item->cell.len;
    } else if (row->kind == SX_TYPE_PLAIN || item->cell.type == PMIX_DATA_ARRAY) {
        rc = elements_view(item, &view);
    } else {
        rc = PMIX_ERR_NOT_SUPPORTED; /* a struct with members elsewhere */
    }
    if (rc == PMIX_SUCCESS) {
        ret->type = item->cell.type;
        ret->element_type = view.type;
        ret->number.u64 = 0;
        ret->data = view.at;
        ret->count = view.count;
    }
    return rc;
}

pmix_status_t sx_native_value(const struct sx_item *item, shmix_value_t *ret_value)
{
    const struct sx_type *row;

    switch (number_of(item->cell.type, &row)) {
    case SX_NUMBER_BOOL:
        ret_value->number.flag = item->cell.bits != 0;
        break;
    case SX_NUMBER_UINT:
        ret_value->number.u64 = item->cell.bits;
        break;
    case SX_NUMBER_INT:
        ret_value->number.i64 = signed_of(item->cell.bits, row);
        break;
    case SX_NUMBER_FLOAT:
        ret_value->number.f64 = float_of(item->cell.bits, row);
        break;
    default:
        return row != NULL ? value_view(item, row, ret_value) : PMIX_ERR_NOT_SUPPORTED;
    }
    ret_value->type = item->cell.type;
    ret_value->element_type = PMIX_UNDEF;
    ret_value->data = NULL;
    ret_value->count = 0;
    return PMIX_SUCCESS;
}

pmix_status_t shmix_read_value(const shmix_key_t *key, pmix_rank_t rank, shmix_value_t *ret_value)
{
    struct sx_item item;

    if (ret_value == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = item_read(key, rank, &item);
    return rc == PMIX_SUCCESS ? sx_native_value(&item, ret_value) : rc;
}

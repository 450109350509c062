/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flat_encode.c - write a value as a cell and a body, or only measure it.
 *
 * One walk does both: a writer without a base counts.  Space is taken from the front in the order
 * of the walk, which is what makes the layout depth-first; what is taken is written to the last
 * byte, so the body may be uninitialised memory. */
#include "base/value/flat.h"

#include <string.h>

#include "base/util.h"
#include "base/value/flat_layout.h"
#include "base/value/type.h"
#include "base/value/value.h"

#define CFIELD(type, base, off) (*(type const *)(const void *)((const char *)(base) + (off)))

struct writer {
    uint8_t *base; /* NULL: measure only */
    uint64_t at;   /* multiple of 8 */
    uint64_t size;
};

static pmix_status_t put_record(struct writer *w, const void *elements, size_t count,
                                pmix_data_type_t type, unsigned depth, struct sx_cell *cell);

static pmix_status_t writer_take(struct writer *w, size_t len, uint64_t *ret_off)
{
    uint64_t padded;

    if (len > SX_FLAT_BODY_MAX - w->at) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    padded = sx_align_up(len, SX_FLAT_ALIGN);
    if (padded > SX_FLAT_BODY_MAX - w->at) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (w->base != NULL) {
        if (padded > w->size - w->at) {
            return PMIX_ERR_BAD_PARAM; /* the value grew since it was measured */
        }
        memset(w->base + w->at + padded - SX_FLAT_ALIGN, 0, SX_FLAT_ALIGN);
    }
    *ret_off = w->at;
    w->at += padded;
    return PMIX_SUCCESS;
}

static void writer_put(struct writer *w, uint64_t off, const void *src, size_t len)
{
    if (w->base != NULL) {
        memcpy(w->base + off, src, len);
    }
}

/* A leaf: @len > 0 bytes of their own body. */
static pmix_status_t put_leaf(struct writer *w, const void *src, size_t len, struct sx_cell *cell)
{
    const pmix_status_t rc = writer_take(w, len, &cell->bits);

    if (rc == PMIX_SUCCESS) {
        writer_put(w, cell->bits, src, len);
        cell->len = (uint32_t)len;
    }
    return rc;
}

static pmix_status_t put_string(struct writer *w, const char *text, struct sx_cell *cell)
{
    if (text == NULL) {
        cell->flags = SX_CELL_NULL;
        return PMIX_SUCCESS;
    }
    return put_leaf(w, text, strlen(text) + 1, cell);
}

static pmix_status_t put_bytes(struct writer *w, const char *bytes, size_t size,
                               struct sx_cell *cell)
{
    if (size == 0) {
        cell->flags = SX_CELL_NULL;
        return PMIX_SUCCESS;
    }
    return bytes == NULL ? PMIX_ERR_BAD_PARAM : put_leaf(w, bytes, size, cell);
}

static pmix_status_t put_name(struct writer *w, const char *name, size_t size, struct sx_cell *cell)
{
    const size_t len = sx_name_len(name, size);

    return len == size ? PMIX_ERR_BAD_PARAM : put_leaf(w, name, len + 1, cell);
}

static pmix_status_t put_buffer(struct writer *w, const pmix_data_buffer_t *buffer,
                                struct sx_cell *cell)
{
    size_t done = 0;

    if (buffer->base_ptr != NULL && buffer->unpack_ptr != NULL) {
        done = (size_t)(buffer->unpack_ptr - buffer->base_ptr);
    }
    if (done > buffer->bytes_used) {
        return PMIX_ERR_BAD_PARAM;
    }
    return put_bytes(w, buffer->base_ptr == NULL ? NULL : buffer->base_ptr + done,
                     buffer->base_ptr == NULL ? 0 : buffer->bytes_used - done, cell);
}

static pmix_status_t put_argv(struct writer *w, char *const *argv, unsigned depth,
                              struct sx_cell *cell)
{
    size_t count = 0;

    if (argv == NULL) {
        cell->flags = SX_CELL_NULL;
        return PMIX_SUCCESS;
    }
    while (argv[count] != NULL) {
        count++;
    }
    return put_record(w, argv, count, PMIX_STRING, depth, cell);
}

/* An array counts as one level of nesting; arrays without elements have nothing to nest. */
static pmix_status_t put_array(struct writer *w, const void *elements, size_t count,
                               pmix_data_type_t type, unsigned depth, struct sx_cell *cell)
{
    if (count > 0 && depth >= SX_VALUE_DEPTH_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    return put_record(w, elements, count, type, depth + 1, cell);
}

/* @cell is zeroed and gets the value's type. */
static pmix_status_t put_value(struct writer *w, const pmix_value_t *value, unsigned depth,
                               struct sx_cell *cell)
{
    const struct sx_type *row = sx_type_find(value->type);
    const size_t scalar_size = row == NULL ? 0 : sx_type_row_scalar_size(row);

    cell->type = value->type;
    if (value->type == PMIX_UNDEF) {
        return PMIX_SUCCESS;
    }
    if (row == NULL) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    if (scalar_size != 0) {
        memcpy(&cell->bits, &value->data, scalar_size);
        if (value->type == PMIX_BOOL) {
            cell->bits = cell->bits != 0;
        }
        return PMIX_SUCCESS;
    }
    if (row->in_value == SX_WHERE_NOWHERE || row->in_value == SX_WHERE_BORROWED ||
        row->kind == SX_TYPE_POINTER) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (row->kind == SX_TYPE_STRING) {
        return put_string(w, value->data.string, cell);
    }
    if (row->kind == SX_TYPE_BYTES) {
        return put_bytes(w, value->data.bo.bytes, value->data.bo.size, cell);
    }
    if (row->in_value == SX_WHERE_UNION) {
        return put_record(w, &value->data, 1, value->type, depth, cell);
    }
    if (value->data.ptr == NULL) {
        cell->flags = SX_CELL_NULL;
        return PMIX_SUCCESS;
    }
    if (value->type == PMIX_DATA_ARRAY) {
        const pmix_data_array_t *array = value->data.darray;

        return put_array(w, array->array, array->size, array->type, depth, cell);
    }
    return put_record(w, value->data.ptr, 1, value->type, depth, cell);
}

static pmix_status_t put_member_cell(struct writer *w, const void *element,
                                     const struct sx_member *m, unsigned depth,
                                     struct sx_cell *cell)
{
    switch ((enum sx_member_kind)m->kind) {
    case SX_MEMBER_NAME:
        cell->type = PMIX_STRING;
        return put_name(w, &CFIELD(char, element, m->off), m->size, cell);
    case SX_MEMBER_STRING:
        cell->type = PMIX_STRING;
        return put_string(w, CFIELD(char *, element, m->off), cell);
    case SX_MEMBER_BYTES: {
        const pmix_byte_object_t *bytes = &CFIELD(pmix_byte_object_t, element, m->off);

        cell->type = PMIX_BYTE_OBJECT;
        return put_bytes(w, bytes->bytes, bytes->size, cell);
    }
    case SX_MEMBER_BUFFER:
        cell->type = PMIX_BYTE_OBJECT;
        return put_buffer(w, &CFIELD(pmix_data_buffer_t, element, m->off), cell);
    case SX_MEMBER_VALUE:
        return put_value(w, &CFIELD(pmix_value_t, element, m->off), depth, cell);
    case SX_MEMBER_ARGV:
        cell->type = PMIX_DATA_ARRAY;
        return put_argv(w, CFIELD(char **, element, m->off), depth, cell);
    case SX_MEMBER_ARRAY:
        cell->type = PMIX_DATA_ARRAY;
        if (CFIELD(size_t, element, m->count_off) == 0) {
            cell->flags = SX_CELL_NULL;
            return PMIX_SUCCESS;
        }
        return put_array(w, CFIELD(void *, element, m->off), CFIELD(size_t, element, m->count_off),
                         m->type, depth, cell);
    case SX_MEMBER_TYPED:
        cell->type = PMIX_DATA_ARRAY;
        return put_array(w, CFIELD(void *, element, m->off), CFIELD(size_t, element, m->count_off),
                         CFIELD(pmix_data_type_t, element, m->type_off), depth, cell);
    default:
        return PMIX_ERR_NOT_SUPPORTED;
    }
}

/* At @off. */
static pmix_status_t put_info(struct writer *w, uint64_t off, const pmix_info_t *info,
                              unsigned depth)
{
    struct sx_flat_info flat = { .key = { .type = PMIX_STRING },
                                 .flags = info->flags & ~(uint32_t)PMIX_INFO_PERSISTENT };
    pmix_status_t rc = put_name(w, info->key, sizeof(info->key), &flat.key);

    if (rc == PMIX_SUCCESS) {
        rc = put_value(w, &info->value, depth, &flat.value);
    }
    if (rc == PMIX_SUCCESS) {
        writer_put(w, off, &flat, sizeof(flat));
    }
    return rc;
}

/* The members of a struct at @off. */
static pmix_status_t put_struct(struct writer *w, uint64_t off, const void *element,
                                pmix_data_type_t type, const struct sx_type *row, unsigned depth)
{
    if (type == PMIX_INFO) {
        return put_info(w, off, element, depth);
    }
    for (size_t i = 0; i < row->member_count; i++) {
        const struct sx_member *m = &row->members[i];
        struct sx_cell cell = { .type = PMIX_UNDEF };

        if (m->kind == SX_MEMBER_PLAIN) {
            uint8_t padded[sizeof(struct timeval)] = { 0 };

            memcpy(padded, &CFIELD(char, element, m->off), m->size);
            writer_put(w, off, padded, sx_flat_member_size(m));
        } else {
            const pmix_status_t rc = put_member_cell(w, element, m, depth, &cell);

            if (rc != PMIX_SUCCESS) {
                return rc;
            }
            writer_put(w, off, &cell, sizeof(cell));
        }
        off += sx_flat_member_size(m);
    }
    return PMIX_SUCCESS;
}

/* Bytes as they are, but bools as 0 or 1 and nothing behind the end of a name. */
static pmix_status_t put_plain(struct writer *w, uint64_t off, const void *elements, size_t count,
                               const struct sx_type *row)
{
    writer_put(w, off, elements, count * row->size_bytes);
    for (size_t i = 0; row->number == SX_NUMBER_BOOL && w->base != NULL && i < count; i++) {
        w->base[off + i] = w->base[off + i] != 0;
    }
    for (size_t j = 0; j < row->member_count; j++) {
        const struct sx_member *m = &row->members[j];

        for (size_t i = 0; m->kind == SX_MEMBER_NAME && i < count; i++) {
            const size_t at = i * row->size_bytes + m->off;
            const size_t len = sx_name_len((const char *)elements + at, m->size);

            if (len == m->size) {
                return PMIX_ERR_BAD_PARAM;
            }
            if (w->base != NULL) {
                memset(w->base + off + at + len, 0, m->size - len);
            }
        }
    }
    return PMIX_SUCCESS;
}

static pmix_status_t put_elements(struct writer *w, uint64_t off, const void *elements,
                                  size_t count, pmix_data_type_t type, const struct sx_type *row,
                                  unsigned depth)
{
    const size_t flat_size = sx_flat_element_size(row);
    pmix_status_t rc = PMIX_SUCCESS;

    if (row->kind == SX_TYPE_PLAIN) {
        return put_plain(w, off, elements, count, row);
    }
    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++, off += flat_size) {
        const void *element = (const char *)elements + i * row->size_bytes;
        struct sx_cell cell = { .type = PMIX_BYTE_OBJECT };

        if (row->kind == SX_TYPE_STRUCT) {
            rc = put_struct(w, off, element, type, row, depth);
            continue;
        }
        if (row->kind == SX_TYPE_STRING) {
            cell.type = PMIX_STRING;
            rc = put_string(w, *(char *const *)element, &cell);
        } else {
            const pmix_byte_object_t *bytes = element;

            rc = put_bytes(w, bytes->bytes, bytes->size, &cell);
        }
        if (rc == PMIX_SUCCESS) {
            writer_put(w, off, &cell, sizeof(cell));
        }
    }
    return rc;
}

/* Sets len and bits of @cell. */
static pmix_status_t put_record(struct writer *w, const void *elements, size_t count,
                                pmix_data_type_t type, unsigned depth, struct sx_cell *cell)
{
    const struct sx_type *row = sx_type_find(type);
    const struct sx_flat_record head = { .type = type, .count = count };
    size_t size;
    pmix_status_t rc;

    if (row == NULL && (count > 0 || type != PMIX_UNDEF)) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    if (count > 0 && sx_flat_element_size(row) == 0) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (count > 0 && elements == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (!sx_mul_size(count, count == 0 ? 0 : sx_flat_element_size(row), &size) ||
        !sx_add_size(size, sizeof(head), &size)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = writer_take(w, size, &cell->bits);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    writer_put(w, cell->bits, &head, sizeof(head));
    if (count > 0) {
        rc = put_elements(w, cell->bits + sizeof(head), elements, count, type, row, depth);
    }
    cell->len = (uint32_t)(w->at - cell->bits);
    return rc;
}

pmix_status_t sx_flat_size(const pmix_value_t *value, size_t *ret_size)
{
    struct writer w = { .base = NULL };
    struct sx_cell cell = { .type = PMIX_UNDEF };
    const pmix_status_t rc = put_value(&w, value, 0, &cell);

    if (rc == PMIX_SUCCESS) {
        *ret_size = w.at;
    }
    return rc;
}

pmix_status_t sx_flat_encode(const pmix_value_t *value, struct sx_cell *ret_cell, void *body,
                             size_t size)
{
    /* Where nothing is to be written a base is still needed, lest the writer only measures. */
    struct writer w = { .base = body == NULL ? (uint8_t *)ret_cell : body,
                        .size = body == NULL ? 0 : size };
    struct sx_cell cell = { .type = PMIX_UNDEF };
    pmix_status_t rc = put_value(&w, value, 0, &cell);

    if (rc == PMIX_SUCCESS && w.at != w.size) {
        rc = PMIX_ERR_BAD_PARAM; /* the value shrank since it was measured */
    }
    if (rc == PMIX_SUCCESS) {
        *ret_cell = cell;
    }
    return rc;
}

bool sx_flat_borrow(const pmix_value_t *value, struct sx_cell *ret_cell, const void **ret_body)
{
    const struct sx_type *row = sx_type_find(value->type);
    const void *bytes = NULL;
    size_t size = 0;

    if (row != NULL && row->kind == SX_TYPE_STRING && value->data.string != NULL) {
        bytes = value->data.string;
        size = strlen(value->data.string) + 1;
    } else if (row != NULL && row->kind == SX_TYPE_BYTES) {
        bytes = value->data.bo.bytes;
        size = value->data.bo.size;
    }
    if (bytes == NULL || size == 0 || size > SX_FLAT_BODY_MAX - SX_FLAT_ALIGN) {
        return false;
    }
    *ret_cell = (struct sx_cell){ .type = value->type, .len = (uint32_t)size };
    *ret_body = bytes;
    return true;
}

bool sx_flat_has_body(pmix_data_type_t type)
{
    const struct sx_type *row = sx_type_find(type);

    return row != NULL && sx_type_scalar_size(type) == 0 && row->kind != SX_TYPE_POINTER &&
           (row->in_value == SX_WHERE_UNION || row->in_value == SX_WHERE_POINTER);
}

/* The value that stands for an info array; it borrows @array and @info. */
static pmix_status_t infos_value(const pmix_info_t *info, size_t ninfo, pmix_data_array_t *array,
                                 pmix_value_t *value)
{
    if (ninfo > 0 && info == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    *array = (pmix_data_array_t){ .type = PMIX_INFO, .size = ninfo };
    memcpy(&array->array, &info, sizeof(info)); /* only read, although the type does not say so */
    *value = (pmix_value_t){ .type = PMIX_DATA_ARRAY };
    value->data.darray = ninfo == 0 ? NULL : array;
    return PMIX_SUCCESS;
}

pmix_status_t sx_flat_infos_size(const pmix_info_t *info, size_t ninfo, size_t *ret_size)
{
    pmix_data_array_t array;
    pmix_value_t value;
    size_t size = 0;
    pmix_status_t rc = infos_value(info, ninfo, &array, &value);

    if (rc == PMIX_SUCCESS) {
        rc = sx_flat_size(&value, &size);
    }
    if (rc == PMIX_SUCCESS) {
        *ret_size = size + sizeof(struct sx_cell);
    }
    return rc;
}

pmix_status_t sx_flat_infos_encode(const pmix_info_t *info, size_t ninfo, void *at, size_t size)
{
    pmix_data_array_t array;
    pmix_value_t value;
    struct sx_cell cell;
    pmix_status_t rc = infos_value(info, ninfo, &array, &value);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (size < sizeof(cell)) {
        return PMIX_ERR_BAD_PARAM;
    }
    rc = sx_flat_encode(&value, &cell, (char *)at + sizeof(cell), size - sizeof(cell));
    if (rc == PMIX_SUCCESS) {
        cell.bits = cell.len == 0 ? 0 : sizeof(cell);
        memcpy(at, &cell, sizeof(cell));
    }
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* value_compare.c - a total order on values of one type.
 *
 * Numbers order as numbers (NaN last), strings as bytes with NULL first, arrays and byte objects by
 * content and then by length, structs member by member.  Values deeper than SX_VALUE_DEPTH_MAX
 * count as equal. */
#include "base/value/value.h"

#include <math.h>
#include <string.h>

#include "base/util.h"
#include "base/value/type.h"

#define CFIELD(type, base, off) (*(type const *)(const void *)((const char *)(base) + (off)))
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int elements_compare(const void *a, size_t a_count, const void *b, size_t b_count,
                            pmix_data_type_t type, unsigned depth);

static int string_compare(const char *a, const char *b)
{
    if (a == NULL || b == NULL) {
        return ORDER(a != NULL, b != NULL);
    }
    return strcmp(a, b);
}

static int bytes_compare(const void *a, size_t a_size, const void *b, size_t b_size)
{
    const size_t size = a_size < b_size ? a_size : b_size;
    const int order = size == 0 || a == NULL || b == NULL ? 0 : memcmp(a, b, size);

    return order != 0 ? order : ORDER(a_size, b_size);
}

static int float_compare(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return ORDER(isnan(a) != 0, isnan(b) != 0);
    }
    return ORDER(a, b);
}

static int number_compare(const void *a, const void *b, const struct sx_type *row)
{
    const unsigned shift = 64 - 8 * row->size_bytes;
    uint64_t a_bits = 0, b_bits = 0;
    float a_float, b_float;
    double a_double, b_double;

    memcpy(&a_bits, a, row->size_bytes);
    memcpy(&b_bits, b, row->size_bytes);
    if (row->number == SX_NUMBER_INT) {
        return ORDER((int64_t)(a_bits << shift), (int64_t)(b_bits << shift));
    }
    if (row->number != SX_NUMBER_FLOAT) {
        return ORDER(a_bits, b_bits);
    }
    if (row->size_bytes == sizeof(float)) {
        memcpy(&a_float, a, sizeof(a_float));
        memcpy(&b_float, b, sizeof(b_float));
        return float_compare((double)a_float, (double)b_float);
    }
    memcpy(&a_double, a, sizeof(a_double));
    memcpy(&b_double, b, sizeof(b_double));
    return float_compare(a_double, b_double);
}

static int argv_compare(char *const *a, char *const *b)
{
    size_t i = 0;

    if (a == NULL || b == NULL) {
        return ORDER(a != NULL, b != NULL);
    }
    while (a[i] != NULL && string_compare(a[i], b[i]) == 0) {
        i++;
    }
    return string_compare(a[i], b[i]);
}

static int value_compare(const pmix_value_t *a, const pmix_value_t *b, unsigned depth)
{
    const struct sx_type *row = sx_type_find(a->type);

    if (a->type != b->type) {
        return ORDER(a->type, b->type);
    }
    if (row == NULL || row->in_value == SX_WHERE_NOWHERE) {
        return 0;
    }
    if (row->in_value == SX_WHERE_UNION) {
        return elements_compare(&a->data, 1, &b->data, 1, a->type, depth);
    }
    if (row->in_value == SX_WHERE_BORROWED || a->data.ptr == NULL || b->data.ptr == NULL) {
        return ORDER((uintptr_t)a->data.ptr, (uintptr_t)b->data.ptr);
    }
    return elements_compare(a->data.ptr, 1, b->data.ptr, 1, a->type, depth);
}

static int buffer_compare(const pmix_data_buffer_t *a, const pmix_data_buffer_t *b)
{
    return bytes_compare(a->base_ptr, a->bytes_used, b->base_ptr, b->bytes_used);
}

static int member_compare(const void *a, const void *b, const struct sx_member *m, unsigned depth)
{
    pmix_data_type_t type = m->type;

    switch ((enum sx_member_kind)m->kind) {
    case SX_MEMBER_PLAIN:
        return elements_compare(&CFIELD(char, a, m->off), 1, &CFIELD(char, b, m->off), 1, type,
                                depth);
    case SX_MEMBER_NAME:
        return strncmp(&CFIELD(char, a, m->off), &CFIELD(char, b, m->off), m->size);
    case SX_MEMBER_STRING:
        return string_compare(CFIELD(char *, a, m->off), CFIELD(char *, b, m->off));
    case SX_MEMBER_ARGV:
        return argv_compare(CFIELD(char **, a, m->off), CFIELD(char **, b, m->off));
    case SX_MEMBER_BYTES:
        return elements_compare(&CFIELD(char, a, m->off), 1, &CFIELD(char, b, m->off), 1,
                                PMIX_BYTE_OBJECT, depth);
    case SX_MEMBER_BUFFER:
        return buffer_compare(&CFIELD(pmix_data_buffer_t, a, m->off),
                              &CFIELD(pmix_data_buffer_t, b, m->off));
    case SX_MEMBER_VALUE:
        return value_compare(&CFIELD(pmix_value_t, a, m->off), &CFIELD(pmix_value_t, b, m->off),
                             depth);
    case SX_MEMBER_TYPED:
        type = CFIELD(pmix_data_type_t, a, m->type_off);
        if (type != CFIELD(pmix_data_type_t, b, m->type_off)) {
            return ORDER(type, CFIELD(pmix_data_type_t, b, m->type_off));
        }
        /* fall through */
    case SX_MEMBER_ARRAY:
        if (depth >= SX_VALUE_DEPTH_MAX) {
            return 0;
        }
        return elements_compare(CFIELD(void *, a, m->off), CFIELD(size_t, a, m->count_off),
                                CFIELD(void *, b, m->off), CFIELD(size_t, b, m->count_off), type,
                                depth + 1);
    case SX_MEMBER_OPAQUE:
        return ORDER((uintptr_t)CFIELD(void *, a, m->off), (uintptr_t)CFIELD(void *, b, m->off));
    }
    return 0;
}

static int element_compare(const void *a, const void *b, const struct sx_type *row, unsigned depth)
{
    int order = 0;

    if (row->number != SX_NUMBER_NONE) {
        return number_compare(a, b, row);
    }
    if (row->kind == SX_TYPE_STRING) {
        return string_compare(*(char *const *)a, *(char *const *)b);
    }
    if (row->kind == SX_TYPE_BYTES) {
        const pmix_byte_object_t *x = a, *y = b;

        return bytes_compare(x->bytes, x->size, y->bytes, y->size);
    }
    if (row->kind == SX_TYPE_POINTER) {
        return ORDER((uintptr_t) * (void *const *)a, (uintptr_t) * (void *const *)b);
    }
    for (size_t i = 0; i < row->member_count && order == 0; i++) {
        order = member_compare(a, b, &row->members[i], depth);
    }
    return order;
}

static int elements_compare(const void *a, size_t a_count, const void *b, size_t b_count,
                            pmix_data_type_t type, unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);
    const size_t count = a_count < b_count ? a_count : b_count;

    for (size_t i = 0; row != NULL && a != NULL && b != NULL && i < count; i++) {
        const size_t off = i * row->size_bytes;
        const int order = element_compare((const char *)a + off, (const char *)b + off, row, depth);

        if (order != 0) {
            return order;
        }
    }
    return ORDER(a_count, b_count);
}

int sx_value_compare(const pmix_value_t *a, const pmix_value_t *b)
{
    return value_compare(a, b, 0);
}

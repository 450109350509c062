/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_value.c - PMIx_Value_*: the public face of value.c, with the NULL checks.
 *
 * A number is read into another type only if it keeps its value; otherwise the status is that of
 * the loss (the sign, digits). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <pmix.h>

#include "base/util.h"
#include "base/value/type.h"
#include "base/value/value.h"

#define CFIELD(type, base, off) (*(type const *)(const void *)((const char *)(base) + (off)))

static size_t element_bytes(const void *element, const struct sx_type *row, unsigned depth);

pmix_status_t PMIx_Value_load(pmix_value_t *val, const void *data, pmix_data_type_t type)
{
    return val == NULL ? PMIX_ERR_BAD_PARAM : sx_value_load(val, data, type);
}

pmix_status_t PMIx_Value_xfer(pmix_value_t *dest, const pmix_value_t *src)
{
    return dest == NULL || src == NULL ? PMIX_ERR_BAD_PARAM : sx_value_copy(dest, src);
}

/* A new block with the @size bytes at @element and a NUL, or with a deep copy of a struct. */
static pmix_status_t unload_copy(const void *element, size_t size, pmix_data_type_t type,
                                 void **ret_data)
{
    void *block = calloc(1, size + 1);
    pmix_status_t rc = PMIX_SUCCESS;

    if (block == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (type == PMIX_UNDEF) {
        memcpy(block, element, size);
    } else {
        rc = sx_elements_copy(block, element, 1, type);
    }
    if (rc != PMIX_SUCCESS) {
        free(block);
        return rc;
    }
    *ret_data = block;
    return PMIX_SUCCESS;
}

/* Where the datum lies and how many bytes of it count: those of a string without its NUL. */
static const void *unload_source(const pmix_value_t *val, const struct sx_type *row,
                                 size_t *ret_size)
{
    *ret_size = row->size_bytes;
    if (row->kind == SX_TYPE_STRING) {
        *ret_size = val->data.string == NULL ? 0 : strlen(val->data.string);
        return val->data.string;
    }
    if (row->kind == SX_TYPE_BYTES) {
        *ret_size = val->data.bo.size;
        return val->data.bo.bytes;
    }
    if (row->in_value == SX_WHERE_UNION) {
        return &val->data;
    }
    if (val->type == PMIX_PROC_NSPACE && val->data.ptr != NULL) {
        *ret_size = sx_name_len(val->data.ptr, sizeof(pmix_nspace_t));
    }
    return val->data.ptr;
}

pmix_status_t PMIx_Value_unload(pmix_value_t *val, void **data, size_t *sz)
{
    const struct sx_type *row;
    const void *source;
    size_t size;
    pmix_status_t rc = PMIX_SUCCESS;

    if (val == NULL || data == NULL || sz == NULL || val->type == PMIX_UNDEF) {
        return PMIX_ERR_BAD_PARAM;
    }
    row = sx_type_find(val->type);
    if (row == NULL || row->in_value == SX_WHERE_NOWHERE) {
        return row == NULL ? PMIX_ERR_UNKNOWN_DATA_TYPE : PMIX_ERR_NOT_SUPPORTED;
    }
    source = unload_source(val, row, &size);
    if (row->kind == SX_TYPE_POINTER || row->in_value == SX_WHERE_BORROWED) {
        *data = val->data.ptr;
    } else if (source == NULL) {
        *data = NULL;
        size = 0;
    } else if (row->kind == SX_TYPE_PLAIN && *data == NULL && row->in_value == SX_WHERE_UNION) {
        rc = PMIX_ERR_BAD_PARAM; /* a number goes where the caller has room for it */
    } else if (row->kind == SX_TYPE_PLAIN && *data != NULL) {
        /* A name that fills its array has no NUL to copy. */
        memcpy(*data, source, size + (val->type == PMIX_PROC_NSPACE && size < PMIX_MAX_NSLEN + 1));
    } else {
        rc = unload_copy(source, size, row->kind == SX_TYPE_STRUCT ? val->type : PMIX_UNDEF, data);
    }
    if (rc == PMIX_SUCCESS) {
        *sz = size;
    }
    return rc;
}

pmix_value_cmp_t PMIx_Value_compare(pmix_value_t *v1, pmix_value_t *v2)
{
    int order;

    if (v1 == NULL || v2 == NULL) {
        return PMIX_VALUE_COMPARISON_NOT_AVAIL;
    }
    if (v1->type != v2->type) {
        return PMIX_VALUE_TYPE_DIFFERENT;
    }
    order = sx_value_compare(v1, v2);
    if (order == 0) {
        return PMIX_EQUAL;
    }
    return order > 0 ? PMIX_VALUE1_GREATER : PMIX_VALUE2_GREATER;
}

static bool starts_with(const char *text, const char *word)
{
    return strncasecmp(text, word, strlen(word)) == 0;
}

/* Absent and blank texts are true, as is a directive that is merely present. */
static pmix_boolean_t text_true(const char *text)
{
    if (text == NULL) {
        return PMIX_BOOL_TRUE;
    }
    text += strspn(text, " \t\n");
    if (*text == '\0') {
        return PMIX_BOOL_TRUE;
    }
    if (*text >= '0' && *text <= '9') {
        return strtoull(text, NULL, 10) != 0 ? PMIX_BOOL_TRUE : PMIX_BOOL_FALSE;
    }
    if (starts_with(text, "true") || starts_with(text, "yes") || strcasecmp(text, "t") == 0 ||
        strcasecmp(text, "y") == 0) {
        return PMIX_BOOL_TRUE;
    }
    if (starts_with(text, "false") || starts_with(text, "no") || strcasecmp(text, "f") == 0 ||
        strcasecmp(text, "n") == 0) {
        return PMIX_BOOL_FALSE;
    }
    return PMIX_NON_BOOL;
}

pmix_boolean_t PMIx_Value_true(const pmix_value_t *value)
{
    if (value == NULL) {
        return PMIX_NON_BOOL;
    }
    switch (value->type) {
    case PMIX_UNDEF:
        return PMIX_BOOL_TRUE;
    case PMIX_BOOL:
        return value->data.flag ? PMIX_BOOL_TRUE : PMIX_BOOL_FALSE;
    case PMIX_STRING:
        return text_true(value->data.string);
    default:
        return PMIX_NON_BOOL;
    }
}

/* A number of any type in the widest type of its kind. */
struct number {
    enum sx_number kind; /* INT is below 0, UINT is not */
    uint64_t u;
    double d;
};

static bool number_of(const pmix_value_t *value, struct number *ret)
{
    int64_t i;

    *ret = (struct number){ .kind = SX_NUMBER_FLOAT };
    if (value->type == PMIX_FLOAT) {
        ret->d = (double)value->data.fval;
        return true;
    }
    if (value->type == PMIX_DOUBLE) {
        ret->d = value->data.dval;
        return true;
    }
    if (sx_value_get_uint(value, &ret->u) == PMIX_SUCCESS) {
        ret->kind = SX_NUMBER_UINT;
        ret->d = (double)ret->u;
        return true;
    }
    if (sx_value_get_int(value, &i) == PMIX_SUCCESS) {
        ret->kind = SX_NUMBER_INT;
        ret->u = (uint64_t)i;
        ret->d = (double)i;
        return true;
    }
    return false;
}

/* Make an integer of a float.  Return: as PMIx_Value_get_number. */
static pmix_status_t number_round(struct number *n)
{
    if (!isfinite(n->d) || n->d != trunc(n->d) || n->d < -0x1p63 || n->d >= 0x1p64) {
        return PMIX_ERR_LOST_PRECISION;
    }
    n->kind = n->d < 0 ? SX_NUMBER_INT : SX_NUMBER_UINT;
    n->u = n->d < 0 ? (uint64_t)(int64_t)n->d : (uint64_t)n->d;
    return PMIX_SUCCESS;
}

static pmix_status_t number_fits(const struct number *n, const struct sx_type *row)
{
    const unsigned bits = 8u * row->size_bytes;

    if (row->number == SX_NUMBER_UINT) {
        if (n->kind == SX_NUMBER_INT) {
            return PMIX_ERR_CHANGE_SIGN;
        }
        return bits < 64 && n->u >> bits != 0 ? PMIX_ERR_LOST_PRECISION : PMIX_SUCCESS;
    }
    if (n->kind == SX_NUMBER_UINT) {
        return n->u >> (bits - 1) != 0 ? PMIX_ERR_LOST_PRECISION : PMIX_SUCCESS;
    }
    return (int64_t)n->u >> (bits - 1) != -1 ? PMIX_ERR_LOST_PRECISION : PMIX_SUCCESS;
}

pmix_status_t PMIx_Value_get_number(const pmix_value_t *m, void *d, pmix_data_type_t t)
{
    const struct sx_type *row = sx_type_find(t);
    struct number n;
    pmix_status_t rc;

    if (m == NULL || d == NULL || row == NULL || row->number == SX_NUMBER_NONE ||
        row->number == SX_NUMBER_BOOL || !number_of(m, &n)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (t == PMIX_FLOAT) {
        const float narrow = (float)n.d;

        memcpy(d, &narrow, sizeof(narrow));
        return PMIX_SUCCESS;
    }
    if (t == PMIX_DOUBLE) {
        memcpy(d, &n.d, sizeof(n.d));
        return PMIX_SUCCESS;
    }
    rc = n.kind == SX_NUMBER_FLOAT ? number_round(&n) : PMIX_SUCCESS;
    if (rc == PMIX_SUCCESS) {
        rc = number_fits(&n, row);
    }
    if (rc == PMIX_SUCCESS) {
        memcpy(d, &n.u, row->size_bytes);
    }
    return rc;
}

static size_t string_bytes(const char *text)
{
    return text == NULL ? 0 : strlen(text);
}

static size_t argv_bytes(char *const *argv)
{
    size_t sum = 0;

    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++) {
        sum += sizeof(char *) + strlen(argv[i]);
    }
    return sum;
}

static size_t array_bytes(const void *array, size_t count, pmix_data_type_t type, unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);
    size_t sum = 0;

    if (array == NULL || row == NULL || depth >= SX_VALUE_DEPTH_MAX) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        sum += element_bytes((const char *)array + i * row->size_bytes, row, depth + 1);
    }
    return sum;
}

static size_t value_bytes(const pmix_value_t *value, unsigned depth)
{
    const struct sx_type *row = sx_type_find(value->type);

    if (row == NULL || row->in_value == SX_WHERE_NOWHERE) {
        return 0;
    }
    if (row->in_value == SX_WHERE_UNION) {
        return element_bytes(&value->data, row, depth);
    }
    return value->data.ptr == NULL ? 0 : element_bytes(value->data.ptr, row, depth);
}

/* The bytes that a member owns outside of its struct. */
static size_t member_bytes(const void *element, const struct sx_member *m, unsigned depth)
{
    switch ((enum sx_member_kind)m->kind) {
    case SX_MEMBER_STRING:
        return string_bytes(CFIELD(char *, element, m->off));
    case SX_MEMBER_ARGV:
        return argv_bytes(CFIELD(char **, element, m->off));
    case SX_MEMBER_BYTES:
        return CFIELD(pmix_byte_object_t, element, m->off).size;
    case SX_MEMBER_BUFFER:
        return CFIELD(pmix_data_buffer_t, element, m->off).bytes_used;
    case SX_MEMBER_VALUE:
        return value_bytes(&CFIELD(pmix_value_t, element, m->off), depth);
    case SX_MEMBER_ARRAY:
        return array_bytes(CFIELD(void *, element, m->off), CFIELD(size_t, element, m->count_off),
                           m->type, depth);
    case SX_MEMBER_TYPED:
        return array_bytes(CFIELD(void *, element, m->off), CFIELD(size_t, element, m->count_off),
                           CFIELD(pmix_data_type_t, element, m->type_off), depth);
    default:
        return 0;
    }
}

static size_t element_bytes(const void *element, const struct sx_type *row, unsigned depth)
{
    size_t sum = row->size_bytes;

    if (row->kind == SX_TYPE_STRING) {
        return string_bytes(*(char *const *)element);
    }
    if (row->kind == SX_TYPE_BYTES) {
        return ((const pmix_byte_object_t *)element)->size;
    }
    for (size_t i = 0; row->kind == SX_TYPE_STRUCT && i < row->member_count; i++) {
        sum += member_bytes(element, &row->members[i], depth);
    }
    return sum;
}

pmix_status_t PMIx_Value_get_size(const pmix_value_t *val, size_t *size)
{
    if (val == NULL || size == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (val->type != PMIX_UNDEF && sx_type_find(val->type) == NULL) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    *size = value_bytes(val, 0);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Info_get_size(const pmix_info_t *info, size_t *size)
{
    if (info == NULL || size == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (info->value.type != PMIX_UNDEF && sx_type_find(info->value.type) == NULL) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    *size = sizeof(*info) + value_bytes(&info->value, 0);
    return PMIX_SUCCESS;
}

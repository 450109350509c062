/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* value.c - walks over the type table: copy, free, compare, load, read as a number.
 *
 * A copy is zeroed before it is filled, so that what was copied until a failure can be freed
 * by the ordinary walk.  Every recursion passes an array, and arrays count the depth; that bounds
 * it by SX_VALUE_DEPTH_MAX.
 *
 * PMIX_INFO_PERSISTENT marks that the value of an info has another owner.  Such a value is not
 * freed, and a copy of it, which is owned by its info, has the flag cleared. */
#include "base/value/value.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"
#include "base/value/names.h"
#include "base/value/opaque.h"
#include "base/value/type.h"

/* Typed access to a member; memory of public structs is aligned by their C types. */
#define FIELD(type, base, off) (*(type *)(void *)((char *)(base) + (off)))
#define CFIELD(type, base, off) (*(type const *)(const void *)((const char *)(base) + (off)))

static pmix_status_t elements_copy(void *dst, const void *src, size_t count, pmix_data_type_t type,
                                   unsigned depth);
static void elements_destruct(void *elements, size_t count, pmix_data_type_t type, unsigned depth);
static void value_destruct(pmix_value_t *value, unsigned depth);

static pmix_status_t string_copy(char **dst, const char *src)
{
    *dst = NULL;
    if (src != NULL) {
        *dst = strdup(src);
        return *dst == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    }
    return PMIX_SUCCESS;
}

static pmix_status_t bytes_copy(pmix_byte_object_t *dst, const char *bytes, size_t size)
{
    *dst = (pmix_byte_object_t){ .bytes = NULL, .size = 0 };
    if (size == 0) {
        return PMIX_SUCCESS;
    }
    if (bytes == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    dst->bytes = malloc(size);
    if (dst->bytes == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(dst->bytes, bytes, size);
    dst->size = size;
    return PMIX_SUCCESS;
}

/* The copy starts where unpacking of the original stands. */
static pmix_status_t buffer_copy(pmix_data_buffer_t *dst, const pmix_data_buffer_t *src)
{
    pmix_byte_object_t bytes;
    size_t done, rest;
    pmix_status_t rc;

    memset(dst, 0, sizeof(*dst));
    if (src->base_ptr == NULL) {
        return PMIX_SUCCESS;
    }
    done = src->unpack_ptr == NULL ? 0 : (size_t)(src->unpack_ptr - src->base_ptr);
    if (done > src->bytes_used) {
        return PMIX_ERR_BAD_PARAM;
    }
    rest = src->bytes_used - done;
    rc = bytes_copy(&bytes, src->base_ptr + done, rest);
    if (rc == PMIX_SUCCESS && rest > 0) {
        dst->base_ptr = dst->unpack_ptr = bytes.bytes;
        dst->pack_ptr = bytes.bytes + rest;
        dst->bytes_allocated = dst->bytes_used = rest;
    }
    return rc;
}

static pmix_status_t argv_copy(char ***dst, char *const *src)
{
    size_t count = 0;

    *dst = NULL;
    if (src == NULL) {
        return PMIX_SUCCESS;
    }
    while (src[count] != NULL) {
        count++;
    }
    *dst = calloc(count + 1, sizeof(char *));
    if (*dst == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < count; i++) {
        if (string_copy(&(*dst)[i], src[i]) != PMIX_SUCCESS) {
            return PMIX_ERR_OUT_OF_RESOURCE; /* the caller frees what is there */
        }
    }
    return PMIX_SUCCESS;
}

static void argv_free(char **argv)
{
    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++) {
        free(argv[i]);
    }
    free(argv);
}

static pmix_status_t array_copy(void **dst, size_t *dst_count, const void *src, size_t count,
                                pmix_data_type_t type, unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);
    size_t size_bytes;
    void *block;
    pmix_status_t rc;

    if (count == 0) {
        return PMIX_SUCCESS; /* no block, with any @src */
    }
    if (row == NULL) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    if (src == NULL || depth >= SX_VALUE_DEPTH_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (!sx_mul_size(count, row->size_bytes, &size_bytes)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    block = malloc(size_bytes);
    if (block == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = elements_copy(block, src, count, type, depth + 1);
    if (rc != PMIX_SUCCESS) {
        free(block);
        return rc;
    }
    *dst = block;
    *dst_count = count;
    return PMIX_SUCCESS;
}

/* @dst is zeroed. */
static pmix_status_t value_copy(pmix_value_t *dst, const pmix_value_t *src, unsigned depth)
{
    const struct sx_type *row = sx_type_find(src->type);
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;

    if (src->type == PMIX_UNDEF) {
        return PMIX_SUCCESS;
    }
    if (row == NULL) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    switch ((enum sx_where)row->in_value) {
    case SX_WHERE_NOWHERE:
        return PMIX_ERR_NOT_SUPPORTED;
    case SX_WHERE_UNION:
        rc = elements_copy(&dst->data, &src->data, 1, src->type, depth);
        break;
    case SX_WHERE_BORROWED:
        dst->data.ptr = src->data.ptr;
        rc = PMIX_SUCCESS;
        break;
    case SX_WHERE_POINTER:
        rc = PMIX_SUCCESS;
        if (src->data.ptr != NULL) {
            void *block = malloc(row->size_bytes);

            if (block == NULL) {
                return PMIX_ERR_OUT_OF_RESOURCE;
            }
            rc = elements_copy(block, src->data.ptr, 1, src->type, depth);
            if (rc != PMIX_SUCCESS) {
                free(block);
                return rc;
            }
            dst->data.ptr = block;
        }
        break;
    }
    if (rc == PMIX_SUCCESS) {
        dst->type = src->type;
    }
    return rc;
}

static pmix_status_t member_copy(void *dst, const void *src, const struct sx_member *m,
                                 unsigned depth)
{
    pmix_data_type_t type = m->type;

    switch ((enum sx_member_kind)m->kind) {
    case SX_MEMBER_PLAIN:
    case SX_MEMBER_NAME:
        memcpy(&FIELD(char, dst, m->off), &CFIELD(char, src, m->off), m->size);
        return PMIX_SUCCESS;
    case SX_MEMBER_STRING:
        return string_copy(&FIELD(char *, dst, m->off), CFIELD(char *, src, m->off));
    case SX_MEMBER_ARGV:
        return argv_copy(&FIELD(char **, dst, m->off), CFIELD(char **, src, m->off));
    case SX_MEMBER_BYTES: {
        const pmix_byte_object_t *bytes = &CFIELD(pmix_byte_object_t, src, m->off);

        return bytes_copy(&FIELD(pmix_byte_object_t, dst, m->off), bytes->bytes, bytes->size);
    }
    case SX_MEMBER_BUFFER:
        return buffer_copy(&FIELD(pmix_data_buffer_t, dst, m->off),
                           &CFIELD(pmix_data_buffer_t, src, m->off));
    case SX_MEMBER_VALUE:
        return value_copy(&FIELD(pmix_value_t, dst, m->off), &CFIELD(pmix_value_t, src, m->off),
                          depth);
    case SX_MEMBER_TYPED:
        type = CFIELD(pmix_data_type_t, src, m->type_off);
        FIELD(pmix_data_type_t, dst, m->type_off) = type;
        if (CFIELD(void *, src, m->off) == NULL) {
            return PMIX_SUCCESS; /* an empty array, whatever its size says */
        }
        /* fall through */
    case SX_MEMBER_ARRAY:
        return array_copy(&FIELD(void *, dst, m->off), &FIELD(size_t, dst, m->count_off),
                          CFIELD(void *, src, m->off), CFIELD(size_t, src, m->count_off), type,
                          depth);
    case SX_MEMBER_OPAQUE:
        break; /* what it means depends on the whole element, which sx_opaque_copy is given */
    }
    return PMIX_SUCCESS;
}

static pmix_status_t element_copy(void *dst, const void *src, pmix_data_type_t type,
                                  const struct sx_type *row, unsigned depth)
{
    pmix_status_t rc = PMIX_SUCCESS;

    switch ((enum sx_type_kind)row->kind) {
    case SX_TYPE_STRING:
        return string_copy(dst, *(char *const *)src);
    case SX_TYPE_BYTES:
        return bytes_copy(dst, ((const pmix_byte_object_t *)src)->bytes,
                          ((const pmix_byte_object_t *)src)->size);
    case SX_TYPE_STRUCT:
        for (size_t i = 0; i < row->member_count && rc == PMIX_SUCCESS; i++) {
            rc = member_copy(dst, src, &row->members[i], depth);
        }
        if (type == PMIX_INFO) {
            ((pmix_info_t *)dst)->flags &= ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;
        }
        return rc == PMIX_SUCCESS ? sx_opaque_copy(dst, src, type) : rc;
    default:
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
}

static pmix_status_t elements_copy(void *dst, const void *src, size_t count, pmix_data_type_t type,
                                   unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);

    if (row == NULL) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    if (row->kind == SX_TYPE_PLAIN || row->kind == SX_TYPE_POINTER) {
        memcpy(dst, src, count * row->size_bytes);
        return PMIX_SUCCESS;
    }
    memset(dst, 0, count * row->size_bytes);
    for (size_t i = 0; i < count; i++) {
        const size_t off = i * row->size_bytes;
        const pmix_status_t rc = element_copy((char *)dst + off, (const char *)src + off, type, row,
                                              depth);
        if (rc != PMIX_SUCCESS) {
            elements_destruct(dst, i + 1, type, depth);
            return rc;
        }
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_elements_copy(void *dst, const void *src, size_t count, pmix_data_type_t type)
{
    return elements_copy(dst, src, count, type, 0);
}

static void member_destruct(void *element, const struct sx_member *m, unsigned depth)
{
    pmix_data_type_t type = m->type;

    switch ((enum sx_member_kind)m->kind) {
    case SX_MEMBER_STRING:
        free(FIELD(char *, element, m->off));
        break;
    case SX_MEMBER_ARGV:
        argv_free(FIELD(char **, element, m->off));
        break;
    case SX_MEMBER_BYTES:
        free(FIELD(pmix_byte_object_t, element, m->off).bytes);
        break;
    case SX_MEMBER_BUFFER:
        free(FIELD(pmix_data_buffer_t, element, m->off).base_ptr);
        break;
    case SX_MEMBER_VALUE:
        value_destruct(&FIELD(pmix_value_t, element, m->off), depth);
        break;
    case SX_MEMBER_TYPED:
        type = FIELD(pmix_data_type_t, element, m->type_off);
        /* fall through */
    case SX_MEMBER_ARRAY:
        if (FIELD(void *, element, m->off) != NULL && depth < SX_VALUE_DEPTH_MAX) {
            elements_destruct(FIELD(void *, element, m->off), FIELD(size_t, element, m->count_off),
                              type, depth + 1);
        }
        free(FIELD(void *, element, m->off));
        break;
    default:
        break;
    }
}

static void elements_destruct(void *elements, size_t count, pmix_data_type_t type, unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);

    if (row == NULL || count == 0) { /* nothing may have no address */
        return;
    }
    for (size_t i = 0; i < count; i++) {
        void *element = (char *)elements + i * row->size_bytes;

        if (row->kind == SX_TYPE_STRING) {
            free(*(char **)element);
        } else if (row->kind == SX_TYPE_BYTES) {
            free(((pmix_byte_object_t *)element)->bytes);
        } else if (row->kind == SX_TYPE_STRUCT) {
            if (type == PMIX_INFO && (((pmix_info_t *)element)->flags & PMIX_INFO_PERSISTENT)) {
                memset(&((pmix_info_t *)element)->value, 0, sizeof(pmix_value_t));
            }
            sx_opaque_destruct(element, type);
            for (size_t j = 0; j < row->member_count; j++) {
                member_destruct(element, &row->members[j], depth);
            }
        }
    }
    memset(elements, 0, count * row->size_bytes);
}

void sx_elements_destruct(void *elements, size_t count, pmix_data_type_t type)
{
    elements_destruct(elements, count, type, 0);
}

pmix_status_t sx_value_copy(pmix_value_t *dst, const pmix_value_t *src)
{
    memset(dst, 0, sizeof(*dst));
    return value_copy(dst, src, 0);
}

static void value_destruct(pmix_value_t *value, unsigned depth)
{
    const struct sx_type *row = sx_type_find(value->type);

    if (row != NULL && row->in_value == SX_WHERE_UNION) {
        elements_destruct(&value->data, 1, value->type, depth);
    } else if (row != NULL && row->in_value == SX_WHERE_POINTER && value->data.ptr != NULL) {
        elements_destruct(value->data.ptr, 1, value->type, depth);
        free(value->data.ptr);
    }
    memset(value, 0, sizeof(*value));
}

void sx_value_destruct(pmix_value_t *value)
{
    value_destruct(value, 0);
}

/* A value that a caller passes as a C string. */
static pmix_status_t text_load(pmix_value_t *value, const char *text)
{
    if (value->type == PMIX_STRING) {
        return string_copy(&value->data.string, text);
    }
    if (value->type == PMIX_REGEX) {
        return bytes_copy(&value->data.bo, text, strlen(text) + 1);
    }
    if (sx_name_len(text, sizeof(pmix_nspace_t)) == sizeof(pmix_nspace_t)) {
        return PMIX_ERR_BAD_PARAM;
    }
    value->data.ptr = calloc(1, sizeof(pmix_nspace_t));
    if (value->data.ptr == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    strcpy(value->data.ptr, text);
    return PMIX_SUCCESS;
}

pmix_status_t sx_value_load(pmix_value_t *value, const void *data, pmix_data_type_t type)
{
    const struct sx_type *row = sx_type_find(type);
    pmix_value_t given = { .type = type };
    pmix_status_t rc;

    memset(value, 0, sizeof(*value));
    if (type == PMIX_UNDEF) {
        return PMIX_SUCCESS;
    }
    if (row == NULL) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    if (row->in_value == SX_WHERE_NOWHERE) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    value->type = type;
    if (data == NULL) {
        /* A directive that is merely present is true; all else is empty. */
        value->data.flag = type == PMIX_BOOL;
        return PMIX_SUCCESS;
    }
    if (type == PMIX_STRING || type == PMIX_REGEX || type == PMIX_PROC_NSPACE) {
        rc = text_load(value, data);
    } else if (row->in_value == SX_WHERE_UNION && row->kind != SX_TYPE_POINTER) {
        rc = elements_copy(&value->data, data, 1, type, 0);
    } else {
        /* The pointer is stored, not followed: its target has another owner. */
        memcpy(&given.data.ptr, &data, sizeof(data));
        memset(value, 0, sizeof(*value));
        rc = value_copy(value, &given, 0);
    }
    if (rc != PMIX_SUCCESS) {
        memset(value, 0, sizeof(*value));
    }
    return rc;
}

/* A plain integer of any width; @negative: the bits are those of an int64_t below 0. */
static bool integer_read(const void *at, const struct sx_type *row, uint64_t *ret, bool *negative)
{
    *negative = false;
    *ret = 0;
    memcpy(ret, at, row->size_bytes); /* little-endian, as the flat format is */
    if (row->number == SX_NUMBER_INT) {
        const unsigned shift = 64 - 8 * row->size_bytes;

        *ret = (uint64_t)((int64_t)(*ret << shift) >> shift);
        *negative = (int64_t)*ret < 0;
    }
    return row->number == SX_NUMBER_INT || row->number == SX_NUMBER_UINT;
}

static bool value_integer(const pmix_value_t *value, uint64_t *ret, bool *negative)
{
    const struct sx_type *row = value == NULL ? NULL : sx_type_find(value->type);

    return row != NULL && row->in_value == SX_WHERE_UNION && row->number != SX_NUMBER_NONE &&
           integer_read(&value->data, row, ret, negative);
}

pmix_status_t sx_value_get_uint(const pmix_value_t *value, uint64_t *ret)
{
    uint64_t bits;
    bool negative;

    if (!value_integer(value, &bits, &negative) || negative) {
        return PMIX_ERR_BAD_PARAM;
    }
    *ret = bits;
    return PMIX_SUCCESS;
}

pmix_status_t sx_value_get_int(const pmix_value_t *value, int64_t *ret)
{
    uint64_t bits;
    bool negative;

    if (!value_integer(value, &bits, &negative) || (!negative && bits > INT64_MAX)) {
        return PMIX_ERR_BAD_PARAM;
    }
    *ret = (int64_t)bits;
    return PMIX_SUCCESS;
}

bool sx_value_is_true(const pmix_value_t *value)
{
    static const char *const yes[] = { "true", "t", "yes", "y", "1" };
    uint64_t bits;
    bool negative;

    if (value->type == PMIX_UNDEF) {
        return true;
    }
    if (value->type == PMIX_BOOL) {
        return value->data.flag;
    }
    if (value->type == PMIX_STRING && value->data.string != NULL) {
        for (size_t i = 0; i < SX_COUNT(yes); i++) {
            if (strcasecmp(value->data.string, yes[i]) == 0) {
                return true;
            }
        }
        return false;
    }
    return value_integer(value, &bits, &negative) && bits != 0;
}

static const pmix_info_t *spelt_find(const pmix_info_t *info, size_t ninfo, const char *key)
{
    for (size_t i = 0; info != NULL && i < ninfo; i++) {
        if (strncmp(info[i].key, key, PMIX_MAX_KEYLEN) == 0) {
            return &info[i];
        }
    }
    return NULL;
}

const pmix_info_t *sx_info_find(const pmix_info_t *info, size_t ninfo, const char *key)
{
    const pmix_info_t *const found = spelt_find(info, ninfo, key);
    const char *const also = found == NULL && ninfo != 0 ? sx_attribute_also(key) : NULL;

    return also != NULL ? spelt_find(info, ninfo, also) : found;
}

size_t sx_name_len(const char *name, size_t size)
{
    return strnlen(name, size);
}

int sx_proc_order(const void *left, const void *right)
{
    const pmix_proc_t *a = left, *b = right;
    const int names = strcmp(a->nspace, b->nspace);

    return names != 0 ? names : a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pack.c - write elements into a buffer, by a walk over the type table.
 *
 * Leaves are appended in the order of the walk; when it fails, the buffer is cut back to where it
 * began.  Every recursion passes an array, and arrays count the depth. */
#include "base/value/pack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/value/opaque.h"
#include "base/value/type.h"
#include "base/value/value.h"

#define SX_BUFFER_SIZE_MIN 256
#define CFIELD(type, base, off) (*(type const *)(const void *)((const char *)(base) + (off)))

static pmix_status_t put_elements(pmix_data_buffer_t *b, const void *src, size_t count,
                                  pmix_data_type_t type, unsigned depth);

bool sx_buffer_is_sound(const pmix_data_buffer_t *b)
{
    if (b->base_ptr == NULL) {
        return b->bytes_used == 0 && b->pack_ptr == NULL && b->unpack_ptr == NULL;
    }
    /* As numbers, since pointers into different blocks have no order. */
    return b->bytes_used <= b->bytes_allocated &&
           (uintptr_t)b->pack_ptr - (uintptr_t)b->base_ptr == b->bytes_used &&
           (uintptr_t)b->unpack_ptr - (uintptr_t)b->base_ptr <= b->bytes_used;
}

size_t sx_buffer_rest(const pmix_data_buffer_t *b)
{
    return b->base_ptr == NULL ? 0 : (size_t)(b->pack_ptr - b->unpack_ptr);
}

pmix_status_t sx_buffer_reserve(pmix_data_buffer_t *b, size_t size)
{
    const size_t unpacked = b->base_ptr == NULL ? 0 : (size_t)(b->unpack_ptr - b->base_ptr);
    const size_t allocated = b->base_ptr == NULL ? 0 : b->bytes_allocated;
    size_t wanted, grown;
    char *base;

    if (b->base_ptr != NULL && size <= allocated - b->bytes_used) {
        return PMIX_SUCCESS;
    }
    if (!sx_add_size(b->bytes_used, size, &wanted) || wanted > PTRDIFF_MAX) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (sx_mul_size(allocated, 2, &grown) && grown <= PTRDIFF_MAX && wanted < grown) {
        wanted = grown;
    }
    wanted = wanted < SX_BUFFER_SIZE_MIN ? SX_BUFFER_SIZE_MIN : wanted;
    base = realloc(b->base_ptr, wanted);
    if (base == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    b->base_ptr = base;
    b->pack_ptr = base + b->bytes_used;
    b->unpack_ptr = base + unpacked;
    b->bytes_allocated = wanted;
    return PMIX_SUCCESS;
}

pmix_status_t sx_buffer_append(pmix_data_buffer_t *b, const void *bytes, size_t size)
{
    const pmix_status_t rc = size == 0 ? PMIX_SUCCESS : sx_buffer_reserve(b, size);

    if (rc == PMIX_SUCCESS && size > 0) {
        memcpy(b->pack_ptr, bytes, size);
        b->pack_ptr += size;
        b->bytes_used += size;
    }
    return rc;
}

static pmix_status_t put_length(pmix_data_buffer_t *b, uint64_t length)
{
    return sx_buffer_append(b, &length, sizeof(length));
}

static pmix_status_t put_counted(pmix_data_buffer_t *b, const void *bytes, size_t size)
{
    const pmix_status_t rc = put_length(b, size);

    return rc == PMIX_SUCCESS ? sx_buffer_append(b, bytes, size) : rc;
}

static pmix_status_t put_string(pmix_data_buffer_t *b, const char *text)
{
    return put_counted(b, text, text == NULL ? 0 : strlen(text) + 1);
}

static pmix_status_t put_bytes(pmix_data_buffer_t *b, const pmix_byte_object_t *bytes)
{
    if (bytes->bytes == NULL && bytes->size > 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    return put_counted(b, bytes->bytes, bytes->size);
}

static pmix_status_t put_name(pmix_data_buffer_t *b, const char *name, size_t size)
{
    const size_t len = sx_name_len(name, size);
    char text[PMIX_MAX_KEYLEN + 1];

    if (len == size || len >= sizeof(text)) {
        return PMIX_ERR_BAD_PARAM;
    }
    memcpy(text, name, len);
    text[len] = '\0';
    return put_counted(b, text, len + 1);
}

static pmix_status_t put_argv(pmix_data_buffer_t *b, char *const *argv)
{
    size_t count = 0;
    pmix_status_t rc;

    if (argv == NULL) {
        return put_length(b, 0);
    }
    while (argv[count] != NULL) {
        count++;
    }
    rc = put_length(b, count + 1);
    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        rc = put_string(b, argv[i]);
    }
    return rc;
}

/* A buffer that grows while it is read cannot be packed into itself. */
static pmix_status_t put_buffer(pmix_data_buffer_t *b, const pmix_data_buffer_t *src)
{
    if (src == b || !sx_buffer_is_sound(src) ||
        (src->base_ptr != NULL && src->base_ptr == b->base_ptr)) {
        return PMIX_ERR_BAD_PARAM;
    }
    return put_counted(b, src->unpack_ptr, sx_buffer_rest(src));
}

static pmix_status_t put_array(pmix_data_buffer_t *b, const void *array, size_t count,
                               pmix_data_type_t type, unsigned depth)
{
    const pmix_status_t rc = put_length(b, count);

    if (rc != PMIX_SUCCESS || count == 0) {
        return rc;
    }
    if (array == NULL || depth >= SX_VALUE_DEPTH_MAX) {
        return PMIX_ERR_BAD_PARAM;
    }
    return put_elements(b, array, count, type, depth + 1);
}

static pmix_status_t put_typed(pmix_data_buffer_t *b, const void *array, size_t count,
                               pmix_data_type_t type, unsigned depth)
{
    pmix_status_t rc;

    if (sx_type_find(type) == NULL && (type != PMIX_UNDEF || count != 0)) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    rc = sx_buffer_append(b, &type, sizeof(type));
    return rc == PMIX_SUCCESS ? put_array(b, array, count, type, depth) : rc;
}

static pmix_status_t put_value(pmix_data_buffer_t *b, const pmix_value_t *value, unsigned depth)
{
    const struct sx_type *row = sx_type_find(value->type);
    const void *element = &value->data;
    pmix_status_t rc = sx_buffer_append(b, &value->type, sizeof(value->type));

    if (rc != PMIX_SUCCESS || value->type == PMIX_UNDEF) {
        return rc;
    }
    if (row == NULL) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    if (row->in_value == SX_WHERE_NOWHERE || row->in_value == SX_WHERE_BORROWED) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (row->in_value == SX_WHERE_POINTER) {
        const uint8_t present = value->data.ptr != NULL;

        element = value->data.ptr;
        rc = sx_buffer_append(b, &present, sizeof(present));
        if (rc != PMIX_SUCCESS || !present) {
            return rc;
        }
    }
    return put_elements(b, element, 1, value->type, depth);
}

static pmix_status_t put_opaque(pmix_data_buffer_t *b, const void *element, pmix_data_type_t type)
{
    char *text = NULL;
    pmix_status_t rc = sx_opaque_text(element, type, &text);

    if (rc == PMIX_SUCCESS) {
        rc = put_string(b, text);
    }
    if (rc == PMIX_SUCCESS && type == PMIX_TOPO && text != NULL) {
        const uint64_t hash = sx_opaque_hash(text, strlen(text));

        rc = sx_buffer_append(b, &hash, sizeof(hash));
    }
    free(text);
    return rc;
}

static pmix_status_t put_plain(pmix_data_buffer_t *b, const void *element,
                               const struct sx_member *m, pmix_data_type_t owner, unsigned depth)
{
    if (owner == PMIX_INFO) {
        const pmix_info_directives_t flags = CFIELD(pmix_info_directives_t, element, m->off) &
                                             ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;

        return sx_buffer_append(b, &flags, sizeof(flags));
    }
    return put_elements(b, &CFIELD(char, element, m->off), 1, m->type, depth);
}

/* @owner is the type of @element. */
static pmix_status_t put_member(pmix_data_buffer_t *b, const void *element,
                                const struct sx_member *m, pmix_data_type_t owner, unsigned depth)
{
    switch ((enum sx_member_kind)m->kind) {
    case SX_MEMBER_PLAIN:
        return put_plain(b, element, m, owner, depth);
    case SX_MEMBER_NAME:
        return put_name(b, &CFIELD(char, element, m->off), m->size);
    case SX_MEMBER_STRING:
        return put_string(b, CFIELD(char *, element, m->off));
    case SX_MEMBER_ARGV:
        return put_argv(b, CFIELD(char **, element, m->off));
    case SX_MEMBER_BYTES:
        return put_bytes(b, &CFIELD(pmix_byte_object_t, element, m->off));
    case SX_MEMBER_BUFFER:
        return put_buffer(b, &CFIELD(pmix_data_buffer_t, element, m->off));
    case SX_MEMBER_VALUE:
        return put_value(b, &CFIELD(pmix_value_t, element, m->off), depth);
    case SX_MEMBER_ARRAY:
        return put_array(b, CFIELD(void *, element, m->off), CFIELD(size_t, element, m->count_off),
                         m->type, depth);
    case SX_MEMBER_TYPED:
        return put_typed(b, CFIELD(void *, element, m->off), CFIELD(size_t, element, m->count_off),
                         CFIELD(pmix_data_type_t, element, m->type_off), depth);
    case SX_MEMBER_OPAQUE:
        return put_opaque(b, element, owner);
    }
    return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t put_element(pmix_data_buffer_t *b, const void *element,
                                 const struct sx_type *row, pmix_data_type_t type, unsigned depth)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (row->number == SX_NUMBER_BOOL) {
        const uint8_t truth = *(const uint8_t *)element != 0;

        return sx_buffer_append(b, &truth, sizeof(truth));
    }
    if (row->kind == SX_TYPE_STRING) {
        return put_string(b, *(char *const *)element);
    }
    if (row->kind == SX_TYPE_BYTES) {
        return put_bytes(b, element);
    }
    for (size_t i = 0; i < row->member_count && rc == PMIX_SUCCESS; i++) {
        rc = put_member(b, element, &row->members[i], type, depth);
    }
    return rc;
}

static pmix_status_t put_elements(pmix_data_buffer_t *b, const void *src, size_t count,
                                  pmix_data_type_t type, unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);
    pmix_status_t rc = PMIX_SUCCESS;
    size_t size;

    if (row == NULL) {
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    }
    if (row->kind == SX_TYPE_POINTER) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (!sx_mul_size(count, row->size_bytes, &size)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (row->number != SX_NUMBER_NONE && row->number != SX_NUMBER_BOOL) {
        return sx_buffer_append(b, src, size);
    }
    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        rc = put_element(b, (const char *)src + i * row->size_bytes, row, type, depth);
    }
    return rc;
}

pmix_status_t sx_pack(pmix_data_buffer_t *b, const void *src, size_t count, pmix_data_type_t type)
{
    const uint32_t head_count = (uint32_t)count;
    size_t before;
    pmix_status_t rc;

    if (!sx_buffer_is_sound(b) || count > INT32_MAX || (src == NULL && count > 0)) {
        return PMIX_ERR_BAD_PARAM;
    }
    before = b->bytes_used;
    rc = sx_buffer_append(b, &type, sizeof(type));
    if (rc == PMIX_SUCCESS) {
        rc = sx_buffer_append(b, &head_count, sizeof(head_count));
    }
    if (rc == PMIX_SUCCESS) {
        rc = put_elements(b, src, count, type, 0);
    }
    if (rc != PMIX_SUCCESS && b->base_ptr != NULL) {
        b->bytes_used = before;
        b->pack_ptr = b->base_ptr + before;
    }
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* unpack.c - read elements out of a buffer whose bytes are not trusted.
 *
 * Destinations are zeroed before they are filled, and what is allocated is linked into them at
 * once: after a failure the ordinary destructor frees what there is.  The reader works on a copy of
 * the buffer's position, which is stored back in success alone. */
#include "base/value/pack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/value/opaque.h"
#include "base/value/type.h"
#include "base/value/value.h"

#define FIELD(type, base, off) (*(type *)(void *)((char *)(base) + (off)))

struct reader {
    const char *at;
    size_t rest; /* bytes from there to the end */
};

static pmix_status_t get_elements(struct reader *r, void *dst, size_t count, pmix_data_type_t type,
                                  unsigned depth);

/* Bytes of the smallest element of @row, at least 1 but for what cannot be packed. */
static size_t size_min(const struct sx_type *row)
{
    size_t sum = 0;

    if (row->number != SX_NUMBER_NONE) {
        return row->size_bytes;
    }
    if (row->kind == SX_TYPE_STRING || row->kind == SX_TYPE_BYTES) {
        return sizeof(uint64_t);
    }
    for (size_t i = 0; i < row->member_count; i++) {
        switch ((enum sx_member_kind)row->members[i].kind) {
        case SX_MEMBER_PLAIN:
            sum += size_min(sx_type_find(row->members[i].type));
            break;
        case SX_MEMBER_NAME:
            sum += sizeof(uint64_t) + 1; /* the NUL */
            break;
        case SX_MEMBER_VALUE:
            sum += sizeof(pmix_data_type_t);
            break;
        case SX_MEMBER_TYPED:
            sum += sizeof(pmix_data_type_t) + sizeof(uint64_t);
            break;
        default:
            sum += sizeof(uint64_t);
            break;
        }
    }
    return sum;
}

static pmix_status_t get(struct reader *r, void *dst, size_t size)
{
    if (size > r->rest) {
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    }
    memcpy(dst, r->at, size);
    r->at += size;
    r->rest -= size;
    return PMIX_SUCCESS;
}

/* A length with the bytes that it counts, which stay where they are. */
static pmix_status_t get_counted(struct reader *r, const char **ret_bytes, size_t *ret_size)
{
    uint64_t size;
    const pmix_status_t rc = get(r, &size, sizeof(size));

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (size > r->rest) {
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    }
    *ret_bytes = r->at;
    *ret_size = size;
    r->at += size;
    r->rest -= size;
    return PMIX_SUCCESS;
}

/* The string where it lies; @ret_text is NULL for a NULL string. */
static pmix_status_t get_text(struct reader *r, const char **ret_text, size_t *ret_size)
{
    const pmix_status_t rc = get_counted(r, ret_text, ret_size);

    if (rc == PMIX_SUCCESS && *ret_size == 0) {
        *ret_text = NULL;
    } else if (rc == PMIX_SUCCESS &&
               memchr(*ret_text, '\0', *ret_size) != *ret_text + *ret_size - 1) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    return rc;
}

static pmix_status_t get_string(struct reader *r, char **out)
{
    const char *text;
    size_t size;
    const pmix_status_t rc = get_text(r, &text, &size);

    if (rc != PMIX_SUCCESS || text == NULL) {
        return rc;
    }
    *out = malloc(size);
    if (*out == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(*out, text, size);
    return PMIX_SUCCESS;
}

static pmix_status_t get_name(struct reader *r, char *out, size_t out_size)
{
    const char *text;
    size_t size;
    const pmix_status_t rc = get_text(r, &text, &size);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (text == NULL || size > out_size) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    memcpy(out, text, size);
    return PMIX_SUCCESS;
}

static pmix_status_t get_bytes(struct reader *r, pmix_byte_object_t *out)
{
    const char *bytes;
    size_t size;
    const pmix_status_t rc = get_counted(r, &bytes, &size);

    if (rc != PMIX_SUCCESS || size == 0) {
        return rc;
    }
    out->bytes = malloc(size);
    if (out->bytes == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(out->bytes, bytes, size);
    out->size = size;
    return PMIX_SUCCESS;
}

static pmix_status_t get_buffer(struct reader *r, pmix_data_buffer_t *out)
{
    pmix_byte_object_t bytes = { .bytes = NULL, .size = 0 };
    const pmix_status_t rc = get_bytes(r, &bytes);

    if (bytes.bytes != NULL) {
        out->base_ptr = out->unpack_ptr = bytes.bytes;
        out->pack_ptr = bytes.bytes + bytes.size;
        out->bytes_allocated = out->bytes_used = bytes.size;
    }
    return rc;
}

static pmix_status_t get_argv(struct reader *r, char ***out)
{
    uint64_t count;
    pmix_status_t rc = get(r, &count, sizeof(count));

    if (rc != PMIX_SUCCESS || count == 0) {
        return rc;
    }
    /* The last of the counted entries is the NULL that ends the vector. */
    if (count - 1 > r->rest / (sizeof(uint64_t) + 1)) {
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    }
    *out = calloc(count, sizeof(char *));
    if (*out == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i + 1 < count && rc == PMIX_SUCCESS; i++) {
        rc = get_string(r, &(*out)[i]);
        if (rc == PMIX_SUCCESS && (*out)[i] == NULL) {
            return PMIX_ERR_UNPACK_FAILURE; /* it would end the vector early */
        }
    }
    return rc;
}

static pmix_status_t get_array(struct reader *r, void **out, size_t *out_count,
                               pmix_data_type_t type, unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);
    uint64_t count;
    const pmix_status_t rc = get(r, &count, sizeof(count));

    if (rc != PMIX_SUCCESS || count == 0) {
        return rc;
    }
    if (row == NULL || row->kind == SX_TYPE_POINTER || depth >= SX_VALUE_DEPTH_MAX) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (count > r->rest / size_min(row)) {
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    }
    *out = calloc(count, row->size_bytes);
    if (*out == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *out_count = count;
    return get_elements(r, *out, count, type, depth + 1);
}

static pmix_status_t get_typed(struct reader *r, void *element, const struct sx_member *m,
                               unsigned depth)
{
    pmix_data_type_t type;
    pmix_status_t rc = get(r, &type, sizeof(type));

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (sx_type_find(type) == NULL && type != PMIX_UNDEF) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    FIELD(pmix_data_type_t, element, m->type_off) = type;
    return get_array(r, &FIELD(void *, element, m->off), &FIELD(size_t, element, m->count_off),
                     type, depth);
}

/* A byte that is 0 or 1. */
static pmix_status_t get_truth(struct reader *r, uint8_t *out)
{
    uint8_t truth;
    const pmix_status_t rc = get(r, &truth, sizeof(truth));

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    *out = truth;
    return truth > 1 ? PMIX_ERR_UNPACK_FAILURE : PMIX_SUCCESS;
}

static pmix_status_t get_value(struct reader *r, pmix_value_t *out, unsigned depth)
{
    const struct sx_type *row;
    void *element = &out->data;
    pmix_data_type_t type;
    pmix_status_t rc = get(r, &type, sizeof(type));

    if (rc != PMIX_SUCCESS || type == PMIX_UNDEF) {
        return rc;
    }
    row = sx_type_find(type);
    if (row == NULL || row->kind == SX_TYPE_POINTER ||
        (row->in_value != SX_WHERE_UNION && row->in_value != SX_WHERE_POINTER)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    out->type = type;
    if (row->in_value == SX_WHERE_POINTER) {
        uint8_t present = 0;

        rc = get_truth(r, &present);
        if (rc != PMIX_SUCCESS || !present) {
            return rc;
        }
        if (size_min(row) > r->rest) {
            return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
        }
        element = out->data.ptr = calloc(1, row->size_bytes);
        if (element == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    return get_elements(r, element, 1, type, depth);
}

/* Damage is found before hwloc sees it. */
static pmix_status_t get_hash(struct reader *r, const char *text, size_t len)
{
    uint64_t hash;
    const pmix_status_t rc = get(r, &hash, sizeof(hash));

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return hash == sx_opaque_hash(text, len) ? PMIX_SUCCESS : PMIX_ERR_UNPACK_FAILURE;
}

static pmix_status_t get_opaque(struct reader *r, void *element, pmix_data_type_t type)
{
    const char *text;
    size_t size;
    pmix_status_t rc = get_text(r, &text, &size);

    if (rc != PMIX_SUCCESS || text == NULL) {
        return rc;
    }
    if (type == PMIX_TOPO) {
        rc = get_hash(r, text, size - 1);
    }
    return rc == PMIX_SUCCESS ? sx_opaque_parse(element, type, text) : rc;
}

/* @owner is the type of @element. */
static pmix_status_t get_member(struct reader *r, void *element, const struct sx_member *m,
                                pmix_data_type_t owner, unsigned depth)
{
    pmix_status_t rc;

    switch ((enum sx_member_kind)m->kind) {
    case SX_MEMBER_PLAIN:
        rc = get_elements(r, &FIELD(char, element, m->off), 1, m->type, depth);
        if (owner == PMIX_INFO && (((pmix_info_t *)element)->flags & PMIX_INFO_PERSISTENT)) {
            return PMIX_ERR_UNPACK_FAILURE; /* the value would be taken for a borrowed one */
        }
        return rc;
    case SX_MEMBER_NAME:
        return get_name(r, &FIELD(char, element, m->off), m->size);
    case SX_MEMBER_STRING:
        return get_string(r, &FIELD(char *, element, m->off));
    case SX_MEMBER_ARGV:
        return get_argv(r, &FIELD(char **, element, m->off));
    case SX_MEMBER_BYTES:
        return get_bytes(r, &FIELD(pmix_byte_object_t, element, m->off));
    case SX_MEMBER_BUFFER:
        return get_buffer(r, &FIELD(pmix_data_buffer_t, element, m->off));
    case SX_MEMBER_VALUE:
        return get_value(r, &FIELD(pmix_value_t, element, m->off), depth);
    case SX_MEMBER_ARRAY:
        return get_array(r, &FIELD(void *, element, m->off), &FIELD(size_t, element, m->count_off),
                         m->type, depth);
    case SX_MEMBER_TYPED:
        return get_typed(r, element, m, depth);
    case SX_MEMBER_OPAQUE:
        return get_opaque(r, element, owner);
    }
    return PMIX_ERR_UNPACK_FAILURE;
}

static pmix_status_t get_element(struct reader *r, void *element, const struct sx_type *row,
                                 pmix_data_type_t type, unsigned depth)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (row->number == SX_NUMBER_BOOL) {
        return get_truth(r, element);
    }
    if (row->kind == SX_TYPE_STRING) {
        return get_string(r, element);
    }
    if (row->kind == SX_TYPE_BYTES) {
        return get_bytes(r, element);
    }
    for (size_t i = 0; i < row->member_count && rc == PMIX_SUCCESS; i++) {
        rc = get_member(r, element, &row->members[i], type, depth);
    }
    return rc;
}

/* @dst is zeroed, @type is one that can be packed. */
static pmix_status_t get_elements(struct reader *r, void *dst, size_t count, pmix_data_type_t type,
                                  unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);
    pmix_status_t rc = PMIX_SUCCESS;

    if (row->number != SX_NUMBER_NONE && row->number != SX_NUMBER_BOOL) {
        return get(r, dst, count * row->size_bytes);
    }
    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        rc = get_element(r, (char *)dst + i * row->size_bytes, row, type, depth);
    }
    return rc;
}

/* Integers are as good as each other when they have the same size and signedness: a rank may be
 * unpacked as a uint32_t. */
static bool types_agree(pmix_data_type_t packed, pmix_data_type_t wanted)
{
    const struct sx_type *a = sx_type_find(packed), *b = sx_type_find(wanted);

    return packed == wanted ||
           (a != NULL && a->number == b->number && a->size_bytes == b->size_bytes &&
            (a->number == SX_NUMBER_INT || a->number == SX_NUMBER_UINT));
}

/* The head of the next pack. */
static pmix_status_t get_head(struct reader *r, pmix_data_type_t wanted, size_t *ret_count)
{
    const struct sx_type *row = sx_type_find(wanted);
    pmix_data_type_t type;
    uint32_t count;
    pmix_status_t rc = get(r, &type, sizeof(type));

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (!types_agree(type, wanted)) {
        return PMIX_ERR_PACK_MISMATCH;
    }
    rc = get(r, &count, sizeof(count));
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (count > INT32_MAX) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    *ret_count = count;
    return count > r->rest / size_min(row) ? PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER : PMIX_SUCCESS;
}

pmix_status_t sx_unpack(pmix_data_buffer_t *b, void *dst, size_t max, size_t *ret_count,
                        pmix_data_type_t type)
{
    const struct sx_type *row = sx_type_find(type);
    struct reader r;
    size_t count, taken;
    pmix_status_t rc;

    if (!sx_buffer_is_sound(b) || (dst == NULL && max > 0)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (row == NULL || row->kind == SX_TYPE_POINTER) {
        return row == NULL ? PMIX_ERR_UNKNOWN_DATA_TYPE : PMIX_ERR_NOT_SUPPORTED;
    }
    r = (struct reader){ .at = b->unpack_ptr, .rest = sx_buffer_rest(b) };
    rc = get_head(&r, type, &count);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    taken = count < max ? count : max;
    if (taken > 0) {
        memset(dst, 0, taken * row->size_bytes);
        rc = get_elements(&r, dst, taken, type, 0);
    }
    if (rc != PMIX_SUCCESS) {
        sx_elements_destruct(dst, taken, type);
        return rc;
    }
    *ret_count = taken;
    if (taken < count) {
        return PMIX_ERR_UNPACK_INADEQUATE_SPACE;
    }
    b->unpack_ptr = b->base_ptr + (r.at - b->base_ptr);
    return PMIX_SUCCESS;
}

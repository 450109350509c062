/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* samples.h - a value of any type of the type table, different for each seed.
 *
 * Elements are filled member by member as the table describes them; strings and arrays are absent
 * now and then, values inside infos vary with the seed and nest SAMPLE_DEPTH deep. */
#ifndef SX_TEST_BASE_SAMPLES_H
#define SX_TEST_BASE_SAMPLES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/value/type.h"
#include "base/value/value.h"

#define SAMPLE_DEPTH 3
#define SAMPLE_TYPES 128 /* numbers below this are tried as types */
#define AT(type, base, off) (*(type *)(void *)((char *)(base) + (off)))

static void sample_value(pmix_value_t *value, pmix_data_type_t type, unsigned seed, unsigned depth);

/* Types that may leave a process inside a value. */
static inline bool sample_is_value_type(pmix_data_type_t type)
{
    const struct sx_type *row = sx_type_find(type);

    return row != NULL && row->kind != SX_TYPE_POINTER &&
           (row->in_value == SX_WHERE_UNION || row->in_value == SX_WHERE_POINTER);
}

/* Types that may leave a process as elements of an array. */
static inline bool sample_is_element_type(pmix_data_type_t type)
{
    const struct sx_type *row = sx_type_find(type);

    return row != NULL && row->kind != SX_TYPE_POINTER && row->in_value != SX_WHERE_BORROWED;
}

static inline char *sample_string(unsigned seed)
{
    char *text;

    if (seed % 5 == 4) {
        return NULL;
    }
    return asprintf(&text, "%.*s%u", (int)(seed % 9), "abcdefghi", seed) < 0 ? NULL : text;
}

static inline void sample_bytes(pmix_byte_object_t *bytes, unsigned seed)
{
    bytes->size = seed % 4 == 3 ? 0 : 1 + seed % 21;
    bytes->bytes = bytes->size == 0 ? NULL : malloc(bytes->size);
    for (size_t i = 0; i < bytes->size; i++) {
        bytes->bytes[i] = (char)(seed + i);
    }
}

static inline void *sample_array(pmix_data_type_t type, size_t count, unsigned seed,
                                 unsigned depth);

static inline void sample_element(void *element, pmix_data_type_t type, unsigned seed,
                                  unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);

    if (row->kind == SX_TYPE_STRING) {
        *(char **)element = sample_string(seed);
        return;
    }
    if (row->kind == SX_TYPE_BYTES) {
        sample_bytes(element, seed);
        return;
    }
    if (row->member_count == 0) {
        for (size_t i = 0; i < row->size_bytes; i++) {
            ((unsigned char *)element)[i] = (unsigned char)(seed * 7 + i + 1);
        }
        if (row->number == SX_NUMBER_BOOL) {
            *(unsigned char *)element = seed & 1;
        } else if (row->number == SX_NUMBER_FLOAT && row->size_bytes == sizeof(float)) {
            *(float *)element = (float)seed / 2;
        } else if (row->number == SX_NUMBER_FLOAT) {
            *(double *)element = (double)seed / 3;
        }
        return;
    }
    for (size_t i = 0; i < row->member_count; i++, seed++) {
        const struct sx_member *m = &row->members[i];
        const size_t count = depth == 0 ? 0 : seed % 3;

        switch ((enum sx_member_kind)m->kind) {
        case SX_MEMBER_PLAIN:
            sample_element(&AT(char, element, m->off), m->type, seed, depth);
            break;
        case SX_MEMBER_NAME:
            snprintf(&AT(char, element, m->off), m->size, "name.%u", seed);
            break;
        case SX_MEMBER_STRING:
            AT(char *, element, m->off) = sample_string(seed);
            break;
        case SX_MEMBER_BYTES:
            sample_bytes(&AT(pmix_byte_object_t, element, m->off), seed);
            break;
        case SX_MEMBER_BUFFER: {
            pmix_data_buffer_t *buffer = element;
            pmix_byte_object_t bytes;

            sample_bytes(&bytes, seed);
            buffer->base_ptr = buffer->unpack_ptr = bytes.bytes;
            buffer->pack_ptr = bytes.size == 0 ? NULL : bytes.bytes + bytes.size;
            buffer->bytes_used = buffer->bytes_allocated = bytes.size;
            break;
        }
        case SX_MEMBER_ARGV:
            AT(char **, element, m->off) = NULL;
            if (count > 0) {
                char **argv = calloc(count, sizeof(char *)); /* the last stays NULL */

                for (size_t j = 0; j + 1 < count; j++) {
                    argv[j] = strdup("argument");
                }
                AT(char **, element, m->off) = argv;
            }
            break;
        case SX_MEMBER_VALUE:
            sample_value(&AT(pmix_value_t, element, m->off), (pmix_data_type_t)(seed % 74), seed,
                         depth);
            break;
        case SX_MEMBER_TYPED:
            AT(pmix_data_type_t, element, m->type_off) = PMIX_INFO;
            AT(size_t, element, m->count_off) = count;
            AT(void *, element, m->off) = sample_array(PMIX_INFO, count, seed, depth);
            break;
        case SX_MEMBER_ARRAY:
            AT(size_t, element, m->count_off) = count;
            AT(void *, element, m->off) = sample_array(m->type, count, seed, depth);
            break;
        case SX_MEMBER_OPAQUE:
            break;
        }
    }
    if (type == PMIX_INFO) {
        /* A persistent value would not be freed. */
        ((pmix_info_t *)element)->flags &= ~(pmix_info_directives_t)PMIX_INFO_PERSISTENT;
    }
}

static inline void *sample_array(pmix_data_type_t type, size_t count, unsigned seed, unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);
    char *array = count == 0 ? NULL : calloc(count, row->size_bytes);

    for (size_t i = 0; i < count; i++) {
        sample_element(array + i * row->size_bytes, type, seed + (unsigned)i, depth - 1);
    }
    return array;
}

/* UNDEF where @type cannot travel in a value or nesting has to end. */
static inline void sample_value(pmix_value_t *value, pmix_data_type_t type, unsigned seed,
                                unsigned depth)
{
    const struct sx_type *row = sx_type_find(type);

    memset(value, 0, sizeof(*value));
    if (!sample_is_value_type(type)) {
        return;
    }
    value->type = type;
    if (row->in_value == SX_WHERE_UNION) {
        sample_element(&value->data, type, seed, depth);
    } else if (seed % 6 != 5) {
        value->data.ptr = calloc(1, row->size_bytes);
        sample_element(value->data.ptr, type, seed, depth);
    }
}

/* A data array of @count elements of @type as a value. */
static inline void sample_array_value(pmix_value_t *value, pmix_data_type_t type, size_t count,
                                      unsigned seed)
{
    memset(value, 0, sizeof(*value));
    value->type = PMIX_DATA_ARRAY;
    value->data.darray = calloc(1, sizeof(*value->data.darray));
    value->data.darray->type = type;
    value->data.darray->size = count;
    value->data.darray->array = sample_array(type, count, seed, SAMPLE_DEPTH);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wire.c - integers and texts of the other library's messages, read and written.
 *
 * A reader's failure sticks: it stands at its end then, and whatever is read is 0. */
#include "gateway/wire.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_BITS 7
#define MORE 0x80
#define GROUPS_MAX 8 /* the 9th byte of a flex integer is whole */
#define FIRST_ROOM 256

pmix_status_t sx_wire_fail(struct sx_wire_reader *r, pmix_status_t status)
{
    if (r->failed == PMIX_SUCCESS) {
        r->failed = status;
        r->at = r->end;
    }
    return r->failed;
}

const uint8_t *sx_wire_take(struct sx_wire_reader *r, size_t size)
{
    const uint8_t *const at = r->at;

    if (r->failed != PMIX_SUCCESS || size > sx_wire_rest(r)) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
        return NULL;
    }
    r->at += size;
    return at;
}

static uint64_t get_big_endian(struct sx_wire_reader *r, size_t size)
{
    const uint8_t *const at = sx_wire_take(r, size);
    uint64_t number = 0;

    for (size_t i = 0; at != NULL && i < size; i++) {
        number = number << CHAR_BIT | at[i];
    }
    return number;
}

static uint64_t get_flex(struct sx_wire_reader *r, size_t size)
{
    uint64_t number = 0;

    for (unsigned group = 0;; group++) {
        const uint8_t *const at = sx_wire_take(r, 1);

        if (at == NULL) {
            return 0;
        }
        if (group == GROUPS_MAX) {
            number |= (uint64_t)*at << (GROUP_BITS * GROUPS_MAX);
            break;
        }
        number |= (uint64_t)(*at & ~MORE) << (GROUP_BITS * group);
        if ((*at & MORE) == 0) {
            break;
        }
    }
    if (size < sizeof(number) && number >> (size * CHAR_BIT) != 0) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
        return 0;
    }
    return number;
}

uint64_t sx_wire_get_uint(struct sx_wire_reader *r, size_t size)
{
    return r->form.encoding == SX_WIRE_V3 || size == 1 ? get_big_endian(r, size)
                                                       : get_flex(r, size);
}

int64_t sx_wire_get_int(struct sx_wire_reader *r, size_t size)
{
    const uint64_t number = sx_wire_get_uint(r, size);

    if (r->form.encoding == SX_WIRE_V3 || size == 1) {
        const unsigned spare = (unsigned)(sizeof(number) - size) * CHAR_BIT;

        return (int64_t)(number << spare) >> spare; /* the sign goes up */
    }
    return (number & 1) != 0 ? -1 - (int64_t)(number >> 1) : (int64_t)(number >> 1);
}

const char *sx_wire_get_text(struct sx_wire_reader *r)
{
    const int64_t size = sx_wire_get_int(r, sizeof(int32_t));
    const uint8_t *at;

    if (size == 0) {
        return NULL;
    }
    at = size < 0 ? NULL : sx_wire_take(r, (size_t)size);
    if (at == NULL || memchr(at, '\0', (size_t)size) != at + size - 1) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
        return NULL;
    }
    return (const char *)at;
}

size_t sx_wire_count_check(struct sx_wire_reader *r, uint64_t count, size_t least)
{
    if (count > sx_wire_rest(r) / least) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER);
        return 0;
    }
    return (size_t)count;
}

static void check_type(struct sx_wire_reader *r, pmix_data_type_t type)
{
    if (r->form.described && sx_wire_get_uint(r, sizeof(type)) != type) {
        sx_wire_fail(r, PMIX_ERR_PACK_MISMATCH);
    }
}

size_t sx_wire_get_head(struct sx_wire_reader *r, pmix_data_type_t type)
{
    int64_t count;

    check_type(r, PMIX_INT32);
    count = sx_wire_get_int(r, sizeof(int32_t));
    check_type(r, type);
    if (r->failed == PMIX_SUCCESS && count <= 0) {
        sx_wire_fail(r, PMIX_ERR_UNPACK_FAILURE);
    }
    return r->failed != PMIX_SUCCESS ? 0 : sx_wire_count_check(r, (uint64_t)count, 1);
}

void sx_wire_writer_deinit(struct sx_wire_writer *w)
{
    free(w->bytes);
    *w = (struct sx_wire_writer){ .form = w->form };
}

uint8_t *sx_wire_reserve(struct sx_wire_writer *w, size_t size)
{
    size_t room = w->room == 0 ? FIRST_ROOM : w->room;

    if (w->failed != PMIX_SUCCESS || size > SIZE_MAX / 4 - w->size) {
        w->failed = w->failed != PMIX_SUCCESS ? w->failed : PMIX_ERR_OUT_OF_RESOURCE;
        return NULL;
    }
    while (room < w->size + size) {
        room *= 2;
    }
    if (room > w->room) {
        uint8_t *const bytes = realloc(w->bytes, room);

        if (bytes == NULL) {
            w->failed = PMIX_ERR_OUT_OF_RESOURCE;
            return NULL;
        }
        w->bytes = bytes;
        w->room = room;
    }
    return w->bytes + w->size;
}

void sx_wire_put(struct sx_wire_writer *w, const void *bytes, size_t size)
{
    uint8_t *const at = size == 0 ? NULL : sx_wire_reserve(w, size);

    if (at != NULL) {
        memcpy(at, bytes, size);
        w->size += size;
    }
}

static void put_big_endian(struct sx_wire_writer *w, uint64_t number, size_t size)
{
    uint8_t bytes[sizeof(number)];

    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(number >> ((size - 1 - i) * CHAR_BIT));
    }
    sx_wire_put(w, bytes, size);
}

static void put_flex(struct sx_wire_writer *w, uint64_t number)
{
    uint8_t bytes[GROUPS_MAX + 1];
    size_t size = 0;

    while (number >= MORE && size < GROUPS_MAX) {
        bytes[size++] = (uint8_t)(number | MORE);
        number >>= GROUP_BITS;
    }
    bytes[size++] = (uint8_t)number;
    sx_wire_put(w, bytes, size);
}

void sx_wire_put_uint(struct sx_wire_writer *w, uint64_t number, size_t size)
{
    if (w->form.encoding == SX_WIRE_V3 || size == 1) {
        put_big_endian(w, number, size);
    } else {
        put_flex(w, number);
    }
}

void sx_wire_put_int(struct sx_wire_writer *w, int64_t number, size_t size)
{
    if (w->form.encoding == SX_WIRE_V3 || size == 1) {
        put_big_endian(w, (uint64_t)number, size);
    } else {
        put_flex(w, number < 0 ? (uint64_t)(-1 - number) << 1 | 1 : (uint64_t)number << 1);
    }
}

void sx_wire_put_text(struct sx_wire_writer *w, const char *text)
{
    const size_t size = text == NULL ? 0 : strlen(text) + 1;

    if (size > INT32_MAX) {
        w->failed = w->failed != PMIX_SUCCESS ? w->failed : PMIX_ERR_BAD_PARAM;
        return;
    }
    sx_wire_put_int(w, (int64_t)size, sizeof(int32_t));
    sx_wire_put(w, text, size);
}

void sx_wire_put_head(struct sx_wire_writer *w, pmix_data_type_t type, size_t count)
{
    if (count > INT32_MAX) {
        w->failed = w->failed != PMIX_SUCCESS ? w->failed : PMIX_ERR_BAD_PARAM;
        return;
    }
    if (w->form.described) {
        sx_wire_put_uint(w, PMIX_INT32, sizeof(pmix_data_type_t));
    }
    sx_wire_put_int(w, (int64_t)count, sizeof(int32_t));
    if (w->form.described) {
        sx_wire_put_uint(w, type, sizeof(type));
    }
}

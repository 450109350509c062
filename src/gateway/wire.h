/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wire.h - the bytes of the other library's messages: a reader with a bound, a writer that grows.
 *
 *   a body:  | pack | pack | ...
 *   a pack:  | count n (INT32) | n elements of one type |
 *            in a described body a type number lies before the count, and one before the elements
 *
 * Integers, by encoding:
 *   SX_WIRE_V3    big-endian, as wide as their type
 *   SX_WIRE_V41   one byte for 8-bit types; else groups of 7 bits, the lowest first, whose top bit
 *                 says that more follow.  The 9th byte of a 64-bit number holds its last 8 bits.
 *                 A signed x >= 0 is written as 2x, a signed x < 0 as 2(-1 - x) + 1
 *
 * A reader never goes beyond its end.  After its first failure it yields zeros, so a caller checks
 * once, at the end.  A writer that is out of memory writes no more; its owner checks once, too. */
#ifndef SX_GATEWAY_WIRE_H
#define SX_GATEWAY_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

/* The encoding that the other side announced in its handshake. */
enum sx_encoding {
    SX_WIRE_V3,  /* "v3": releases 3.x */
    SX_WIRE_V41, /* "v4" and "v41": releases from 4.0 on, whose common types have the same bytes */
};

struct sx_wire_form {
    enum sx_encoding encoding;
    bool described; /* packs carry type numbers */
};

/* @failed is 0 or the status of the first failure: PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER,
 * PMIX_ERR_UNPACK_FAILURE (bytes that nobody writes), PMIX_ERR_UNKNOWN_DATA_TYPE (a type that
 * this gateway does not carry), PMIX_ERR_OUT_OF_RESOURCE. */
struct sx_wire_reader {
    const uint8_t *at, *end;
    struct sx_wire_form form;
    pmix_status_t failed;
    size_t memory; /* bytes that elements were given (codec.h) */
};

/* Zeroed it is empty; its form is the owner's to set.  @bytes is malloc's. */
struct sx_wire_writer {
    uint8_t *bytes;
    size_t size, room;
    struct sx_wire_form form;
    pmix_status_t failed; /* as of a reader */
};

/* ---- Reading ---- */

static inline size_t sx_wire_rest(const struct sx_wire_reader *r)
{
    return r->failed != PMIX_SUCCESS ? 0 : (size_t)(r->end - r->at);
}

/* Record a failure, if it is the first, and yield it. */
pmix_status_t sx_wire_fail(struct sx_wire_reader *r, pmix_status_t status);

/* @size bytes where they lie.  Return: NULL after a failure. */
const uint8_t *sx_wire_take(struct sx_wire_reader *r, size_t size);

/* An integer of @size bytes (1, 2, 4, 8). */
uint64_t sx_wire_get_uint(struct sx_wire_reader *r, size_t size);
int64_t sx_wire_get_int(struct sx_wire_reader *r, size_t size);

/* The text where it lies, with its NUL; NULL for a NULL string and after a failure. */
const char *sx_wire_get_text(struct sx_wire_reader *r);

/* A count of things that take at least @least bytes each: more than fit behind it is a failure. */
size_t sx_wire_count_check(struct sx_wire_reader *r, uint64_t count, size_t least);

/* The head of a pack of @type.  Return: how many elements follow; 0 after a failure. */
size_t sx_wire_get_head(struct sx_wire_reader *r, pmix_data_type_t type);

/* ---- Writing ---- */

/* Free what was written.  Safe twice. */
void sx_wire_writer_deinit(struct sx_wire_writer *w);

/* Make room for @size bytes behind what is written.  Return: where, or NULL when memory is out. */
uint8_t *sx_wire_reserve(struct sx_wire_writer *w, size_t size);

void sx_wire_put(struct sx_wire_writer *w, const void *bytes, size_t size);
void sx_wire_put_uint(struct sx_wire_writer *w, uint64_t number, size_t size);
void sx_wire_put_int(struct sx_wire_writer *w, int64_t number, size_t size);
/* @text: NULL is a NULL string. */
void sx_wire_put_text(struct sx_wire_writer *w, const char *text);
void sx_wire_put_head(struct sx_wire_writer *w, pmix_data_type_t type, size_t count);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* mem.h - print the contents of a segment of each kind, as docs/layout.md describes them.
 *
 * @segment is bounded by the published end.  Each function prints indented lines to stdout, and a
 * note when the segment contradicts itself. */
#ifndef SX_CLI_MEM_MEM_H
#define SX_CLI_MEM_MEM_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/util.h"

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Numbers from memory that another process writes and that may be wrong.
 *
 * An area notes each access outside itself; such a number reads as 0.  So a reader continues to the
 * end of its step and checks once whether any access was bad. */

struct sx_bytes {
    const uint8_t *at;
    uint64_t size;
    bool bad;
};

/* @len bytes at @off, or NULL (and bad). */
static inline const uint8_t *sx_bytes_at(struct sx_bytes *bytes, uint64_t off, uint64_t len)
{
    if (!sx_range_fits(off, len, bytes->size)) {
        bytes->bad = true;
        return NULL;
    }
    return bytes->at == NULL ? NULL : bytes->at + off; /* NULL: an empty area */
}

static inline uint64_t sx_bytes_u64(struct sx_bytes *bytes, uint64_t off)
{
    const void *const at = sx_bytes_at(bytes, off, 8);
    uint64_t number = 0;

    if (at == NULL) {
        return 0;
    }
    if ((uintptr_t)at % 8 == 0) {
        /* Acquire: every word that docs/layout.md marks with an A is aligned and read here. */
        return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
    }
    memcpy(&number, at, sizeof(number));
    return number;
}

static inline uint32_t sx_bytes_u32(struct sx_bytes *bytes, uint64_t off)
{
    const void *const at = sx_bytes_at(bytes, off, 4);
    uint32_t number = 0;

    if (at == NULL) {
        return 0;
    }
    if ((uintptr_t)at % 4 == 0) {
        return __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE); /* as above */
    }
    memcpy(&number, at, sizeof(number));
    return number;
}

static inline uint16_t sx_bytes_u16(struct sx_bytes *bytes, uint64_t off)
{
    const void *const at = sx_bytes_at(bytes, off, 2);
    uint16_t number = 0;

    if (at != NULL) {
        memcpy(&number, at, sizeof(number));
    }
    return number;
}

static inline uint8_t sx_bytes_u8(struct sx_bytes *bytes, uint64_t off)
{
    const uint8_t *const at = sx_bytes_at(bytes, off, 1);

    return at != NULL ? *at : 0;
}

/* The part [off, off + len); empty and bad when it is not inside. */
static inline struct sx_bytes sx_bytes_part(struct sx_bytes *bytes, uint64_t off, uint64_t len)
{
    struct sx_bytes part = { .at = sx_bytes_at(bytes, off, len) };

    part.size = part.at != NULL ? len : 0;
    part.bad = part.at == NULL;
    return part;
}

/* ---- value ----------------------------------------------------------------------------------- */

/* Print flat values as docs/layout.md, section 2, describes them. */

struct sx_mem_cell {
    uint16_t type, flags;
    uint32_t len;
    uint64_t bits;
};

struct sx_mem_cell sx_mem_cell_at(struct sx_bytes *bytes, uint64_t off);

/* Print type and value on stdout, on one line.  @body are the cell.len bytes of its body.  A note
 * replaces bytes that are not a value. */
void sx_mem_value_print(const struct sx_mem_cell *cell, struct sx_bytes body);

/* Print @len bytes as a quoted text; bytes that are not printable are escaped. */
void sx_mem_text_print(const uint8_t *text, uint64_t len);

const char *sx_mem_scope_name(unsigned scope);

/* ---- segments -------------------------------------------------------------------------------- */

#define SX_MEM_BODY_OFF 384u

void sx_mem_store_dump(struct sx_bytes segment);
void sx_mem_board_dump(struct sx_bytes segment);
void sx_mem_ring_dump(struct sx_bytes segment);
void sx_mem_ops_dump(struct sx_bytes segment);

/* Print one record of a named list of processes, on the current line. */
void sx_mem_membership_print(struct sx_bytes record);

/* @board: the board of the lane's server, with the position up to which the server has read; empty
 * when it was not found. */
void sx_mem_lane_dump(struct sx_bytes segment, struct sx_bytes board);

const char *sx_mem_collective_name(unsigned kind);

/* Print a note if @bytes were bad. */
void sx_mem_bad_print(const struct sx_bytes *bytes);

#endif

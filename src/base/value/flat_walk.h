/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flat_walk.h - the walk over a flat value: the decoder's own files share it.
 *
 *     flat_decode.c  a value, or infos, at once, in steps, or where they lie
 *     flat_walk.c    records, and the elements in them
 *     flat_body.c    texts, names and bytes
 *
 * The reader's position is where the next body has to start; a cell that names another place, and a
 * record that does not end where its len says, are refused.  So no byte is read for two values and
 * the work is linear in the bytes given.  Destinations are zeroed before they are filled and linked
 * into the result at once: after a failure the ordinary destructor frees what there is.  Without a
 * destination (NULL) the walk only checks.
 *
 * The walk does not recurse: each record that has been entered and not left is a level, and their
 * number is bounded.  So it can stop anywhere between two elements, or in a long text, and go on
 * later. */
#ifndef SX_BASE_VALUE_FLAT_WALK_H
#define SX_BASE_VALUE_FLAT_WALK_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <pmix_common.h>

#include "base/util.h"
#include "base/value/flat.h"
#include "base/value/flat_layout.h"
#include "base/value/type.h"
#include "base/value/value.h"

/* The elements of a record. */
struct sx_flat_elements {
    pmix_data_type_t type;
    const struct sx_type *row; /* NULL: type is UNDEF and count 0 */
    size_t count, flat_size;
    uint64_t off, end; /* of the first element; of the record with all that is below it */
};

/* A record whose elements are being read. */
struct sx_flat_level {
    struct sx_flat_elements rec;
    void *elements;     /* to be filled; NULL: none are */
    size_t index;       /* of the next element ... */
    size_t member;      /* ... and of its next member, which lies ... */
    size_t member_off;  /* ... here in the element */
    uint64_t outer_end; /* of the record around it */
    uint16_t depth;     /* of its elements */
    bool no_nulls;      /* a NULL string is refused */
};

/* Each array may have a struct around it that is a value, and the innermost may be a vector. */
#define SX_FLAT_LEVELS_MAX (2 * SX_VALUE_DEPTH_MAX + 2)

struct sx_flat_reader {
    const uint8_t *base;
    uint64_t at;        /* where the next body starts, a multiple of 8 */
    uint64_t end;       /* of the enclosing record, a multiple of 8 */
    uint64_t heap_left; /* what may still be allocated; counted where nothing is filled, too */
    uint64_t left;      /* looks until the walk stops */
    uint64_t scanned;   /* bytes of the text that starts here, without a NUL */
    uint64_t shift;     /* not 0: cells get offsets that are so much less; all else was checked */
    struct sx_flat_level *levels;
    unsigned level_count;
    bool borrows; /* strings and bytes are left where they are, and pointed at */
};

/* How many bytes are scanned in the time of one look. */
#define SX_FLAT_BYTES_PER_LOOK 64u

/* Begin the walk over a whole value.  Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE. */
pmix_status_t sx_flat_walk_begin(struct sx_flat_reader *r,
                                 struct sx_flat_level levels[SX_FLAT_LEVELS_MAX],
                                 struct sx_cell *cell, const void *body, size_t size,
                                 uint64_t heap_max);
/* Read all records that have been entered.  Return: also PMIX_ERR_WOULD_BLOCK, when there are no
 * looks left. */
pmix_status_t sx_flat_walk_on(struct sx_flat_reader *r);

/* Read the value of @cell, or enter its record; @out is NULL or zeroed. */
pmix_status_t sx_flat_value_get(struct sx_flat_reader *r, const struct sx_cell *cell,
                                pmix_value_t *out, unsigned depth);
/* The same for the info at @off; @info is NULL or zeroed. */
pmix_status_t sx_flat_info_get(struct sx_flat_reader *r, uint64_t off, pmix_info_t *info,
                               unsigned depth);

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Read the body of @cell; @out is NULL or zeroed.  Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE;
 * PMIX_ERR_OUT_OF_RESOURCE; of a string also PMIX_ERR_WOULD_BLOCK, and it is read again later. */
pmix_status_t sx_flat_string_get(struct sx_flat_reader *r, const struct sx_cell *cell, char **out);
pmix_status_t sx_flat_name_get(struct sx_flat_reader *r, const struct sx_cell *cell, char *out,
                               size_t size);
pmix_status_t sx_flat_bytes_get(struct sx_flat_reader *r, const struct sx_cell *cell,
                                pmix_byte_object_t *out);
pmix_status_t sx_flat_buffer_get(struct sx_flat_reader *r, const struct sx_cell *cell,
                                 pmix_data_buffer_t *out);

/* Account for an allocation of @size bytes.  Return: false when it would be too many. */
static inline bool sx_flat_heap_take(struct sx_flat_reader *r, uint64_t size)
{
    if (size > r->heap_left || r->heap_left - size < SX_FLAT_ALLOCATION_BYTES) {
        return false;
    }
    r->heap_left -= size + SX_FLAT_ALLOCATION_BYTES;
    return true;
}

/* Read a cell of a record.  A cell with a length has a body. */
static inline void sx_flat_cell_read(const struct sx_flat_reader *r, uint64_t off,
                                     struct sx_cell *ret)
{
    const uint8_t *const at = r->base + off;

    memcpy(ret, at, sizeof(*ret));
    if (r->shift != 0 && ret->len != 0) {
        ret->bits -= r->shift;
        memcpy((uint8_t *)(uintptr_t)at, ret, sizeof(*ret)); /* the mover's bytes are its owner's */
    }
}

static inline bool sx_flat_cell_is_null(const struct sx_cell *cell)
{
    return cell->flags == SX_CELL_NULL && cell->len == 0 && cell->bits == 0;
}

/* Move past a body.  Return: false when it does not start here or does not fit. */
static inline bool sx_flat_body_take(struct sx_flat_reader *r, const struct sx_cell *cell)
{
    const uint64_t padded = sx_align_up(cell->len, SX_FLAT_ALIGN);

    if (cell->flags != 0 || cell->len == 0 || cell->bits != r->at || padded > r->end - r->at) {
        return false;
    }
    r->at += padded;
    return true;
}

/* Read a cell without a body; @out is NULL or zeroed.  @flags and @len are those of the cell.  All
 * is passed in registers: reading a struct that was written in parts just before stalls a CPU for
 * as long as a probe takes. */
static inline pmix_status_t sx_flat_scalar_get(pmix_data_type_t type, unsigned flags, uint32_t len,
                                               uint64_t bits, size_t size, pmix_value_t *out)
{
    const unsigned width = 8 * (unsigned)size;

    if (flags != 0 || len != 0 || (width < 64 && bits >> width != 0) ||
        (type == PMIX_BOOL && bits > 1)) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    if (out != NULL) {
        out->type = type;
        memcpy(&out->data, &bits, sizeof(bits)); /* beyond @size they are 0, as is @out */
    }
    return PMIX_SUCCESS;
}
static_assert(sizeof(((pmix_value_t *)NULL)->data) >= sizeof(uint64_t), "room for a cell's bits");

#endif

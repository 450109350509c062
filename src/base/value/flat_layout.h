/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* flat_layout.h - the sizes of the flat format, which encoder and decoder must agree on. */
#ifndef SX_BASE_VALUE_FLAT_LAYOUT_H
#define SX_BASE_VALUE_FLAT_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "base/value/flat.h"
#include "base/value/type.h"

#define SX_FLAT_ALIGN 8

/* The head of an array record. */
struct sx_flat_record {
    uint16_t type;      /* of the elements */
    uint16_t reserved0; /* zero */
    uint32_t reserved1; /* zero */
    uint64_t count;
};
static_assert(sizeof(struct sx_flat_record) == 16, "fixed by the flat format");

/* An info as an element of a record: what its row of the type table comes to.  Most structs that
 * are written and read are infos, and to walk the row takes three times as long. */
struct sx_flat_info {
    struct sx_cell key;
    uint32_t flags;
    uint32_t padding;
    struct sx_cell value;
};
static_assert(sizeof(struct sx_flat_info) == 40, "fixed by the flat format");
static_assert(sizeof(((pmix_info_t *)NULL)->flags) == sizeof(uint32_t), "as the format has them");

/* Bytes of a member inside an element. */
static inline size_t sx_flat_member_size(const struct sx_member *m)
{
    return m->kind == SX_MEMBER_PLAIN ? sx_align_up(m->size, SX_FLAT_ALIGN)
                                      : sizeof(struct sx_cell);
}

/* Bytes of an element inside a record, the bodies of its cells not counted.
 * Return: 0 for elements that have no flat form. */
static inline size_t sx_flat_element_size(const struct sx_type *row)
{
    size_t sum = 0;

    if (row->kind == SX_TYPE_PLAIN) {
        return row->size_bytes;
    }
    if (row->kind == SX_TYPE_STRING || row->kind == SX_TYPE_BYTES) {
        return sizeof(struct sx_cell);
    }
    for (size_t i = 0; row->kind == SX_TYPE_STRUCT && i < row->member_count; i++) {
        if (row->members[i].kind == SX_MEMBER_OPAQUE) {
            return 0;
        }
        sum += sx_flat_member_size(&row->members[i]);
    }
    return sum;
}

#endif

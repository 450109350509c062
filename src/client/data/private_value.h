/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* private_value.h - the newest value of a key that this process puts again, or that is large.
 *
 * The private store only grows, because its readers take no lock.  So the first value of a key lies
 * in it.  For a value that was replaced, or is large, the cell has the type PMIX_POINTER, which no
 * value has, and points at a box.  A box has the newest value and frees the one before, unless that
 * was handed out as a pointer or is being committed.  A key that was taken away has a box without a
 * value; it is never committed before the removal.  Boxes live until PMIx_Finalize; everything here
 * is under data_lock, unless it says otherwise. */
#ifndef SX_CLIENT_DATA_PRIVATE_VALUE_H
#define SX_CLIENT_DATA_PRIVATE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "shmem/store.h"

struct sx_view;

#define SX_BOX_LARGE_BYTES (64u << 10) /* from here a value has a box from the beginning */

/* The body of a flat value, with the length in its cell, zeroed to a multiple of 8. */
struct sx_body {
    struct sx_body *next; /* in the list of bodies that were handed out */
    unsigned references;
    bool handed_out;
    _Alignas(8) uint8_t bytes[];
};

struct sx_box {
    struct sx_box *next;
    struct sx_view *view; /* its private store points here; the cell that does */
    enum sx_realm realm;
    uint32_t row;
    struct sx_cell cell;  /* with the scope; bits are 0 where there is a body; PMIX_UNDEF: none */
    struct sx_body *body; /* NULL: none */
    bool pending;         /* is in the list of values that are not committed yet */
    pmix_scope_t taken;   /* the scope that lost the key, if nothing was put for it since */
    size_t key_len;
    char key[]; /* with its NUL, zeroed to a multiple of 8 */
};

/* Return: NULL when memory is out.  Needs no lock. */
struct sx_body *sx_body_new(uint64_t size);
/* Drop a reference; NULL is allowed. */
void sx_body_drop(struct sx_body *body);

/* Return: an empty box, NULL when memory is out. */
struct sx_box *sx_box_new(struct sx_view *view, enum sx_realm realm, uint32_t row, const char *key,
                          size_t key_len);
/* Free @box, the newest one, which no store or list points at yet. */
void sx_box_take_back(struct sx_box *box);
/* Return: the first of all boxes. */
struct sx_box *sx_box_first(void);
/* Put @cell and @body, whose reference the box takes, in place of what it has. */
void sx_box_set(struct sx_box *box, const struct sx_cell *cell, struct sx_body *body);
void sx_box_rescope(struct sx_box *box, pmix_scope_t scope);
/* The cell that stands for @box in a private store. */
struct sx_cell sx_box_marker(const struct sx_box *box);
/* Return: the box that @item, found in a private store, stands for; NULL when it is a value.
 * Needs no lock. */
static inline struct sx_box *sx_box_of(const struct sx_item *item)
{
    return item->cell.type != PMIX_POINTER ? NULL : (struct sx_box *)(uintptr_t)item->cell.bits;
}

/* If @item stands for a box, put the value of the box in its place.  The value stays while the lock
 * is held, and until PMIx_Finalize if @hand_out.  A box without a value has the scope that it
 * hides: PMIX_SCOPE_UNDEF, or PMIX_LOCAL. */
void sx_box_open(struct sx_item *item, bool hand_out);

/* Without the lock: as sx_box_open where no body is needed; else @item still stands for the box,
 * with its scope. */
void sx_box_peek(struct sx_item *item);
/* Without the lock: as sx_box_open with hand_out. */
void sx_box_hand_out(struct sx_item *item);

/* Free all boxes and bodies; no thread reads any more. */
void sx_box_deinit(void);

#endif

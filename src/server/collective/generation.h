/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* generation.h - the open operations of one signature, from the oldest to the youngest.
 *
 * The oldest is in a table, under the hash of the signature, and holds the list of the others.  A
 * client joins them in their order.  So the operations that it may join lie behind those that it
 * has joined.  Binary search finds its next one, however many it has joined. */
#ifndef SX_SERVER_COLLECTIVE_GENERATION_H
#define SX_SERVER_COLLECTIVE_GENERATION_H

#include "base/table.h"

/* Zeroed and initialised by sx_generation_add. */
struct sx_generation {
    struct sx_table_node node;      /* in the table while it is the oldest */
    struct sx_generation **younger; /* the others, while it is the oldest */
    size_t younger_count, younger_capacity;
};

/* Open @generation behind those of @oldest, or as the first of its signature (NULL).  Return: false
 * when memory is out. */
bool sx_generation_add(struct sx_table *table, struct sx_generation *oldest,
                       struct sx_generation *generation, uint64_t hash);
/* Remove @generation, which may be @oldest itself.  In that case the next one becomes the
 * oldest. */
void sx_generation_remove(struct sx_table *table, struct sx_generation *oldest,
                          struct sx_generation *generation);

static inline bool sx_generation_is_oldest(const struct sx_generation *generation)
{
    return !sx_list_empty(&generation->node.link);
}

/* Return: the operation behind @oldest; NULL: there is none. */
struct sx_generation *sx_generation_second(const struct sx_generation *oldest);

/* Return: the first, from @oldest on, that @fits; all behind it must fit too.  NULL: none. */
struct sx_generation *sx_generation_first(struct sx_generation *oldest,
                                          bool (*fits)(struct sx_generation *generation, void *arg),
                                          void *arg);

/* Return: whether an operation that @fits is older than @generation. */
bool sx_generation_any_older(struct sx_generation *oldest, const struct sx_generation *generation,
                             bool (*fits)(struct sx_generation *generation, void *arg), void *arg);

#endif

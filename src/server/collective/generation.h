/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* generation.h - the open operations of one signature, from the oldest to the youngest.
 *
 * The oldest stands in a table, under the hash of the signature, and keeps the others.  A client
 * joins them in their order.  So those that it may join lie behind those that it has joined, and
 * its next one is found by halving, however many it has joined. */
#ifndef SX_SERVER_COLLECTIVE_GENERATION_H
#define SX_SERVER_COLLECTIVE_GENERATION_H

#include "base/table.h"

/* Zeroed and initialised by sx_generation_add. */
struct sx_generation {
    struct sx_table_node node;      /* in the table while it is the oldest */
    struct sx_generation **younger; /* while it is the oldest: the others */
    size_t younger_count, younger_capacity;
};

/* Open @generation behind those of @oldest, or as the first of its signature (NULL).  Return: false
 * when memory is out. */
bool sx_generation_add(struct sx_table *table, struct sx_generation *oldest,
                       struct sx_generation *generation, uint64_t hash);
/* Take @generation, which may be @oldest itself, out.  The next one is the oldest then. */
void sx_generation_remove(struct sx_table *table, struct sx_generation *oldest,
                          struct sx_generation *generation);

static inline bool sx_generation_is_oldest(const struct sx_generation *generation)
{
    return !sx_list_empty(&generation->node.link);
}

/* Return: the one behind @oldest, NULL when there is none. */
struct sx_generation *sx_generation_second(const struct sx_generation *oldest);

/* Return: the first, from @oldest on, that @fits; all those behind it do.  NULL: none. */
struct sx_generation *sx_generation_first(struct sx_generation *oldest,
                                          bool (*fits)(struct sx_generation *generation, void *arg),
                                          void *arg);

/* Whether one @fits that is older than @generation. */
bool sx_generation_any_older(struct sx_generation *oldest, const struct sx_generation *generation,
                             bool (*fits)(struct sx_generation *generation, void *arg), void *arg);

#endif

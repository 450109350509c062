/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* generation.c - a single operation, which is the usual case, takes no memory of its own. */
#include "server/collective/generation.h"

#include <stdlib.h>
#include <string.h>

bool sx_generation_add(struct sx_table *table, struct sx_generation *oldest,
                       struct sx_generation *generation, uint64_t hash)
{
    *generation = (struct sx_generation){ .node.hash = hash };
    sx_list_init(&generation->node.link);
    if (oldest == NULL) {
        return sx_table_add(table, &generation->node, hash);
    }
    if (oldest->younger_count == oldest->younger_capacity) {
        const size_t larger = oldest->younger_capacity == 0 ? 4 : 2 * oldest->younger_capacity;
        struct sx_generation **grown = realloc(oldest->younger, larger * sizeof(oldest));

        if (grown == NULL) {
            return false;
        }
        oldest->younger = grown;
        oldest->younger_capacity = larger;
    }
    oldest->younger[oldest->younger_count++] = generation;
    return true;
}

/* Remove the entry at @index. */
static void younger_remove(struct sx_generation *oldest, size_t index)
{
    struct sx_generation **const place = &oldest->younger[index];

    oldest->younger_count--;
    memmove(place, place + 1, (oldest->younger_count - index) * sizeof(oldest));
}

void sx_generation_remove(struct sx_table *table, struct sx_generation *oldest,
                          struct sx_generation *generation)
{
    struct sx_generation *const next = sx_generation_second(oldest);
    size_t i = 0;

    if (generation != oldest) {
        while (oldest->younger[i] != generation) {
            i++;
        }
        younger_remove(oldest, i);
        return;
    }
    if (next == NULL) {
        sx_table_remove(table, &oldest->node);
        free(oldest->younger);
    } else {
        younger_remove(oldest, 0);
        next->younger = oldest->younger;
        next->younger_count = oldest->younger_count;
        next->younger_capacity = oldest->younger_capacity;
        sx_table_replace(&oldest->node, &next->node);
    }
}

struct sx_generation *sx_generation_second(const struct sx_generation *oldest)
{
    return oldest->younger_count > 0 ? oldest->younger[0] : NULL;
}

struct sx_generation *sx_generation_first(struct sx_generation *oldest,
                                          bool (*fits)(struct sx_generation *generation, void *arg),
                                          void *arg)
{
    size_t low = 0, high = oldest->younger_count;

    if (fits(oldest, arg)) {
        return oldest;
    }
    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (fits(oldest->younger[mid], arg)) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    return low < oldest->younger_count ? oldest->younger[low] : NULL;
}

bool sx_generation_any_older(struct sx_generation *oldest, const struct sx_generation *generation,
                             bool (*fits)(struct sx_generation *generation, void *arg), void *arg)
{
    struct sx_generation *it = oldest;

    for (size_t i = 0; it != generation; i++) {
        if (fits(it, arg)) {
            return true;
        }
        it = oldest->younger[i];
    }
    return false;
}

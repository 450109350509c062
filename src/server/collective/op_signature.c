/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* op_signature.c - hash and compare signatures. */
#include "server/collective/operation.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/value/value.h"
#include "server/model/proc_list.h"
#include "server/model/state.h"

uint64_t sx_op_signature_hash(const struct sx_server *server, const struct sx_op_signature *meeting)
{
    const uint64_t hash = sx_alias_list_hash(&meeting->procs, server->seed ^ meeting->kind);

    return meeting->id == NULL ? hash
                               : XXH3_64bits_withSeed(meeting->id, strlen(meeting->id), hash);
}

static bool is_of(const struct sx_collective *collective, const struct sx_op_signature *meeting)
{
    return collective->kind->number == meeting->kind &&
           (collective->id == NULL) == (meeting->id == NULL) &&
           (meeting->id == NULL || strcmp(collective->id, meeting->id) == 0);
}

static bool has(const struct sx_collective *collective, const struct sx_op_signature *meeting)
{
    const struct sx_alias_list written = sx_members_written(&collective->members);

    return is_of(collective, meeting) && collective->space == meeting->space &&
           (collective->kind->known_by_id || sx_alias_lists_are_equal(&written, &meeting->procs));
}

static struct sx_collective *oldest_in(const struct sx_table *table,
                                       const struct sx_op_signature *meeting, uint64_t hash)
{
    struct sx_table_node *node = sx_table_first(table, hash);

    while (node != NULL &&
           !has(SX_CONTAINER(node, struct sx_collective, generation.node), meeting)) {
        node = sx_table_next(table, node);
    }
    return node == NULL ? NULL : SX_CONTAINER(node, struct sx_collective, generation.node);
}

struct sx_collective *sx_op_signature_oldest(const struct sx_server *server,
                                             const struct sx_op_signature *meeting, uint64_t hash)
{
    return oldest_in(&server->collective.signatures, meeting, hash);
}

struct sx_collective *sx_op_signature_next(const struct sx_server *server,
                                           const struct sx_op_signature *meeting, uint64_t hash,
                                           const struct sx_collective *oldest)
{
    const struct sx_table *const table = &server->collective.signatures;
    struct sx_table_node *node = oldest == NULL ? sx_table_first(table, hash)
                                                : sx_table_next(table, &oldest->generation.node);

    while (node != NULL &&
           !is_of(SX_CONTAINER(node, struct sx_collective, generation.node), meeting)) {
        node = sx_table_next(table, node);
    }
    return node == NULL ? NULL : SX_CONTAINER(node, struct sx_collective, generation.node);
}

struct sx_collective *sx_op_signature_meant(const struct sx_server *server,
                                            const struct sx_op_signature *meeting, uint64_t hash)
{
    for (struct sx_table_node *node = sx_table_first(&server->collective.meant, hash); node != NULL;
         node = sx_table_next(&server->collective.meant, node)) {
        struct sx_collective *const collective = SX_CONTAINER(node, struct sx_collective, meant);

        if (is_of(collective, meeting) &&
            sx_alias_lists_are_equal(&collective->members.real, &meeting->procs)) {
            return collective;
        }
    }
    return NULL;
}

struct sx_collective *sx_op_signature_owed(const struct sx_server *server,
                                           const struct sx_op_signature *meeting, uint64_t hash)
{
    return oldest_in(&server->collective.owed, meeting, hash);
}

/* ---- generations ----------------------------------------------------------------------------- */

/* A single operation, which is the usual case, takes no memory of its own. */

static struct sx_generation **younger_base(const struct sx_generation *oldest)
{
    return oldest->younger_gone > 0 ? oldest->younger - oldest->younger_gone : oldest->younger;
}

/* Make room for one more: in the places of those that have gone, if these are many, or in new
 * ones.  Return: false when memory is out. */
static bool younger_reserve(struct sx_generation *oldest)
{
    struct sx_generation **const base = younger_base(oldest);
    const bool are_many = oldest->younger_gone > oldest->younger_count;

    if (oldest->younger_count < oldest->younger_capacity) {
        return true;
    }
    if (oldest->younger_gone > 0) {
        memmove(base, oldest->younger, oldest->younger_count * sizeof(*base));
        oldest->younger = base;
        oldest->younger_capacity += oldest->younger_gone;
        oldest->younger_gone = 0;
    }
    return are_many ||
           SX_ARRAY_RESERVE(oldest->younger, oldest->younger_capacity, oldest->younger_capacity, 4);
}

bool sx_generation_add(struct sx_table *table, struct sx_generation *oldest,
                       struct sx_generation *generation, uint64_t hash)
{
    *generation = (struct sx_generation){ .node.hash = hash };
    sx_list_init(&generation->node.link);
    if (oldest == NULL) {
        return sx_table_add(table, &generation->node, hash);
    }
    if (!younger_reserve(oldest)) {
        return false;
    }
    oldest->younger[oldest->younger_count++] = generation;
    return true;
}

/* Remove the entry at @index. */
static void younger_remove(struct sx_generation *oldest, size_t index)
{
    struct sx_generation **const place = &oldest->younger[index];

    oldest->younger_count--;
    if (index == 0) { /* thousands may go from here, one after the other */
        oldest->younger++;
        oldest->younger_capacity--;
        oldest->younger_gone++;
        return;
    }
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
        free(younger_base(oldest));
    } else {
        younger_remove(oldest, 0);
        next->younger = oldest->younger;
        next->younger_count = oldest->younger_count;
        next->younger_capacity = oldest->younger_capacity;
        next->younger_gone = oldest->younger_gone;
        sx_table_replace(&oldest->node, &next->node);
    }
}

struct sx_generation *sx_generation_youngest(struct sx_generation *oldest)
{
    return oldest->younger_count > 0 ? oldest->younger[oldest->younger_count - 1] : oldest;
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

static bool is_open(struct sx_generation *generation, void *arg)
{
    (void)arg;
    return !SX_CONTAINER(generation, struct sx_collective, generation)->is_over;
}

struct sx_collective *sx_collective_open_of(struct sx_collective *oldest)
{
    struct sx_generation *const open = oldest == NULL ? NULL
                                                      : sx_generation_first(&oldest->generation,
                                                                            is_open, NULL);

    return open == NULL ? NULL : SX_CONTAINER(open, struct sx_collective, generation);
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

/* ---- rows ------------------------------------------------------------------------------------ */

const struct sx_kind *sx_kind_of(const struct sx_server *server, uint32_t number)
{
    return number < SX_COLLECTIVE_KINDS && server->kinds[number].number != 0
               ? &server->kinds[number]
               : NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* op_signature.c - hash and compare signatures. */
#include "server/collective/op_signature.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/value/value.h"

uint64_t sx_op_signature_hash(const struct sx_server *server, const struct sx_op_signature *meeting)
{
    uint64_t hash = server->seed ^ meeting->kind;

    for (size_t i = 0; i < meeting->proc_count; i++) {
        const pmix_proc_t *proc = &meeting->procs[i];

        hash = XXH3_64bits_withSeed(proc->nspace, strlen(proc->nspace), hash + proc->rank);
    }
    return meeting->id == NULL ? hash
                               : XXH3_64bits_withSeed(meeting->id, strlen(meeting->id), hash);
}

static bool is_of(const struct sx_collective *collective, const struct sx_op_signature *meeting)
{
    return collective->kind->number == meeting->kind &&
           (collective->id == NULL) == (meeting->id == NULL) &&
           (meeting->id == NULL || strcmp(collective->id, meeting->id) == 0);
}

static bool are(const pmix_proc_t *procs, size_t count, const struct sx_op_signature *meeting)
{
    size_t same = 0;

    while (same < count && count == meeting->proc_count &&
           sx_proc_order(&procs[same], &meeting->procs[same]) == 0) {
        same++;
    }
    return same == count && count == meeting->proc_count;
}

static bool has(const struct sx_collective *collective, const struct sx_op_signature *meeting)
{
    const struct sx_members *members = &collective->members;

    return is_of(collective, meeting) &&
           (collective->kind->known_by_id || are(members->procs, members->proc_count, meeting));
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
    return oldest_in(&server->signatures, meeting, hash);
}

struct sx_collective *sx_op_signature_meant(const struct sx_server *server,
                                            const struct sx_op_signature *meeting, uint64_t hash)
{
    for (struct sx_table_node *node = sx_table_first(&server->meant, hash); node != NULL;
         node = sx_table_next(&server->meant, node)) {
        struct sx_collective *const collective = SX_CONTAINER(node, struct sx_collective, meant);
        const struct sx_alias_list *const real = &collective->members.real;

        if (is_of(collective, meeting) && are(real->all, real->count, meeting)) {
            return collective;
        }
    }
    return NULL;
}

struct sx_collective *sx_op_signature_owed(const struct sx_server *server,
                                           const struct sx_op_signature *meeting, uint64_t hash)
{
    return oldest_in(&server->owed, meeting, hash);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* placement.h - where memory lies on a machine with several NUMA nodes.
 *
 * A placement belongs to a memfd: it is set through one map, before there are pages, and holds for
 * every page that any process makes there afterwards.  The placement is a hint.  A node that is
 * full, or a kernel that refuses, gives memory from elsewhere, never an error. */
#ifndef SX_SHMEM_PLACEMENT_H
#define SX_SHMEM_PLACEMENT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define SX_NODE_MAX 1024u /* the largest CONFIG_NODES_SHIFT of any architecture is 10 */
#define SX_NODE_WORD_BITS (sizeof(unsigned long) * CHAR_BIT)
#define SX_NODE_WORDS (SX_NODE_MAX / SX_NODE_WORD_BITS)

struct sx_node_set {
    unsigned long words[SX_NODE_WORDS];
};

static inline void sx_node_set_add(struct sx_node_set *set, unsigned node)
{
    set->words[node / SX_NODE_WORD_BITS] |= 1ul << node % SX_NODE_WORD_BITS;
}

static inline bool sx_node_set_has(const struct sx_node_set *set, unsigned node)
{
    return (set->words[node / SX_NODE_WORD_BITS] >> node % SX_NODE_WORD_BITS & 1) != 0;
}

unsigned sx_node_set_count(const struct sx_node_set *set);

enum sx_placement_kind {
    SX_PLACE_ANYWHERE = 0, /* near the first toucher of a page */
    SX_PLACE_NEAR,         /* on the one node of the set, while it has memory */
    SX_PLACE_SPREAD,       /* over all nodes of the set in turn */
};

struct sx_placement {
    enum sx_placement_kind kind;
    struct sx_node_set nodes;
};

/* Request the placement for [at, at + size), a whole map.  NULL: anywhere. */
void sx_placement_apply(const struct sx_placement *placement, void *at, size_t size);

/* Nodes with memory that this process may use: at least 1, and none in *ret where the kernel does
 * not report them. */
unsigned sx_placement_nodes(struct sx_node_set *ret);

#endif

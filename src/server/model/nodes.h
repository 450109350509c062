/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodes.h - the machine's NUMA nodes: which of them have memory for this process, and which CPUs
 * are near it.
 *
 * On a machine with one node nothing is read: libnuma is not even mapped. */
#ifndef SX_SERVER_MODEL_NODES_H
#define SX_SERVER_MODEL_NODES_H

#include <stdint.h>

#include "base/system/cpus.h"
#include "shmem/segment.h"

#define SX_NODE_NONE UINT16_MAX

struct sx_nodes {
    unsigned count;            /* with memory that we may use */
    struct sx_node_set usable; /* these */
    struct sx_node_set near;   /* those of them that are nearest to some CPU */
    uint16_t *of_cpu;          /* the nearest to each CPU, SX_NODE_NONE; NULL: not known */
    unsigned cpu_count;        /* of of_cpu */
};

/* Read the nodes of this machine.  A fact that cannot be read is recorded as not known; nothing
 * fails.  Then deinit. */
void sx_nodes_init(struct sx_nodes *nodes);
void sx_nodes_deinit(struct sx_nodes *nodes);

/* Return: the node to which all of @cpus are nearest, SX_NODE_NONE if there is no single such
 * node. */
uint16_t sx_nodes_of_cpus(const struct sx_nodes *nodes, const struct sx_cpus *cpus);

/* Those of @cpus that are nearest to @node.  Return: their number. */
unsigned sx_nodes_cpus_near(const struct sx_nodes *nodes, uint16_t node, const struct sx_cpus *cpus,
                            struct sx_cpus *ret);

/* Return: the node nearest to the caller, where it runs now; SX_NODE_NONE: not known. */
uint16_t sx_nodes_here(const struct sx_nodes *nodes);

#endif

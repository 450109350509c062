/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodes.c - the node of each CPU, and the distances of nodes, from libnuma.
 *
 * A CPU's own node may have no memory, or none that this process may use (cpusets): then the
 * nearest node with memory stands for it. */
#include "server/model/numa.h"

#include <numa.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* The usable node that is nearest to @node, which may be that node. */
static uint16_t nearest(const struct sx_nodes *nodes, int node)
{
    uint16_t found = SX_NODE_NONE;
    int best = 0;

    if (node >= 0 && node < (int)SX_NODE_MAX && sx_node_set_has(&nodes->usable, (unsigned)node)) {
        return (uint16_t)node;
    }
    for (unsigned other = 0; node >= 0 && other < SX_NODE_MAX; other++) {
        if (sx_node_set_has(&nodes->usable, other)) {
            const int distance = numa_distance(node, (int)other); /* 0: not known */

            if (distance > 0 && (found == SX_NODE_NONE || distance < best)) {
                found = (uint16_t)other;
                best = distance;
            }
        }
    }
    return found;
}

void sx_nodes_init(struct sx_nodes *nodes)
{
    *nodes = (struct sx_nodes){ .of_cpu = NULL };
    nodes->count = sx_placement_nodes(&nodes->usable);
    if (nodes->count < 2 || numa_available() != 0) {
        return;
    }
    const int cpu_count = numa_num_configured_cpus();

    if (cpu_count <= 0 || cpu_count > (int)SX_CPU_MAX) {
        return;
    }
    nodes->of_cpu = malloc((size_t)cpu_count * sizeof(*nodes->of_cpu));
    if (nodes->of_cpu == NULL) {
        return; /* placement is a hint */
    }
    nodes->cpu_count = (unsigned)cpu_count;
    for (int cpu = 0; cpu < cpu_count; cpu++) {
        nodes->of_cpu[cpu] = nearest(nodes, numa_node_of_cpu(cpu));
        if (nodes->of_cpu[cpu] != SX_NODE_NONE) {
            sx_node_set_add(&nodes->near, nodes->of_cpu[cpu]);
        }
    }
}

void sx_nodes_deinit(struct sx_nodes *nodes)
{
    free(nodes->of_cpu);
    *nodes = (struct sx_nodes){ .of_cpu = NULL };
}

uint16_t sx_nodes_of_cpus(const struct sx_nodes *nodes, const struct sx_cpus *cpus)
{
    uint16_t found = SX_NODE_NONE;

    for (unsigned cpu = 0; cpu < nodes->cpu_count; cpu++) {
        if (sx_cpus_has(cpus, cpu)) {
            const uint16_t node = nodes->of_cpu[cpu];

            if (node == SX_NODE_NONE || (found != SX_NODE_NONE && found != node)) {
                return SX_NODE_NONE;
            }
            found = node;
        }
    }
    return found;
}

unsigned sx_nodes_cpus_near(const struct sx_nodes *nodes, uint16_t node, const struct sx_cpus *cpus,
                            struct sx_cpus *ret)
{
    unsigned count = 0;

    memset(ret, 0, sizeof(*ret));
    for (unsigned cpu = 0; cpu < nodes->cpu_count; cpu++) {
        if (sx_cpus_has(cpus, cpu) && nodes->of_cpu[cpu] == node) {
            sx_cpus_add(ret, cpu);
            count++;
        }
    }
    return count;
}

uint16_t sx_nodes_here(const struct sx_nodes *nodes)
{
    const int cpu = nodes->of_cpu != NULL ? sched_getcpu() : -1;

    return cpu >= 0 && cpu < (int)nodes->cpu_count ? nodes->of_cpu[cpu] : SX_NODE_NONE;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* numa.c - the table of policies, and the machine's nodes.
 *
 * The server writes boards, rings and tables of operations all the time, and their readers use a
 * few cache lines: so they lie near the server.  A lane is written by its client.  A store is
 * written once and read by all when a job begins: it is spread, so that its readers do not all wait
 * for one node's memory. */
#include "server/model/numa.h"

#include <numa.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/system/library.h"
#include "base/util.h"

enum place { ANYWHERE = 0, HOME, SPREAD, CLIENT };

#define KINDS (SX_SEGMENT_OPS + 1)

static const struct {
    const char *word;
    bool binds; /* the loop's thread, to the node of its memory */
    uint8_t place[KINDS];
} policies[SX_NUMA_POLICIES] = {
    [SX_NUMA_AUTO] = { "auto", .place = { [SX_SEGMENT_STORE] = SPREAD,
                                          [SX_SEGMENT_RING] = HOME,
                                          [SX_SEGMENT_BOARD] = HOME,
                                          [SX_SEGMENT_LANE] = CLIENT,
                                          [SX_SEGMENT_OPS] = HOME } },
    [SX_NUMA_LOCAL] = { "local", .binds = true,
                        .place = { [SX_SEGMENT_STORE] = HOME,
                                   [SX_SEGMENT_RING] = HOME,
                                   [SX_SEGMENT_BOARD] = HOME,
                                   [SX_SEGMENT_LANE] = CLIENT,
                                   [SX_SEGMENT_OPS] = HOME } },
    [SX_NUMA_INTERLEAVE] = { "interleave", .place = { [SX_SEGMENT_STORE] = SPREAD,
                                                      [SX_SEGMENT_RING] = SPREAD,
                                                      [SX_SEGMENT_BOARD] = SPREAD,
                                                      [SX_SEGMENT_LANE] = CLIENT,
                                                      [SX_SEGMENT_OPS] = SPREAD } },
};

pmix_status_t sx_numa_policy_read(const char *from, const char *word, enum sx_numa_policy *ret)
{
    if (word == NULL || word[0] == '\0') {
        *ret = SX_NUMA_AUTO;
        return PMIX_SUCCESS;
    }
    for (size_t i = 0; i < SX_NUMA_POLICIES; i++) {
        if (strcmp(word, policies[i].word) == 0) {
            *ret = (enum sx_numa_policy)i;
            return PMIX_SUCCESS;
        }
    }
    if (strcmp(word, "replicate") == 0) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "%s is \"replicate\": rings and stores have one copy", from);
    }
    return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s is \"%.64s\": it can be auto, local or interleave",
                    from, word);
}

void sx_numa_init(struct sx_numa *numa, enum sx_numa_policy policy, const struct sx_cpus *cpus)
{
    *numa = (struct sx_numa){ .policy = policy, .thread_is_bound = cpus != NULL };
    sx_nodes_init(&numa->nodes);
    numa->home = SX_NODE_NONE;
    if (cpus != NULL) {
        numa->thread = *cpus;
        numa->home = sx_nodes_of_cpus(&numa->nodes, cpus);
    }
    if (numa->home == SX_NODE_NONE) {
        numa->home = sx_nodes_here(&numa->nodes);
    }
}

void sx_numa_deinit(struct sx_numa *numa)
{
    sx_nodes_deinit(&numa->nodes);
}

static struct sx_placement near_node(const struct sx_nodes *nodes, uint16_t node)
{
    struct sx_placement placement = { .kind = SX_PLACE_ANYWHERE };

    if (nodes->of_cpu != NULL && node != SX_NODE_NONE) {
        placement.kind = SX_PLACE_NEAR;
        sx_node_set_add(&placement.nodes, node);
    }
    return placement;
}

/* A client that may run on several nodes has none, and its lane lies near the server. */
static struct sx_placement near_client(const struct sx_numa *numa, pid_t client)
{
    uint16_t node = SX_NODE_NONE;
    struct sx_cpus cpus;

    if (numa->nodes.of_cpu != NULL && client > 0 && sx_cpus_of_thread(client, &cpus)) {
        node = sx_nodes_of_cpus(&numa->nodes, &cpus);
    }
    return near_node(&numa->nodes, node != SX_NODE_NONE ? node : numa->home);
}

/* Nodes without a CPU near them are of another, slower kind of memory, if there are others. */
static struct sx_placement spread(const struct sx_nodes *nodes)
{
    const bool some = sx_node_set_count(&nodes->near) > 0;

    if (nodes->count < 2) {
        return (struct sx_placement){ .kind = SX_PLACE_ANYWHERE };
    }
    return (struct sx_placement){ .kind = SX_PLACE_SPREAD,
                                  .nodes = some ? nodes->near : nodes->usable };
}

struct sx_placement sx_numa_place(const struct sx_numa *numa, enum sx_segment_kind kind,
                                  pid_t client)
{
    sx_assert((unsigned)kind < KINDS);
    switch ((enum place)policies[numa->policy].place[kind]) {
    case HOME:
        return near_node(&numa->nodes, numa->home);
    case SPREAD:
        return spread(&numa->nodes);
    case CLIENT:
        return near_client(numa, client);
    case ANYWHERE:
        break;
    }
    return (struct sx_placement){ .kind = SX_PLACE_ANYWHERE };
}

/* Return: whether the policy binds the thread: to *ret. */
static bool policy_binds(const struct sx_numa *numa, struct sx_cpus *ret)
{
    struct sx_cpus allowed;

    return policies[numa->policy].binds && numa->home != SX_NODE_NONE &&
           sx_cpus_of_thread(0, &allowed) &&
           sx_nodes_cpus_near(&numa->nodes, numa->home, &allowed, ret) != 0;
}

void sx_numa_thread_settle(const struct sx_numa *numa)
{
    struct sx_cpus near;
    const struct sx_cpus *const cpus = numa->thread_is_bound       ? &numa->thread
                                       : policy_binds(numa, &near) ? &near
                                                                   : NULL;

    if (cpus != NULL && !sx_cpus_bind(cpus)) {
        sx_log(SX_LOG_INFO, "the server's thread cannot be bound any more");
    }
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The node of each CPU, and the distances of nodes, from libnuma.
 *
 * A CPU's own node may have no memory, or none that this process may use (cpusets): then the
 * nearest node with memory stands for it. */

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

/* ---- libnuma --------------------------------------------------------------------------------- */

/* The calls of libnuma (base/system/library.h), by servers on machines with several nodes alone.
 * Without libnuma the nodes are unknown, and memory lies on the node that first touches it. */

#define CALL(refused, name, params, args) \
    SX_LIBRARY_CALL(SHMIX_LIBNUMA, refused, int, name, params, args)

CALL(-1, numa_available, (void), ())
CALL(0, numa_num_configured_cpus, (void), ())
CALL(-1, numa_node_of_cpu, (int cpu), (cpu))
CALL(0, numa_distance, (int a, int b), (a, b))

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* numa.h - the machine's NUMA nodes, and on which of them the server's segments lie: one policy, a
 * place for each kind. */
#ifndef SX_SERVER_MODEL_NUMA_H
#define SX_SERVER_MODEL_NUMA_H

#include <stdint.h>

#include <pmix_common.h>

#include "base/system/locality.h"
#include "shmem/segment.h"

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The machine's NUMA nodes: which of them have memory for this process, and which CPUs are near it.
 *
 * On a machine with one node nothing is read: libnuma is not even mapped. */

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

/* ---- policy ---------------------------------------------------------------------------------- */

/* In the order of their names: numa.c. */
enum sx_numa_policy {
    SX_NUMA_AUTO = 0,
    SX_NUMA_LOCAL,
    SX_NUMA_INTERLEAVE,
    SX_NUMA_POLICIES,
};

struct sx_numa {
    enum sx_numa_policy policy;
    bool thread_is_bound; /* the loop's, to the CPUs that the host names: thread */
    struct sx_cpus thread;
    struct sx_nodes nodes;
    uint16_t home; /* the node of the server's own memory; SX_NODE_NONE: not known, or one of one */
};

/* Parse the @word of a user; NULL or empty: auto.  @from names the source of the word.  Return:
 * PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED for "replicate", PMIX_ERR_BAD_PARAM for a word that is not a
 * policy, with a line that lists the policies. */
pmix_status_t sx_numa_policy_read(const char *from, const char *word, enum sx_numa_policy *ret);

/* Of a server that begins.  Its own memory is to lie near @cpus, to which the host wants the loop's
 * thread bound; NULL, or of several nodes: near the caller. */
void sx_numa_init(struct sx_numa *numa, enum sx_numa_policy policy, const struct sx_cpus *cpus);
void sx_numa_deinit(struct sx_numa *numa);

/* Where a segment of @kind lies.  @client is the pid here of the lane's owner; 0: no lane, or not
 * known. */
struct sx_placement sx_numa_place(const struct sx_numa *numa, enum sx_segment_kind kind,
                                  pid_t client);

/* In the loop's thread, once: it stays on the host's CPUs, or else near its memory, if the policy
 * binds the thread. */
void sx_numa_thread_settle(const struct sx_numa *numa);

#endif

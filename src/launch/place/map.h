/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* map.h - which part of the machine each rank is dealt out to, and which it is bound to.
 *
 * slot (and node, for there is one): the ranks fill the machine in order, neighbours together.  A
 * core or hardware thread goes to one rank; where ranks outnumber larger parts, they share them in
 * blocks.  Any other policy deals the ranks out in turn, rank i to part i modulo their number.
 * A rank is bound to what lies inside of its part, the next one in turn, or to what lies around
 * it. */
#ifndef SX_LAUNCH_PLACE_MAP_H
#define SX_LAUNCH_PLACE_MAP_H

#include <hwloc.h>

#include "launch/ask/options.h"

#define SX_RUN_NO_PART UINT32_MAX

struct sx_run_part {
    hwloc_bitmap_t cpuset; /* those of its CPUs that may be used: one at least */
    uint32_t number;       /* hwloc's logical index */
};

/* The usable objects of a level, each set of CPUs once, in hwloc's logical order. */
struct sx_run_parts {
    struct sx_run_part *at;
    uint32_t count;
};

void sx_run_parts_init(struct sx_run_parts *parts, hwloc_topology_t topology,
                       enum sx_run_level level, hwloc_const_bitmap_t usable);
void sx_run_parts_deinit(struct sx_run_parts *parts);

/* Make one part of @wanted neighbours each, all in the same part of @within, if it has any; those
 * that are left over go. */
void sx_run_parts_join(struct sx_run_parts *parts, const struct sx_run_parts *within,
                       uint32_t wanted);

struct sx_run_mapped {
    uint32_t map_index;  /* of the part it was dealt out to; slot: its own number */
    uint32_t bind_index; /* of the part it is bound to; SX_RUN_NO_PART: none */
};

struct sx_run_map_request {
    enum sx_run_level map, bind;
    struct sx_run_parts map_parts, bind_parts;
    uint32_t rank_count;
    uint32_t cpu_count; /* parts to bind to, before they were joined */
    uint32_t cpus_each; /* cores or hardware threads that a rank is bound to; 0: one */
    uint32_t per_part;  /* neighbours that go to the same part; 0: the ranks go in turn */
    bool overload;      /* where there are too few of them, ranks share them */
};

/* Fill @ret_mapped, one per rank.  Return: true; false with one line in @message that says what the
 * machine has and what to do. */
bool sx_run_map(const struct sx_run_map_request *request, struct sx_run_mapped *ret_mapped,
                char message[SX_RUN_MESSAGE_MAX]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* map.h - the part of the machine to which each rank is mapped, and the part to which it is bound.
 *
 * slot (and node, for there is one): the ranks fill the machine in order, neighbours together.  A
 * core or hardware thread is for one rank.  If ranks outnumber larger parts, they share the parts
 * in blocks.  Any other policy maps the ranks round-robin: rank i to part i modulo the number of
 * parts.  A rank is bound to the next object inside its part, in turn, or to the object around the
 * part. */
#ifndef SX_LAUNCH_PLACE_MAP_H
#define SX_LAUNCH_PLACE_MAP_H

#include <hwloc.h>

#include "launch/ask/options.h"

#define SX_RUN_NO_PART UINT32_MAX

struct sx_run_part {
    hwloc_bitmap_t cpuset; /* the CPUs of the object that may be used: one at least */
    uint32_t number;       /* hwloc's logical index */
};

/* The usable objects of one level.  Each set of CPUs occurs once, in hwloc's logical order. */
struct sx_run_parts {
    struct sx_run_part *at;
    uint32_t count;
};

void sx_run_parts_init(struct sx_run_parts *parts, hwloc_topology_t topology,
                       enum sx_run_level level, hwloc_const_bitmap_t usable);
void sx_run_parts_deinit(struct sx_run_parts *parts);

/* Join @wanted neighbours each to one part, all in the same part of @within, if it has any.  Parts
 * that are left over are dropped. */
void sx_run_parts_join(struct sx_run_parts *parts, const struct sx_run_parts *within,
                       uint32_t wanted);

struct sx_run_mapped {
    uint32_t map_index;  /* the part to which the rank is mapped; slot: its own number */
    uint32_t bind_index; /* the part to which the rank is bound; SX_RUN_NO_PART: none */
};

struct sx_run_map_request {
    enum sx_run_level map, bind;
    struct sx_run_parts map_parts, bind_parts;
    uint32_t rank_count;
    uint32_t cpu_count; /* parts to bind to, before they are joined */
    uint32_t cpus_each; /* cores or hardware threads for each rank; 0: one */
    uint32_t per_part;  /* neighbours for the same part; 0: ranks are mapped round-robin */
    bool overload;      /* if there are too few parts, ranks share them */
};

/* Fill @ret_mapped, one entry for each rank.  Return: true; false with one line in @message that
 * says what the machine has and what to do. */
bool sx_run_map(const struct sx_run_map_request *request, struct sx_run_mapped *ret_mapped,
                char message[SX_RUN_MESSAGE_MAX]);

#endif

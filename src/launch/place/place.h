/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* place.h - the machine as hwloc describes it, and the place to which each rank is bound.
 *
 * Only CPUs that this process may use count.  The mapping of ranks: launch/place/map.h. */
#ifndef SX_LAUNCH_PLACE_PLACE_H
#define SX_LAUNCH_PLACE_PLACE_H

#include <sched.h>

#include "launch/ask/options.h"

#define SX_RUN_NO_PACKAGE UINT32_MAX

struct sx_run_place {
    cpu_set_t *mask; /* for sched_setaffinity; NULL: not bound */
    size_t mask_size_bytes;
    char *cpuset;         /* "0-3,8", NULL when not bound */
    char *locality;       /* "NM0:SK0:L30:L20:L10:CR0:HT0", NULL when not bound */
    uint32_t package;     /* the rank's package; SX_RUN_NO_PACKAGE: several, or unknown */
    uint32_t map_number;  /* the part to which the rank is mapped; of slots: its own rank */
    uint32_t bind_number; /* the part to which the rank is bound, if it is */
};

struct sx_run_machine {
    void *topology;    /* hwloc_topology_t */
    char *xml;         /* with devices, in hwloc 2's format, malloc'ed; NULL: not probed yet */
    char *sign;        /* key of the text in launch/place/probe_cache.h, malloc'ed; NULL: none */
    bool is_looked_at; /* a probe runs: the text is still to come */
    void *usable;      /* hwloc_bitmap_t: the CPUs that this process may use */
    char *cpuset;      /* the same as text: "0-15" */
    uint64_t memory_bytes;
    uint32_t cpu_count, package_count;
    struct sx_run_place *places; /* one for each rank, counted through all jobs */
    uint32_t place_count;
};

/* Discover the machine without its devices, and map and bind the ranks of @options.  Return: true;
 * false with one line in @message that says what the machine has.  Deinit in either case. */
bool sx_run_machine_init(struct sx_run_machine *machine, const struct sx_run_options *options,
                         char message[SX_RUN_MESSAGE_MAX]);
void sx_run_machine_deinit(struct sx_run_machine *machine);

/* Map and bind the ranks of @options, as if they were alone on the machine.  Return: their
 * malloc'ed places for sx_run_places_free; NULL with one line in @message. */
struct sx_run_place *sx_run_machine_place(const struct sx_run_machine *machine,
                                          const struct sx_run_options *options,
                                          char message[SX_RUN_MESSAGE_MAX]);
/* The same, on the CPUs @cpus ("0-3,8") only, to which the ranks are bound at least. */
struct sx_run_place *sx_run_machine_place_on(const struct sx_run_machine *machine, const char *cpus,
                                             const struct sx_run_options *options,
                                             char message[SX_RUN_MESSAGE_MAX]);
struct sx_run_place *sx_run_places_free(struct sx_run_place *places, uint32_t count);

/* For this process, which has one thread: leave out two kinds of hwloc's plugins.  Some look for
 * devices in ways that are refused anyway (base/system/topology.h), others read XML that others
 * have written.  Loading them takes as long as discovering the CPUs.  Nothing is left out if the
 * user has set a variable that hwloc reads.  hwloc keeps the setting as long as a topology exists.
 * Return: the variable that was set, for unsetenv; NULL when nothing is left out. */
const char *sx_run_plugins_spare(void);

#endif

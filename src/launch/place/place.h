/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* place.h - the machine as hwloc describes it, the words of a policy, and the place to which a
 * policy binds each rank.
 *
 * Only CPUs that this process may use count. */
#ifndef SX_LAUNCH_PLACE_PLACE_H
#define SX_LAUNCH_PLACE_PLACE_H

#include <hwloc.h>
#include <sched.h>
#include <stdbool.h>

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
    char *sign;        /* key of the text in launch/place/device_probe.h, malloc'ed; NULL: none */
    bool is_looked_at; /* a probe runs: the text is still to come */
    void *usable;      /* hwloc_bitmap_t: the CPUs that this process may use */
    char *cpuset;      /* the same as text: "0-15" */
    uint64_t memory_bytes;
    uint32_t cpu_count, package_count;
    struct sx_run_place *places; /* one for each rank, counted through all jobs */
    uint32_t place_count;
};

/* Discover the machine without its devices.  Return: as sx_run_machine_init. */
bool sx_run_machine_look(struct sx_run_machine *machine, char message[SX_RUN_MESSAGE_MAX]);
/* The CPUs of a discovered machine that this process may use, and the places on them.  Return: as
 * sx_run_machine_init. */
bool sx_run_machine_fit(struct sx_run_machine *machine, const struct sx_run_options *options,
                        char message[SX_RUN_MESSAGE_MAX]);
/* Both.  Map and bind the ranks of @options.  Return: true;
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

/* ---- policy ---------------------------------------------------------------------------------- */

/* The words of --map-by, --bind-to and --rank-by, which spawns use too.
 *
 *     MAP[:MODIFIER[,MODIFIER]...]...    core:PE=2:NOOVERSUBSCRIBE
 *     ppr:N:node[:MODIFIER]...           N ranks on each node, of which there is one
 *     ppr:N:LEVEL[:MODIFIER]...          N neighbours on each part, as package or numa
 *     PE-LIST=CPUS[:MODIFIER]...         on these CPUs, a list as "0,2-3"
 *     BIND[:MODIFIER[,MODIFIER]...]      core:overload-allowed
 *
 * Large and small letters are the same.  Modifiers that ask for the default change nothing.  Each
 * function returns false for other words; then @message has the reason, or is empty. */

bool sx_run_policy_map(struct sx_run_options *options, const char *text,
                       char message[SX_RUN_MESSAGE_MAX]);
bool sx_run_policy_bind(struct sx_run_options *options, const char *text,
                        char message[SX_RUN_MESSAGE_MAX]);
/* Whether ranks that are mapped as @options requires are numbered as @word says. */
bool sx_run_policy_rank(const struct sx_run_options *options, const char *text,
                        char message[SX_RUN_MESSAGE_MAX]);

/* If no binding is given, bind ranks to the objects by which they are mapped.  Return: false:
 * cpus_each does not fit these objects. */
bool sx_run_bind_default(struct sx_run_options *options);
/* Whether @level is a core or a hardware thread, of which each rank has its own. */
bool sx_run_level_is_cpu(enum sx_run_level level);

/* The policy of --map-by or --bind-to that @word names.  Return: false for another word. */
bool sx_run_map_read(const char *word, enum sx_run_level *ret_map);
bool sx_run_bind_read(const char *word, enum sx_run_level *ret_bind);

/* The word of a policy, as the user writes it: "core", "numa"; as a map, "none" is "slot". */
const char *sx_run_level_name(enum sx_run_level level);
const char *sx_run_map_name(enum sx_run_level map);
/* The noun of a level in a sentence: "core", "NUMA node". */
const char *sx_run_level_noun(enum sx_run_level level);

/* ---- map ------------------------------------------------------------------------------------- */

/* The part of the machine to which each rank is mapped, and the part to which it is bound.
 *
 * slot (and node, for there is one): the ranks fill the machine in order, neighbours together.  A
 * core or hardware thread is for one rank.  If ranks outnumber larger parts, they share the parts
 * in blocks.  Any other policy maps the ranks round-robin: rank i to part i modulo the number of
 * parts.  A rank is bound to the next object inside its part, in turn, or to the object around the
 * part. */

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

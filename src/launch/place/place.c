/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* place.c - load the topology once, then a place for each rank.
 *
 * Open MPI's ranks compare their locality strings to find the objects that they share.  Open MPI 4
 * needs this string, and the cpuset, without the source in front. */
#include "launch/place/place.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/locality.h"
#include "base/system/topology.h"
#include "base/util.h"
#include "launch/common/say.h"

static uint32_t count_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    const int count = hwloc_get_nbobjs_by_type(topology, type);

    return count < 0 ? 0 : (uint32_t)count;
}

static char *bitmap_text(hwloc_const_bitmap_t bitmap)
{
    char *text = NULL, *copy;

    if (hwloc_bitmap_list_asprintf(&text, bitmap) < 0) {
        return sx_cli_strdup("");
    }
    copy = sx_cli_strdup(text);
    free(text);
    return copy;
}

static char *locality_text(hwloc_topology_t topology, hwloc_const_bitmap_t cpuset)
{
    char *text = NULL;

    if (sx_locality_write(topology, cpuset, &text) != PMIX_SUCCESS) {
        return sx_cli_strdup("");
    }
    return text;
}

static void place_bind(struct sx_run_place *place, hwloc_topology_t topology,
                       hwloc_const_bitmap_t cpuset)
{
    const int last = hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(topology));

    place->mask_size_bytes = CPU_ALLOC_SIZE((size_t)last + 1);
    place->mask = sx_cli_calloc(1, place->mask_size_bytes);
    hwloc_cpuset_to_glibc_sched_affinity(topology, cpuset, place->mask, place->mask_size_bytes);
    place->cpuset = bitmap_text(cpuset);
    place->locality = locality_text(topology, cpuset);
}

/* Ranks of one part have the same strings, which are computed once and copied. */
static void place_copy(struct sx_run_place *place, const struct sx_run_place *from)
{
    place->mask_size_bytes = from->mask_size_bytes;
    place->mask = sx_cli_calloc(1, from->mask_size_bytes);
    memcpy(place->mask, from->mask, from->mask_size_bytes);
    place->cpuset = sx_cli_strdup(from->cpuset);
    place->locality = sx_cli_strdup(from->locality);
}

static uint32_t package_of(hwloc_topology_t topology, hwloc_const_bitmap_t cpuset)
{
    const uint32_t count = count_of(topology, HWLOC_OBJ_PACKAGE);

    for (uint32_t i = 0; i < count; i++) {
        const hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, i);

        if (hwloc_bitmap_isincluded(cpuset, package->cpuset)) {
            return i;
        }
    }
    return SX_RUN_NO_PACKAGE;
}

static void bind_all(struct sx_run_place *places, const struct sx_run_machine *machine,
                     const struct sx_run_map_request *request, const struct sx_run_mapped *mapped)
{
    const struct sx_run_parts *const parts = &request->bind_parts;
    const struct sx_run_place **first = sx_cli_calloc(parts->count, sizeof(void *));

    for (uint32_t rank = 0; rank < request->rank_count; rank++) {
        struct sx_run_place *place = &places[rank];
        const struct sx_run_part *part = &parts->at[mapped[rank].bind_index];

        place->bind_number = part->number;
        if (first[mapped[rank].bind_index] != NULL) {
            place_copy(place, first[mapped[rank].bind_index]);
        } else {
            place_bind(place, machine->topology, part->cpuset);
            first[mapped[rank].bind_index] = place;
        }
        place->package = package_of(machine->topology, part->cpuset);
    }
    free(first);
}

static void bind_none(struct sx_run_place *places, const struct sx_run_machine *machine,
                      uint32_t rank_count)
{
    for (uint32_t rank = 0; rank < rank_count; rank++) {
        /* The package of an unbound rank is known only if there is no other one. */
        places[rank].package = machine->package_count <= 1 ? 0 : SX_RUN_NO_PACKAGE;
    }
}

/* The CPUs that the machine's administrator and the caller (taskset) allow. */
static hwloc_bitmap_t usable_cpus(hwloc_topology_t topology)
{
    hwloc_bitmap_t usable = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();

    if (usable == NULL || bound == NULL) {
        sx_cli_no_memory();
    }
    if (hwloc_topology_is_thissystem(topology) != 0 &&
        hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) == 0 &&
        hwloc_bitmap_intersects(usable, bound)) {
        hwloc_bitmap_and(usable, usable, bound);
    }
    hwloc_bitmap_free(bound);
    return usable;
}

#define SPARED "HWLOC_PLUGINS_BLACKLIST"

const char *sx_run_plugins_spare(void)
{
    static const char *const said[] = { SPARED, "HWLOC_PLUGINS_PATH", "HWLOC_XMLFILE",
                                        "HWLOC_COMPONENTS", "HWLOC_LIBXML" };

    for (size_t i = 0; i < SX_COUNT(said); i++) {
        if (getenv(said[i]) != NULL) {
            return NULL;
        }
    }
    return setenv(SPARED,
                  "hwloc_xml_libxml.so,hwloc_pci.so,hwloc_gl.so,hwloc_opencl.so,"
                  "hwloc_cuda.so,hwloc_nvml.so,hwloc_rsmi.so,hwloc_levelzero.so",
                  1) == 0
               ? SPARED
               : NULL;
}

bool sx_run_machine_look(struct sx_run_machine *machine, char message[SX_RUN_MESSAGE_MAX])
{
    hwloc_topology_t topology;

    *machine = (struct sx_run_machine){ .topology = NULL };
    const char *const spared = sx_run_plugins_spare();
    const pmix_status_t rc = sx_topology_discover_cpus(&topology);

    if (spared != NULL) {
        unsetenv(spared); /* the ranks decide for themselves */
    }
    if (rc != PMIX_SUCCESS) {
        const char *const file = getenv("HWLOC_XMLFILE");

        snprintf(message, SX_RUN_MESSAGE_MAX, "hwloc cannot read this machine's topology%s%s%s",
                 file != NULL ? " from HWLOC_XMLFILE=" : "", file != NULL ? file : "",
                 file != NULL ? " (without libxml2 it reads no XML comments)" : "");
        return false;
    }
    machine->topology = topology;
    machine->package_count = count_of(topology, HWLOC_OBJ_PACKAGE);
    machine->memory_bytes = hwloc_get_root_obj(topology)->total_memory;
    return true;
}

static bool map_all(struct sx_run_place *places, const struct sx_run_machine *machine,
                    struct sx_run_map_request *request, char *message)
{
    struct sx_run_mapped *mapped = sx_cli_calloc(request->rank_count, sizeof(*mapped));
    bool ok;

    sx_run_parts_init(&request->map_parts, machine->topology, request->map, machine->usable);
    sx_run_parts_init(&request->bind_parts, machine->topology, request->bind, machine->usable);
    request->cpu_count = request->bind_parts.count;
    if (request->cpus_each > 1) {
        sx_run_parts_join(&request->bind_parts, &request->map_parts, request->cpus_each);
    }
    ok = sx_run_map(request, mapped, message);
    for (uint32_t rank = 0; rank < request->rank_count && ok; rank++) {
        const uint32_t index = mapped[rank].map_index;

        places[rank].map_number = request->map == SX_RUN_LEVEL_NONE
                                      ? index
                                      : request->map_parts.at[index].number;
    }
    if (ok && request->bind != SX_RUN_LEVEL_NONE) {
        bind_all(places, machine, request, mapped);
    } else {
        bind_none(places, machine, request->rank_count);
    }
    sx_run_parts_deinit(&request->map_parts);
    sx_run_parts_deinit(&request->bind_parts);
    free(mapped);
    return ok;
}

struct sx_run_place *sx_run_machine_place(const struct sx_run_machine *machine,
                                          const struct sx_run_options *options,
                                          char message[SX_RUN_MESSAGE_MAX])
{
    const uint32_t count = options->rank_count;
    struct sx_run_map_request request = {
        .map = options->map,
        .bind = options->bind,
        .rank_count = count,
        .cpus_each = options->cpus_each,
        .per_part = options->per_part,
        .overload = options->overload,
    };
    struct sx_run_place *const places = sx_cli_calloc(count, sizeof(*places));

    if (request.cpus_each > 1 && sx_run_level_is_cpu(request.map)) {
        request.map = SX_RUN_LEVEL_NONE; /* each rank has several of these, one after the other */
    }
    return map_all(places, machine, &request, message) ? places : sx_run_places_free(places, count);
}

static void bind_each(struct sx_run_place *places, const struct sx_run_machine *machine,
                      uint32_t rank_count)
{
    for (uint32_t rank = 0; rank < rank_count; rank++) {
        if (rank == 0) {
            place_bind(&places[rank], machine->topology, machine->usable);
        } else {
            place_copy(&places[rank], &places[0]);
        }
        places[rank].package = package_of(machine->topology, machine->usable);
    }
}

struct sx_run_place *sx_run_machine_place_on(const struct sx_run_machine *machine, const char *cpus,
                                             const struct sx_run_options *options,
                                             char message[SX_RUN_MESSAGE_MAX])
{
    struct sx_run_machine part = *machine; /* the borrowed members stay with their owner */
    hwloc_bitmap_t wanted = hwloc_bitmap_alloc();
    struct sx_run_place *places = NULL;

    if (wanted == NULL) {
        sx_cli_no_memory();
    }
    if (cpus[strspn(cpus, "0123456789,-")] != '\0' || hwloc_bitmap_list_sscanf(wanted, cpus) != 0 ||
        hwloc_bitmap_iszero(wanted) || !hwloc_bitmap_isincluded(wanted, machine->usable)) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "the list of CPUs is '%.100s', and there are CPUs %.100s", cpus, machine->cpuset);
    } else {
        part.usable = wanted;
        part.cpu_count = (uint32_t)hwloc_bitmap_weight(wanted);
        places = sx_run_machine_place(&part, options, message);
    }
    if (places != NULL && options->bind == SX_RUN_LEVEL_NONE) {
        bind_each(places, &part, options->rank_count);
    }
    hwloc_bitmap_free(wanted);
    return places;
}

struct sx_run_place *sx_run_places_free(struct sx_run_place *places, uint32_t count)
{
    for (uint32_t i = 0; places != NULL && i < count; i++) {
        free(places[i].mask);
        free(places[i].cpuset);
        free(places[i].locality);
    }
    free(places);
    return NULL;
}

bool sx_run_machine_init(struct sx_run_machine *machine, const struct sx_run_options *options,
                         char message[SX_RUN_MESSAGE_MAX])
{
    return sx_run_machine_look(machine, message) && sx_run_machine_fit(machine, options, message);
}

bool sx_run_machine_fit(struct sx_run_machine *machine, const struct sx_run_options *options,
                        char message[SX_RUN_MESSAGE_MAX])
{
    machine->usable = usable_cpus(machine->topology);
    machine->cpuset = bitmap_text(machine->usable);
    machine->cpu_count = (uint32_t)hwloc_bitmap_weight(machine->usable);
    machine->place_count = options->rank_count;
    if (options->not_over && options->rank_count > machine->cpu_count) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "%u ranks on %u CPUs, and :NOOVERSUBSCRIBE forbids it: use fewer ranks, or leave "
                 "it out",
                 options->rank_count, machine->cpu_count);
        return false;
    }
    machine->places = options->cpus == NULL
                          ? sx_run_machine_place(machine, options, message)
                          : sx_run_machine_place_on(machine, options->cpus, options, message);
    return machine->places != NULL;
}

void sx_run_machine_deinit(struct sx_run_machine *machine)
{
    sx_run_places_free(machine->places, machine->place_count);
    free(machine->xml);
    free(machine->sign);
    hwloc_bitmap_free(machine->usable);
    free(machine->cpuset);
    if (machine->topology != NULL) {
        hwloc_topology_destroy(machine->topology);
    }
    *machine = (struct sx_run_machine){ 0 };
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run_place.c - load the topology once, then a place for each rank.
 *
 * The locality string is the one that Open MPI's ranks compare among each other to learn what
 * they share; Open MPI 4 wants it, and the cpuset, without the source in front. */
#include "cli/run_place.h"

#include <hwloc.h>
#include <hwloc/glibc-sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locality.h"
#include "base/topology.h"
#include "cli/say.h"

static uint32_t count_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    const int count = hwloc_get_nbobjs_by_type(topology, type);

    return count < 0 ? 0 : (uint32_t)count;
}

/* Some virtual machines show CPUs and no cores. */
static hwloc_obj_type_t core_type(hwloc_topology_t topology)
{
    return count_of(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
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

static void place_bind(struct sx_run_place *place, hwloc_topology_t topology, hwloc_obj_t obj)
{
    const int last = hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(topology));

    place->mask_size_bytes = CPU_ALLOC_SIZE((size_t)last + 1);
    place->mask = sx_cli_calloc(1, place->mask_size_bytes);
    hwloc_cpuset_to_glibc_sched_affinity(topology, obj->cpuset, place->mask,
                                         place->mask_size_bytes);
    place->cpuset = bitmap_text(obj->cpuset);
    place->locality = locality_text(topology, obj->cpuset);
}

/* The ranks of one object have the same strings; they are worked out once and copied. */
static void place_copy(struct sx_run_place *place, const struct sx_run_place *from)
{
    *place = *from;
    place->mask = sx_cli_calloc(1, from->mask_size_bytes);
    memcpy(place->mask, from->mask, from->mask_size_bytes);
    place->cpuset = sx_cli_strdup(from->cpuset);
    place->locality = sx_cli_strdup(from->locality);
}

static uint32_t package_of(hwloc_topology_t topology, hwloc_obj_t obj)
{
    const uint32_t count = count_of(topology, HWLOC_OBJ_PACKAGE);

    for (uint32_t i = 0; i < count; i++) {
        if (hwloc_bitmap_isincluded(obj->cpuset, hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE,
                                                                       i)->cpuset)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static void bind_all(struct sx_run_machine *machine, hwloc_obj_type_t type, uint32_t obj_count)
{
    hwloc_topology_t topology = machine->topology;
    uint16_t *in_package = sx_cli_calloc((size_t)machine->package_count + 1, sizeof(*in_package));
    uint32_t last = UINT32_MAX;

    for (uint32_t rank = 0; rank < machine->place_count; rank++) {
        struct sx_run_place *place = &machine->places[rank];
        const uint32_t index =
            machine->place_count <= obj_count
                ? rank
                : (uint32_t)((uint64_t)rank * obj_count / machine->place_count);
        const hwloc_obj_t obj = hwloc_get_obj_by_type(topology, type, index);
        uint32_t package;

        if (index == last) {
            place_copy(place, place - 1);
        } else {
            place_bind(place, topology, obj);
        }
        last = index;
        package = package_of(topology, obj);
        place->has_package_rank = package < machine->package_count;
        if (place->has_package_rank) {
            place->package_rank = in_package[package]++;
        }
    }
    free(in_package);
}

static void bind_none(struct sx_run_machine *machine)
{
    for (uint32_t rank = 0; rank < machine->place_count; rank++) {
        /* An unbound rank is on a known package only where there is no other. */
        machine->places[rank].has_package_rank = machine->package_count <= 1;
        machine->places[rank].package_rank = (uint16_t)rank;
    }
}

static bool look(struct sx_run_machine *machine, char *message)
{
    hwloc_topology_t topology;

    if (sx_topology_discover(&topology) != PMIX_SUCCESS) {
        const char *const file = getenv("HWLOC_XMLFILE");

        snprintf(message, SX_RUN_MESSAGE_MAX, "hwloc cannot read this machine's topology%s%s%s",
                 file != NULL ? " from HWLOC_XMLFILE=" : "", file != NULL ? file : "",
                 file != NULL ? " (without libxml2 it reads no XML comments)" : "");
        return false;
    }
    machine->topology = topology;
    machine->cpu_count = count_of(topology, HWLOC_OBJ_PU);
    machine->core_count = count_of(topology, core_type(topology));
    machine->numa_count = count_of(topology, HWLOC_OBJ_NUMANODE);
    machine->package_count = count_of(topology, HWLOC_OBJ_PACKAGE);
    machine->memory_bytes = hwloc_get_root_obj(topology)->total_memory;
    (void)sx_topology_write(topology, &machine->xml); /* else the server looks itself */
    return true;
}

bool sx_run_machine_init(struct sx_run_machine *machine, enum sx_run_bind bind,
                         uint32_t rank_count, char message[SX_RUN_MESSAGE_MAX])
{
    *machine = (struct sx_run_machine){ .place_count = rank_count };
    machine->places = sx_cli_calloc(rank_count, sizeof(*machine->places));
    if (!look(machine, message)) {
        return false;
    }
    if (bind == SX_RUN_BIND_CORE && rank_count > machine->core_count) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "--bind-to core: %u ranks want a core each, and this "
                 "machine has %u (of %u CPUs on %u NUMA nodes) for us; use fewer ranks, --bind-to "
                 "numa or --bind-to none", rank_count, machine->core_count, machine->cpu_count,
                 machine->numa_count);
        return false;
    }
    if (bind == SX_RUN_BIND_CORE) {
        bind_all(machine, core_type(machine->topology), machine->core_count);
    } else if (bind == SX_RUN_BIND_NUMA && machine->numa_count > 0) {
        bind_all(machine, HWLOC_OBJ_NUMANODE, machine->numa_count);
    } else {
        bind_none(machine);
    }
    return true;
}

void sx_run_machine_deinit(struct sx_run_machine *machine)
{
    for (uint32_t i = 0; machine->places != NULL && i < machine->place_count; i++) {
        free(machine->places[i].mask);
        free(machine->places[i].cpuset);
        free(machine->places[i].locality);
    }
    free(machine->places);
    free(machine->xml);
    if (machine->topology != NULL) {
        hwloc_topology_destroy(machine->topology);
    }
    *machine = (struct sx_run_machine){ 0 };
}

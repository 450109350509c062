/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* place_test.c - places on machines that hwloc makes up. */
#include "launch/place/place.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"

static struct sx_run_machine machine;

/* Return: what init returned. */
static bool mapped_on(const char *synthetic, enum sx_run_level map, enum sx_run_level bind,
                      uint32_t ranks, char *message)
{
    const struct sx_run_options options = { .map = map, .bind = bind, .rank_count = ranks };

    setenv("HWLOC_SYNTHETIC", synthetic, 1);
    return sx_run_machine_init(&machine, &options, message);
}

static bool on(const char *synthetic, enum sx_run_level bind, uint32_t ranks, char *message)
{
    return mapped_on(synthetic, SX_RUN_LEVEL_NONE, bind, ranks, message);
}

#define TWO_SOCKETS "pack:2 numa:1 l3:1 core:4 pu:2"

Test(run_place, a_core_for_each_rank_in_order)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert(on(TWO_SOCKETS, SX_RUN_LEVEL_CORE, 8, message), "%s", message);
    cr_expect_eq(machine.cpu_count, 16);
    cr_expect_str_eq(machine.places[0].cpuset, "0-1");
    cr_expect_str_eq(machine.places[5].cpuset, "10-11");
    cr_expect_str_eq(machine.places[5].locality, "NM1:SK1:L31:CR5:HT10-11");
    cr_expect(CPU_ISSET_S(10, machine.places[5].mask_size_bytes, machine.places[5].mask));
    cr_expect_eq(CPU_COUNT_S(machine.places[5].mask_size_bytes, machine.places[5].mask), 2);
    cr_expect_eq(machine.places[5].package, 1);
    sx_run_machine_deinit(&machine);
}

Test(run_place, more_ranks_than_cores_are_refused_with_what_there_is)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert_not(on(TWO_SOCKETS, SX_RUN_LEVEL_CORE, 9, message));
    cr_expect_not_null(strstr(message, "9 ranks"), "%s", message);
    cr_expect_not_null(strstr(message, "has 8"), "%s", message);
    sx_run_machine_deinit(&machine);
}

Test(run_place, numa_nodes_get_blocks_of_neighbours)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert(on(TWO_SOCKETS, SX_RUN_LEVEL_NUMA, 5, message), "%s", message);
    cr_expect_str_eq(machine.places[2].cpuset, "0-7");
    cr_expect_str_eq(machine.places[3].cpuset, "8-15");
    cr_expect_eq(machine.places[2].package, 0);
    cr_expect_eq(machine.places[3].package, 1);
    sx_run_machine_deinit(&machine);
}

Test(run_place, unbound_ranks_have_no_place)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert(on(TWO_SOCKETS, SX_RUN_LEVEL_NONE, 100, message), "%s", message);
    cr_expect_null(machine.places[99].mask);
    cr_expect_null(machine.places[99].cpuset);
    cr_expect_eq(machine.places[99].package, SX_RUN_NO_PACKAGE); /* which of two? */
    cr_expect_null(machine.xml, "its devices are looked at later");
    sx_run_machine_deinit(&machine);
    sx_run_machine_deinit(&machine);
}

Test(run_place, everyone_is_on_the_one_package)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert(on("pack:1 core:2 pu:1", SX_RUN_LEVEL_NONE, 3, message), "%s", message);
    cr_expect_eq(machine.places[2].package, 0);
    sx_run_machine_deinit(&machine);
}

Test(run_place, without_cores_a_cpu_is_one)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert(on("pack:1 pu:3", SX_RUN_LEVEL_CORE, 3, message), "%s", message);
    cr_expect_str_eq(machine.places[2].cpuset, "2");
    sx_run_machine_deinit(&machine);
}

Test(run_place, a_file_that_cannot_be_read_is_named)
{
    static const char xml[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                              "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
                              "<topology version=\"2.0\">\n<nothing/>\n</topology>\n";
    const int fd = memfd_create("nothing", MFD_CLOEXEC);
    const struct sx_run_options options = { .rank_count = 1 };
    char message[SX_RUN_MESSAGE_MAX] = "", path[64];

    cr_assert_eq(write(fd, xml, sizeof(xml) - 1), (ssize_t)sizeof(xml) - 1);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    cr_assert_eq(setenv("HWLOC_XMLFILE", path, 1), 0);
    cr_assert_not(sx_run_machine_init(&machine, &options, message));
    cr_expect_not_null(strstr(message, "HWLOC_XMLFILE"), "%s", message);
    cr_expect_not_null(strstr(message, path), "%s", message);
    sx_run_machine_deinit(&machine);
    close(fd);
}

/* ---- --map-by -------------------------------------------------------------------------------- */

#define NONE SX_RUN_LEVEL_NONE
#define HWTHREAD SX_RUN_LEVEL_HWTHREAD
#define CORE SX_RUN_LEVEL_CORE
#define L3 SX_RUN_LEVEL_L3CACHE
#define NUMA SX_RUN_LEVEL_NUMA
#define PACKAGE SX_RUN_LEVEL_PACKAGE
#define NODE SX_RUN_LEVEL_NODE

/* Two packages of two NUMA nodes (and L3 caches) of two cores of two threads: 16 CPUs. */
#define EIGHT_CORES "pack:2 numa:2 l3:1 core:2 pu:2"

static const struct {
    enum sx_run_level map, bind;
    uint32_t ranks;
    const char *cpusets; /* of all ranks; NULL: refused */
    const char *says;    /* part of the refusal */
} maps[] = {
    { NONE, CORE, 4, "0-1 2-3 4-5 6-7", NULL },
    { NODE, CORE, 4, "0-1 2-3 4-5 6-7", NULL },
    { NONE, PACKAGE, 3, "0-7 0-7 8-15", NULL },
    { NONE, HWTHREAD, 3, "0 1 2", NULL },
    { CORE, CORE, 3, "0-1 2-3 4-5", NULL },
    { HWTHREAD, HWTHREAD, 3, "0 1 2", NULL },
    { HWTHREAD, CORE, 3, "0-1 0-1 2-3", NULL },
    { CORE, HWTHREAD, 3, "0 2 4", NULL },
    { CORE, NUMA, 3, "0-3 0-3 4-7", NULL },
    { CORE, PACKAGE, 8, "0-7 0-7 0-7 0-7 8-15 8-15 8-15 8-15", NULL },
    { L3, L3, 5, "0-3 4-7 8-11 12-15 0-3", NULL },
    { NUMA, NUMA, 5, "0-3 4-7 8-11 12-15 0-3", NULL },
    { NUMA, CORE, 6, "0-1 4-5 8-9 12-13 2-3 6-7", NULL },
    { NUMA, L3, 5, "0-3 4-7 8-11 12-15 0-3", NULL },
    { PACKAGE, PACKAGE, 3, "0-7 8-15 0-7", NULL },
    { PACKAGE, CORE, 4, "0-1 8-9 2-3 10-11", NULL },
    { PACKAGE, NUMA, 6, "0-3 8-11 4-7 12-15 0-3 8-11", NULL },
    { PACKAGE, HWTHREAD, 3, "0 8 1", NULL },
    { CORE, CORE, 9, NULL, "--map-by core: 9 ranks want a core each, and this machine has 8" },
    { CORE, NUMA, 9, NULL, "--map-by core: 9 ranks want a core each" },
    { NODE, HWTHREAD, 17, NULL, "17 ranks want a hardware thread each, and this machine has 16" },
    { NUMA, CORE, 9, NULL, "rank 8 wants a core of its own on NUMA node 0, which has 2" },
    { PACKAGE, CORE, 9, NULL,
      "; use fewer ranks, --bind-to core:overload-allowed, --bind-to package or --bind-to none" },
    { NUMA, CORE, 9, NULL,
      "; use fewer ranks, --bind-to core:overload-allowed, --bind-to numa or --bind-to none" },
    { NODE, CORE, 9, NULL,
      "; use fewer ranks, --bind-to core:overload-allowed, --bind-to numa or --bind-to none" },
    { CORE, NUMA, 9, NULL, "; use fewer ranks or --bind-to none" },
    { CORE, HWTHREAD, 9, NULL,
      "; use fewer ranks, --bind-to hwthread:overload-allowed, --map-by slot or --bind-to none" },
};

static char *all_cpusets(void)
{
    static char text[512];
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < machine.place_count; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i == 0 ? "" : " ",
                                 machine.places[i].cpuset);
    }
    return text;
}

Test(run_place, ranks_are_dealt_out_as_the_policies_say)
{
    for (size_t i = 0; i < SX_COUNT(maps); i++) {
        char message[SX_RUN_MESSAGE_MAX] = "";
        const bool ok = mapped_on(EIGHT_CORES, maps[i].map, maps[i].bind, maps[i].ranks, message);

        cr_expect_eq(ok, maps[i].cpusets != NULL, "row %zu: %s", i, message);
        if (ok && maps[i].cpusets != NULL) {
            cr_expect_str_eq(all_cpusets(), maps[i].cpusets, "row %zu: %s", i, all_cpusets());
        } else if (maps[i].says != NULL) {
            cr_expect_not_null(strstr(message, maps[i].says), "row %zu: %s", i, message);
        }
        sx_run_machine_deinit(&machine);
    }
}

Test(run_place, unbound_ranks_are_mapped_and_nothing_is_refused)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert(mapped_on(EIGHT_CORES, CORE, NONE, 20, message), "%s", message);
    cr_expect_eq(machine.places[9].map_number, 1);
    cr_expect_null(machine.places[9].cpuset);
    sx_run_machine_deinit(&machine);
}

Test(run_place, what_the_machine_does_not_show_is_refused)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_expect_not(mapped_on("pack:1 core:2 pu:1", L3, NONE, 1, message));
    cr_expect_not_null(strstr(message, "--map-by l3cache: this machine shows no L3 cache"), "%s",
                       message);
    sx_run_machine_deinit(&machine);
    cr_expect_not(mapped_on("core:2 pu:1", NONE, PACKAGE, 1, message));
    cr_expect_not_null(strstr(message, "--bind-to package: this machine shows no package"), "%s",
                       message);
    sx_run_machine_deinit(&machine);
}

/* ---- --cpus-per-rank ------------------------------------------------------------------------- */

static const struct {
    enum sx_run_level map, bind;
    uint32_t ranks, each;
    const char *cpusets;
    const char *says;
} several[] = {
    { NONE, CORE, 3, 2, "0-3 4-7 8-11", NULL },
    { CORE, CORE, 3, 2, "0-3 4-7 8-11", NULL },
    { CORE, CORE, 2, 3, "0-5 6-11", NULL },
    { NONE, HWTHREAD, 3, 4, "0-3 4-7 8-11", NULL },
    { HWTHREAD, HWTHREAD, 2, 1, "0 1", NULL },
    { NUMA, CORE, 4, 2, "0-3 4-7 8-11 12-15", NULL },
    { PACKAGE, CORE, 2, 3, "0-5 8-13", NULL },
    { PACKAGE, CORE, 3, 3, NULL,
      "rank 2 wants 3 cores of its own on package 0, which has them for 1" },
    { NUMA, CORE, 1, 3, NULL, "this machine has them for 0" },
    { NUMA, CORE, 1, 3, NULL, "; use --map-by slot or --bind-to none without --cpus-per-rank" },
    { PACKAGE, CORE, 3, 3, NULL,
      "; use fewer ranks, --map-by slot with --cpus-per-rank 2 or --bind-to none without" },
    { NONE, CORE, 5, 2, NULL,
      "; use fewer ranks, --cpus-per-rank 1 or --bind-to none without --cpus-per-rank" },
    { NONE, CORE, 9, 2, NULL, "; use fewer ranks or --bind-to none without --cpus-per-rank" },
    { NONE, CORE, 9, 1, NULL, "; use fewer ranks or --bind-to none without --cpus-per-rank" },
    { NONE, CORE, 1, 9, NULL, "; use --cpus-per-rank 8 or --bind-to none without --cpus-per-rank" },
    { NONE, CORE, 5, 2, NULL, "5 ranks want 2 cores each, and this machine has them for 4" },
    { NONE, CORE, 1, 9, NULL, "1 rank wants 9 cores, and this machine has them for 0" },
};

Test(run_place, a_rank_may_have_several_cores)
{
    for (size_t i = 0; i < SX_COUNT(several); i++) {
        const struct sx_run_options options = { .map = several[i].map,
                                                .bind = several[i].bind,
                                                .rank_count = several[i].ranks,
                                                .cpus_each = several[i].each };
        char message[SX_RUN_MESSAGE_MAX] = "";

        setenv("HWLOC_SYNTHETIC", EIGHT_CORES, 1);
        const bool ok = sx_run_machine_init(&machine, &options, message);

        cr_expect_eq(ok, several[i].cpusets != NULL, "row %zu: %s", i, message);
        if (ok && several[i].cpusets != NULL) {
            cr_expect_str_eq(all_cpusets(), several[i].cpusets, "row %zu: %s", i, all_cpusets());
        } else if (several[i].says != NULL) {
            cr_expect_not_null(strstr(message, several[i].says), "row %zu: %s", i, message);
        }
        sx_run_machine_deinit(&machine);
    }
}

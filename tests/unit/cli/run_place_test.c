/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run_place_test.c - places on machines that hwloc makes up. */
#include "cli/run_place.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sx_run_machine machine;

/* Return: what init returned. */
static bool on(const char *synthetic, enum sx_run_bind bind, uint32_t ranks, char *message)
{
    setenv("HWLOC_SYNTHETIC", synthetic, 1);
    return sx_run_machine_init(&machine, bind, ranks, message);
}

#define TWO_SOCKETS "pack:2 numa:1 l3:1 core:4 pu:2"

Test(run_place, a_core_for_each_rank_in_order)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert(on(TWO_SOCKETS, SX_RUN_BIND_CORE, 8, message), "%s", message);
    cr_expect_eq(machine.core_count, 8);
    cr_expect_eq(machine.cpu_count, 16);
    cr_expect_str_eq(machine.places[0].cpuset, "0-1");
    cr_expect_str_eq(machine.places[5].cpuset, "10-11");
    cr_expect_str_eq(machine.places[5].locality, "NM1:SK1:L31:CR5:HT10-11");
    cr_expect(CPU_ISSET_S(10, machine.places[5].mask_size_bytes, machine.places[5].mask));
    cr_expect_eq(CPU_COUNT_S(machine.places[5].mask_size_bytes, machine.places[5].mask), 2);
    cr_expect(machine.places[5].has_package_rank);
    cr_expect_eq(machine.places[5].package_rank, 1);
    sx_run_machine_deinit(&machine);
}

Test(run_place, more_ranks_than_cores_are_refused_with_what_there_is)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert_not(on(TWO_SOCKETS, SX_RUN_BIND_CORE, 9, message));
    cr_expect_not_null(strstr(message, "9 ranks"), "%s", message);
    cr_expect_not_null(strstr(message, "has 8"), "%s", message);
    sx_run_machine_deinit(&machine);
}

Test(run_place, numa_nodes_get_blocks_of_neighbours)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert(on(TWO_SOCKETS, SX_RUN_BIND_NUMA, 5, message), "%s", message);
    cr_expect_str_eq(machine.places[2].cpuset, "0-7");
    cr_expect_str_eq(machine.places[3].cpuset, "8-15");
    cr_expect_eq(machine.places[3].package_rank, 0);
    cr_expect_eq(machine.places[4].package_rank, 1);
    sx_run_machine_deinit(&machine);
}

Test(run_place, unbound_ranks_have_no_place)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert(on(TWO_SOCKETS, SX_RUN_BIND_NONE, 100, message), "%s", message);
    cr_expect_null(machine.places[99].mask);
    cr_expect_null(machine.places[99].cpuset);
    cr_expect_not(machine.places[99].has_package_rank); /* which of two packages? */
    cr_expect_not_null(machine.xml);
    sx_run_machine_deinit(&machine);
    sx_run_machine_deinit(&machine);
}

Test(run_place, one_package_ranks_everyone)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert(on("pack:1 core:2 pu:1", SX_RUN_BIND_NONE, 3, message), "%s", message);
    cr_expect(machine.places[2].has_package_rank);
    cr_expect_eq(machine.places[2].package_rank, 2);
    sx_run_machine_deinit(&machine);
}

Test(run_place, without_cores_a_cpu_is_one)
{
    char message[SX_RUN_MESSAGE_MAX] = "";

    cr_assert(on("pack:1 pu:3", SX_RUN_BIND_CORE, 3, message), "%s", message);
    cr_expect_str_eq(machine.places[2].cpuset, "2");
    sx_run_machine_deinit(&machine);
}

Test(run_place, a_file_that_cannot_be_read_is_named)
{
    static const char xml[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                              "<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
                              "<topology version=\"2.0\">\n<nothing/>\n</topology>\n";
    const int fd = memfd_create("nothing", MFD_CLOEXEC);
    char message[SX_RUN_MESSAGE_MAX] = "", path[64];

    cr_assert_eq(write(fd, xml, sizeof(xml) - 1), (ssize_t)sizeof(xml) - 1);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    cr_assert_eq(setenv("HWLOC_XMLFILE", path, 1), 0);
    cr_assert_not(sx_run_machine_init(&machine, SX_RUN_BIND_NONE, 1, message));
    cr_expect_not_null(strstr(message, "HWLOC_XMLFILE"), "%s", message);
    cr_expect_not_null(strstr(message, path), "%s", message);
    sx_run_machine_deinit(&machine);
    close(fd);
}

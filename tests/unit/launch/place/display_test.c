/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* display_test.c - a rank's place in words, bound and unbound. */
#include "launch/place/display.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct sx_run_machine machine;
static char *programs[][2] = { { "./ocean", NULL }, { "./ice", NULL } };
static struct sx_run_app apps[] = {
    { .rank_count = 2, .program = programs[0] },
    { .first_rank = 2, .rank_count = 2, .program = programs[1] },
};
static char none[] = "", second[] = "job 1, ", name[] = "shmix-1";
static struct sx_run_job
    both = { .apps = apps, .app_count = 2, .rank_count = 4, .prefix = none, .nspace = name },
    ice = { .apps = &apps[1], .app_count = 1, .rank_count = 2, .first = 2, .prefix = second };

static struct sx_run_options on(enum sx_run_level map, enum sx_run_level bind)
{
    const struct sx_run_options options = { .map = map, .bind = bind, .rank_count = 4 };
    char message[SX_RUN_MESSAGE_MAX] = "";

    setenv("HWLOC_SYNTHETIC", "pack:1 numa:2 core:4 pu:2", 1);
    cr_assert(sx_run_machine_init(&machine, &options, message), "%s", message);
    both.places = machine.places;
    ice.places = &machine.places[2];
    return options;
}

#define SHOWN(options)              \
    {                               \
        &(options), &machine, "box" \
    }

static void expect_text(char *text, const char *want)
{
    cr_expect_str_eq(text, want, "'%s'", text);
    free(text);
}

Test(run_display, a_bound_rank_has_its_part_and_its_cpus)
{
    const struct sx_run_options options = on(SX_RUN_LEVEL_NUMA, SX_RUN_LEVEL_CORE);
    const struct sx_run_display display = SHOWN(options);

    expect_text(sx_run_display_map(&display, &both, 3),
                "map: rank 3, app 1 (./ice), NUMA node 1, bound to core 5, CPUs 10-11\n");
    expect_text(sx_run_display_binding(&display, &both, 3, 4711),
                "bindings: rank 3, app 1 (./ice), pid 4711, core 5, CPUs 10-11\n");
    sx_run_machine_deinit(&machine);
}

Test(run_display, an_unbound_rank_has_the_launchers_cpus)
{
    const struct sx_run_options options = on(SX_RUN_LEVEL_NONE, SX_RUN_LEVEL_NONE);
    const struct sx_run_display display = SHOWN(options);

    expect_text(sx_run_display_map(&display, &both, 1),
                "map: rank 1, app 0 (./ocean), slot 1, not bound, CPUs 0-15\n");
    expect_text(sx_run_display_binding(&display, &both, 1, 4711),
                "bindings: rank 1, app 0 (./ocean), pid 4711, not bound, CPUs 0-15\n");
    sx_run_machine_deinit(&machine);
}

Test(run_display, a_rank_of_a_later_job_has_the_next_places)
{
    const struct sx_run_options options = on(SX_RUN_LEVEL_NUMA, SX_RUN_LEVEL_CORE);
    const struct sx_run_display display = SHOWN(options);

    expect_text(sx_run_display_map(&display, &ice, 1),
                "map: job 1, rank 1, app 0 (./ice), NUMA node 1, bound to core 5, CPUs 10-11\n");
    expect_text(sx_run_display_binding(&display, &ice, 0, 4711),
                "bindings: job 1, rank 0, app 0 (./ice), pid 4711, core 1, CPUs 2-3\n");
    sx_run_machine_deinit(&machine);
}

Test(run_display, the_node_in_words)
{
    struct sx_run_options options = on(SX_RUN_LEVEL_NONE, SX_RUN_LEVEL_NONE);
    const struct sx_run_display display = SHOWN(options);

    expect_text(sx_run_display_node(&display), "");
    options.display.allocation = true;
    options.display.processors = "";
    machine.memory_bytes = (uint64_t)3 << 30;
    expect_text(sx_run_display_node(&display),
                "allocation: node box, 16 slots, CPUs 0-15, 3072 MiB\n"
                "processors: node box, CPUs 0-15 (16), 1 package\n");
    options.display = (struct sx_display_options){ .topology = "box" };
    char *const text = sx_run_display_node(&display);

    cr_expect_eq(strncmp(text,
                         "topology: Machine 0, CPUs 0-15\n"
                         "topology:   Package 0, CPUs 0-15\n",
                         63),
                 0, "%s", text);
    cr_expect_not_null(strstr(text, "\ntopology:       Core 7, CPUs 14-15\n"), "%s", text);
    cr_expect_not_null(strstr(text, "NUMANode 1, CPUs 8-15\n"), "%s", text);
    free(text);
    sx_run_machine_deinit(&machine);
}

Test(run_display, for_programs_each_line_is_an_object)
{
    struct sx_run_options options = on(SX_RUN_LEVEL_NUMA, SX_RUN_LEVEL_CORE);
    const struct sx_run_display display = SHOWN(options);

    options.display = (struct sx_display_options){ .allocation = true,
                                                   .parseable = true,
                                                   .processors = "" };
    machine.memory_bytes = 4096;
    expect_text(sx_run_display_node(&display),
                "{\"display\":\"allocation\",\"node\":\"box\",\"cpus\":\"0-15\",\"slots\":16,"
                "\"memory_bytes\":4096}\n"
                "{\"display\":\"processors\",\"node\":\"box\",\"cpus\":\"0-15\",\"count\":16,"
                "\"packages\":1}\n");
    expect_text(sx_run_display_map(&display, &both, 3),
                "{\"display\":\"map\",\"node\":\"box\",\"nspace\":\"shmix-1\",\"rank\":3,\"app\":1,"
                "\"program\":\"./ice\",\"mapped_to\":\"NUMA node\",\"map_number\":1,"
                "\"bound_to\":\"core\",\"bind_number\":5,\"cpus\":\"10-11\"}\n");
    expect_text(sx_run_display_binding(&display, &both, 3, 4711),
                "{\"display\":\"bindings\",\"node\":\"box\",\"nspace\":\"shmix-1\",\"rank\":3,"
                "\"app\":1,\"program\":\"./ice\",\"mapped_to\":\"NUMA node\",\"map_number\":1,"
                "\"bound_to\":\"core\",\"bind_number\":5,\"cpus\":\"10-11\",\"pid\":4711}\n");
    options.display = (struct sx_display_options){ .topology = "", .parseable = true };
    char *const text = sx_run_display_node(&display);

    cr_expect_not_null(strstr(text,
                              "\"type\":\"Core\",\"cpus\":\"14-15\",\"depth\":3,\"number\":7}\n"),
                       "%s", text);
    free(text);
    sx_run_machine_deinit(&machine);
}

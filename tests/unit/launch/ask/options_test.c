/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* options_test.c - what is accepted; what is refused is in tests/system/run/answers.tsv. */
#include "launch/ask/options.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"

Test(run_options, takes_every_option_in_every_form)
{
    char *argv[] = { "-n4",
                     "--bind-to=numa",
                     "--env",
                     "A=b=c",
                     "--env=HOME",
                     "--wdir",
                     "/tmp",
                     "--pset=ocean",
                     "--display=bind,map",
                     "--on-failure=notify",
                     "--timeout=1.5",
                     "--kill-grace=0.25",
                     "--event-grace=0.5",
                     "--tag-output",
                     "--stdin",
                     "3",
                     "prog",
                     "-n",
                     "x",
                     NULL };
    struct sx_run_options options;

    setenv("HOME", "/", 1);
    cr_assert_eq(sx_run_options_init(&options, argv), SX_OPTIONS_TAKEN);
    cr_assert_eq(options.app_count, 1);
    cr_expect_eq(options.rank_count, 4);
    cr_expect_eq(options.bind, SX_RUN_LEVEL_NUMA);
    cr_assert_eq(options.apps[0].env_count, 2);
    cr_expect_str_eq(options.apps[0].env[0], "A=b=c");
    cr_expect_str_eq(options.apps[0].env[1], "HOME");
    cr_expect_str_eq(options.apps[0].wdir, "/tmp");
    cr_expect_str_eq(options.apps[0].pset, "ocean");
    cr_expect_eq(options.on_failure, SX_RUN_ON_FAILURE_NOTIFY);
    cr_expect_eq(options.timeout_ns, UINT64_C(1500000000));
    cr_expect_eq(options.kill_grace_ns, UINT64_C(250000000));
    cr_expect_eq(options.event_grace_ns, UINT64_C(500000000));
    cr_expect(options.output.marks.tag && options.display.map && options.display.bindings);
    cr_expect_eq(options.stdin_mode, SX_RUN_STDIN_RANK);
    cr_expect_eq(options.stdin_rank, 3);
    cr_expect_str_eq(options.apps[0].program[0], "prog");
    cr_expect_str_eq(options.apps[0].program[1], "-n");
    cr_expect_null(options.apps[0].program[3]);
    sx_run_options_deinit(&options);
}

Test(run_options, takes_what_users_of_mpirun_type)
{
    char *argv[] = { "-np",
                     "4",
                     "--oversubscribe",
                     "-bind-to",
                     "numa",
                     "-x",
                     "A=1",
                     "--mca",
                     "btl",
                     "tcp",
                     "--allow-run-as-root",
                     "-mca",
                     "btl",
                     "self",
                     "a",
                     ":",
                     "--np",
                     "2",
                     "--mca",
                     "btl",
                     "sm",
                     "b",
                     NULL };
    struct sx_run_options options;

    cr_assert_eq(sx_run_options_init(&options, argv), SX_OPTIONS_TAKEN);
    cr_assert_eq(options.app_count, 2);
    cr_expect_eq(options.rank_count, 6);
    cr_expect_eq(options.bind, SX_RUN_LEVEL_NUMA);
    cr_assert_eq(options.apps[0].env_count, 2);
    cr_expect_str_eq(options.apps[0].env[0], "A=1");
    cr_expect_str_eq(options.apps[0].env[1], "OMPI_MCA_btl=tcp,self", "values of a key are a list");
    cr_assert_eq(options.apps[1].env_count, 1);
    cr_expect_str_eq(options.apps[1].env[0], "OMPI_MCA_btl=sm");
    sx_run_options_deinit(&options);
}

Test(run_options, recovery_is_for_all_programs_that_say_nothing_of_it)
{
    char *argv[] = { "--with-ft", "ulfm", "a", ":", "-x", "OMPI_MCA_mpi_ft_enable=0", "b", NULL };
    struct sx_run_options options;

    cr_assert_eq(sx_run_options_init(&options, argv), SX_OPTIONS_TAKEN);
    cr_expect_eq(options.on_failure, SX_RUN_ON_FAILURE_NOTIFY);
    cr_assert_eq(options.apps[0].env_count, 1);
    cr_expect_str_eq(options.apps[0].env[0], "OMPI_MCA_mpi_ft_enable=1");
    cr_assert_eq(options.apps[1].env_count, 1);
    cr_expect_str_eq(options.apps[1].env[0], "OMPI_MCA_mpi_ft_enable=0");
    sx_run_options_deinit(&options);
}

Test(run_options, two_dashes_end_the_options)
{
    char *argv[] = { "-n", "2", "--", "--help", NULL };
    struct sx_run_options options;

    cr_assert_eq(sx_run_options_init(&options, argv), SX_OPTIONS_TAKEN);
    cr_expect_str_eq(options.apps[0].program[0], "--help");
    cr_expect_eq(options.kill_grace_ns, SX_RUN_GRACE_BY_CAUSE);
    cr_expect_eq(options.event_grace_ns, UINT64_C(100000000));
    cr_expect_eq(options.stdin_mode, SX_RUN_STDIN_RANK);
    cr_expect_eq(options.bind, SX_RUN_LEVEL_NONE);
    sx_run_options_deinit(&options);
}

Test(run_options, colons_part_applications_with_options_of_their_own)
{
    char *argv[] = { "-n2",      "--env",  "A=1", "--tag-output", "a", "-x", ":",   "-n", "3",
                     "--wdir=/", "--pset", "two", "--",           "b", ":",  "c:d", "::", NULL };
    struct sx_run_options options;

    cr_assert_eq(sx_run_options_init(&options, argv), SX_OPTIONS_TAKEN);
    cr_assert_eq(options.app_count, 3);
    cr_expect_eq(options.rank_count, 6);
    cr_expect(options.output.marks.tag);
    cr_expect_not(options.separate_jobs);
    cr_expect_str_eq(options.apps[0].program[1], "-x");
    cr_expect_null(options.apps[0].program[2]);
    cr_expect_eq(options.apps[0].env_count, 1);
    cr_expect_eq(options.apps[1].rank_count, 3);
    cr_expect_eq(options.apps[1].env_count, 0);
    cr_expect_str_eq(options.apps[1].wdir, "/");
    cr_expect_str_eq(options.apps[1].pset, "two");
    cr_expect_str_eq(options.apps[1].program[0], "b");
    cr_expect_null(options.apps[1].program[1]);
    cr_expect_eq(options.apps[2].rank_count, 1);
    cr_expect_null(options.apps[2].wdir);
    cr_expect_str_eq(options.apps[2].program[1], "::");
    sx_run_options_deinit(&options);
}

Test(run_options, ranks_are_bound_to_what_they_are_mapped_by_unless_it_is_given)
{
    static const struct {
        const char *words[4];
        enum sx_run_level map, bind;
    } rows[] = {
        { { "x", NULL }, SX_RUN_LEVEL_NONE, SX_RUN_LEVEL_NONE },
        { { "--map-by=slot", "x", NULL }, SX_RUN_LEVEL_NONE, SX_RUN_LEVEL_NONE },
        { { "--map-by=socket", "x", NULL }, SX_RUN_LEVEL_PACKAGE, SX_RUN_LEVEL_PACKAGE },
        { { "--map-by=node", "x", NULL }, SX_RUN_LEVEL_NODE, SX_RUN_LEVEL_NONE },
        { { "--map-by=numa", "--bind-to=core", "x", NULL }, SX_RUN_LEVEL_NUMA, SX_RUN_LEVEL_CORE },
        { { "--bind-to=none", "--map-by=core", "x", NULL }, SX_RUN_LEVEL_CORE, SX_RUN_LEVEL_NONE },
        { { "--bind-to=l3cache", "x", NULL }, SX_RUN_LEVEL_NONE, SX_RUN_LEVEL_L3CACHE },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char *argv[4];
        struct sx_run_options options;

        memcpy(argv, rows[i].words, sizeof(argv));
        cr_assert_eq(sx_run_options_init(&options, argv), SX_OPTIONS_TAKEN, "row %zu", i);
        cr_expect_eq(options.map, rows[i].map, "row %zu", i);
        cr_expect_eq(options.bind, rows[i].bind, "row %zu", i);
        sx_run_options_deinit(&options);
    }
}

Test(run_options, help_needs_nothing_else)
{
    char *argv[] = { "--help", "-n", NULL };
    struct sx_run_options options;

    cr_expect_eq(sx_run_options_init(&options, argv), 0);
    sx_run_options_deinit(&options);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* restart_test.c - how long a rank that fails pauses before it is started again, and how many
 * lines that takes. */
#include "launch/job/state.h"

#include <criterion/criterion.h>

#include "base/util.h"

#define MS SX_NS_PER_MS

static const struct {
    const char *why;
    uint32_t restarts;
    uint64_t pause_ns, lived_ns, want_ns;
} rows[] = {
    { "the first is at once", 0, 0, 0, 0 },
    { "the second is not", 1, 0, MS, 10 * MS },
    { "the third takes twice that", 2, 10 * MS, MS, 20 * MS },
    { "up to a bound", 9, 640 * MS, MS, 1000 * MS },
    { "which stays", 1000000, 1000 * MS, MS, 1000 * MS },
    { "a life that was long makes it short again", 9, 1000 * MS, 1000 * MS, 0 },
    { "and then it begins anew", 10, 0, MS, 10 * MS },
};

Test(run_again, a_rank_with_short_lives_pauses_twice_as_long_each_time)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(sx_run_again_pause_ns(rows[i].restarts, rows[i].pause_ns, rows[i].lived_ns),
                     rows[i].want_ns, "%s", rows[i].why);
    }
}

/* With all of them counted. */
Test(run_again, a_million_restarts_have_some_fifty_lines)
{
    struct sx_run_job job = { .restarts = 0 };
    uint32_t lines = 0, unnotified = 0, before;

    for (uint32_t i = 0; i < 1000000; i++) {
        if (sx_run_again_has_line(&job, &before)) {
            lines++;
            unnotified += before;
        }
    }
    cr_expect_eq(lines, SX_RUN_AGAIN_LINES + 14, "%u lines", lines);
    cr_expect_eq(lines + unnotified + job.restarts_unnotified, 1000000);
}

Test(run_again, a_check_of_ranks_is_planned_only_while_some_are_to_be_started_again)
{
    static struct sx_run_state run;
    struct sx_run_job job = { .run = &run };

    cr_assert_eq(sx_run_loop_init(&run.loop), 0);
    sx_run_again_look(&job, 0);
    cr_expect_not(sx_run_is_awaited(&job.restart), "there are none");
    job.again = 1;
    sx_run_again_look(&job, SX_NS_PER_SEC);
    cr_expect(sx_run_is_awaited(&job.restart));
    sx_run_loop_turn(&run.loop, true);
    cr_expect(sx_run_is_awaited(&job.restart), "it pauses");
    job.again = 0;
    sx_run_again_look(&job, 0);
    sx_run_after(&run.loop, &job.restart, 0, job.restart.fn, &job);
    sx_run_loop_turn(&run.loop, true);
    cr_expect_not(sx_run_is_awaited(&job.restart), "none is left");
    sx_run_loop_deinit(&run.loop);
}

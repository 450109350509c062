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
    uint32_t lines = 0, untold = 0, before;

    for (uint32_t i = 0; i < 1000000; i++) {
        if (sx_run_again_has_line(&job, &before)) {
            lines++;
            untold += before;
        }
    }
    cr_expect_eq(lines, SX_RUN_AGAIN_LINES + 14, "%u lines", lines);
    cr_expect_eq(lines + untold + job.restarts_untold, 1000000);
}

Test(run_again, a_rank_that_pauses_is_not_looked_at_before)
{
    struct sx_run_rank ranks[2] = { { .again = true, .again_from_ns = SX_DEADLINE_NEVER - 1 },
                                    { .again_from_ns = 1 } };
    struct sx_run_job job = { .ranks = ranks, .spawned = 2, .again = 1 };

    cr_expect_eq(sx_run_again_deadline_ns(&job), SX_DEADLINE_NEVER - 1);
    ranks[1].again = true;
    cr_expect_lt(sx_run_again_deadline_ns(&job), SX_DEADLINE_NEVER - 1);
    job.again = 0;
    cr_expect_eq(sx_run_again_deadline_ns(&job), SX_DEADLINE_NEVER);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run_start_test.c - the table of ranks by their processes has room for those to come. */
#include "cli/run/start.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "cli/run/state.h"

#define RANKS 100

/* A search in a full table would never end. */
Test(run_start, a_job_that_goes_leaves_room_for_one_that_is_starting)
{
    static struct sx_run_rank ranks[RANKS];
    struct sx_run_job starting = { .rank_count = RANKS, .spawned = 2, .alive = 2, .ranks = ranks };
    struct sx_run_job *all[] = { &starting };
    struct sx_run_jobs jobs = { .at = all, .count = 1 };
    struct sx_run_state run = { .jobs = &jobs };

    run.by_pid = calloc(4, sizeof(*run.by_pid));
    run.by_pid_mask = 3;
    cr_assert_not_null(run.by_pid);
    for (uint32_t i = 0; i < 2; i++) {
        ranks[i].pid = 1000 + (pid_t)i;
        ranks[i].alive = true;
        *sx_run_bearer(&run, ranks[i].pid) = (struct sx_run_bearer){ .job = &starting, .rank = i };
    }
    sx_run_start_room(&run, 0);
    cr_expect_geq(run.by_pid_mask + 1, RANKS + 1);
    cr_expect_eq(sx_run_bearer(&run, 1001)->rank, 1);
    cr_expect_null(sx_run_bearer(&run, 1002)->job);
    free(run.by_pid);
}

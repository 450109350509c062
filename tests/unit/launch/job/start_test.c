/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* start_test.c - the table of ranks by their processes. */
#include "launch/job/state.h"

#include <criterion/criterion.h>

#define RANKS 100

Test(run_start, a_number_that_comes_again_is_its_next_bearers)
{
    static struct sx_run_rank ranks[RANKS], next = { .pid = 1001 };
    static struct sx_run_state run;

    for (uint32_t i = 0; i < RANKS; i++) {
        ranks[i].pid = 1000 + (pid_t)i;
        sx_run_bearer_add(&run, &ranks[i]);
    }
    cr_expect_eq(sx_run_bearer(&run, 1001), &ranks[1]);
    sx_run_bearer_remove(&run, &ranks[1]);
    cr_expect_null(sx_run_bearer(&run, 1001));
    sx_run_bearer_add(&run, &next);
    cr_expect_eq(sx_run_bearer(&run, 1001), &next);
    cr_expect_eq(sx_run_bearer(&run, 1000 + RANKS - 1), &ranks[RANKS - 1]);
    cr_expect_null(sx_run_bearer(&run, 1000 + RANKS));
    sx_table_deinit(&run.by_pid);
}

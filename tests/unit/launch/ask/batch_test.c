/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* batch_test.c - Slurm's lists of nodes and of their tasks.  What is taken of an allocation is in
 * tests/system/run/batch_test.sh. */
#include "launch/ask/sources.h"

#include <criterion/criterion.h>

#include "base/util.h"

Test(run_batch, tasks_of_a_node)
{
    static const struct {
        const char *text;
        uint32_t index, tasks;
    } rows[] = {
        { "4", 0, 4 },
        { "4", 1, 0 },
        { "2(x3),1", 2, 2 },
        { "2(x3),1", 3, 1 },
        { "2(x3),1", 4, 0 },
        { "", 0, 0 },
        { "x", 0, 0 },
        { "2(x", 0, 0 },
        { "2(x3", 1, 2 },
        { "99999999999", 0, 0 },
        { "2(x99999999999999999999),1", 7, 2 },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(sx_run_batch_tasks_at(rows[i].text, rows[i].index), rows[i].tasks, "row %zu",
                     i);
    }
}

Test(run_batch, place_of_a_node)
{
    static const struct {
        const char *list, *own;
        uint32_t index;
    } rows[] = {
        { "a", "a", 0 },
        { "a,b,c", "c", 2 },
        { "a,b,c", "d", UINT32_MAX },
        { "node[01-03,7],gpu", "node03", 2 },
        { "node[01-03,7],gpu", "node7", 3 },
        { "node[01-03,7],gpu", "gpu", 4 },
        { "node[01-03,7],gpu", "node3", UINT32_MAX },
        { "n[1-2]-ib,x", "n2-ib", 1 },
        { "a.site.org,b", "a", 0 },
        { "a", "a.site.org", 0 },
        { "a.one.org", "a.two.org", UINT32_MAX },
        { "A[1-2]", "a2", 1 },
        { "n[1-", "n1", UINT32_MAX },
        { "n[]", "n", UINT32_MAX },
        { "n[2-1]", "n1", UINT32_MAX },
        { "n[0-99999999999]", "m", UINT32_MAX },
        { "", "a", UINT32_MAX },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(sx_run_batch_index_of(rows[i].list, rows[i].own), rows[i].index, "row %zu", i);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* value_compare_test.c - the order is total: decided by value, in both directions, for all
 * types. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/value.h"

#include "../samples.h"

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

Test(value_compare, both_directions_agree_for_every_type)
{
    enum { SEEDS = 24 };

    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        pmix_value_t values[SEEDS];
        unsigned different = 0;

        if (!sample_is_value_type(type)) {
            continue;
        }
        for (unsigned i = 0; i < SEEDS; i++) {
            sample_value(&values[i], type, i, SAMPLE_DEPTH);
        }
        for (unsigned i = 0; i < SEEDS; i++) {
            for (unsigned j = 0; j < SEEDS; j++) {
                const int order = sx_value_compare(&values[i], &values[j]);

                cr_assert_eq(sign(order), -sign(sx_value_compare(&values[j], &values[i])));
                cr_assert(i != j || order == 0, "type %u seed %u", type, i);
                different += order != 0;
                for (unsigned k = 0; k < SEEDS && order < 0; k++) {
                    if (sx_value_compare(&values[j], &values[k]) < 0) {
                        cr_assert_lt(sx_value_compare(&values[i], &values[k]), 0, "type %u", type);
                    }
                }
            }
        }
        cr_assert_gt(different, 0u, "type %u", type);
        for (unsigned i = 0; i < SEEDS; i++) {
            sx_value_destruct(&values[i]);
        }
    }
}

static char a[] = "a", b[] = "b", ab[] = "ab";

/* Each row is smaller than the next of its type. */
static const pmix_value_t rows[] = {
    { .type = PMIX_INT, .data.integer = -5 },
    { .type = PMIX_INT, .data.integer = 3 },
    { .type = PMIX_INT, .data.integer = 300 },
    { .type = PMIX_UINT64, .data.uint64 = 1 },
    { .type = PMIX_UINT64, .data.uint64 = UINT64_MAX },
    { .type = PMIX_DOUBLE, .data.dval = -1e300 },
    { .type = PMIX_DOUBLE, .data.dval = 0.5 },
    { .type = PMIX_DOUBLE, .data.dval = NAN },
    { .type = PMIX_TIMEVAL, .data.tv = { .tv_sec = -1, .tv_usec = 9 } },
    { .type = PMIX_TIMEVAL, .data.tv = { .tv_sec = 256, .tv_usec = 1 } },
    { .type = PMIX_TIMEVAL, .data.tv = { .tv_sec = 256, .tv_usec = 2 } },
    { .type = PMIX_STRING, .data.string = NULL },
    { .type = PMIX_STRING, .data.string = a },
    { .type = PMIX_STRING, .data.string = ab },
    { .type = PMIX_STRING, .data.string = b },
    { .type = PMIX_BYTE_OBJECT },
    { .type = PMIX_BYTE_OBJECT, .data.bo = { .bytes = ab, .size = 1 } },
    { .type = PMIX_BYTE_OBJECT, .data.bo = { .bytes = ab, .size = 2 } },
    { .type = PMIX_BYTE_OBJECT, .data.bo = { .bytes = b, .size = 1 } },
};

Test(value_compare, order_is_that_of_the_values)
{
    for (size_t i = 0; i + 1 < SX_COUNT(rows); i++) {
        const bool same = rows[i].type == rows[i + 1].type;

        cr_expect_eq(sx_value_compare(&rows[i], &rows[i]), 0, "row %zu", i);
        if (same) {
            cr_expect_lt(sx_value_compare(&rows[i], &rows[i + 1]), 0, "row %zu", i);
        } else {
            cr_expect_eq(sign(sx_value_compare(&rows[i], &rows[i + 1])),
                         rows[i].type < rows[i + 1].type ? -1 : 1, "row %zu", i);
        }
    }
}

Test(value_compare, what_lies_behind_a_name_does_not_count)
{
    pmix_proc_t x = { .nspace = "job", .rank = 1 }, y = x;
    pmix_value_t v = { .type = PMIX_PROC, .data.proc = &x };
    pmix_value_t w = { .type = PMIX_PROC, .data.proc = &y };

    y.nspace[100] = 'x';
    cr_assert_eq(sx_value_compare(&v, &w), 0);
    y.rank = 2;
    cr_assert_lt(sx_value_compare(&v, &w), 0);
    w.data.proc = NULL;
    cr_assert_gt(sx_value_compare(&v, &w), 0);
}

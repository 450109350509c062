/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* list_test.c - the list keeps order, and its arithmetic neighbours do not overflow. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/util.h"

struct item {
    int number;
    struct sx_list link;
};

Test(list, nodes_come_out_in_order)
{
    struct sx_list head = SX_LIST_INIT(head);
    struct item items[3] = { { .number = 0 }, { .number = 1 }, { .number = 2 } };
    int seen = 0;

    cr_assert(sx_list_empty(&head));
    cr_assert_null(sx_list_pop(&head));
    for (size_t i = 0; i < SX_COUNT(items); i++) {
        sx_list_append(&head, &items[i].link);
    }
    SX_LIST_EACH(it, &head) {
        cr_assert_eq(SX_LIST_ENTRY(it, struct item, link)->number, seen++);
        if (seen == 2) {
            sx_list_remove(it);
            sx_list_remove(it); /* in no list any more: nothing happens */
        }
    }
    cr_assert_eq(seen, 3);
    cr_assert_eq(sx_list_pop(&head), &items[0].link);
    cr_assert_eq(sx_list_pop(&head), &items[2].link);
    cr_assert(sx_list_empty(&head));
}

Test(list, arithmetic_says_when_it_does_not_fit)
{
    size_t result = 4711;

    cr_assert(sx_add_size(SIZE_MAX - 1, 1, &result) && result == SIZE_MAX);
    cr_assert_not(sx_add_size(SIZE_MAX, 1, &result));
    cr_assert(sx_mul_size(SIZE_MAX / 2, 2, &result) && result == SIZE_MAX - 1);
    cr_assert_not(sx_mul_size(SIZE_MAX / 2 + 1, 2, &result));
    cr_assert_eq(result, SIZE_MAX - 1, "untouched by a failure");
    cr_assert(sx_range_fits(8, 8, 16));
    cr_assert_not(sx_range_fits(8, 9, 16));
    cr_assert_not(sx_range_fits(17, 0, 16));
    cr_assert_not(sx_range_fits(8, UINT64_MAX, 16));
    cr_assert_eq(sx_align_up(9, 8), 16);
    cr_assert_eq(sx_align_up(16, 8), 16);
    cr_assert(sx_is_pow2(64) && !sx_is_pow2(0) && !sx_is_pow2(6));
}

Test(list, deadlines_saturate)
{
    cr_assert_eq(sx_deadline_ns(10, 5), 15);
    cr_assert_eq(sx_deadline_ns(10, SX_DEADLINE_NEVER), SX_DEADLINE_NEVER);
    cr_assert_eq(sx_timespec(1500000000).tv_sec, 1);
    cr_assert_eq(sx_timespec(1500000000).tv_nsec, 500000000);
}

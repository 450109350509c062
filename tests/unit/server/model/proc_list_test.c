/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc_list_test.c - what is gathered is in order, each once. */
#include "server/model/proc_list.h"

#include <criterion/criterion.h>

#include "base/value/value.h"

Test(proc_list, is_in_order_and_has_each_once)
{
    struct sx_proc_list list = { .all = NULL };

    sx_proc_list_sort(&list);
    cr_expect_eq(list.count, 0);
    for (uint32_t i = 0; i < 100; i++) {
        cr_assert(sx_proc_list_add(&list, i % 2 == 0 ? "b" : "a", (99 - i) % 10));
    }
    sx_proc_list_sort(&list);
    cr_assert_eq(list.count, 10, "the even ranks of a, and the odd ones of b");
    for (size_t i = 1; i < list.count; i++) {
        cr_expect_lt(sx_proc_order(&list.all[i - 1], &list.all[i]), 0);
    }
    cr_expect_str_eq(list.all[0].nspace, "a");
    cr_expect_eq(list.all[9].rank, 9);
    sx_proc_list_clear(&list);
    cr_expect_eq(list.count, 0);
    sx_proc_list_clear(&list);
}

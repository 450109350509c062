/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* proc_list_test.c - what is gathered is in order, each once. */
#include "server/model/proc_list.h"

#include <criterion/criterion.h>

#include <stdlib.h>

#include "base/util.h"
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

/* As far as the order goes, a list of several runs of a name, some twice, is like any other. */
Test(proc_list, is_sorted_by_runs_as_it_is_one_by_one)
{
    static const char *const names[] = { "job.10", "job.2", "a", "job.10", "z", "a" };
    struct sx_proc_list list = { .all = NULL }, sorted = { .all = NULL }, thinned = { .all = NULL };
    bool *repeated;

    for (uint32_t i = 0; i < 600; i++) {
        const uint32_t rank = i % 100 == 50 ? PMIX_RANK_WILDCARD : i * 37 % 64;

        cr_assert(sx_proc_list_add(&list, names[i / 100], rank));
    }
    cr_assert(sx_proc_list_append(&sorted, list.all, list.count));
    cr_assert(sx_proc_list_sort_marking(&sorted, &repeated));
    cr_assert_not_null(repeated);
    for (size_t i = 0; i < list.count; i++) {
        size_t first = 0;

        while (sx_proc_order(&list.all[first], &list.all[i]) != 0) {
            first++;
        }
        cr_expect_eq(repeated[i], first < i, "%zu", i);
    }
    free(repeated);
    cr_assert(sx_proc_list_append(&thinned, sorted.all, sorted.count));
    cr_assert(sx_proc_list_sort_marking(&thinned, &repeated));
    cr_expect_null(repeated, "in order, each once");
    cr_expect(sx_procs_are_equal(thinned.all, thinned.count, sorted.all, sorted.count));
    sx_proc_list_clear(&thinned);
    for (size_t i = 1; i < sorted.count; i++) {
        cr_expect_lt(sx_proc_order(&sorted.all[i - 1], &sorted.all[i]), 0, "%zu", i);
    }
    for (size_t i = 0; i < list.count; i++) {
        cr_expect_not_null(bsearch(&list.all[i], sorted.all, sorted.count, sizeof(sorted.all[0]),
                                   sx_proc_order),
                           "%zu", i);
    }
    cr_expect_eq(sorted.count, 2 * 65 + 2 * 64, "a single run lacks the rank that all replace");
    sx_proc_list_clear(&list);
    sx_proc_list_clear(&sorted);
}

Test(proc_list, has_a_digest_of_its_names_ranks_and_order)
{
    const pmix_proc_t procs[] = { { "ab", 1 }, { "c", 2 } }, turned[] = { { "c", 2 }, { "ab", 1 } },
                      others[] = { { "a", 1 }, { "bc", 2 } }, ranks[] = { { "ab", 1 }, { "c", 3 } };
    const pmix_proc_t *const unlike[] = { turned, others, ranks };
    const struct sx_procs_digest digest = sx_procs_digest(procs, 2, 7);

    const struct sx_procs_digest again = sx_procs_digest(procs, 2, 7);

    cr_expect_arr_eq(&again, &digest, sizeof(digest));
    for (size_t i = 0; i < SX_COUNT(unlike); i++) {
        const struct sx_procs_digest other = sx_procs_digest(unlike[i], 2, 7);

        cr_expect_arr_neq(&other, &digest, sizeof(digest), "%zu", i);
    }
}

Test(proc_list, of_a_set_has_each_process_once)
{
    struct sx_proc_list list = { .all = NULL };
    struct sx_proc_set set;

    cr_assert(sx_proc_set_init(&set, &list, 1000, 7));
    for (uint32_t i = 0; i < 3000; i++) {
        const char *const name = i % 2 == 0 ? "even" : "odd";
        const uint32_t rank = i % 1000 / 2;

        cr_assert_eq(sx_proc_set_has(&set, name, rank), i >= 1000, "%u", i);
        if (i < 1000) {
            cr_assert(sx_proc_set_add(&set, name, rank));
        }
    }
    cr_expect_not(sx_proc_set_has(&set, "even", 500));
    cr_expect_eq(list.count, 1000);
    cr_expect(strcmp(list.all[999].nspace, "odd") == 0 && list.all[999].rank == 499);
    sx_proc_set_deinit(&set);
    sx_proc_list_clear(&list);
}

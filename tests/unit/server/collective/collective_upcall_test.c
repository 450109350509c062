/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_upcall_test.c - what members tell the host is told once per key, by who came first. */
#include "server/collective/operation.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include <pmix.h>

#include "base/util.h"
#include "server/collective/collective.h"

#define SEED 99

static struct sx_merged_infos wishes;

static void begin(void)
{
    sx_merged_infos_init(&wishes);
}

static void end(void)
{
    sx_merged_infos_clear(&wishes);
}

TestSuite(wishes, .init = begin, .fini = end);

static void add(const char *key, const char *text)
{
    pmix_info_t info;

    cr_assert_eq(PMIx_Info_load(&info, key, text, PMIX_STRING), PMIX_SUCCESS);
    cr_assert_eq(sx_merged_infos_add(&wishes, &info, 1, SEED), PMIX_SUCCESS);
    PMIx_Info_destruct(&info); /* what was taken out of it is not there any more */
}

Test(wishes, are_each_keys_first_in_the_order_of_their_coming)
{
    size_t count = 0;

    add("b", "first");
    add("a", "second");
    add("b", "too late");
    pmix_info_t *const info = sx_merged_infos_take(&wishes, 2, &count);

    cr_assert_not_null(info);
    cr_assert_eq(count, 4);
    cr_expect_eq(info[0].key[0], '\0', "room for others");
    cr_expect_str_eq(info[2].key, "b");
    cr_expect_str_eq(info[2].value.data.string, "first");
    cr_expect_str_eq(info[3].key, "a");
    PMIx_Info_free(info, count);
    cr_expect_eq(wishes.count, 0, "they have been taken");
    add("b", "anew");
    cr_expect_eq(wishes.count, 1);
}

Test(wishes, are_not_what_the_server_says_itself)
{
    static const char *const own[] = { PMIX_COLLECT_DATA, PMIX_LOCAL_COLLECTIVE_STATUS,
                                       PMIX_SORTED_PROC_ARRAY };

    for (size_t i = 0; i < SX_COUNT(own); i++) {
        add(own[i], "mine");
        cr_expect_eq(wishes.count, 0, "%s", own[i]);
    }
}

Test(wishes, of_many_keys_are_all_there)
{
    char key[32];
    size_t count = 0;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 1000; i++) {
            snprintf(key, sizeof(key), "key.%d", i);
            add(key, key);
        }
    }
    pmix_info_t *const info = sx_merged_infos_take(&wishes, 0, &count);

    cr_assert_eq(count, 1000);
    for (size_t i = 0; i < count; i++) {
        cr_expect_str_eq(info[i].value.data.string, info[i].key);
    }
    PMIx_Info_free(info, count);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_test.c - what several keys of one call ask is worked out once. */
#include "base/call/query.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/util.h"

static char *of_two[] = { (char *)"a",       (char *)"b",       (char *)"a",
                          (char *)"unknown", (char *)"unknown", NULL };
static char *of_one[] = { (char *)"a", NULL };
static pmix_info_t wide = { .key = PMIX_NSPACE,
                            .value = { .type = PMIX_STRING, .data.string = (char *)"one" } };
static pmix_info_t other = { .key = PMIX_NSPACE,
                             .value = { .type = PMIX_STRING, .data.string = (char *)"two" } };
static pmix_info_t alike = { .key = PMIX_NSPACE,
                             .value = { .type = PMIX_STRING, .data.string = (char *)"one" } };

static unsigned asked, unknown;

/* The answer says which question it was. */
static pmix_status_t know(void *arg, const struct sx_question *question, pmix_value_t *ret)
{
    (void)arg;
    if (strcmp(question->key, "unknown") == 0) {
        unknown++;
        return PMIX_ERR_NOT_FOUND;
    }
    *ret = (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = ++asked };
    return PMIX_SUCCESS;
}

Test(queries, that_ask_the_same_are_answered_alike_and_asked_once)
{
    static const pmix_query_t queries[] = {
        { .keys = of_two },
        { .keys = of_one },
        { .keys = of_one, .qualifiers = &wide, .nqual = 1 },
        { .keys = of_one, .qualifiers = &other, .nqual = 1 },
        { .keys = of_one, .qualifiers = &alike, .nqual = 1 },
    };
    static const uint32_t answers[] = { 1, 2, 1, 0, 0, 1, 3, 4, 3 }; /* 0: none */
    struct sx_queries all;

    asked = unknown = 0;
    cr_assert_eq(sx_queries_open(&all, queries, SX_COUNT(queries)), PMIX_SUCCESS);
    cr_assert_eq(all.asked_count, SX_COUNT(answers));
    cr_expect_eq(sx_queries_ask(&all, know, NULL), PMIX_SUCCESS);
    cr_expect_eq(asked, 4);
    cr_expect_eq(unknown, 1);
    for (size_t i = 0; i < SX_COUNT(answers); i++) {
        cr_expect_eq(all.asked[i].answered, answers[i] != 0, "key %zu", i);
        cr_expect(answers[i] == 0 || all.asked[i].value.data.uint32 == answers[i], "key %zu", i);
    }
    sx_queries_close(&all);
}

/* An answer that was sent once is for all that ask the same, and for no others. */
Test(queries, that_ask_the_same_have_the_answer_of_the_first)
{
    static const pmix_query_t queries[] = {
        { .keys = of_two },
        { .keys = of_one, .qualifiers = &wide, .nqual = 1 },
        { .keys = of_one },
    };
    static const bool answered[] = { true, false, true, false, false, false, true };
    const pmix_info_t info[] = { { .key = "a", .value = { .type = PMIX_UINT32, .data.uint32 = 7 } },
                                 { .key = "a" } };
    struct sx_queries all;

    cr_assert_eq(sx_queries_open(&all, queries, SX_COUNT(queries)), PMIX_SUCCESS);
    cr_expect_eq(sx_queries_take(&all, info, SX_COUNT(info)), PMIX_SUCCESS);
    cr_expect_eq(all.answered_count, 1);
    cr_expect_eq(sx_queries_repeat(&all), PMIX_SUCCESS);
    cr_expect_eq(all.answered_count, 3);
    for (size_t i = 0; i < SX_COUNT(answered); i++) {
        cr_expect_eq(all.asked[i].answered, answered[i], "key %zu", i);
        cr_expect(!answered[i] || all.asked[i].value.data.uint32 == 7, "key %zu", i);
    }
    sx_queries_close(&all);
}

Test(queries, of_one_key_ask_for_themselves)
{
    static const pmix_query_t query = { .keys = of_one };
    struct sx_queries all;

    cr_assert_eq(sx_queries_open(&all, &query, 1), PMIX_SUCCESS);
    cr_expect_not(sx_asked_again(&all, &all.asked[0]));
    sx_queries_close(&all);
}

/* As many as there may be, all different or all the same: found in order, not in pairs. */
Test(queries, may_be_as_many_as_there_may_be)
{
    char **const keys = calloc(SX_QUERY_KEYS_MAX + 1, sizeof(*keys));
    const pmix_query_t query = { .keys = keys };
    struct sx_queries all;

    for (size_t i = 0; i < SX_QUERY_KEYS_MAX; i++) {
        cr_assert_gt(asprintf(&keys[i], "key.%zu", i / 2), 0);
    }
    asked = 0;
    cr_assert_eq(sx_queries_open(&all, &query, 1), PMIX_SUCCESS);
    cr_expect_eq(sx_queries_ask(&all, know, NULL), PMIX_SUCCESS);
    cr_expect_eq(asked, SX_QUERY_KEYS_MAX / 2);
    for (size_t i = 0; i < SX_QUERY_KEYS_MAX; i++) {
        cr_expect_eq(all.asked[i].value.data.uint32, i / 2 + 1);
    }
    sx_queries_close(&all);
    PMIx_Argv_free(keys);
}

#define LOG_KEYS_MAX 12u /* of SX_QUERY_KEYS_MAX */

/* Half of the keys are unknown and come first; the others are answered in any order, each of two
 * equal ones by an answer of its own. */
Test(queries, find_the_key_of_each_answer_without_passing_all_others)
{
    const size_t half = SX_QUERY_KEYS_MAX / 2;
    char **const keys = calloc(SX_QUERY_KEYS_MAX + 1, sizeof(*keys));
    pmix_info_t *const answers = PMIx_Info_create(half);
    const pmix_query_t query = { .keys = keys };
    struct sx_queries all;

    for (size_t i = 0; i < SX_QUERY_KEYS_MAX; i++) {
        cr_assert_gt(asprintf(&keys[i], i < half ? "unknown.%zu" : "key.%zu", i / 2), 0);
    }
    for (uint32_t i = 0; i < half; i++) {
        PMIx_Info_load(&answers[i], keys[SX_QUERY_KEYS_MAX - 1 - i], &i, PMIX_UINT32);
    }
    cr_assert_eq(sx_queries_open(&all, &query, 1), PMIX_SUCCESS);
    cr_expect_eq(sx_queries_take(&all, answers, half), PMIX_SUCCESS);
    cr_expect_eq(all.answered_count, half);
    for (size_t i = half; i < SX_QUERY_KEYS_MAX; i += 2) {
        const uint32_t first = (uint32_t)(SX_QUERY_KEYS_MAX - 2 - i);

        cr_expect_eq(all.asked[i].value.data.uint32, first, "key %zu", i);
        cr_expect_eq(all.asked[i + 1].value.data.uint32, first + 1, "key %zu", i);
    }
    cr_expect_leq(all.walked, half * (LOG_KEYS_MAX + 2));
    sx_queries_close(&all);
    PMIx_Info_free(answers, half);
    PMIx_Argv_free(keys);
}

/* All are equal: those that have been answered are not passed one by one. */
Test(queries, that_are_all_the_same_are_answered_one_after_the_other)
{
    char **const keys = calloc(SX_QUERY_KEYS_MAX + 1, sizeof(*keys));
    pmix_info_t *const answers = PMIx_Info_create(SX_QUERY_KEYS_MAX);
    const pmix_query_t query = { .keys = keys };
    struct sx_queries all;

    for (uint32_t i = 0; i < SX_QUERY_KEYS_MAX; i++) {
        keys[i] = strdup("key");
        PMIx_Info_load(&answers[i], "key", &i, PMIX_UINT32);
    }
    cr_assert_eq(sx_queries_open(&all, &query, 1), PMIX_SUCCESS);
    cr_expect_eq(sx_queries_take(&all, answers, SX_QUERY_KEYS_MAX), PMIX_SUCCESS);
    for (size_t i = 0; i < SX_QUERY_KEYS_MAX; i++) {
        cr_expect_eq(all.asked[i].value.data.uint32, i);
    }
    cr_expect_leq(all.walked, SX_QUERY_KEYS_MAX * 2 * (LOG_KEYS_MAX + 1));
    sx_queries_close(&all);
    PMIx_Info_free(answers, SX_QUERY_KEYS_MAX);
    PMIx_Argv_free(keys);
}

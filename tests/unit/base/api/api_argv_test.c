/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_argv_test.c - vectors of strings and environments. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/util.h"

static void expect_argv(char **argv, const char *want)
{
    char *joined = PMIx_Argv_join(argv, ',');

    cr_expect_str_eq(joined, want);
    free(joined);
}

Test(api_argv, grows_at_both_ends)
{
    char **argv = NULL, **copy;

    cr_assert_eq(PMIx_Argv_count(NULL), 0);
    expect_argv(NULL, "");
    cr_assert_eq(PMIx_Argv_append_nosize(&argv, "b"), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Argv_prepend_nosize(&argv, "a"), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Argv_append_nosize(&argv, "c"), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Argv_append_unique_nosize(&argv, "a"), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Argv_append_unique_nosize(&argv, "d"), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Argv_count(argv), 4);
    expect_argv(argv, "a,b,c,d");
    copy = PMIx_Argv_copy(argv);
    PMIx_Argv_free(argv);
    expect_argv(copy, "a,b,c,d");
    PMIx_Argv_free(copy);
    PMIx_Argv_free(NULL);
    cr_assert_null(PMIx_Argv_copy(NULL));
    cr_assert_eq(PMIx_Argv_append_nosize(NULL, "x"), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Argv_prepend_nosize(NULL, "x"), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Argv_append_unique_nosize(NULL, "x"), PMIX_ERR_BAD_PARAM);
    argv = NULL;
    cr_assert_eq(PMIx_Argv_append_nosize(&argv, NULL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Argv_prepend_nosize(&argv, NULL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Argv_append_unique_nosize(&argv, NULL), PMIX_ERR_BAD_PARAM);
    cr_assert_null(argv);
    cr_assert_eq(PMIx_Argv_prepend_nosize(&argv, "only"), PMIX_SUCCESS);
    expect_argv(argv, "only");
    PMIx_Argv_free(argv);
}

static const struct {
    const char *text;
    int fields, fields_with_empty;
} splits[] = {
    { "a:b:c", 3, 3 }, { "a::c", 2, 3 }, { ":a", 1, 2 }, { "a:", 1, 1 }, { "a::", 1, 2 },
    { ":", 0, 1 },     { "", 0, 0 },     { "a", 1, 1 },  { NULL, 0, 0 },
};

Test(api_argv, split_drops_or_keeps_empty_fields)
{
    for (size_t i = 0; i < SX_COUNT(splits); i++) {
        char **some = PMIx_Argv_split(splits[i].text, ':');
        char **all = PMIx_Argv_split_with_empty(splits[i].text, ':');
        char *joined = PMIx_Argv_join(all, ':');

        cr_expect_eq(PMIx_Argv_count(some), splits[i].fields, "row %zu", i);
        cr_expect_eq(PMIx_Argv_count(all), splits[i].fields_with_empty, "row %zu", i);
        const char *const text = splits[i].text == NULL ? "" : splits[i].text;
        const size_t len = strlen(text);

        /* A delimiter at the end has no word behind it. */
        cr_expect_eq(strlen(joined), len - (len > 0 && text[len - 1] == ':'), "row %zu", i);
        cr_expect_eq(strncmp(joined, text, strlen(joined)), 0, "row %zu", i);
        free(joined);
        PMIx_Argv_free(some);
        PMIx_Argv_free(all);
    }
}

Test(api_argv, setenv_adds_and_replaces)
{
    char **env = NULL;

    cr_assert_eq(PMIx_Setenv("A", "1", true, &env), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Setenv("AB", "2", true, &env), PMIX_SUCCESS);
    expect_argv(env, "A=1,AB=2");
    cr_assert_eq(PMIx_Setenv("A", "3", false, &env), PMIX_ERR_EXISTS);
    cr_assert_eq(PMIx_Setenv("A", "4", true, &env), PMIX_SUCCESS);
    expect_argv(env, "A=4,AB=2");
    cr_assert_eq(PMIx_Setenv("A", NULL, true, &env), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Setenv("C", NULL, true, &env), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Setenv("C", NULL, false, &env), PMIX_ERR_EXISTS);
    expect_argv(env, "A=,AB=2,C=");
    cr_assert_eq(PMIx_Setenv(NULL, "x", true, &env), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Setenv("", "x", true, &env), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Setenv("A=B", "x", true, &env), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Setenv("A", "x", true, NULL), PMIX_ERR_BAD_PARAM);
    PMIx_Argv_free(env);
}

Test(api_argv, setenv_works_on_our_own_environment)
{
    cr_assert_eq(PMIx_Setenv("SHMIX_TEST_VARIABLE", "1", true, &environ), PMIX_SUCCESS);
    cr_assert_str_eq(getenv("SHMIX_TEST_VARIABLE"), "1");
    cr_assert_eq(PMIx_Setenv("SHMIX_TEST_VARIABLE", NULL, true, &environ), PMIX_SUCCESS);
    cr_assert_str_eq(getenv("SHMIX_TEST_VARIABLE"), "");
    unsetenv("SHMIX_TEST_VARIABLE");
}

#ifdef __SANITIZE_ADDRESS__
#define MANY 10000 /* its own strchr looks at all that is left, each time */
#else
#define MANY 1000000
#endif

/* Each field is looked at once: otherwise a million take a quarter of an hour. */
Test(api_argv, many_fields)
{
    const size_t count = MANY;
    char *const text = malloc(2 * count);

    cr_assert_not_null(text);
    for (size_t i = 0; i < count; i++) {
        memcpy(text + 2 * i, i + 1 < count ? "a:" : "a", 2);
    }
    char **const fields = PMIx_Argv_split(text, ':');

    cr_assert_eq(PMIx_Argv_count(fields), (int)count);
    cr_expect_str_eq(fields[count - 1], "a");
    PMIx_Argv_free(fields);
    free(text);
}

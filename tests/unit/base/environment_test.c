/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* environment_test.c - what the directives for an environment make of a variable, and what they
 * refuse. */
#include "base/environment.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/util.h"

/* ---- switch ---------------------------------------------------------------------------------- */

/* 0 turns off, and no other word does. */

Test(switch, zero_alone_turns_off)
{
    static const struct {
        const char *text;
        bool off;
    } rows[] = {
        { "0", true }, { "1", false }, { "", false }, { "no", false }, { "00", false },
    };

    unsetenv("SHMIX_TEST_SWITCH");
    cr_expect_not(sx_switch_is_off("SHMIX_TEST_SWITCH"));
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        setenv("SHMIX_TEST_SWITCH", rows[i].text, 1);
        cr_expect_eq(sx_switch_is_off("SHMIX_TEST_SWITCH"), rows[i].off, "row %zu", i);
    }
}

Test(switch, a_number_is_read_within_its_bounds)
{
    static const struct {
        const char *text;
        pmix_status_t want;
        uint64_t number;
    } rows[] = {
        { "", PMIX_SUCCESS, 77 },
        { "5", PMIX_SUCCESS, 5 },
        { "9", PMIX_SUCCESS, 9 },
        { "4", PMIX_ERR_BAD_PARAM, 77 },
        { "10", PMIX_ERR_BAD_PARAM, 77 },
        { "-5", PMIX_ERR_BAD_PARAM, 77 },
        { "five", PMIX_ERR_BAD_PARAM, 77 },
        { "5 ", PMIX_ERR_BAD_PARAM, 77 },
        { "99999999999999999999", PMIX_ERR_BAD_PARAM, 77 },
    };
    uint64_t number = 77;

    unsetenv("SHMIX_TEST_SWITCH");
    cr_expect_eq(sx_switch_number("SHMIX_TEST_SWITCH", 5, 9, &number), PMIX_SUCCESS);
    cr_expect_eq(number, 77);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        number = 77;
        setenv("SHMIX_TEST_SWITCH", rows[i].text, 1);
        cr_expect_eq(sx_switch_number("SHMIX_TEST_SWITCH", 5, 9, &number), rows[i].want, "row %zu",
                     i);
        cr_expect_eq(number, rows[i].number, "row %zu", i);
    }
}

/* ---- environment ----------------------------------------------------------------------------- */

/* @before and @after are what V is; NULL: there is no V. */
static const struct {
    const char *why, *key, *before, *value, *after;
    char separator;
} rows[] = {
    { "set", PMIX_SET_ENVAR, "old", "new", "new", '\0' },
    { "set a new one", PMIX_SET_ENVAR, NULL, "new", "new", '\0' },
    { "set to nothing", PMIX_SET_ENVAR, "old", "", "", '\0' },
    { "add", PMIX_ADD_ENVAR, NULL, "new", "new", '\0' },
    { "add to what is there", PMIX_ADD_ENVAR, "old", "new", "old", '\0' },
    { "add to an empty one", PMIX_ADD_ENVAR, "", "new", "", '\0' },
    { "unset", PMIX_UNSET_ENVAR, "old", NULL, NULL, '\0' },
    { "unset what is not there", PMIX_UNSET_ENVAR, NULL, NULL, NULL, '\0' },
    { "prepend", PMIX_PREPEND_ENVAR, "/old", "/new", "/new:/old", ':' },
    { "prepend to none", PMIX_PREPEND_ENVAR, NULL, "/new", "/new", ':' },
    { "prepend to an empty one", PMIX_PREPEND_ENVAR, "", "/new", "/new", ':' },
    { "prepend what is there", PMIX_PREPEND_ENVAR, "a,b", "b", "b,a,b", ',' },
    { "append", PMIX_APPEND_ENVAR, "/old", "/new", "/old:/new", ':' },
    { "append to none", PMIX_APPEND_ENVAR, NULL, "/new", "/new", ':' },
    { "first", PMIX_FIRST_ENVAR, "/old", "/new", "/new:/old", ':' },
    { "first of none", PMIX_FIRST_ENVAR, NULL, "/new", "/new", ':' },
    { "first already", PMIX_FIRST_ENVAR, "a:b", "a", "a:b", ':' },
    { "first, and nowhere else", PMIX_FIRST_ENVAR, "b:a:c:a", "a", "a:b:c", ':' },
    { "alone already", PMIX_FIRST_ENVAR, "a", "a", "a", ':' },
    { "no part of a name", PMIX_FIRST_ENVAR, "ab:ba:a", "a", "a:ab:ba", ':' },
    { "two at once", PMIX_FIRST_ENVAR, "x:a:b:y", "a:b", "a:b:x:y", ':' },
    { "empty fields stay", PMIX_FIRST_ENVAR, ":x:", "a", "a::x:", ':' },
};

static pmix_status_t apply(const char *key, const char *name, const char *value, char separator,
                           char ***env)
{
    pmix_envar_t envar = { (char *)(uintptr_t)name, (char *)(uintptr_t)value, separator };
    pmix_info_t info;
    const bool unset = strcmp(key, PMIX_UNSET_ENVAR) == 0;

    PMIx_Info_construct(&info);
    PMIx_Load_key(info.key, key);
    info.value.type = unset ? PMIX_STRING : PMIX_ENVAR;
    if (unset) {
        info.value.data.string = envar.envar;
    } else {
        info.value.data.envar = envar;
    }
    return sx_envar_apply(&info, env);
}

Test(envar, each_directive_changes_its_variable_and_no_other)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char **env = NULL, wanted[64] = "";
        const bool stays = rows[i].after != NULL;

        PMIx_Argv_append_nosize(&env, "VV=1");
        if (rows[i].before != NULL) {
            PMIx_Setenv("V", rows[i].before, true, &env);
        }
        PMIx_Argv_append_nosize(&env, "W=2");
        cr_expect_eq(apply(rows[i].key, "V", rows[i].value, rows[i].separator, &env), PMIX_SUCCESS,
                     "%s", rows[i].why);
        cr_assert_eq(PMIx_Argv_count(env), 2 + stays, "%s", rows[i].why);
        char *const all = PMIx_Argv_join(env, ' ');

        if (!stays) {
            strcpy(wanted, "VV=1 W=2");
        } else if (rows[i].before != NULL) {
            snprintf(wanted, sizeof(wanted), "VV=1 V=%s W=2", rows[i].after);
        } else {
            snprintf(wanted, sizeof(wanted), "VV=1 W=2 V=%s", rows[i].after);
        }
        cr_expect_str_eq(all, wanted, "%s", rows[i].why);
        free(all);
        PMIx_Argv_free(env);
    }
}

static const struct {
    const char *why, *key, *name, *value;
    char separator;
} refused[] = {
    { "no name", PMIX_SET_ENVAR, NULL, "x", '\0' },
    { "an empty name", PMIX_ADD_ENVAR, "", "x", '\0' },
    { "a name with =", PMIX_SET_ENVAR, "V=1", "x", '\0' },
    { "no value", PMIX_SET_ENVAR, "V", NULL, '\0' },
    { "no name to unset", PMIX_UNSET_ENVAR, NULL, NULL, '\0' },
    { "no separator", PMIX_PREPEND_ENVAR, "V", "x", '\0' },
    { "no separator behind", PMIX_APPEND_ENVAR, "V", "x", '\0' },
    { "no separator first", PMIX_FIRST_ENVAR, "V", "x", '\0' },
};

Test(envar, what_no_variable_can_be_is_refused_and_changes_nothing)
{
    char **env = NULL;
    pmix_info_t info;

    PMIx_Argv_append_nosize(&env, "V=1");
    for (size_t i = 0; i < SX_COUNT(refused); i++) {
        cr_expect_eq(apply(refused[i].key, refused[i].name, refused[i].value, refused[i].separator,
                           &env),
                     PMIX_ERR_BAD_PARAM, "%s", refused[i].why);
    }
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        PMIx_Info_load(&info, rows[i].key, &(bool){ true }, PMIX_BOOL);
        cr_expect(sx_envar_is_directive(info.key), "%s", rows[i].why);
        cr_expect_eq(sx_envar_apply(&info, &env), PMIX_ERR_BAD_PARAM, "%s: a bool", rows[i].why);
        PMIx_Info_destruct(&info);
    }
    PMIx_Info_load(&info, PMIX_WDIR, "/", PMIX_STRING);
    cr_expect_not(sx_envar_is_directive(info.key));
    cr_expect_eq(sx_envar_apply(&info, &env), PMIX_ERR_NOT_FOUND, "no such directive");
    PMIx_Info_destruct(&info);
    cr_assert_eq(PMIx_Argv_count(env), 1);
    cr_expect_str_eq(env[0], "V=1");
    PMIx_Argv_free(env);
}

Test(envar, an_environment_may_begin_as_none)
{
    char **env = NULL;

    cr_expect_eq(apply(PMIX_UNSET_ENVAR, "V", NULL, '\0', &env), PMIX_SUCCESS);
    cr_expect_null(env);
    cr_expect_eq(apply(PMIX_APPEND_ENVAR, "V", "x", ':', &env), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Argv_count(env), 1);
    cr_expect_str_eq(env[0], "V=x");
    PMIx_Argv_free(env);
}

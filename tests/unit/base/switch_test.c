/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* switch_test.c - 0 turns off, and no other word does. */
#include "base/switch.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "base/util.h"

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

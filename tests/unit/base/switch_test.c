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

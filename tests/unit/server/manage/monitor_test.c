/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* monitor_test.c - when a silence is told: once, after as many periods as are pardoned, and again
 * after a beat. */
#include <criterion/criterion.h>

#include "server/manage/manage.h"

/* Look @periods times at the same count.  Return: how often silence was to be told. */
static int look(struct sx_monitor *monitor, uint32_t beats, int periods)
{
    int notified = 0;

    for (int i = 0; i < periods; i++) {
        notified += sx_monitor_look(monitor, beats);
    }
    return notified;
}

Test(monitor, silence_is_notified_once)
{
    struct sx_monitor monitor = { .pardoned = 0 };

    cr_expect(sx_monitor_look(&monitor, 0));
    cr_expect_eq(look(&monitor, 0, 100), 0);
}

Test(monitor, so_many_periods_are_pardoned)
{
    struct sx_monitor monitor = { .pardoned = 2 };

    cr_expect_eq(look(&monitor, 0, 2), 0);
    cr_expect(sx_monitor_look(&monitor, 0));
    cr_expect_eq(look(&monitor, 0, 100), 0);
}

Test(monitor, a_beat_begins_anew)
{
    struct sx_monitor monitor = { .pardoned = 1 };

    cr_expect_eq(look(&monitor, 0, 1), 0);
    cr_expect_eq(look(&monitor, 1, 1), 0); /* in time */
    cr_expect_eq(look(&monitor, 1, 1), 0);
    cr_expect_eq(look(&monitor, 1, 1), 1);
    cr_expect_eq(look(&monitor, 2, 1), 0);
    cr_expect_eq(look(&monitor, 2, 9), 1);
}

Test(monitor, who_beats_is_never_missed)
{
    struct sx_monitor monitor = { .beats = UINT32_MAX };

    for (uint32_t beats = 0; beats < 100; beats++) {
        cr_expect(!sx_monitor_look(&monitor, beats), "after %u beats", beats);
    }
}

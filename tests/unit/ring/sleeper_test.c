/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sleeper_test.c - who sleeps in poll(2) is rung once a sleep, and never missed. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>

#include "ring/sleeper.h"

static struct sx_lane_line line;
static struct sx_board_slot slot;

static bool ring(uint32_t class_bits)
{
    uint32_t wanted;

    if (!sx_sleeper_is_due(&line, &slot, class_bits, &wanted)) {
        return false;
    }
    sx_sleeper_rung(&slot, wanted);
    return true;
}

Test(sleeper, who_is_awake_is_not_rung)
{
    sx_sleeper_classes(&line, UINT32_MAX);
    cr_expect(sx_sleeper_is_awake(&line, &slot));
    cr_expect(!ring(UINT32_MAX));
}

Test(sleeper, who_sleeps_is_rung_once_for_what_it_wants)
{
    sx_sleeper_classes(&line, 1u << 3);
    sx_sleeper_arm(&line);
    cr_expect(!sx_sleeper_is_awake(&line, &slot));
    cr_expect(!ring(1u << 4 | 1u << 2));
    cr_expect(!sx_sleeper_is_awake(&line, &slot));
    cr_expect(ring(1u << 4 | 1u << 3));
    cr_expect(sx_sleeper_is_awake(&line, &slot));
    cr_expect(!ring(1u << 3), "it has not slept since");
    sx_sleeper_arm(&line);
    sx_sleeper_classes(&line, 1u << 4);
    cr_expect(!ring(1u << 3));
    cr_expect(ring(1u << 4));
}

Test(sleeper, a_hostile_count_is_answered_once_a_look)
{
    sx_sleeper_classes(&line, 1);
    for (uint32_t i = 0; i < 4; i++) {
        atomic_store(&line.wake_wanted, UINT32_MAX - i);
        cr_expect(ring(1));
        cr_expect(!ring(1));
    }
}

enum { NEWS = 20000 };

static atomic_uint news, rings;

static void *publish(void *arg)
{
    (void)arg;
    for (unsigned i = 1; i <= NEWS; i++) {
        uint32_t wanted;

        atomic_store_explicit(&news, i, memory_order_release);
        if (sx_sleeper_is_due(&line, &slot, 1, &wanted)) {
            atomic_fetch_add(&rings, 1);
            sx_sleeper_rung(&slot, wanted);
        }
        if (i % 8 == 0) {
            sched_yield();
        }
    }
    return NULL;
}

/* A sleeper that is missed sleeps for ever, and the suite's alarm says so. */
Test(sleeper, no_news_is_missed_between_the_look_and_the_sleep, .timeout = 60)
{
    unsigned seen = 0, sleeps = 0, heard = 0;
    pthread_t server;

    sx_sleeper_classes(&line, 1);
    cr_assert_eq(pthread_create(&server, NULL, publish, NULL), 0);
    while (seen < NEWS) {
        if (sx_sleeper_is_awake(&line, &slot)) {
            heard = atomic_load(&rings);
            sx_sleeper_arm(&line);
            sleeps++;
        }
        const unsigned now = atomic_load_explicit(&news, memory_order_acquire);
        if (now != seen) {
            seen = now;
            continue;
        }
        while (atomic_load(&rings) == heard) {
            sched_yield();
        }
    }
    pthread_join(server, NULL);
    cr_expect_leq(atomic_load(&rings), sleeps);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spin_test.c - how often is looked before a sleep, and what makes it less. */
#include "base/spin.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <time.h>

#include "base/util.h"

#define NEVER UINT64_MAX

static unsigned yields;
static bool others_compute; /* whoever gives the CPU up has it back after a time slice */

static uint64_t clock_ns = 1;

/* In place of the C library's: how long a yield takes must not depend on what else runs here. */
int sched_yield(void)
{
    yields++;
    clock_ns += others_compute ? 2000000 : 300;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    (void)clock;
    clock_ns += 20;
    *ret = (struct timespec){ .tv_sec = (time_t)(clock_ns / 1000000000),
                              .tv_nsec = (long)(clock_ns % 1000000000) };
    return 0;
}

struct news {
    unsigned looks, come_at; /* 0: never */
};

static bool look(void *arg)
{
    struct news *const news = arg;

    news->looks++;
    return news->come_at != 0 && news->looks >= news->come_at;
}

/* Spins of @spin in vain until the next one that has really been tried.  Return: how many began
 * asleep. */
static unsigned sleeps_until_the_next_try(struct sx_spin *spin)
{
    for (unsigned count = 0;; count++) {
        struct news news = { .looks = 0 };

        yields = 0;
        cr_assert_not(sx_spin(spin, look, &news));
        if (yields > 0) {
            return count;
        }
    }
}

Test(spin, news_end_it_and_none_of_its_time_is_over)
{
    struct sx_spin spin = { .ns = NEVER };

    for (unsigned i = 0; i < 100; i++) {
        struct news news = { .come_at = 1000 };

        cr_expect(sx_spin(&spin, look, &news));
        cr_expect_eq(news.looks, 1000);
    }
}

Test(spin, the_cpu_is_given_up_between_looks)
{
    struct sx_spin spin = { .ns = NEVER };
    struct news news = { .come_at = 1000 };

    yields = 0;
    cr_expect(sx_spin(&spin, look, &news));
    cr_expect_gt(yields, 50);
}

Test(spin, in_vain_it_is_tried_less_and_less)
{
    static const unsigned want[] = { 0, 1, 2, 4, 8, 16, 32, 64, 64 };
    struct sx_spin spin = { .ns = 1 };

    for (size_t i = 0; i < SX_COUNT(want); i++) {
        cr_expect_eq(sleeps_until_the_next_try(&spin), want[i], "try %zu", i);
        cr_expect_not(sx_spin_is_crowded(&spin));
    }
}

Test(spin, once_it_has_paid_it_is_tried_each_time)
{
    struct sx_spin spin = { .ns = 1 };
    struct news news = { .come_at = 9 }; /* not at the first look, or nothing was waited for */

    for (unsigned i = 0; i < 5; i++) {
        (void)sleeps_until_the_next_try(&spin);
    }
    while (!sx_spin(&spin, look, &news)) {
        news.looks = 0;
    }
    cr_expect_eq(sleeps_until_the_next_try(&spin), 0);
    cr_expect_eq(sleeps_until_the_next_try(&spin), 1);
}

Test(spin, where_others_compute_it_is_hardly_tried)
{
    static const unsigned want[] = { 0, 7, 63, 511, 511 }; /* and before: it sleeps after each */
    struct sx_spin spin = { .ns = NEVER };

    others_compute = true;
    for (size_t i = 0; i < SX_COUNT(want); i++) {
        cr_expect_eq(sx_spin_is_crowded(&spin), i > 0);
        cr_expect_eq(sleeps_until_the_next_try(&spin), want[i], "try %zu", i);
    }
}

Test(spin, a_yield_teaches_as_well)
{
    struct sx_spin spin = { .ns = 0 };
    struct sx_spin_try try = { .begin_ns = 0 };

    others_compute = true;
    yields = 0;
    for (unsigned i = 0; i < 100; i++) {
        sx_spin_yield(&spin);
    }
    cr_expect_eq(yields, 1);
    for (unsigned i = 0; i < 8; i++) {
        cr_expect(sx_spin_is_crowded(&spin));
        cr_expect_not(sx_spin_again(&spin, &try));
    }
    sx_spin_yield(&spin);
    cr_expect_eq(yields, 2);
}

Test(spin, news_that_come_while_others_compute_are_seen)
{
    struct sx_spin spin = { .ns = NEVER };
    struct news news = { .come_at = 9 };

    others_compute = true;
    cr_expect(sx_spin(&spin, look, &news));
    cr_expect(sx_spin_is_crowded(&spin));
}

Test(spin, a_try_by_steps_is_the_same)
{
    struct sx_spin spin = { .ns = 1 };
    struct sx_spin_try try = { .begin_ns = 0 };

    cr_expect(sx_spin_again(&spin, &try));
    cr_expect_not(sx_spin_again(&spin, &try)); /* in vain */
    cr_expect_not(sx_spin_again(&spin, &try)); /* so once without */
    cr_expect(sx_spin_again(&spin, &try));
    sx_spin_paid(&spin, &try);
    cr_expect(sx_spin_again(&spin, &try));
}

Test(spin, it_can_be_turned_off_and_is_bounded)
{
    static const struct {
        const char *text;
        pmix_status_t want;
        uint64_t ns;
    } rows[] = {
        { "", PMIX_SUCCESS, 50000 },           { "0", PMIX_SUCCESS, 0 },
        { "7", PMIX_SUCCESS, 7000 },           { "1000001", PMIX_ERR_BAD_PARAM, 50000 },
        { "fast", PMIX_ERR_BAD_PARAM, 50000 },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_spin spin;

        setenv("SHMIX_SPIN", rows[i].text, 1);
        cr_expect_eq(sx_spin_init(&spin), rows[i].want, "row %zu", i);
        cr_expect_eq(spin.ns, rows[i].ns, "row %zu", i);
    }
    struct sx_spin off = { .ns = 0 };
    struct news news = { .looks = 0 };

    yields = 0;
    cr_expect_not(sx_spin(&off, look, &news));
    cr_expect_eq(yields, 0);
}

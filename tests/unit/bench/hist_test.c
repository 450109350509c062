/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hist_test.c - the histogram of the experiments finds what is known of a distribution. */
#include <math.h>

#include <criterion/criterion.h>

#include "../../../bench/hist.h"

#define COUNT 200000u

static struct hist hist;

static double uniform(double share)
{
    return 1000 + 99000 * share;
}

static double exponential(double share)
{
    return -20000 * log(1 - share);
}

static void fill(double (*inverse)(double share))
{
    memset(&hist, 0, sizeof(hist));
    for (unsigned i = 0; i < COUNT; i++) {
        hist_add(&hist, (uint64_t)inverse((i + 0.5) / COUNT));
    }
}

Test(hist, shares_of_known_distributions_are_right_within_a_step)
{
    static const double shares[] = { 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999 };
    double (*const known[])(double) = { uniform, exponential };

    for (size_t k = 0; k < 2; k++) {
        fill(known[k]);
        for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
            const double want = known[k](shares[i]);
            const double got = (double)hist_at(&hist, shares[i]);

            cr_expect(fabs(got - want) <= want / 64 + 1, "%zu: %f at %f, not %f", k, got, shares[i],
                      want);
        }
    }
}

Test(hist, each_value_is_in_the_step_that_begins_at_or_below_it)
{
    for (uint64_t value = 0; value < UINT64_C(1) << 39; value = value * 17 / 16 + 1) {
        const unsigned step = hist_step(value);

        cr_assert(hist_value(step) <= value && value < hist_value(step + 1), "%llu",
                  (unsigned long long)value);
    }
    cr_expect_eq(hist_step(UINT64_MAX), HIST_ROWS * HIST_STEPS - 1);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hist.h - a log-linear histogram of nanoseconds: 64 steps to each doubling, so within 1.6 %.
 *
 * What HdrHistogram does, as far as the experiments need it (Debian 12 has no package of its C
 * port).  Values of 2^40 and more count as the last step. */
#ifndef SX_BENCH_HIST_H
#define SX_BENCH_HIST_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define HIST_STEPS 64u
#define HIST_ROWS 36u /* values below 128 are exact */

struct hist {
    uint64_t count, min, max;
    uint64_t steps[HIST_ROWS * HIST_STEPS];
};

static inline uint64_t hist_now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

static inline unsigned hist_step(uint64_t value)
{
    const unsigned bits = value < 2 * HIST_STEPS ? 0 : 57u - (unsigned)__builtin_clzll(value);
    const uint64_t step = (uint64_t)bits * HIST_STEPS + (value >> bits);
    const unsigned last = HIST_ROWS * HIST_STEPS - 1;

    return step > last ? last : (unsigned)step;
}

/* The smallest value of a step. */
static inline uint64_t hist_value(unsigned step)
{
    const unsigned bits = step < 2 * HIST_STEPS ? 0 : step / HIST_STEPS - 1;

    return (uint64_t)(step - bits * HIST_STEPS) << bits;
}

static inline void hist_add(struct hist *hist, uint64_t value)
{
    hist->min = hist->count == 0 || value < hist->min ? value : hist->min;
    hist->max = value > hist->max ? value : hist->max;
    hist->count++;
    hist->steps[hist_step(value)]++;
}

/* The value that @share (0 to 1) of all do not exceed. */
static inline uint64_t hist_at(const struct hist *hist, double share)
{
    const uint64_t want = (uint64_t)((double)hist->count * share + 0.5);
    uint64_t seen = 0;

    for (unsigned i = 0; i < HIST_ROWS * HIST_STEPS; i++) {
        seen += hist->steps[i];
        if (seen >= want && seen > 0) {
            return hist_value(i) > hist->min ? hist_value(i) : hist->min;
        }
    }
    return hist->max;
}

/* One line of JSON; @more: further members, each with a comma in front; @batch: how many operations
 * one sample has timed: what is printed is of one. */
static inline void hist_print_batch(const struct hist *hist, const char *what, unsigned batch,
                                    const char *more)
{
    const int digits = batch > 1 ? 2 : 0;
    const double each = (double)batch;
    const char *comma = "";

    printf("{\"what\": \"%s\"%s, \"count\": %llu, \"min_ns\": %.*f, \"p50_ns\": %.*f, "
           "\"p90_ns\": %.*f, \"p99_ns\": %.*f, \"p999_ns\": %.*f, \"max_ns\": %.*f, \"hist\": [",
           what, more, (unsigned long long)hist->count, digits, (double)hist->min / each, digits,
           (double)hist_at(hist, 0.5) / each, digits, (double)hist_at(hist, 0.9) / each, digits,
           (double)hist_at(hist, 0.99) / each, digits, (double)hist_at(hist, 0.999) / each, digits,
           (double)hist->max / each);
    for (unsigned i = 0; i < HIST_ROWS * HIST_STEPS; i++) {
        if (hist->steps[i] != 0) {
            printf("%s[%.*f, %llu]", comma, digits, (double)hist_value(i) / each,
                   (unsigned long long)hist->steps[i]);
            comma = ", ";
        }
    }
    printf("]}\n");
    fflush(stdout);
}

static inline void hist_print(const struct hist *hist, const char *what, const char *more)
{
    hist_print_batch(hist, what, 1, more);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* samples.h - what the experiments on single pieces share: the machine, seeded choices, samples in
 * order. */
#ifndef SX_BENCH_SAMPLES_H
#define SX_BENCH_SAMPLES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The line with which a report begins. */
static inline void samples_machine(const char *experiment)
{
    struct utsname host;

    if (uname(&host) == 0) {
        printf("# %s: %s %s, %ld cpus, compiler %s\n", experiment, host.sysname, host.release,
               sysconf(_SC_NPROCESSORS_ONLN), __VERSION__);
    }
}

/* xorshift64: one state word, not 0. */
static inline uint64_t samples_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline int samples_compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;

    return (left > right) - (left < right);
}

/* Ascending: the best is the first, the median samples[count / 2]. */
static inline void samples_sort(double *samples, int count)
{
    qsort(samples, (size_t)count, sizeof(*samples), samples_compare);
}

#endif

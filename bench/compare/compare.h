/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* compare.h - what the programs share that run on this library and on others: clocks, medians, the
 * checks of every call.  Plain PMIx and C only. */
#ifndef SX_BENCH_COMPARE_H
#define SX_BENCH_COMPARE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <pmix.h>

#define ROUNDS_MAX 4096

static inline double clock_us(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static inline double now_us(void)
{
    return clock_us(CLOCK_MONOTONIC);
}

/* What this process has computed so far: free of whoever else wants the CPUs. */
static inline double cpu_us(void)
{
    return clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

static inline int by_value(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static inline double median(double *samples, size_t count)
{
    qsort(samples, count, sizeof(*samples), by_value);
    return samples[count / 2];
}

static inline void must(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS) {
        fprintf(stderr, "compare: %s: %d\n", what, rc);
        exit(1);
    }
}

static inline uint32_t job_size(const pmix_proc_t *me)
{
    pmix_proc_t job = *me;
    pmix_value_t *value = NULL;

    job.rank = PMIX_RANK_WILDCARD;
    must(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), "get of the job size");
    const uint32_t size = value->data.uint32;

    free(value);
    return size;
}

static inline void fence_collect(void)
{
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    strcpy(info.key, PMIX_COLLECT_DATA);
    info.value.type = PMIX_BOOL;
    info.value.data.flag = true;
    must(PMIx_Fence(NULL, 0, &info, 1), "collecting fence");
}

/* The rounds of argv[1], or @otherwise. */
static inline size_t rounds_of(int argc, char **argv, size_t otherwise)
{
    const size_t rounds = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : otherwise;

    if (rounds == 0 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "compare: rounds from 1 to %d\n", ROUNDS_MAX);
        exit(1);
    }
    return rounds;
}

#endif

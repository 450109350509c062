/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* clock.h - time is uint64_t nanoseconds of CLOCK_MONOTONIC; waits take an absolute deadline. */
#ifndef SX_BASE_CLOCK_H
#define SX_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define SX_NS_PER_SEC UINT64_C(1000000000)
#define SX_NS_PER_MS UINT64_C(1000000)
#define SX_DEADLINE_NEVER UINT64_MAX

static inline uint64_t sx_now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * SX_NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* now + timeout, saturating at SX_DEADLINE_NEVER. */
static inline uint64_t sx_deadline_ns(uint64_t now_ns, uint64_t timeout_ns)
{
    return timeout_ns > SX_DEADLINE_NEVER - now_ns ? SX_DEADLINE_NEVER : now_ns + timeout_ns;
}

static inline struct timespec sx_timespec(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / SX_NS_PER_SEC),
                              .tv_nsec = (long)(ns % SX_NS_PER_SEC) };
}

#endif

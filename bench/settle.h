/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* settle.h - a job that has begun: what its launcher does beside the start of the ranks is over. */
#ifndef SX_BENCH_SETTLE_H
#define SX_BENCH_SETTLE_H

#include <unistd.h>

#define SETTLE_US 50000u

/* Behind PMIx_Init, before what is to be measured: a launcher that still looks at the machine takes
 * CPUs from the ranks. */
static inline void settle(void)
{
    usleep(SETTLE_US);
}

#endif

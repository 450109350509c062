/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* cpus.h - threads of an experiment on CPUs of their own. */
#ifndef SX_BENCH_CPUS_H
#define SX_BENCH_CPUS_H

#include <sched.h>

/* The calling thread stays on the CPU with this @index among @allowed, counted around and around. */
static inline void cpus_bind(const cpu_set_t *allowed, int index)
{
    cpu_set_t one;
    int seen = 0;

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, allowed) && seen++ == index % CPU_COUNT(allowed)) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            (void)sched_setaffinity(0, sizeof(one), &one);
            return;
        }
    }
}

#endif

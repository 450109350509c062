/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* init.c - the beginning and the end of a rank, and of the job.
 *
 * Question:  what do PMIx_Init and PMIx_Finalize take, elapsed and of CPU, and what does the whole job
 *            from the launcher's start to its end, which does nothing else?
 * Predict:   Init 500 us, and no more CPU with more ranks; Finalize less.  With more ranks than CPUs the
 *            elapsed time is mostly a wait for the CPU.
 * Method:    each rank times both calls once and prints a line of JSON; what starts the program times the
 *            whole (wall_ms).  Many runs make the samples.
 * Varies:    ranks.  Control: the CPU time beside the elapsed. */
#include "compare.h"

int main(int argc, char **argv)
{
    const double cpu_before = cpu_us();
    const double begin = now_us();
    pmix_proc_t me;

    (void)rounds_of(argc, argv, 1);
    must(PMIx_Init(&me, NULL, 0), "init");
    const double init_us = now_us() - begin;
    const double init_cpu_us = cpu_us() - cpu_before;

    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    const double cpu_then = cpu_us();
    const double then = now_us();

    must(PMIx_Finalize(NULL, 0), "finalize");
    printf("{\"rank\": %u, \"init_us\": %.1f, \"init_cpu_us\": %.1f, \"finalize_us\": %.1f, "
           "\"finalize_cpu_us\": %.1f}\n",
           me.rank, init_us, init_cpu_us, now_us() - then, cpu_us() - cpu_then);
    return 0;
}

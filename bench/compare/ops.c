/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ops.c - what the base operations cost a rank, whichever libpmix.so.2 it runs on.
 *
 * Question:  what do Init, Get, Put+Commit, Fence and the first Get of a peer's value cost, and how
 *            much memory does a rank need?
 * Predict:   Get 100 ns, commit 1 us, fence two wake-ups, first Get as any Get, Init 500 us flat.
 * Method:    plain PMIx, one binary; started by `shmix run` it finds our library, by Debian's mpirun
 *            Debian's.  bench/compare/run alternates both and takes medians and minima over runs.
 * Varies:    the number of ranks.  Fixed: value of 64 bytes.  Control: an empty loop (clock).
 * Every rank prints one line of JSON. */
#include "compare.h"

/* Proportional set size in KiB: shared pages count by the share of this process. */
static double pss_kib(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    double kib = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (sscanf(line, "Pss: %lf", &kib) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return kib;
}

static double samples[ROUNDS_MAX];

/* Nanoseconds of one Get of a value that is there, over batches of 64. */
static double get_hit_ns(const pmix_proc_t *job, size_t rounds)
{
    for (size_t i = 0; i < rounds; i++) {
        const double begin = now_us();

        for (int k = 0; k < 64; k++) {
            pmix_value_t *value = NULL;

            must(PMIx_Get(job, PMIX_JOB_SIZE, NULL, 0, &value), "get of the job size");
            free(value);
        }
        samples[i] = (now_us() - begin) / 64 * 1e3;
    }
    return median(samples, rounds);
}

static double commit_us(size_t rounds)
{
    char bytes[64];
    pmix_value_t value;

    memset(bytes, 7, sizeof(bytes));
    memset(&value, 0, sizeof(value));
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = bytes;
    value.data.bo.size = sizeof(bytes);
    for (size_t i = 0; i < rounds; i++) {
        char key[32];

        snprintf(key, sizeof(key), "bench.%zu", i);
        const double begin = now_us();

        must(PMIx_Put(PMIX_GLOBAL, key, &value), "put");
        must(PMIx_Commit(), "commit");
        samples[i] = now_us() - begin;
    }
    return median(samples, rounds);
}

static double fence_us(size_t rounds)
{
    for (size_t i = 0; i < rounds; i++) {
        const double begin = now_us();

        must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
        samples[i] = now_us() - begin;
    }
    return median(samples, rounds);
}

/* Microseconds of the first Get of a neighbour's value after the collecting fence. */
static double first_get_us(const pmix_proc_t *me, uint32_t size)
{
    pmix_proc_t peer = *me;
    pmix_value_t *value = NULL;

    peer.rank = (me->rank + 1) % size;
    const double begin = now_us();

    must(PMIx_Get(&peer, "bench.0", NULL, 0, &value), "get of the neighbour's value");
    const double end = now_us();

    if (value->type != PMIX_BYTE_OBJECT || value->data.bo.size != 64) {
        fprintf(stderr, "ops: the neighbour's value is not what it put\n");
        exit(1);
    }
    free(value->data.bo.bytes);
    free(value);
    return end - begin;
}

int main(int argc, char **argv)
{
    const size_t rounds = rounds_of(argc, argv, 256);
    pmix_proc_t me, job;
    const double pss_before = pss_kib();
    const double cpu_before = cpu_us();
    const double begin = now_us();

    must(PMIx_Init(&me, NULL, 0), "init");
    const double init_us = now_us() - begin;
    const double init_cpu_us = cpu_us() - cpu_before;
    const double pss_after = pss_kib();

    const uint32_t size = job_size(&me);

    job = me;
    job.rank = PMIX_RANK_WILDCARD;
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    const double get_ns = get_hit_ns(&job, rounds);
    const double commit = commit_us(rounds);

    fence_collect();
    const double first = first_get_us(&me, size);

    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    const double fence = fence_us(rounds);

    printf("{\"rank\": %u, \"size\": %u, \"init_us\": %.1f, \"init_cpu_us\": %.1f, "
           "\"get_hit_ns\": %.1f, "
           "\"commit_us\": %.2f, \"first_get_us\": %.2f, \"fence_us\": %.1f, "
           "\"pss_kib\": %.0f}\n",
           me.rank, size, init_us, init_cpu_us, get_ns, commit, first, fence,
           pss_after - pss_before);
    fflush(stdout);
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}

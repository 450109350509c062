/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* gets.c - all ranks Get at once.
 *
 * Question:  do the Gets of many ranks of a node get in each other's way?
 * Predict:   no: a Get takes no lock and writes nothing shared, so the CPU time of one stays what
 *            it is and the sum over the ranks grows with the CPUs, not further and not less.
 * Method:    every rank puts a number, collecting fence; rank 0 says when the window begins; in it
 *            every rank Gets the number of ranks picked at random (seeded), 16 between two looks at
 *            the clock.  gets_per_s: sum over the ranks; get_cpu_ns: CPU time of the process, its
 *            threads included, per Get.
 * Varies:    ranks.  Fixed: window of 200 ms (argv[1], in ms).
 * Every rank prints one line of JSON. */
#include <sched.h>

#include "compare.h"

#define LEAD_US 50e3 /* until all have left the fence */
#define KEY "gets.number"

static void put_u64(const char *key, uint64_t number)
{
    pmix_value_t value;

    memset(&value, 0, sizeof(value));
    value.type = PMIX_UINT64;
    value.data.uint64 = number;
    must(PMIx_Put(PMIX_GLOBAL, key, &value), key);
    must(PMIx_Commit(), "commit");
}

static uint64_t get_u64(const pmix_proc_t *proc, const char *key)
{
    pmix_value_t *value = NULL;

    must(PMIx_Get(proc, key, NULL, 0, &value), key);
    const uint64_t number = value->data.uint64;

    free(value);
    return number;
}

int main(int argc, char **argv)
{
    const double window_us = (double)rounds_of(argc, argv, 200) * 1e3;
    uint64_t state = 42, gets = 0;
    pmix_proc_t me, peer;

    must(PMIx_Init(&me, NULL, 0), "init");
    const uint32_t size = job_size(&me);

    peer = me;
    put_u64(KEY, me.rank);
    fence_collect();
    if (me.rank == 0) {
        put_u64("gets.begin", (uint64_t)(now_us() + LEAD_US));
    }
    fence_collect();
    peer.rank = 0;
    const double begin = (double)get_u64(&peer, "gets.begin");

    while (now_us() < begin) {
        sched_yield();
    }
    const double cpu_before = cpu_us();

    while (now_us() < begin + window_us) {
        for (int i = 0; i < 16; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            peer.rank = (pmix_rank_t)((state >> 33) % size);
            if (get_u64(&peer, KEY) != peer.rank) {
                fprintf(stderr, "gets: the number of rank %u is not its own\n", peer.rank);
                return 1;
            }
        }
        gets += 16;
    }
    const double cpu = cpu_us() - cpu_before;

    printf("{\"rank\": %u, \"gets_per_s\": %.0f, \"get_cpu_ns\": %.1f}\n", me.rank,
           (double)gets / window_us * 1e6, gets > 0 ? cpu * 1e3 / (double)gets : 0.0);
    fflush(stdout);
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}

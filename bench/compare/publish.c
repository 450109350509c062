/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* publish.c - what it costs to publish a value, to look it up, and to take it back.
 *
 * Question:  what do PMIx_Publish, PMIx_Lookup of what another process has published, and
 *            PMIx_Unpublish cost?
 * Predict:   publish and unpublish a request each, 10 us; a lookup is a read of shared memory, which
 *            two look-ups in a store and the copy of a name make 0.3 us; a third of OpenPMIx's or
 *            less.
 * Method:    in each round every rank publishes a key of its own, meets the others at a counter in
 *            shared memory, looks up its neighbour's key, of which it has never heard, once
 *            (first_us) and then LOOKUPS times (lookup_us is the mean of these), meets the others
 *            again and takes its key back.  Medians of a rank; the first rounds are not counted.
 * Varies:    ranks.  Control: a fence over the same processes, timed in the same way.
 * Every rank prints one line of JSON. */
#include "meeting.h"

#define LOOKUPS 32
#define WARM_UP 2

enum { PUBLISH, FIRST, LOOKUP, UNPUBLISH, FENCE, FIGURES };

static const char *const names[FIGURES] = { "publish", "first", "lookup", "unpublish", "fence" };
static double samples[FIGURES][ROUNDS_MAX + WARM_UP];

static void key_of(char *key, size_t size, size_t round, uint32_t rank)
{
    snprintf(key, size, "bench.publish.%zu.%u", round, rank);
}

static void publish(const char *key, uint32_t number)
{
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    snprintf(info.key, sizeof(info.key), "%s", key);
    info.value.type = PMIX_UINT32;
    info.value.data.uint32 = number;
    must(PMIx_Publish(&info, 1), "publish");
}

static void lookup(const char *key, uint32_t number)
{
    pmix_pdata_t data;

    memset(&data, 0, sizeof(data));
    snprintf(data.key, sizeof(data.key), "%s", key);
    must(PMIx_Lookup(&data, 1, NULL, 0), "lookup");
    if (data.value.type != PMIX_UINT32 || data.value.data.uint32 != number) {
        fprintf(stderr, "compare: the lookup of %s found something else\n", key);
        exit(1);
    }
}

static void round_run(const pmix_proc_t *me, uint32_t size, size_t round)
{
    const uint32_t next = (me->rank + 1) % size;
    char mine[PMIX_MAX_KEYLEN + 1], its[PMIX_MAX_KEYLEN + 1];
    char *keys[] = { mine, NULL };

    key_of(mine, sizeof(mine), round, me->rank);
    key_of(its, sizeof(its), round, next);
    meet();
    double begin = now_us();

    publish(mine, me->rank);
    samples[PUBLISH][round] = now_us() - begin;
    meet();
    begin = now_us();
    lookup(its, next);
    samples[FIRST][round] = now_us() - begin;
    begin = now_us();
    for (int i = 0; i < LOOKUPS; i++) {
        lookup(its, next);
    }
    samples[LOOKUP][round] = (now_us() - begin) / LOOKUPS;
    meet();
    begin = now_us();
    must(PMIx_Unpublish(keys, NULL, 0), "unpublish");
    samples[UNPUBLISH][round] = now_us() - begin;
    meet();
    begin = now_us();
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    samples[FENCE][round] = now_us() - begin;
}

int main(int argc, char **argv)
{
    const size_t rounds = rounds_of(argc, argv, 64);
    pmix_proc_t me;

    must(PMIx_Init(&me, NULL, 0), "init");
    meeting_open(&me);
    for (size_t i = 0; i < rounds + WARM_UP; i++) {
        round_run(&me, job_size(&me), i);
    }
    printf("{\"rank\": %u", me.rank);
    for (int i = 0; i < FIGURES; i++) {
        printf(", \"%s_us\": %.2f", names[i], median(samples[i] + WARM_UP, rounds));
    }
    printf("}\n");
    fflush(stdout);
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence.c - what a fence costs that collects data, with and without data to collect.
 *
 * Question:  a fence; one that collects though nobody has put anything; one that collects 64 bytes
 *            of every rank: what do the second and the third cost more than the first?
 * Predict:   the second nothing.  The third half as much again: one more message in each lane, which
 *            the server takes while it is awake anyway, and the new pages in the ranks' page tables.
 * Method:    blocks of 16 fences of each kind in turns, so that all kinds see the same machine.  Before
 *            each fence the ranks meet at a counter in shared memory, so that nobody's Put is in the
 *            time of another's Fence: data_us is the Fence alone.  put_us is all of it, Put, Commit and
 *            Fence.  Medians of a rank.  Sleeps: the voluntary switches of the process, faults: its
 *            minor faults, both per fence and as the kernel counts them.
 * Varies:    ranks.  Fixed: a key of its own for each round.  Controls: the empty fence; one of ranks
 *            that have used their first level cache for something else (busy_us), as Put does.
 * Profile:   argv[2] is the number of the one kind to run, from 0.
 * Every rank prints one line of JSON. */
#include <sys/resource.h>

#include "meeting.h"

#include "../settle.h"

#define BLOCK 16u
#define CACHE_BYTES (32u << 10)

enum { EMPTY, BUSY, COLLECT, DATA, PUT, KINDS };

static const char *const names[KINDS] = { "empty", "busy", "collect", "data", "put" };

static struct kind {
    double samples[ROUNDS_MAX];
    size_t count;
    long sleeps, faults;
} kinds[KINDS];

static void put_64_bytes(int which, size_t round)
{
    char key[32], bytes[64];
    pmix_value_t value;

    memset(bytes, (int)round, sizeof(bytes));
    memset(&value, 0, sizeof(value));
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = bytes;
    value.data.bo.size = sizeof(bytes);
    snprintf(key, sizeof(key), "%s.%zu", names[which], round);
    must(PMIx_Put(PMIX_GLOBAL, key, &value), "put");
    must(PMIx_Commit(), "commit");
}

static void be_busy(void)
{
    static volatile char memory[CACHE_BYTES];

    for (size_t i = 0; i < sizeof(memory); i += 64) {
        memory[i]++;
    }
}

static double one_us(int which, size_t round)
{
    if (which == DATA) {
        put_64_bytes(which, round);
    } else if (which == BUSY) {
        be_busy();
    }
    meet();
    const double begin = now_us();

    if (which == PUT) {
        put_64_bytes(which, round);
    }
    if (which == EMPTY || which == BUSY) {
        must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    } else {
        fence_collect();
    }
    return now_us() - begin;
}

static void block(int which)
{
    struct kind *const kind = &kinds[which];
    struct rusage before, after;

    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < BLOCK; i++) {
        kind->samples[kind->count] = one_us(which, kind->count);
        kind->count++;
    }
    getrusage(RUSAGE_SELF, &after);
    kind->sleeps += after.ru_nvcsw - before.ru_nvcsw;
    kind->faults += after.ru_minflt - before.ru_minflt;
}

int main(int argc, char **argv)
{
    const size_t rounds = rounds_of(argc, argv, 256);
    const int only = argc > 2 ? atoi(argv[2]) : KINDS;
    pmix_proc_t me;

    must(PMIx_Init(&me, NULL, 0), "init");
    settle();
    meeting_open(&me);
    for (size_t i = 0; i < rounds; i += BLOCK) {
        for (int which = 0; which < KINDS; which++) {
            if (only == KINDS || only == which) {
                block(which);
            }
        }
    }
    printf("{\"rank\": %u", me.rank);
    for (int which = 0; which < KINDS; which++) {
        const struct kind *const kind = &kinds[which];
        const double count = (double)kind->count;

        if (kind->count == 0) {
            continue;
        }
        printf(", \"%s_us\": %.2f, \"%s_sleeps\": %.3f, \"%s_faults\": %.3f", names[which],
               median(kinds[which].samples, kind->count), names[which],
               (double)kind->sleeps / count, names[which], (double)kind->faults / count);
    }
    printf("}\n");
    fflush(stdout);
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}

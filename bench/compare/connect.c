/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect.c - what it costs to connect processes and to part them again.
 *
 * Question:  what do PMIx_Connect and PMIx_Disconnect cost the ranks of a job, all together, and each
 *            half by itself at the same time?
 * Predict:   each what a fence costs, plus a tenth: the server writes one record of the members and
 *            takes it away again.  Two halves at once: no more than the whole.
 * Method:    the ranks meet at a counter in shared memory, which no library knows; then each call is
 *            timed.  whole_us is both calls; medians of a rank.
 * Varies:    ranks.  Control: a fence over the same processes, timed in the same way.
 * Every rank prints one line of JSON. */
#include "meeting.h"

enum { CONNECT, DISCONNECT, WHOLE, HALVES, FENCE, FIGURES };

static const char *const names[FIGURES] = { "connect", "disconnect", "whole", "halves", "fence" };
static double samples[FIGURES][ROUNDS_MAX];

/* Connect @procs and part them. */
static void both(const pmix_proc_t *procs, size_t nprocs, double *connect_us, double *disconnect_us)
{
    meet();
    double begin = now_us();

    must(PMIx_Connect(procs, nprocs, NULL, 0), "connect");
    *connect_us = now_us() - begin;
    meet();
    begin = now_us();
    must(PMIx_Disconnect(procs, nprocs, NULL, 0), "disconnect");
    *disconnect_us = now_us() - begin;
}

static double fence_us(void)
{
    meet();
    const double begin = now_us();

    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    return now_us() - begin;
}

/* The half of the job that @me is in.  Return: how many. */
static size_t half_of(const pmix_proc_t *me, uint32_t size, pmix_proc_t *procs)
{
    const uint32_t middle = size / 2;
    const uint32_t first = me->rank < middle ? 0 : middle;
    const uint32_t end = me->rank < middle ? middle : size;

    for (uint32_t rank = first; rank < end; rank++) {
        procs[rank - first] = *me;
        procs[rank - first].rank = rank;
    }
    return end - first;
}

int main(int argc, char **argv)
{
    const size_t rounds = rounds_of(argc, argv, 64);
    pmix_proc_t me, job;

    must(PMIx_Init(&me, NULL, 0), "init");
    meeting_open(&me);
    job = me;
    job.rank = PMIX_RANK_WILDCARD;
    pmix_proc_t *const half = malloc(job_size(&me) * sizeof(*half));

    if (half == NULL) {
        fprintf(stderr, "connect: no memory\n");
        return 1;
    }
    const size_t nhalf = half_of(&me, job_size(&me), half);
    for (size_t i = 0; i < rounds; i++) {
        double connect_us, disconnect_us;

        samples[FENCE][i] = fence_us();
        both(half, nhalf, &connect_us, &disconnect_us);
        samples[HALVES][i] = connect_us + disconnect_us;
        both(&job, 1, &connect_us, &disconnect_us);
        samples[CONNECT][i] = connect_us;
        samples[DISCONNECT][i] = disconnect_us;
        samples[WHOLE][i] = connect_us + disconnect_us;
    }
    free(half);
    printf("{\"rank\": %u", me.rank);
    for (int i = 0; i < FIGURES; i++) {
        printf(", \"%s_us\": %.2f", names[i], median(samples[i], rounds));
    }
    printf("}\n");
    fflush(stdout);
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group.c - what it costs to make a group and to end it.
 *
 * Question:  what do PMIx_Group_construct and PMIx_Group_destruct of all ranks of a job cost?
 * Predict:   each what a fence costs, plus a tenth: the server writes one record of the members and
 *            takes it away again.
 * Found:     of destruct it is true.  A construct costs a third more with 2 ranks, and two fences
 *            with 64.  It was five while each caller's list was read and sorted, alike as they are.
 * Method:    the ranks meet at a counter in shared memory, which no library knows; then each call is
 *            timed.  whole_us is both calls; medians of a rank.  All ask for a context id: the
 *            OpenPMIx of Open MPI 5 makes no group without one.
 * Varies:    ranks.  Control: a fence over the same processes, timed in the same way.
 * Every rank prints one line of JSON. */
#include "meeting.h"

enum { FENCE, CONSTRUCT, DESTRUCT, WHOLE, FIGURES };

static const char *const names[FIGURES] = { "fence", "construct", "destruct", "whole" };
static double samples[FIGURES][ROUNDS_MAX];

static double fence_us(const pmix_proc_t *job)
{
    meet();
    const double begin = now_us();

    must(PMIx_Fence(job, 1, NULL, 0), "fence");
    return now_us() - begin;
}

static pmix_status_t construct(const pmix_proc_t *job, double *ret_took_us)
{
    pmix_info_t wish, *results = NULL;
    size_t nresults = 0;

    PMIX_INFO_LOAD(&wish, PMIX_GROUP_ASSIGN_CONTEXT_ID, NULL, PMIX_BOOL);
    meet();
    const double begin = now_us();
    const pmix_status_t rc = PMIx_Group_construct("bench.group", job, 1, &wish, 1, &results,
                                                  &nresults);

    *ret_took_us = now_us() - begin;
    if (results != NULL) {
        PMIX_INFO_FREE(results, nresults);
    }
    return rc;
}

static double construct_us(const pmix_proc_t *job)
{
    double took_us;

    must(construct(job, &took_us), "construct");
    return took_us;
}

static double destruct_us(void)
{
    meet();
    const double begin = now_us();

    must(PMIx_Group_destruct("bench.group", NULL, 0), "destruct");
    return now_us() - begin;
}

/* Debian's mpirun has no groups. */
static bool has_groups(const pmix_proc_t *job)
{
    double took_us;
    const pmix_status_t rc = construct(job, &took_us);

    if (rc == PMIX_ERR_NOT_SUPPORTED) {
        printf("{\"what\": \"construct\", \"skipped\": \"its launcher makes no groups\"}\n");
        return false;
    }
    must(rc, "construct");
    destruct_us();
    return true;
}

static void measure(const pmix_proc_t *me, const pmix_proc_t *job, size_t rounds)
{
    for (size_t i = 0; i < rounds; i++) {
        samples[FENCE][i] = fence_us(job);
        samples[CONSTRUCT][i] = construct_us(job);
        samples[DESTRUCT][i] = destruct_us();
        samples[WHOLE][i] = samples[CONSTRUCT][i] + samples[DESTRUCT][i];
    }
    printf("{\"rank\": %u", me->rank);
    for (int i = 0; i < FIGURES; i++) {
        printf(", \"%s_us\": %.2f", names[i], median(samples[i], rounds));
    }
    printf("}\n");
}

int main(int argc, char **argv)
{
    const size_t rounds = rounds_of(argc, argv, 64);
    pmix_proc_t me, job;

    must(PMIx_Init(&me, NULL, 0), "init");
    meeting_open(&me);
    job = me;
    job.rank = PMIX_RANK_WILDCARD;
    if (has_groups(&job)) {
        measure(&me, &job, rounds);
    }
    fflush(stdout);
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}

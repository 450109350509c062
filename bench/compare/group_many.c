/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_many.c - what many groups cost: all at once, and one after another.
 *
 * Question:  what does a group cost of which a thousand are made at the same time, and what is left
 *            of ten thousand that have come and gone?
 * Predict:   at once, a third of one by itself, since the ranks sleep once for many of them.  What is
 *            left: nothing, in the server as in a rank.
 * Method:    16 groups a round are made at once and ended at once; at_once_us is the time of both,
 *            divided by the groups.  Then 160 a round come and go: cycle_us each, and what the
 *            memory of the server, which has started this rank, and of the rank itself has grown by
 *            since the first quarter: anonymous pages, in KiB.
 * Varies:    ranks.  Fixed: all ranks are in all groups, which have context ids, as in group.c.
 * Every rank prints one line of JSON. */
#include <semaphore.h>

#include "meeting.h"

#define AT_ONCE 16
#define CYCLES 160

static pmix_info_t wish;
static sem_t answered;
static volatile pmix_status_t failed; /* of any of them */

static void on_constructed(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *cbdata,
                           pmix_release_cbfunc_t release, void *release_cbdata)
{
    (void)info, (void)ninfo, (void)cbdata;
    failed = status != PMIX_SUCCESS ? status : failed;
    if (release != NULL) {
        release(release_cbdata);
    }
    sem_post(&answered);
}

static void on_destructed(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    failed = status != PMIX_SUCCESS ? status : failed;
    sem_post(&answered);
}

static void answers_wait(size_t count, const char *what)
{
    while (count > 0) {
        count -= sem_wait(&answered) == 0;
    }
    must(failed, what);
}

static double at_once_us(const pmix_proc_t *job, size_t groups)
{
    char name[32];

    meet();
    const double begin = now_us();

    for (size_t i = 0; i < groups; i++) {
        snprintf(name, sizeof(name), "bench.%zu", i);
        must(PMIx_Group_construct_nb(name, job, 1, &wish, 1, on_constructed, NULL), "construct");
    }
    answers_wait(groups, "construct");
    for (size_t i = 0; i < groups; i++) {
        snprintf(name, sizeof(name), "bench.%zu", i);
        must(PMIx_Group_destruct_nb(name, NULL, 0, on_destructed, NULL), "destruct");
    }
    answers_wait(groups, "destruct");
    return (now_us() - begin) / (double)groups;
}

/* Anonymous pages of @pid, which has to be ours. */
static double memory_kib(pid_t pid)
{
    unsigned long kib = 0;
    char line[256];

    snprintf(line, sizeof(line), "/proc/%d/smaps_rollup", pid);
    FILE *const file = fopen(line, "r");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        (void)sscanf(line, "Anonymous: %lu kB", &kib);
    }
    if (file != NULL) {
        fclose(file);
    }
    return (double)kib;
}

static double cycles_us(const pmix_proc_t *job, size_t cycles)
{
    meet();
    const double begin = now_us();

    for (size_t i = 0; i < cycles; i++) {
        pmix_info_t *results = NULL;
        size_t nresults = 0;

        must(PMIx_Group_construct("bench.cycle", job, 1, &wish, 1, &results, &nresults),
             "construct");
        if (results != NULL) {
            PMIX_INFO_FREE(results, nresults);
        }
        must(PMIx_Group_destruct("bench.cycle", NULL, 0), "destruct");
    }
    const double took_us = now_us() - begin;

    meet();
    return took_us;
}

int main(int argc, char **argv)
{
    const size_t rounds = rounds_of(argc, argv, 64);
    const size_t cycles = rounds * CYCLES, quarter = cycles / 4;
    pmix_proc_t me, job;

    PMIX_INFO_LOAD(&wish, PMIX_GROUP_ASSIGN_CONTEXT_ID, NULL, PMIX_BOOL);
    sem_init(&answered, 0, 0);
    must(PMIx_Init(&me, NULL, 0), "init");
    meeting_open(&me);
    job = me;
    job.rank = PMIX_RANK_WILDCARD;
    const double each_us = at_once_us(&job, rounds * AT_ONCE);
    double cycle_us = cycles_us(&job, quarter);
    const double server_kib = memory_kib(getppid()), rank_kib = memory_kib(getpid());

    cycle_us += cycles_us(&job, cycles - quarter);
    printf("{\"rank\": %u, \"at_once_us\": %.2f, \"cycle_us\": %.2f, \"server_grown_kib\": %.0f, "
           "\"rank_grown_kib\": %.0f}\n",
           me.rank, each_us, cycle_us / (double)cycles, memory_kib(getppid()) - server_kib,
           memory_kib(getpid()) - rank_kib);
    fflush(stdout);
    must(PMIx_Fence(NULL, 0, NULL, 0), "fence");
    must(PMIx_Finalize(NULL, 0), "finalize");
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rank.c - a rank whose accesses to shared memory bench/lines/count looks at.
 *
 * Question:  how many cache lines of shared memory does a Get touch that hits, a Get of a value that
 *            this process has not looked at yet, and a fence?  On a machine with several NUMA nodes
 *            each of them may have to come from another one.
 * Predict:   a Get 6 (key, column, cell, its value and two of the header), a new value 2 of its own;
 *            a fence 6: the ring's tail and record, two of the lane, the board's slot and its sleep.
 * Method:    rank 0 runs under valgrind's lackey, which tells of each access; stores to @marks say
 *            what the accesses are for.
 * Varies:    the count of ranks.  Control: the first two marks have nothing between them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

/* Each is stored to when what it is called begins. */
enum { NOTHING, GET_AGAIN, GET_NEW, FENCE, COLLECT, END, MARKS };

static volatile char marks[MARKS][64] __attribute__((aligned(64)));
static pmix_proc_t me;

static void check(pmix_status_t rc, const char *what)
{
    if (rc != PMIX_SUCCESS) {
        fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(rc));
        exit(1);
    }
}

static void mark(int what)
{
    marks[what][0] = 1;
}

static void get(pmix_rank_t rank)
{
    pmix_proc_t proc = me;
    pmix_value_t *value;

    proc.rank = rank;
    check(PMIx_Get(&proc, "lines.text", NULL, 0, &value), "PMIx_Get");
    PMIx_Value_free(value, 1);
}

static void fence(bool collects)
{
    pmix_info_t info;

    check(PMIx_Info_load(&info, PMIX_COLLECT_DATA, &collects, PMIX_BOOL), "PMIx_Info_load");
    check(PMIx_Fence(NULL, 0, &info, 1), "PMIx_Fence");
}

static void put(char letter)
{
    char text[64];
    pmix_value_t value = { .type = PMIX_STRING, .data.string = text };

    memset(text, letter, sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    check(PMIx_Put(PMIX_GLOBAL, "lines.text", &value), "PMIx_Put");
    check(PMIx_Commit(), "PMIx_Commit");
}

/* For the counter: where the marks and the segments are. */
static void notify(uint32_t size)
{
    const int maps = open("/proc/self/maps", O_RDONLY);
    char buffer[4096];
    ssize_t got;

    printf("marks %p 64 %u ranks\n", (void *)(uintptr_t)marks, size);
    fflush(stdout);
    while (maps >= 0 && (got = read(maps, buffer, sizeof(buffer))) > 0) {
        if (write(1, buffer, (size_t)got) != got) {
            exit(1);
        }
    }
    close(maps);
}

int main(void)
{
    pmix_value_t *size;

    check(PMIx_Init(&me, NULL, 0), "PMIx_Init");
    pmix_proc_t job = me;
    job.rank = PMIX_RANK_WILDCARD;
    check(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &size), "PMIx_Get");
    const uint32_t count = size->data.uint32;
    put('a');
    fence(true);
    get(0); /* now everything is looked at once that all Gets look at */
    if (me.rank == 0) {
        notify(count);
    }
    mark(NOTHING);
    mark(GET_AGAIN);
    get(0);
    mark(GET_NEW);
    for (pmix_rank_t rank = 1; rank < count; rank++) {
        get(rank);
    }
    mark(FENCE);
    fence(false);
    mark(COLLECT);
    put('b');
    fence(true);
    mark(END);
    check(PMIx_Finalize(NULL, 0), "PMIx_Finalize");
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence_pmix.c - the last rank of the job does not call a fence, and a rank of its node has a time
 * limit: the fence ends with that for all ranks, on all nodes.  The next one is the next one of all,
 * and brings what each has put between the two. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

static pmix_proc_t me;

static void expect(pmix_status_t rc, pmix_status_t want, const char *what)
{
    if (rc != want) {
        printf("%u: %s: %d, not %d\n", me.rank, what, rc, want);
        exit(1);
    }
}

static pmix_value_t *job_value(const char *key)
{
    pmix_value_t *value = NULL;
    pmix_proc_t job = me;

    job.rank = PMIX_RANK_WILDCARD;
    expect(PMIx_Get(&job, key, NULL, 0, &value), PMIX_SUCCESS, key);
    return value;
}

/* Return: the first of the ranks of this node; *ret_last is the last of them. */
static unsigned long peers(unsigned long *ret_last)
{
    pmix_value_t *const value = job_value(PMIX_LOCAL_PEERS);
    const char *const list = value->data.string, *const comma = strrchr(list, ',');
    const unsigned long first = strtoul(list, NULL, 10);

    *ret_last = strtoul(comma != NULL ? comma + 1 : list, NULL, 10);
    free(value->data.string);
    free(value);
    return first;
}

static void publish(const char *key, uint32_t number)
{
    pmix_value_t value;

    memset(&value, 0, sizeof(value));
    value.type = PMIX_UINT32;
    value.data.uint32 = number;
    expect(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS, "put");
    expect(PMIx_Commit(), PMIX_SUCCESS, "commit");
}

/* What @rank has put under @key is @number; with @optional, it is here already. */
static void expect_value(unsigned long rank, const char *key, uint32_t number, bool optional)
{
    pmix_proc_t proc = me;
    pmix_value_t *value = NULL;
    pmix_info_t info;

    proc.rank = (pmix_rank_t)rank;
    memset(&info, 0, sizeof(info));
    strcpy(info.key, PMIX_OPTIONAL);
    info.value.type = PMIX_BOOL;
    info.value.data.flag = true;
    expect(PMIx_Get(&proc, key, &info, optional, &value), PMIX_SUCCESS, key);
    expect((pmix_status_t)value->data.uint32, (pmix_status_t)number, key);
    free(value);
}

/* Ranks with another library take what a fence has brought when they ask their server. */
static bool is_brought(void)
{
    return strncmp(PMIx_Get_version(), "shmix ", 6) == 0;
}

int main(void)
{
    pmix_proc_t job;
    pmix_info_t info;
    unsigned long last_here;

    expect(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS, "init");
    job = me;
    job.rank = PMIX_RANK_WILDCARD;
    memset(&info, 0, sizeof(info));
    pmix_value_t *const size = job_value(PMIX_JOB_SIZE);
    const uint32_t ranks = size->data.uint32;
    const unsigned long first_here = peers(&last_here);

    free(size);
    if (me.rank == ranks - 1) { /* it waits until the fence has failed */
        expect_value(first_here, "failed", 1, false);
    } else {
        strcpy(info.key, PMIX_TIMEOUT);
        info.value.type = PMIX_INT;
        info.value.data.integer = 1;
        expect(PMIx_Fence(&job, 1, &info, me.rank == first_here && last_here == ranks - 1),
               PMIX_ERR_TIMEOUT, "fence with one that does not call");
    }
    publish("failed", 1);
    publish("number", me.rank);
    strcpy(info.key, PMIX_COLLECT_DATA);
    info.value.type = PMIX_BOOL;
    info.value.data.flag = true;
    expect(PMIx_Fence(&job, 1, &info, 1), PMIX_SUCCESS, "fence behind it");
    for (uint32_t rank = 0; rank < ranks; rank++) {
        expect_value(rank, "number", rank, is_brought());
    }
    expect(PMIx_Finalize(NULL, 0), PMIX_SUCCESS, "finalize");
    printf("%u: ok\n", me.rank);
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_pmix.c - all ranks of the job connect, meet, and disconnect: by a wildcard, then each by
 * its rank.  The exit status is that of the connects, without its sign. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#define RANKS_MAX 256u

static pmix_proc_t me;
static pmix_proc_t all[RANKS_MAX];

static void expect(pmix_status_t rc, pmix_status_t want, const char *what)
{
    if (rc != want) {
        printf("%u: %s: %d, not %d\n", me.rank, what, rc, want);
        exit(1);
    }
}

static unsigned job_size(void)
{
    pmix_value_t *value = NULL;
    pmix_proc_t job = me;

    job.rank = PMIX_RANK_WILDCARD;
    expect(PMIx_Get(&job, PMIX_JOB_SIZE, NULL, 0, &value), PMIX_SUCCESS, "job size");
    const unsigned size = value->data.uint32;

    free(value);
    return size;
}

/* Return: how the connect has ended. */
static pmix_status_t meet(const pmix_proc_t procs[], size_t count)
{
    pmix_info_t limit;

    memset(&limit, 0, sizeof(limit));
    strcpy(limit.key, PMIX_TIMEOUT);
    limit.value.type = PMIX_INT;
    limit.value.data.integer = 30;
    const pmix_status_t rc = PMIx_Connect(procs, count, &limit, 1);

    if (rc == PMIX_SUCCESS) {
        expect(PMIx_Fence(procs, count, NULL, 0), PMIX_SUCCESS, "fence");
        expect(PMIx_Disconnect(procs, count, NULL, 0), PMIX_SUCCESS, "disconnect");
    }
    return rc;
}

int main(void)
{
    expect(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS, "init");
    const unsigned size = job_size();
    pmix_proc_t job = me;

    for (unsigned i = 0; i < size && i < RANKS_MAX; i++) {
        all[i] = me;
        all[i].rank = i;
    }
    job.rank = PMIX_RANK_WILDCARD;
    const pmix_status_t rc = meet(&job, 1);

    expect(meet(all, size), rc, "connect of the ranks");
    expect(PMIx_Finalize(NULL, 0), PMIX_SUCCESS, "finalize");
    printf("%u: connect ends with %d\n", me.rank, rc);
    return -rc;
}

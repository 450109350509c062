/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_full_test.c - a member of a construct dies when all have called, and the host still thinks:
 * its end is the call's, and nobody is asked anything.  GR41 */
#include <semaphore.h>
#include <signal.h>

#include "job.h"
#include "received.h"

enum { RETURNED }; /* token */

static pmix_proc_t me;

/* ---- the host -------------------------------------------------------------------------------- */

static sem_t asked;
static pmix_info_cbfunc_t answer;
static void *answer_cbdata;

static pmix_status_t on_group(pmix_group_operation_t operation, char *name,
                              const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                              size_t ninfo, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    if (operation != PMIX_GROUP_CONSTRUCT) { /* that it is given up: the construct's answer stays */
        return PMIX_OPERATION_SUCCEEDED;
    }
    answer = cbfunc;
    answer_cbdata = cbdata;
    sem_post(&asked);
    return PMIX_SUCCESS;
}

static int host_of_full(struct job *job)
{
    job_sem_wait(&asked);
    kill(job->pids[2], SIGKILL);
    (void)job_wait(job, 2);
    for (int i = 0; i < 2; i++) {
        job_token_get(RETURNED);
    }
    answer(PMIX_SUCCESS, NULL, 0, answer_cbdata, NULL, NULL);
    for (int rank = 0; rank < 2; rank++) {
        CHECK(job_wait(job, rank) == 0);
    }
    return 0;
}

/* ---- the members ----------------------------------------------------------------------------- */

static int rank_of_full(int rank)
{
    pmix_status_t codes[] = { PMIX_GROUP_MEMBER_FAILED, PMIX_GROUP_LEADER_FAILED,
                              PMIX_GROUP_CONSTRUCT_ABORT };
    pmix_info_t info[2], *results = NULL;
    size_t nresults = 0;
    pmix_proc_t all;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    (void)receive_codes(codes, 3, NULL);
    info[0] = info_flag(PMIX_GROUP_ASSIGN_CONTEXT_ID);
    info[1] = info_flag(PMIX_GROUP_NOTIFY_TERMINATION);
    PMIx_Load_procid(&all, JOB_NSPACE, PMIX_RANK_WILDCARD);
    CHECK_STATUS(PMIx_Group_construct("tea", &all, 1, info, 2, &results, &nresults),
                 PMIX_ERR_LOST_CONNECTION);
    CHECK(rank != 2);
    job_token_put(RETURNED);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK(received_count == 0);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { .name = "full",
          .size = 3,
          .rank = rank_of_full,
          .host = host_of_full,
          .host_judges = true },
    };

    sem_init(&asked, 0, 0);
    job_module.group = on_group;
    return job_main(argc, argv, cases, 1);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* restart_test.c - a rank that was killed and that the host starts again, without registering it
 * again: its data, its events and its fences are those of any rank. */
#include <signal.h>
#include <sys/wait.h>

#include "received.h"

#define CODE (-3601)
#define LIVES 40
#define PUTS 200 /* more than a server takes in one turn */

enum { FENCE_FAILED, BACK }; /* tokens */

static pmix_proc_t self;

static void put_u32(const char *key, uint32_t number)
{
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };

    CHECK_STATUS(PMIx_Put(PMIX_GLOBAL, key, &value), PMIX_SUCCESS);
}

static void check_u32(pmix_rank_t rank, const char *key, uint32_t want)
{
    pmix_proc_t proc = self;
    pmix_value_t *value;

    proc.rank = rank;
    CHECK_STATUS(PMIx_Get(&proc, key, NULL, 0, &value), PMIX_SUCCESS);
    CHECK(value->type == PMIX_UINT32 && value->data.uint32 == want);
    PMIX_VALUE_RELEASE(value);
}

/* ---- one that works again ------------------------------------------------------------------- */

static void share_life(uint32_t life)
{
    put_u32("life", life);
    CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
    rank_fence();
    check_u32(1, "life", life);
}

static int rank_of_again(int rank)
{
    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    if (job_life > 0) {
        job_token_put(BACK);
    } else if (rank == 1) {
        share_life(0);
        raise(SIGKILL);
    } else {
        share_life(0);
        CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_LOST_CONNECTION);
        job_token_put(FENCE_FAILED);
        job_token_get(BACK);
    }
    (void)receive_one(CODE);
    rank_fence(); /* both listen */
    publish_event(CODE, PMIX_RANGE_NAMESPACE, (uint32_t)rank);
    received_wait(CODE, 2);
    share_life(1);
    return rank_end();
}

static int host_of_again(struct job *job)
{
    job_token_get(FENCE_FAILED);
    CHECK(WIFSIGNALED(job_wait(job, 1)));
    job_restart(job, 1);
    return 0;
}

/* ---- one that is started at once, again and again ------------------------------------------- */

/* What it has put before it dies is in its lane when the next one comes. */
static int rank_of_many_lives(int rank)
{
    char key[32];

    CHECK_STATUS(PMIx_Init(&self, NULL, 0), PMIX_SUCCESS);
    if (rank == 0) {
        job_token_get(BACK);
    } else {
        for (uint32_t i = 0; i < PUTS; i++) {
            snprintf(key, sizeof(key), "many.%u", i);
            put_u32(key, (uint32_t)job_life);
        }
        CHECK_STATUS(PMIx_Commit(), PMIX_SUCCESS);
        if (job_life < LIVES - 1) {
            raise(SIGKILL);
        }
        job_token_put(BACK);
    }
    rank_fence();
    for (uint32_t i = 0; i < PUTS; i++) {
        snprintf(key, sizeof(key), "many.%u", i);
        check_u32(1, key, LIVES - 1);
    }
    return rank_end();
}

static int host_of_many_lives(struct job *job)
{
    for (int life = 1; life < LIVES; life++) {
        CHECK(WIFSIGNALED(job_wait(job, 1)));
        job_restart(job, 1);
    }
    return 0;
}

static const struct job_case cases[] = {
    { "works_again", 2, rank_of_again, host_of_again },
    { "comes_before_its_end_was_heard", 2, rank_of_many_lives, host_of_many_lives },
};

JOB_MAIN(cases)

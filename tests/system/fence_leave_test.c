/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence_leave_test.c - a member of a fence that leaves for good, or comes back: who waits for it goes
 * on without it, with PMIX_ERR_PARTIAL_SUCCESS, or until it is there again. */
#include <signal.h>
#include <unistd.h>

#include "job.h"

#define LEAVER 1
#define SIZE 3
#define CYCLES 30

static pmix_status_t fence(void)
{
    return PMIx_Fence(NULL, 0, NULL, 0);
}

/* The others are in their fence or not yet there when it has gone; the end is the same. */
static int rank_of_leaving(int rank)
{
    rank_begin(NULL);
    CHECK_STATUS(fence(), PMIX_SUCCESS);
    if (rank != LEAVER) {
        CHECK_STATUS(fence(), PMIX_ERR_PARTIAL_SUCCESS);
        CHECK_STATUS(fence(), PMIX_ERR_PARTIAL_SUCCESS);
    }
    return rank_end();
}

static int rank_of_having_left(int rank)
{
    rank_begin(NULL);
    CHECK_STATUS(fence(), PMIX_SUCCESS);
    if (rank != LEAVER) {
        job_token_get(rank);
        CHECK_STATUS(fence(), PMIX_ERR_PARTIAL_SUCCESS);
    }
    return rank_end();
}

static int host_of_having_left(struct job *job)
{
    CHECK(job_wait(job, LEAVER) == 0);
    job_token_put(0);
    job_token_put(2);
    return 0;
}

/* Its process lives on: it may come back, so the others wait for it; so they do while it is away. */
static int rank_of_coming_back(int rank)
{
    rank_begin(NULL);
    for (int i = 0; i < CYCLES; i++) {
        CHECK_STATUS(fence(), PMIX_SUCCESS);
        if (rank == LEAVER) {
            rank_end();
            rank_begin(NULL);
        }
    }
    return rank_end();
}

/* Having come back it may die, and that is no departure. */
static int rank_of_dying(int rank)
{
    rank_begin(NULL);
    CHECK_STATUS(fence(), PMIX_SUCCESS);
    if (rank == LEAVER) {
        rank_end();
        rank_begin(NULL);
    }
    CHECK_STATUS(fence(), PMIX_SUCCESS);
    if (rank == LEAVER) {
        raise(SIGKILL);
    }
    CHECK_STATUS(fence(), PMIX_ERR_LOST_CONNECTION);
    return rank_end();
}

static int host_of_dying(struct job *job)
{
    return job_wait(job, 0) != 0 || job_wait(job, 2) != 0;
}

/* The host takes away who has finalized and lives on: it says that nobody comes in its place. */
static int rank_of_being_taken(int rank)
{
    rank_begin(NULL);
    CHECK_STATUS(fence(), PMIX_SUCCESS);
    if (rank == LEAVER) {
        rank_end();
        job_token_put(1);
        job_token_get(3); /* until the others are done */
        return 0;
    }
    CHECK_STATUS(fence(), PMIX_ERR_PARTIAL_SUCCESS);
    return rank_end();
}

static int host_of_being_taken(struct job *job)
{
    pmix_proc_t leaver = { .nspace = JOB_NSPACE, .rank = LEAVER };

    job_token_get(1);
    PMIx_server_deregister_client(&leaver, NULL, NULL);
    CHECK(job_wait(job, 0) == 0 && job_wait(job, 2) == 0);
    job_token_put(3);
    return 0;
}

static const struct job_case cases[] = {
    { "while_others_wait", SIZE, rank_of_leaving },
    { "before_the_others_wait", SIZE, rank_of_having_left, host_of_having_left },
    { "and_comes_back", SIZE, rank_of_coming_back },
    { "comes_back_and_dies", SIZE, rank_of_dying, host_of_dying, true },
    { "is_taken_away", SIZE, rank_of_being_taken, host_of_being_taken },
};

JOB_MAIN(cases)

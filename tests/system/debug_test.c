/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* debug_test.c - ranks that a host wants to stop in PMIx_Init: they go on when a debugger lets them,
 * and end when nobody can any more. */
#include "job.h"

#define NSPACE "stopped.job"

enum { STOPPED, RELEASED }; /* tokens */

static pmix_proc_t self;

/* ---- ranks ---------------------------------------------------------------------------------- */

static pmix_status_t init(bool external)
{
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_EXTERNAL_PROGRESS, &external, PMIX_BOOL), PMIX_SUCCESS);
    return PMIx_Init(&self, &info, 1);
}

static int stops(bool external)
{
    CHECK_STATUS(init(external), PMIX_SUCCESS);
    job_token_get(RELEASED); /* nobody comes here before that was said */
    return rank_end();
}

static int rank_of_released(int rank)
{
    return stops(rank == 1);
}

/* Of two ranks the second one is to stop, and alone is let go on. */
static int rank_of_one_rank(int rank)
{
    if (rank == 1) {
        return stops(false);
    }
    CHECK_STATUS(init(false), PMIX_SUCCESS);
    return rank_end();
}

static int rank_of_none(int rank)
{
    CHECK_STATUS(init(rank == 1), PMIX_SUCCESS);
    return rank_end();
}

static int rank_of_lost(int rank)
{
    CHECK_STATUS(init(rank == 1), PMIX_ERR_LOST_CONNECTION);
    CHECK(PMIx_Initialized() == 0);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT);
    return 0;
}

/* ---- the host ------------------------------------------------------------------------------- */

static void on_ready(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    job_token_put(STOPPED);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* A job of two ranks of which the host says this. */
static void job_begin(struct job *job, const void *ranks, pmix_data_type_t type)
{
    pmix_status_t code = PMIX_READY_FOR_DEBUG;
    pmix_info_t info;

    CHECK(PMIx_Register_event_handler(&code, 1, NULL, 0, on_ready, NULL, NULL) >= 0);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_DEBUG_STOP_IN_INIT, ranks, type), PMIX_SUCCESS);
    job_notified = &info;
    job_add(job, NSPACE, 2);
    job_notified = NULL;
    PMIx_Info_destruct(&info);
}

static void wait_for_stopped(int count)
{
    for (int i = 0; i < count; i++) {
        job_token_get(STOPPED);
    }
}

/* @count ranks have stopped: all, or the one that is @rank. */
static int release(int count, pmix_rank_t rank)
{
    pmix_proc_t meant = { .nspace = NSPACE, .rank = rank };
    pmix_proc_t host = { .nspace = "host", .rank = 0 };
    const bool yes = true;
    pmix_info_t info[2];

    wait_for_stopped(count);
    for (int i = 0; i < count; i++) {
        job_token_put(RELEASED);
    }
    CHECK_STATUS(PMIx_Info_load(&info[0], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Info_load(&info[1], PMIX_EVENT_CUSTOM_RANGE, &meant, PMIX_PROC),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Notify_event(PMIX_DEBUGGER_RELEASE, &host, PMIX_RANGE_CUSTOM, info, 2, NULL,
                                   NULL),
                 PMIX_SUCCESS);
    PMIx_Info_destruct(&info[1]);
    return 0;
}

static int host_of_released(struct job *job)
{
    const pmix_rank_t everybody = PMIX_RANK_WILDCARD;

    job_begin(job, &everybody, PMIX_PROC_RANK);
    return release(2, PMIX_RANK_WILDCARD);
}

static int host_of_one_rank(struct job *job)
{
    pmix_rank_t second = 1;
    pmix_data_array_t ranks = { .type = PMIX_PROC_RANK, .size = 1, .array = &second };

    job_begin(job, &ranks, PMIX_DATA_ARRAY);
    return release(1, second);
}

static int host_of_none(struct job *job)
{
    const bool no = false;

    job_begin(job, &no, PMIX_BOOL);
    return 0;
}

static int host_of_lost(struct job *job)
{
    const bool yes = true;

    job_begin(job, &yes, PMIX_BOOL);
    wait_for_stopped(2);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    return 0;
}

static const struct job_case cases[] = {
    { "released", 0, rank_of_released, host_of_released },
    { "one_rank_of_two", 0, rank_of_one_rank, host_of_one_rank },
    { "no_rank", 0, rank_of_none, host_of_none },
    { "server_lost", 0, rank_of_lost, host_of_lost },
};

JOB_MAIN(cases)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* control_test.c - PMIx_Job_control: what a host answers, with results and without, and sets that
 * the server defines by itself. */
#include <semaphore.h>
#include <stdint.h>
#include <string.h>

#include "job.h"

static enum { NO_ENTRY, ANSWERS, TWICE, LATE, NEVER, REFUSES } mode;
static sem_t unanswered;
static pmix_info_cbfunc_t unanswered_fn;
static void *unanswered_data;

static void released(void *cbdata)
{
    PMIX_INFO_FREE(cbdata, 1);
}

/* What is not heard any more is not given back either, so it brings nothing. */
static void answer_again(pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    cbfunc(PMIX_SUCCESS, NULL, 0, cbdata, NULL, NULL);
}

static void answer(pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    const char *const text = "a result";
    pmix_info_t *const info = PMIx_Info_create(1);

    CHECK_STATUS(PMIx_Info_load(info, "my.result", text, PMIX_STRING), PMIX_SUCCESS);
    cbfunc(PMIX_SUCCESS, info, 1, cbdata, released, info);
}

static pmix_status_t on_control(const pmix_proc_t *proc, const pmix_proc_t targets[],
                                size_t ntargets, const pmix_info_t info[], size_t ninfo,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(strcmp(proc->nspace, JOB_NSPACE) == 0 && ntargets == 1 && targets[0].rank == 1);
    CHECK(ninfo == 3 && PMIx_Check_key(info[0].key, PMIX_JOB_CTRL_SIGNAL));
    CHECK(PMIx_Check_key(info[1].key, PMIX_USERID) && PMIx_Check_key(info[2].key, PMIX_GRPID));
    unanswered_fn = cbfunc;
    unanswered_data = cbdata;
    if (mode == ANSWERS || mode == TWICE) {
        answer(cbfunc, cbdata);
    }
    if (mode == TWICE) {
        answer_again(cbfunc, cbdata);
    }
    sem_post(&unanswered);
    return mode == REFUSES ? PMIX_ERR_NO_PERMISSIONS : PMIX_SUCCESS;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static pmix_proc_t me;
static sem_t called;
static pmix_status_t given;

static void on_info(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                    pmix_release_cbfunc_t release, void *release_cbdata)
{
    CHECK(cbdata == &called);
    if (status == PMIX_SUCCESS) {
        CHECK(ninfo == 1 && strcmp(info[0].value.data.string, "a result") == 0);
    }
    if (release != NULL) {
        release(release_cbdata);
    }
    given = status;
    sem_post(&called);
}

static pmix_info_t signal_10(void)
{
    const int number = 10;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_JOB_CTRL_SIGNAL, &number, PMIX_INT), PMIX_SUCCESS);
    return info;
}

static pmix_proc_t rank_1(void)
{
    pmix_proc_t proc = me;

    proc.rank = 1;
    return proc;
}

static int asks(pmix_status_t want)
{
    pmix_info_t *results = NULL;
    size_t nresults = 99;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    const pmix_info_t info = signal_10();
    const pmix_proc_t target = rank_1();

    CHECK_STATUS(PMIx_Job_control(&target, 1, &info, 1, &results, &nresults), want);
    if (want == PMIX_SUCCESS) {
        CHECK(nresults == 1 && strcmp(results[0].key, "my.result") == 0 &&
              strcmp(results[0].value.data.string, "a result") == 0);
        PMIX_INFO_FREE(results, nresults);
        CHECK_STATUS(PMIx_Job_control(&target, 1, &info, 1, NULL, NULL), PMIX_SUCCESS);
    }
    CHECK_STATUS(PMIx_Job_control_nb(&target, 1, &info, 1, on_info, &called), PMIX_SUCCESS);
    CHECK(sem_wait(&called) == 0);
    CHECK_STATUS(given, want);
    return rank_end();
}

static int rank_receives(int rank)
{
    return asks(PMIX_SUCCESS);
}

static int rank_is_refused(int rank)
{
    return asks(PMIX_ERR_NO_PERMISSIONS);
}

static int rank_cannot(int rank)
{
    return asks(PMIX_ERR_NOT_SUPPORTED);
}

static int rank_leaves(int rank)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    const pmix_info_t info = signal_10();
    const pmix_proc_t target = rank_1();

    CHECK_STATUS(PMIx_Job_control_nb(&target, 1, &info, 1, on_info, &called), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    CHECK(sem_trywait(&called) == 0 && given != PMIX_SUCCESS);
    return 0;
}

static int host_late(struct job *job)
{
    CHECK(job_wait(job, 0) == 0);
    CHECK(sem_trywait(&unanswered) == 0);
    if (mode == LATE) {
        answer_again(unanswered_fn, unanswered_data);
    }
    return 0;
}

/* A set of the targets, or of the caller's job; others find it. */
static int rank_defines(int rank)
{
    pmix_info_t info = { .value = { .type = PMIX_STRING,
                                    .data.string = (char *)(uintptr_t) "ones" } };
    pmix_query_t query;
    pmix_info_t *found = NULL;
    size_t count = 0;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    const pmix_proc_t target = rank_1();

    strcpy(info.key, PMIX_JOB_CTRL_DEFINE_PSET);
    if (rank == 0) {
        CHECK_STATUS(PMIx_Job_control(&target, 1, &info, 1, NULL, NULL), PMIX_SUCCESS);
        info.value.data.string = (char *)(uintptr_t) "all";
        CHECK_STATUS(PMIx_Job_control(NULL, 0, &info, 1, NULL, NULL), PMIX_SUCCESS);
        CHECK_STATUS(PMIx_Job_control(NULL, 0, &info, 1, NULL, NULL), PMIX_ERR_EXISTS);
    }
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    PMIx_Query_construct(&query);
    PMIx_Argv_append_nosize(&query.keys, PMIX_QUERY_PSET_NAMES);
    CHECK_STATUS(PMIx_Query_info(&query, 1, &found, &count), PMIX_SUCCESS);
    CHECK(count == 1);
    PMIX_INFO_FREE(found, count);
    PMIx_Query_destruct(&query);
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_SUCCESS);
    return rank_end();
}

int main(int argc, char **argv)
{
    static const struct {
        struct job_case it;
        int mode;
    } cases[] = {
        { { "answers", 1, rank_receives }, ANSWERS },
        { { "twice", 1, rank_receives }, TWICE },
        { { "refuses", 1, rank_is_refused }, REFUSES },
        { { "no_entry", 1, rank_cannot }, NO_ENTRY },
        { { "late", 1, rank_leaves, host_late }, LATE },
        { { "never", 1, rank_leaves, host_late }, NEVER },
        { { "defines", 2, rank_defines }, NO_ENTRY },
    };
    int failed = 0;

    job_elsewhere = 1;
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (argc > 1 && strcmp(cases[i].it.name, argv[2]) != 0) {
            continue;
        }
        mode = argc > 1 ? ANSWERS : cases[i].mode;
        sem_init(&unanswered, 0, 0);
        sem_init(&called, 0, 0);
        job_elsewhere = cases[i].it.rank == rank_defines ? 0 : 1;
        job_module.job_control = mode != NO_ENTRY ? on_control : NULL;
        failed |= job_main(argc, argv, &cases[i].it, 1);
    }
    return failed;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_requests_test.c - a server that is no client asks its own host: job control and allocations, blocking
 * or not, with a host that answers at once, twice, later, never, with an error, or not at all. */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "job.h"

static enum { ANSWERS, TWICE, LATE, NEVER, REFUSES } mode;
static const char *const mode_names[] = { "answers", "twice", "late", "never", "refuses" };
static sem_t unanswered, called;
static pmix_info_cbfunc_t unanswered_fn;
static void *unanswered_data;
static unsigned released;
static size_t asked_infos;

static void on_release(void *cbdata)
{
    __atomic_add_fetch(&released, 1, __ATOMIC_RELAXED);
    PMIX_INFO_FREE(cbdata, 1);
}

static void answer(pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    pmix_info_t *const info = PMIx_Info_create(1);

    CHECK_STATUS(PMIx_Info_load(info, "my.result", "a result", PMIX_STRING), PMIX_SUCCESS);
    cbfunc(PMIX_SUCCESS, info, 1, cbdata, on_release, info);
}

static pmix_status_t asked(const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc,
                           void *cbdata)
{
    CHECK(ninfo >= 2 && PMIx_Check_key(info[ninfo - 2].key, PMIX_USERID) &&
          PMIx_Check_key(info[ninfo - 1].key, PMIX_GRPID));
    asked_infos = ninfo - 2;
    unanswered_fn = cbfunc;
    unanswered_data = cbdata;
    if (mode == ANSWERS || mode == TWICE) {
        answer(cbfunc, cbdata);
    }
    if (mode == TWICE) {
        cbfunc(PMIX_ERR_BAD_PARAM, NULL, 0, cbdata, NULL, NULL);
    }
    sem_post(&unanswered);
    return mode == REFUSES ? PMIX_ERR_NO_PERMISSIONS : PMIX_SUCCESS;
}

static pmix_status_t on_control(const pmix_proc_t *proc, const pmix_proc_t targets[],
                                size_t ntargets, const pmix_info_t info[], size_t ninfo,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(strcmp(proc->nspace, "own.server") == 0 && ntargets == 1 && targets[0].rank == 1);
    return asked(info, ninfo, cbfunc, cbdata);
}

static pmix_status_t on_allocate(const pmix_proc_t *proc, pmix_alloc_directive_t directive,
                                 const pmix_info_t info[], size_t ninfo, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    CHECK(strcmp(proc->nspace, "own.server") == 0 && directive == PMIX_ALLOC_NEW);
    return asked(info, ninfo, cbfunc, cbdata);
}

/* ---- the calls ------------------------------------------------------------------------------- */

static bool allocates; /* else job control */

static pmix_info_t directive(void)
{
    const uint64_t number = 10;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, allocates ? PMIX_ALLOC_NUM_NODES : PMIX_JOB_CTRL_SIGNAL,
                                &number, PMIX_UINT64),
                 PMIX_SUCCESS);
    return info;
}

static pmix_status_t ask(pmix_info_t **results, size_t *nresults)
{
    pmix_info_t info = directive();
    pmix_proc_t target;

    PMIx_Load_procid(&target, "some.job", 1);
    return allocates ? PMIx_Allocation_request(PMIX_ALLOC_NEW, &info, 1, results, nresults)
                     : PMIx_Job_control(&target, 1, &info, 1, results, nresults);
}

static pmix_status_t given;

static void on_info(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                    pmix_release_cbfunc_t release, void *release_cbdata)
{
    CHECK(cbdata == &called);
    CHECK(status != PMIX_SUCCESS || (ninfo == 1 && PMIx_Check_key(info->key, "my.result")));
    if (release != NULL) {
        release(release_cbdata);
    }
    given = status;
    sem_post(&called);
}

static pmix_status_t ask_nb(void)
{
    pmix_info_t info = directive();
    pmix_proc_t target;

    PMIx_Load_procid(&target, "some.job", 1);
    return allocates ? PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, &info, 1, on_info, &called)
                     : PMIx_Job_control_nb(&target, 1, &info, 1, on_info, &called);
}

struct waits {
    pmix_status_t status;
    pmix_info_t *results;
    size_t nresults;
};

static void *ask_in_thread(void *arg)
{
    struct waits *const waits = arg;

    waits->status = ask(&waits->results, &waits->nresults);
    return NULL;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void start(pmix_server_module_t *module)
{
    pmix_info_t info;

    info = info_text(PMIX_SERVER_NSPACE, "own.server");
    CHECK_STATUS(PMIx_server_init(module, &info, 1), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
}

static void case_run(void)
{
    static pmix_server_module_t module = { .job_control = on_control, .allocate = on_allocate };
    const pmix_status_t want = mode == REFUSES ? PMIX_ERR_NO_PERMISSIONS : PMIX_SUCCESS;
    const pmix_status_t ends = mode == NEVER ? PMIX_ERR_NOT_AVAILABLE : want;
    struct waits waits = { .status = 99 };
    pthread_t thread;

    released = 0;
    start(&module);
    CHECK_STATUS(ask_nb(), PMIX_SUCCESS);
    job_sem_wait(&unanswered);
    CHECK(asked_infos == 1);
    if (mode == LATE) {
        answer(unanswered_fn, unanswered_data);
    }
    if (mode != NEVER) {
        job_sem_wait(&called);
        CHECK_STATUS(given, want);
    }
    CHECK(pthread_create(&thread, NULL, ask_in_thread, &waits) == 0);
    job_sem_wait(&unanswered);
    if (mode == LATE) {
        answer(unanswered_fn, unanswered_data);
    }
    if (mode != NEVER) {
        pthread_join(thread, NULL);
    }
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    if (mode == NEVER) { /* both end with the server */
        pthread_join(thread, NULL);
        job_sem_wait(&called);
        CHECK_STATUS(given, PMIX_ERR_NOT_AVAILABLE);
    }
    CHECK_STATUS(waits.status, ends);
    CHECK(waits.nresults == (ends == PMIX_SUCCESS ? 1u : 0u));
    PMIx_Info_free(waits.results, waits.nresults);
    CHECK(released == (ends == PMIX_SUCCESS ? 2u : 0u) && sem_trywait(&called) != 0);
}

/* Who wants no result gives no callback: the host's infos are released all the same. */
static void without_callback(void)
{
    static pmix_server_module_t module = { .job_control = on_control };
    pmix_info_t info = directive();
    pmix_proc_t target;

    released = 0;
    PMIx_Load_procid(&target, "some.job", 1);
    start(&module);
    CHECK_STATUS(PMIx_Job_control_nb(&target, 1, &info, 1, NULL, NULL), PMIX_SUCCESS);
    job_sem_wait(&unanswered);
    if (mode == LATE) {
        answer(unanswered_fn, unanswered_data);
    }
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
    CHECK(released == 1);
}

/* What the server does itself, and what nobody does. */
static void without_entries(void)
{
    pmix_info_t *results = NULL;
    pmix_proc_t target;
    pmix_info_t set, info;
    size_t nresults = 0;

    CHECK_STATUS(ask(&results, &nresults), PMIX_ERR_INIT);
    start(NULL);
    CHECK_STATUS(ask(&results, &nresults), PMIX_ERR_NOT_SUPPORTED);
    CHECK_STATUS(ask_nb(), PMIX_ERR_NOT_SUPPORTED);
    PMIx_Load_procid(&target, "some.job", 1);
    set = info_text(PMIX_JOB_CTRL_DEFINE_PSET, "a.set");
    CHECK_STATUS(PMIx_Job_control(&target, 1, &set, 1, NULL, NULL), PMIX_SUCCESS);
    CHECK(PMIx_Job_control(NULL, 0, &set, 1, NULL, NULL) == PMIX_ERR_BAD_PARAM); /* of whom? */
    CHECK(PMIx_Job_control(&target, 1, NULL, 0, NULL, NULL) == PMIX_ERR_BAD_PARAM);
    CHECK(PMIx_Job_control(NULL, 1, &set, 1, NULL, NULL) == PMIX_ERR_BAD_PARAM);
    CHECK(PMIx_Job_control(&target, SIZE_MAX, &set, 1, NULL, NULL) == PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&set);
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_REGISTER_CLEANUP, "/nothing", PMIX_STRING),
                 PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Job_control(&target, 1, &info, 1, NULL, NULL), PMIX_ERR_NOT_SUPPORTED);
    PMIx_Info_destruct(&info);
    CHECK_STATUS(PMIx_server_finalize(), PMIX_SUCCESS);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    CHECK(sem_init(&unanswered, 0, 0) == 0 && sem_init(&called, 0, 0) == 0);
    without_entries();
    for (int i = 0; i < 2; i++) {
        allocates = i == 1;
        for (mode = ANSWERS; mode <= REFUSES; mode++) {
            printf("%s, the host %s\n", allocates ? "allocation" : "job control", mode_names[mode]);
            case_run();
        }
    }
    allocates = false;
    for (mode = ANSWERS; mode <= LATE; mode++) {
        printf("job control without a callback, the host %s\n", mode_names[mode]);
        without_callback();
    }
    return 0;
}

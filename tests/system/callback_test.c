/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* callback_test.c - a call that gave PMIX_SUCCESS is answered by its callback, once, however the
 * host answers: at once, twice, too late, never, or not at all, as it has no such entry.
 *
 * What the host has not answered is answered when the process leaves. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "job.h"

#define CODE_OF_HOST PMIX_EVENT_NODE_DOWN /* the host is asked for it */
#define CODE_OF_JOB PMIX_JCTRL_CHECKPOINT
#define FAR 2

/* ---- the host ------------------------------------------------------------------------------- */

static enum { NO_ENTRY, AT_ONCE, TWICE, DONE, REFUSES, TOO_LATE, NEVER } mode;

#define OWED_MAX 64

/* Answers that it owes. */
static struct {
    pmix_op_cbfunc_t op;
    pmix_modex_cbfunc_t modex;
    void *cbdata;
} owed[OWED_MAX];
static unsigned owed_count;
static pthread_mutex_t owed_lock = PTHREAD_MUTEX_INITIALIZER;

static void answer(pmix_op_cbfunc_t op, pmix_modex_cbfunc_t modex, void *cbdata)
{
    if (modex != NULL) {
        modex(PMIX_SUCCESS, NULL, 0, cbdata, NULL, NULL);
    } else if (op != NULL) {
        op(PMIX_SUCCESS, cbdata);
    }
}

static pmix_status_t asked(pmix_op_cbfunc_t op, pmix_modex_cbfunc_t modex, void *cbdata)
{
    switch (mode) {
    case DONE:
        return modex != NULL ? PMIX_ERR_NOT_AVAILABLE : PMIX_OPERATION_SUCCEEDED;
    case REFUSES:
        return PMIX_ERR_NOT_AVAILABLE;
    case AT_ONCE:
    case TWICE:
        for (int i = 0; i < (mode == TWICE ? 2 : 1); i++) {
            answer(op, modex, cbdata);
        }
        return PMIX_SUCCESS;
    default:
        pthread_mutex_lock(&owed_lock);
        CHECK(owed_count < OWED_MAX);
        owed[owed_count].op = op;
        owed[owed_count].modex = modex;
        owed[owed_count++].cbdata = cbdata;
        pthread_mutex_unlock(&owed_lock);
        return PMIX_SUCCESS;
    }
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    free(data);
    return asked(NULL, cbfunc, cbdata);
}

static pmix_status_t on_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                              pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    return asked(NULL, cbfunc, cbdata);
}

static pmix_status_t on_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return asked(cbfunc, NULL, cbdata);
}

static pmix_status_t on_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    return asked(cbfunc, NULL, cbdata);
}

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return asked(cbfunc, NULL, cbdata);
}

static int host_of_all(struct job *job)
{
    CHECK(job_wait(job, 0) == 0 && job_wait(job, 1) == 0);
    pthread_mutex_lock(&owed_lock);
    for (unsigned i = 0; mode == TOO_LATE && i < owed_count; i++) {
        answer(owed[i].op, owed[i].modex, owed[i].cbdata);
    }
    pthread_mutex_unlock(&owed_lock);
    return 0;
}

/* ---- the ranks ------------------------------------------------------------------------------ */

enum { FENCE, GET, GET_FAR, REGISTER, NOTIFY, CONTROL, DISTANCES, DEREGISTER, CALLS };
static const char *const names[CALLS] = {
    "Fence_nb",     "Get_nb",         "Get_nb of another node", "Register_event_handler",
    "Notify_event", "Job_control_nb", "Compute_distances_nb",   "Deregister_event_handler"
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static pmix_status_t given[CALLS]; /* by the call itself */
static unsigned answers[CALLS];    /* under lock */

static void count(void *cbdata)
{
    pthread_mutex_lock(&lock);
    answers[(uintptr_t)cbdata]++;
    pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&lock);
}

static void on_op(pmix_status_t status, void *cbdata)
{
    count(cbdata);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    count(cbdata);
}

static void on_info(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                    pmix_release_cbfunc_t release, void *release_cbdata)
{
    if (release != NULL) {
        release(release_cbdata);
    }
    count(cbdata);
}

static void on_handler(pmix_status_t status, size_t id, void *cbdata)
{
    count(cbdata);
}

static void on_distances(pmix_status_t status, pmix_device_distance_t *distances, size_t ndist,
                         void *cbdata, pmix_release_cbfunc_t release, void *release_cbdata)
{
    if (release != NULL) {
        release(release_cbdata);
    }
    count(cbdata);
}

static void nobody(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                   size_t ninfo, pmix_info_t results[], size_t nresults,
                   pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

#define MARK(call) ((void *)(uintptr_t)(call))

static void call_all(const pmix_proc_t *me)
{
    pmix_status_t code = CODE_OF_HOST, job_code = CODE_OF_JOB;
    pmix_proc_t proc = *me;
    char path[] = "/tmp/shmix-no-such-file";
    pmix_topology_t topology = { .source = NULL };
    pmix_cpuset_t cpuset = { .source = NULL };
    pmix_info_t info;

    const pmix_status_t own = PMIx_Register_event_handler(&job_code, 1, NULL, 0, nobody, NULL,
                                                          NULL);
    CHECK(own > 0);
    given[FENCE] = PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, MARK(FENCE));
    proc.rank = 1 - me->rank;
    given[GET] = PMIx_Get_nb(&proc, "never put", NULL, 0, on_value, MARK(GET));
    proc.rank = FAR;
    given[GET_FAR] = PMIx_Get_nb(&proc, "never put", NULL, 0, on_value, MARK(GET_FAR));
    given[REGISTER] = PMIx_Register_event_handler(&code, 1, NULL, 0, nobody, on_handler,
                                                  MARK(REGISTER));
    given[NOTIFY] = PMIx_Notify_event(CODE_OF_JOB, me, PMIX_RANGE_GLOBAL, NULL, 0, on_op,
                                      MARK(NOTIFY));
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_REGISTER_CLEANUP, path, PMIX_STRING), PMIX_SUCCESS);
    given[CONTROL] = PMIx_Job_control_nb(me, 1, &info, 1, on_info, MARK(CONTROL));
    PMIx_Info_destruct(&info);
    CHECK_STATUS(PMIx_Load_topology(&topology), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_Get_cpuset(&cpuset, PMIX_CPUBIND_PROCESS), PMIX_SUCCESS);
    given[DISTANCES] = PMIx_Compute_distances_nb(&topology, &cpuset, NULL, 0, on_distances,
                                                 MARK(DISTANCES));
    given[DEREGISTER] = PMIx_Deregister_event_handler((size_t)own, on_op, MARK(DEREGISTER));
    PMIx_Cpuset_destruct(&cpuset);
    PMIx_Topology_destruct(&topology);
}

static unsigned missing_locked(void)
{
    unsigned missing = 0;

    for (unsigned i = 0; i < CALLS; i++) {
        missing += given[i] == PMIX_SUCCESS && answers[i] == 0 && i != GET;
    }
    return missing;
}

/* What nobody puts is waited for until the process leaves, and so may be the rest. */
static int rank_calls(bool waits)
{
    pmix_proc_t me;

    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
    call_all(&me);
    pthread_mutex_lock(&lock);
    while (waits && missing_locked() > 0) {
        pthread_cond_wait(&more, &lock);
    }
    pthread_mutex_unlock(&lock);
    CHECK_STATUS(PMIx_Finalize(NULL, 0), PMIX_SUCCESS);
    for (unsigned i = 0; i < CALLS; i++) {
        if (answers[i] != (given[i] == PMIX_SUCCESS)) {
            fprintf(stderr, "PMIx_%s gave %d, and %u callbacks\n", names[i], given[i], answers[i]);
            return 99;
        }
    }
    return 0;
}

static int rank_that_waits(int rank)
{
    return rank_calls(true);
}

static int rank_that_leaves(int rank)
{
    return rank_calls(false);
}

int main(int argc, char **argv)
{
    static const struct job_case cases[] = {
        { "no_entry", 2, rank_that_waits, host_of_all, false },
        { "at_once", 2, rank_that_waits, host_of_all, false },
        { "twice", 2, rank_that_waits, host_of_all, false },
        { "done", 2, rank_that_waits, host_of_all, false },
        { "refuses", 2, rank_that_waits, host_of_all, false },
        { "too_late", 2, rank_that_leaves, host_of_all, false },
        { "never", 2, rank_that_leaves, host_of_all, false },
    };
    int failed = 0;

    job_elsewhere = 1;
    if (argc > 1) { /* a rank, which has no host */
        return job_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
    }
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        mode = i;
        if (mode != NO_ENTRY) {
            job_module.fence_nb = on_fence;
            job_module.direct_modex = on_modex;
            job_module.register_events = on_register;
            job_module.deregister_events = on_deregister;
            job_module.notify_event = on_notify;
        }
        pthread_mutex_lock(&owed_lock);
        owed_count = 0;
        pthread_mutex_unlock(&owed_lock);
        failed |= job_main(argc, argv, &cases[i], 1);
    }
    return failed;
}

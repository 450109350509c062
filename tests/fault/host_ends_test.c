/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_ends_test.c - a host that ends a job, or takes a process of it away, inside its own entries.
 *
 * Whatever the server was about to do with them when it called the host, it finds none of them
 * afterwards.  Each entry is tried with each thing that it may return.  Under ASan a look at what
 * has gone is an error. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"

#define CODE 44          /* of no range of PMIx: the host is asked for it */
#define RANK_SECONDS 60u /* a rank that waits for what has gone */

/* ---- what the host does ---------------------------------------------------------------------- */

static const char *_Atomic awaited; /* the entry that ends the job, NULL when it has */
static char nspace[64];             /* ... which is this one */
static bool ends_all;               /* ... or but its process ... */
static pmix_status_t returned;      /* ... and returns this */

/* Return: what the entry returns. */
static pmix_status_t host_is_in(const char *entry, pmix_status_t otherwise)
{
    static bool is_inside; /* one entry is called while another one ends the job */

    const char *const now = atomic_load(&awaited);

    if (now == NULL || strcmp(now, entry) != 0 || is_inside) {
        return otherwise;
    }
    is_inside = true;
    if (ends_all) {
        fault_job_end(nspace);
    } else {
        pmix_proc_t proc = { .rank = 0 };

        memcpy(proc.nspace, nspace, sizeof(nspace));
        PMIx_server_deregister_client(&proc, NULL, NULL);
    }
    is_inside = false;
    atomic_store(&awaited, NULL);
    return returned;
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return host_is_in("connected", PMIX_OPERATION_SUCCEEDED);
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata)
{
    return host_is_in("finalized", PMIX_OPERATION_SUCCEEDED);
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char *msg,
                              pmix_proc_t *procs, size_t nprocs, pmix_op_cbfunc_t cbfunc,
                              void *cbdata)
{
    return host_is_in("abort", PMIX_OPERATION_SUCCEEDED);
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    free(data);
    return host_is_in("fence", PMIX_ERR_NOT_SUPPORTED);
}

static pmix_status_t on_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                              pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    return host_is_in("modex", PMIX_ERR_NOT_FOUND);
}

static pmix_status_t on_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t info[],
                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return host_is_in("register", PMIX_OPERATION_SUCCEEDED);
}

static pmix_status_t on_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    return host_is_in("deregister", PMIX_OPERATION_SUCCEEDED);
}

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return host_is_in("notify", PMIX_OPERATION_SUCCEEDED);
}

/* Of dmodex_request, which returns nothing. */
static void on_data(pmix_status_t status, char *data, size_t size, void *cbdata)
{
    (void)host_is_in("dmodex", PMIX_SUCCESS);
}

/* ---- what a rank does: what it is told does not matter -------------------------------------- */

static pmix_proc_t me;

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static pmix_status_t listen_to_code(void)
{
    pmix_status_t code = CODE;

    return PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL);
}

static void just_leaves(void)
{
}

static void finalizes(void)
{
    (void)PMIx_Finalize(NULL, 0);
}

static void aborts(void)
{
    (void)PMIx_Abort(1, "ends", NULL, 0);
}

static void fences(void)
{
    (void)PMIx_Fence(NULL, 0, NULL, 0);
}

static void gets(void)
{
    pmix_proc_t other = me;
    pmix_value_t *value;

    other.rank = 1; /* on another node */
    (void)PMIx_Get(&other, "key", NULL, 0, &value);
}

static void listens(void)
{
    (void)listen_to_code();
}

static void listens_no_more(void)
{
    const pmix_status_t id = listen_to_code();

    CHECK(id >= 0, "no handler: %d", id);
    (void)PMIx_Deregister_event_handler((size_t)id, NULL, NULL);
}

static void finalizes_with_handler(void)
{
    CHECK(listen_to_code() >= 0, "no handler");
    (void)PMIx_Finalize(NULL, 0);
}

static void dies_with_handler(void)
{
    CHECK(listen_to_code() >= 0, "no handler");
    raise(SIGKILL);
}

/* The host ends its job meanwhile. */
static void stays_with_handler(void)
{
    CHECK(listen_to_code() >= 0, "no handler");
    atomic_store(&fault_shared->state[0], 1);
    gets();
}

/* The host has asked for its data. */
static void commits(void)
{
    pmix_value_t value = { .type = PMIX_INT };

    (void)PMIx_Put(PMIX_GLOBAL, "key", &value);
    (void)PMIx_Commit();
    (void)PMIx_Finalize(NULL, 0);
}

/* In its lane; and in a frame, as it is too large for that. */
static void notifies(void)
{
    (void)PMIx_Notify_event(CODE, NULL, PMIX_RANGE_GLOBAL, NULL, 0, NULL, NULL);
    (void)PMIx_Finalize(NULL, 0);
}

static void notifies_of_much(void)
{
    static char text[32u << 10];
    pmix_info_t info;

    memset(text, 'x', sizeof(text) - 1);
    CHECK_STATUS(PMIx_Info_load(&info, "text", text, PMIX_STRING), PMIX_SUCCESS);
    (void)PMIx_Notify_event(CODE, NULL, PMIX_RANGE_GLOBAL, &info, 1, NULL, NULL);
}

static const struct deed {
    const char *entry;
    void (*act)(void);
} deeds[] = {
    { "connected", just_leaves },
    { "finalized", finalizes },
    { "abort", aborts },
    { "fence", fences },
    { "modex", gets },
    { "register", listens },
    { "deregister", listens_no_more },
    { "deregister", finalizes_with_handler },
    { "deregister", dies_with_handler },
    { "deregister", stays_with_handler },
    { "dmodex", commits },
    { "dmodex", finalizes },
    { "notify", notifies },
    { "notify", notifies_of_much },
};
#define DEEDS (sizeof(deeds) / sizeof(deeds[0]))

static int role_rank(const char *arg)
{
    alarm(RANK_SECONDS);
    if (PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS) {
        deeds[atoi(arg)].act();
    }
    _exit(0);
}

/* ---- the case -------------------------------------------------------------------------------- */

/* Of the two processes of the job one is here. */
static void job_start(void)
{
    const uint32_t size = 2;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_server_register_nspace(nspace, 1, &info, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    fault_rank_admit(nspace, 0);
}

static void data_request(void)
{
    pmix_proc_t proc = { .rank = 0 };

    memcpy(proc.nspace, nspace, sizeof(nspace));
    CHECK_STATUS(PMIx_server_dmodex_request(&proc, on_data, NULL), PMIX_SUCCESS);
}

static void deed_done(size_t number)
{
    char arg[8];

    snprintf(arg, sizeof(arg), "%zu", number);
    snprintf(nspace, sizeof(nspace), "%s.%s.%zu.%d", ends_all ? "job" : "rank", deeds[number].entry,
             number, -returned);
    job_start();
    for (int i = 0; i < 2 && strcmp(deeds[number].entry, "dmodex") == 0; i++) {
        data_request();
    }
    atomic_store(&awaited, deeds[number].entry);
    const pid_t pid = fault_start(nspace, 0, "rank", arg);

    if (deeds[number].act == stays_with_handler) {
        WAIT_FOR(atomic_exchange(&fault_shared->state[0], 0) == 1, nspace);
        fault_job_end(nspace);
    }
    CHECK(WTERMSIG(fault_wait(pid)) != SIGALRM, "the rank of %s hangs", nspace);
    WAIT_FOR(atomic_load(&awaited) == NULL, nspace);
    fault_job_end(nspace);
    fault_good_wait(1); /* the server goes on */
}

/* The host ends @all of the job, or takes its process away, and returns @what. */
static int inside(bool all, pmix_status_t what)
{
    ends_all = all;
    returned = what;
    fault_module.client_connected2 = on_connected;
    fault_module.client_finalized = on_finalized;
    fault_module.abort = on_abort;
    fault_module.fence_nb = on_fence;
    fault_module.direct_modex = on_modex;
    fault_module.register_events = on_register;
    fault_module.deregister_events = on_deregister;
    fault_module.notify_event = on_notify;
    fault_server_start();
    fault_good_start();
    for (size_t number = 0; number < DEEDS; number++) {
        deed_done(number);
    }
    fault_good_stop();
    fault_job_whole("after.job", 2, 3);
    fault_server_stop();
    return 0;
}

static int case_job_later(void)
{
    return inside(true, PMIX_SUCCESS);
}

static int case_job_done(void)
{
    return inside(true, PMIX_OPERATION_SUCCEEDED);
}

static int case_job_refused(void)
{
    return inside(true, PMIX_ERROR);
}

static int case_rank_later(void)
{
    return inside(false, PMIX_SUCCESS);
}

static int case_rank_done(void)
{
    return inside(false, PMIX_OPERATION_SUCCEEDED);
}

static int case_rank_refused(void)
{
    return inside(false, PMIX_ERROR);
}

static const struct fault_case cases[] = {
    { "job_later", case_job_later },     { "job_done", case_job_done },
    { "job_refused", case_job_refused }, { "rank_later", case_rank_later },
    { "rank_done", case_rank_done },     { "rank_refused", case_rank_refused },
};

static const struct fault_role roles[] = { { "rank", role_rank } };

FAULT_MAIN(cases, roles)

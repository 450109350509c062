/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nested_direct_test.c - a host that, inside one of its entries, ends just what the server was to
 * look at next.  Under ASan each of these looks was an error, or the server never came back. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <pmix_tool.h>
#include <shmix.h>

#include "fault.h"

#define JOB "direct.job"
#define TOOL_JOB "direct.tool"
#define CODE 44 /* of no range of PMIx: the host is asked for it */
#define RANKS 3

static pmix_proc_t proc_of(pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, JOB, rank);
    return proc;
}

/* ---- processes ------------------------------------------------------------------------------- */

static pmix_proc_t me;
static _Atomic unsigned answers;

static void on_op(pmix_status_t status, void *cbdata)
{
    /* that it ends is what is to be shown */
    atomic_fetch_add(&answers, 1);
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                     size_t ninfo, pmix_info_t results[], size_t nresults,
                     pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    done(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata);
}

static pmix_status_t listen_to(pmix_status_t code)
{
    return PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, NULL, NULL);
}

/* What was said before this has been taken; @state says so. */
static void server_has_it(void)
{
    (void)listen_to(-3999);
    atomic_store(&fault_shared->state[me.rank], 1);
}

static void begin(void)
{
    CHECK_STATUS(PMIx_Init(&me, NULL, 0), PMIX_SUCCESS);
}

static void stay(void)
{
    WAIT_FOR(atomic_load(&fault_shared->go) != 0, "the host to let go");
}

static void answers_wait(unsigned wanted)
{
    WAIT_FOR(atomic_load(&answers) == wanted, "answers to all calls");
}

static int role_has_two_operations(const char *arg)
{
    const pmix_proc_t two[] = { proc_of(0), proc_of(1) };

    begin();
    CHECK_STATUS(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, NULL), PMIX_SUCCESS);
    if (me.rank == 0) {
        CHECK_STATUS(PMIx_Connect_nb(two, 2, NULL, 0, on_op, NULL), PMIX_SUCCESS);
    }
    server_has_it();
    answers_wait(me.rank == 0 ? 2 : 1);
    return 0;
}

static int role_leaves(const char *arg)
{
    begin();
    WAIT_FOR(atomic_load(&fault_shared->state[0]) != 0 && atomic_load(&fault_shared->state[1]) != 0,
             "the calls of the others");
    (void)PMIx_Finalize(NULL, 0);
    return 0;
}

static int role_stays(const char *arg)
{
    begin();
    server_has_it();
    stay();
    return 0;
}

static int role_connects_loudly(const char *arg)
{
    const pmix_proc_t all = proc_of(PMIX_RANK_WILDCARD);
    pmix_info_t infos[2];

    begin();
    WAIT_FOR(atomic_load(&fault_shared->state[1]) != 0, "the other one");
    PMIx_Info_load(&infos[0], PMIX_CONNECT_NOTIFY_EACH, NULL, PMIX_BOOL);
    CHECK_STATUS(PMIx_Connect(&all, 1, infos, 1), PMIX_ERR_LOST_CONNECTION);
    return 0;
}

static int role_fences_thrice(const char *arg)
{
    begin();
    for (int i = 0; i < 3; i++) {
        CHECK_STATUS(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, NULL), PMIX_SUCCESS);
    }
    server_has_it();
    answers_wait(3);
    return 0;
}

static void on_output(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t info[], size_t ninfo)
{
}

static pmix_status_t pull(void)
{
    const pmix_proc_t one = proc_of(0);

    return PMIx_IOF_pull(&one, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, NULL, NULL);
}

static int role_pulls(const char *arg)
{
    begin();
    CHECK(pull() < 0, "it has been opened");
    return 0;
}

static int role_tool(const char *arg)
{
    CHECK_STATUS(PMIx_tool_init(&me, NULL, 0), PMIX_SUCCESS);
    CHECK(pull() >= 0, "no pull");
    atomic_store(&fault_shared->state[0], 1);
    stay();
    return 0;
}

static int role_listens(const char *arg)
{
    begin();
    CHECK(listen_to(CODE) >= 0, "no handler");
    atomic_store(&fault_shared->state[0], 1);
    stay();
    return 0;
}

static int role_listens_to_two(const char *arg)
{
    begin();
    CHECK(listen_to(CODE) >= 0, "no handler");
    server_has_it();
    stay();
    return 0;
}

/* ---- the host -------------------------------------------------------------------------------- */

static _Atomic unsigned entered; /* the entry that ends something */

static void take(pmix_rank_t rank)
{
    const pmix_proc_t proc = proc_of(rank);

    PMIx_server_deregister_client(&proc, NULL, NULL);
}

/* Of @all processes @here are here, in these roles. */
static void job_start(int here, int all, const char *const roles[], pid_t pids[])
{
    const uint32_t size = (uint32_t)all;
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_server_register_nspace(JOB, here, &info, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    for (int rank = 0; rank < here; rank++) {
        fault_rank_admit(JOB, rank);
    }
    for (int rank = 0; rank < here; rank++) {
        pids[rank] = fault_start(JOB, rank, roles[rank], NULL);
    }
}

static int job_finish(int here, const pid_t pids[])
{
    atomic_store(&fault_shared->go, 1);
    for (int rank = 0; rank < here; rank++) {
        fault_wait_ok(pids[rank], "a process");
    }
    CHECK(atomic_load(&entered) == 1, "the entry was called %u times", atomic_load(&entered));
    fault_job_end(JOB);
    fault_job_whole("after.job", 2, 3);
    fault_server_stop();
    return 0;
}

/* ---- what goes on without one that has left is the host's, who ends the next operation -------- */

static pmix_status_t on_fence_take_one(const pmix_proc_t procs[], size_t nprocs,
                                       const pmix_info_t info[], size_t ninfo, char *data,
                                       size_t ndata, pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    free(data);
    atomic_fetch_add(&entered, 1);
    take(1);
    return PMIX_ERR_NOT_AVAILABLE;
}

static int case_next_operation(void)
{
    static const char *const roles[] = { "has_two_operations", "has_two_operations", "leaves" };
    pid_t pids[RANKS];

    fault_module.fence_nb = on_fence_take_one;
    fault_server_start();
    job_start(3, 4, roles, pids);
    WAIT_FOR(atomic_load(&fault_shared->finalized) == 1, "a good-bye");
    take(2);
    return job_finish(3, pids);
}

/* ---- the host, who is told that one has called, takes another one away ------------------------ */

static pmix_status_t on_notify_take_one(pmix_status_t code, const pmix_proc_t *source,
                                        pmix_data_range_t range, pmix_info_t *info, size_t ninfo,
                                        pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    if (code == PMIX_PROC_HAS_CONNECTED) {
        atomic_fetch_add(&entered, 1);
        take(1);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static int case_own_operation(void)
{
    static const char *const roles[] = { "connects_loudly", "stays" };
    pid_t pids[RANKS];

    fault_module.fence_nb = on_fence_take_one;
    fault_module.notify_event = on_notify_take_one;
    fault_server_start();
    job_start(2, 3, roles, pids);
    WAIT_FOR(atomic_load(&entered) == 1, "the call");
    return job_finish(2, pids);
}

/* ---- of three fences the second is refused, and the third ends meanwhile ---------------------- */

static _Atomic(pmix_modex_cbfunc_t) first_answer;
static void *first_cbdata;

static pmix_status_t on_fence_in_turn(const pmix_proc_t procs[], size_t nprocs,
                                      const pmix_info_t info[], size_t ninfo, char *data,
                                      size_t ndata, pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    free(data);
    if (atomic_load(&first_answer) == NULL) {
        first_cbdata = cbdata;
        atomic_store(&first_answer, cbfunc);
        return PMIX_SUCCESS;
    }
    atomic_fetch_add(&entered, 1);
    take(0);
    take(1);
    return PMIX_ERR_NOT_AVAILABLE;
}

static int case_next_generation(void)
{
    static const char *const roles[] = { "fences_thrice", "fences_thrice" };
    pid_t pids[RANKS];

    fault_module.fence_nb = on_fence_in_turn;
    fault_server_start();
    job_start(2, 3, roles, pids);
    WAIT_FOR(atomic_load(&fault_shared->state[0]) != 0 && atomic_load(&fault_shared->state[1]) != 0,
             "six calls");
    atomic_load (&first_answer)(PMIX_SUCCESS, NULL, 0, first_cbdata, NULL, NULL);
    return job_finish(2, pids);
}

/* ---- a pull that cannot be opened; the host, told of its end, takes its process away ---------- */

static struct rlimit files;

static pmix_status_t on_pull_take_one(const pmix_proc_t *procs, size_t nprocs,
                                      const pmix_info_t *directives, size_t ndirs,
                                      pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc,
                                      void *cbdata)
{
    const struct rlimit none = { .rlim_cur = 0, .rlim_max = files.rlim_max };

    if (ndirs > 0 && PMIx_Check_key(directives[0].key, PMIX_IOF_STOP)) {
        CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0, "setrlimit");
        atomic_fetch_add(&entered, 1);
        take(0);
        return PMIX_ERR_NOT_FOUND;
    }
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
    return PMIX_OPERATION_SUCCEEDED;
}

static int case_unopened_pull(void)
{
    static const char *const roles[] = { "pulls" };
    pid_t pids[RANKS];

    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0, "getrlimit");
    fault_module.iof_pull = on_pull_take_one;
    fault_server_start();
    job_start(1, 1, roles, pids);
    return job_finish(1, pids);
}

/* ---- a tool is taken away; the host, told of the end of its pull, ends all that it knows of it --------- */

static void on_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                    void *cbdata)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, TOOL_JOB, 0);
    cbfunc(PMIX_SUCCESS, &proc, cbdata);
}

static pmix_status_t on_pull_take_tool(const pmix_proc_t *procs, size_t nprocs,
                                       const pmix_info_t *directives, size_t ndirs,
                                       pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc,
                                       void *cbdata)
{
    if (ndirs > 0 && PMIx_Check_key(directives[0].key, PMIX_IOF_STOP)) {
        PMIx_server_deregister_nspace(TOOL_JOB, NULL, NULL);
        atomic_fetch_add(&entered, 1);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static int case_going_tool(void)
{
    (void)fault_tmpdir_make();
    fault_module.tool_connected = on_tool;
    fault_module.iof_pull = on_pull_take_tool;
    fault_server_start();
    const pid_t pid = fault_start(NULL, 0, "tool", NULL);
    pmix_proc_t proc;

    WAIT_FOR(atomic_load(&fault_shared->state[0]) != 0, "its pull");
    PMIx_Load_procid(&proc, TOOL_JOB, 0);
    PMIx_server_deregister_client(&proc, NULL, NULL);
    return job_finish(1, &pid);
}

/* ---- a job that is being taken away does not come back meanwhile ------------------------------ */

static pmix_status_t on_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t *info,
                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_deregister_bring_one(pmix_status_t *codes, size_t ncodes,
                                             pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    const pmix_proc_t proc = proc_of(1);

    atomic_fetch_add(&entered, 1);
    CHECK_STATUS(PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL),
                 PMIX_ERR_NOT_AVAILABLE);
    return PMIX_OPERATION_SUCCEEDED;
}

static int case_ending_job(void)
{
    static const char *const roles[] = { "listens" };
    pid_t pids[RANKS];

    fault_module.register_events = on_register;
    fault_module.deregister_events = on_deregister_bring_one;
    fault_server_start();
    job_start(1, 2, roles, pids);
    WAIT_FOR(atomic_load(&fault_shared->state[0]) != 0, "its handler");
    fault_job_end(JOB);
    return job_finish(1, pids);
}

/* ---- the host, told that one of two codes is dropped, ends the job of who has dropped them ---- */

static pmix_status_t on_deregister_end_job(pmix_status_t *codes, size_t ncodes,
                                           pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    if (codes[0] == CODE) {
        atomic_fetch_add(&entered, 1);
    } else { /* the first one */
        fault_job_end(JOB);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static int case_dropped_codes(void)
{
    static const char *const roles[] = { "listens_to_two" };
    pid_t pids[RANKS];

    fault_module.register_events = on_register;
    fault_module.deregister_events = on_deregister_end_job;
    fault_server_start();
    job_start(1, 2, roles, pids);
    WAIT_FOR(atomic_load(&fault_shared->state[0]) != 0, "its handlers");
    take(0);
    return job_finish(1, pids);
}

/* ---- the server ends; the host, told that data will not come, ends the next job --------------- */

static void on_data(pmix_status_t status, char *data, size_t size, void *cbdata)
{
    atomic_fetch_add(&entered, 1);
    fault_job_end("second.job");
}

static int case_ending_server(void)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, "first.job", 0);
    fault_server_start();
    fault_job_start("first.job", 1);
    fault_job_start("second.job", 1);
    fault_job_start("third.job", 1);
    CHECK_STATUS(PMIx_server_dmodex_request(&proc, on_data, NULL), PMIX_SUCCESS);
    fault_server_stop();
    CHECK(atomic_load(&entered) == 1, "no answer");
    return 0;
}

static const struct fault_case cases[] = {
    { "next_operation", case_next_operation },   { "own_operation", case_own_operation },
    { "next_generation", case_next_generation }, { "unopened_pull", case_unopened_pull },
    { "going_tool", case_going_tool },           { "ending_job", case_ending_job },
    { "dropped_codes", case_dropped_codes },     { "ending_server", case_ending_server },
};

static const struct fault_role roles[] = {
    { "has_two_operations", role_has_two_operations },
    { "leaves", role_leaves },
    { "stays", role_stays },
    { "connects_loudly", role_connects_loudly },
    { "fences_thrice", role_fences_thrice },
    { "pulls", role_pulls },
    { "tool", role_tool },
    { "listens", role_listens },
    { "listens_to_two", role_listens_to_two },
};

FAULT_MAIN(cases, roles)

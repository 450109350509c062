/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* meddling_test.c - a host that, inside one of its entries, ends what the server was about to use.
 *
 * The first table: just what the server uses next, one situation a row.  The second: a job, or its
 * process, in each entry with each thing that the entry may return.  Whatever the server was about to do
 * with them, it finds none of them afterwards.  Under ASan each use of what has gone is an error. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix_tool.h>
#include <shmix.h>

#include "fault.h"
#include "host.h"

#define JOB "direct.job"
#define TOOL_JOB "direct.tool"
#define CODE 44 /* of no range of PMIx: the host is asked for it */
#define RANKS 3
#define RANK_SECONDS 60u /* a rank that waits for what has gone */

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

static pmix_status_t listen_to(pmix_status_t code)
{
    return PMIx_Register_event_handler(&code, 1, NULL, 0, fault_event_ignored, NULL, NULL);
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

static int role_dies_in_init(const char *arg)
{
    atomic_store(&fault_shared->pid[1], (uint32_t)getpid());
    begin();
    return 1;
}

static int role_waits_for_the_dead(const char *arg)
{
    begin();
    CHECK_STATUS(PMIx_Fence(NULL, 0, NULL, 0), PMIX_ERR_LOST_CONNECTION);
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

/* ---- the host: what the server uses next ------------------------------------------------------ */

static _Atomic unsigned entered; /* the entry that ends something */
static _Atomic unsigned passed;  /* a failure for the other node */

static void take(pmix_rank_t rank)
{
    const pmix_proc_t proc = proc_of(rank);

    PMIx_server_deregister_client(&proc, NULL, NULL);
}

/* An operation that goes on without the member that has left is the host's, which ends the next
 * operation. */
static pmix_status_t fence_takes_one(const struct host_question *question)
{
    atomic_fetch_add(&entered, 1);
    take(1);
    return host_refuse(question, PMIX_ERR_NOT_AVAILABLE);
}

static void one_leaves(void)
{
    WAIT_FOR(atomic_load(&fault_shared->finalized) == 1, "a good-bye");
    take(2);
}

/* The host, notified that one process has called, takes another one away.  The failure of the call
 * is for the other node. */
static pmix_status_t notify_takes_one(const struct host_question *question)
{
    if (question->entry == HOST_FENCE) {
        atomic_fetch_add(&passed, 1);
        return host_refuse(question, PMIX_ERR_NOT_AVAILABLE);
    }
    if (question->code == PMIX_PROC_HAS_CONNECTED) {
        atomic_fetch_add(&entered, 1);
        take(1);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static void one_calls(void)
{
    WAIT_FOR(atomic_load(&entered) == 1, "the call");
    WAIT_FOR(atomic_load(&passed) == 1, "its failure");
}

/* Of three fences the second is refused, and the third ends meanwhile. */
static _Atomic bool first_is_kept;

static pmix_status_t fences_in_turn(const struct host_question *question)
{
    if (!atomic_load(&first_is_kept)) {
        (void)host_keep(question);
        atomic_store(&first_is_kept, true);
        return PMIX_SUCCESS;
    }
    atomic_fetch_add(&entered, 1);
    take(0);
    take(1);
    return host_refuse(question, PMIX_ERR_NOT_AVAILABLE);
}

static void first_is_answered(void)
{
    struct host_question first;

    WAIT_FOR(atomic_load(&fault_shared->state[0]) != 0 && atomic_load(&fault_shared->state[1]) != 0,
             "six calls");
    CHECK(host_take(&first), "no fence");
    host_answer(&first, PMIX_SUCCESS);
}

/* A pull that cannot be opened: the host, notified of its end, takes its process away. */
static struct rlimit files;

static pmix_status_t pull_takes_one(const struct host_question *question)
{
    const struct rlimit none = { .rlim_cur = 0, .rlim_max = files.rlim_max };

    if (question->is_stop) {
        CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0, "setrlimit");
        atomic_fetch_add(&entered, 1);
        take(0);
        return PMIX_ERR_NOT_FOUND;
    }
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
    return PMIX_OPERATION_SUCCEEDED;
}

/* The job has been taken away when the host is called, so a rank of that name begins a new one. */
static pmix_status_t deregister_brings_one(const struct host_question *question)
{
    const pmix_proc_t proc = proc_of(1);

    if (question->entry == HOST_DEREGISTER_EVENTS) {
        atomic_fetch_add(&entered, 1);
        CHECK_STATUS(PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static void job_ends(void)
{
    WAIT_FOR(atomic_load(&fault_shared->state[0]) != 0, "its handler");
    fault_job_end(JOB);
}

/* The host, notified that one of two codes is dropped, ends the job of the process that drops them. */
static pmix_status_t deregister_ends_job(const struct host_question *question)
{
    if (question->entry == HOST_DEREGISTER_EVENTS) {
        if (question->code == CODE) {
            atomic_fetch_add(&entered, 1);
        } else { /* the first one */
            fault_job_end(JOB);
        }
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static void one_is_taken(void)
{
    WAIT_FOR(atomic_load(&fault_shared->state[0]) != 0, "its handlers");
    take(0);
}

/* Of @all processes the first @here are here, in these roles. */
static const struct direct {
    const char *name;
    int here, all;
    const char *roles[RANKS];
    uint32_t entries;
    host_fn host;
    void (*then)(void); /* NULL: nothing more */
} directs[] = {
    { "next_operation",
      3,
      4,
      { "has_two_operations", "has_two_operations", "leaves" },
      HOST_BIT(HOST_FENCE),
      fence_takes_one,
      one_leaves },
    { "own_operation",
      2,
      3,
      { "connects_loudly", "stays" },
      HOST_BIT(HOST_FENCE) | HOST_BIT(HOST_NOTIFY_EVENT),
      notify_takes_one,
      one_calls },
    { "next_generation",
      2,
      3,
      { "fences_thrice", "fences_thrice" },
      HOST_BIT(HOST_FENCE),
      fences_in_turn,
      first_is_answered },
    { "unopened_pull", 1, 1, { "pulls" }, HOST_BIT(HOST_IOF_PULL), pull_takes_one, NULL },
    { "ending_job",
      1,
      2,
      { "listens" },
      HOST_BIT(HOST_REGISTER_EVENTS) | HOST_BIT(HOST_DEREGISTER_EVENTS),
      deregister_brings_one,
      job_ends },
    { "dropped_codes",
      1,
      2,
      { "listens_to_two" },
      HOST_BIT(HOST_REGISTER_EVENTS) | HOST_BIT(HOST_DEREGISTER_EVENTS),
      deregister_ends_job,
      one_is_taken },
};

#define DIRECTS (sizeof(directs) / sizeof(directs[0]))

static void direct_end(int here, const pid_t pids[])
{
    atomic_store(&fault_shared->go, 1);
    for (int rank = 0; rank < here; rank++) {
        fault_wait_ok(pids[rank], "a process");
    }
    WAIT_FOR(atomic_load(&entered) > 0, "the entry"); /* a process's end is noticed after it */
    CHECK(atomic_load(&entered) == 1, "the entry was called %u times", atomic_load(&entered));
    fault_job_end(JOB);
    fault_job_whole("after.job", 2, 3);
    fault_server_stop();
}

static int direct_run(void)
{
    const struct direct *const it = &directs[fault_case->arg];
    const uint32_t size = (uint32_t)it->all;
    pid_t pids[RANKS];
    pmix_info_t info;

    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0, "getrlimit");
    host_begin(it->entries, it->host);
    fault_server_start();
    CHECK_STATUS(PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_server_register_nspace(JOB, it->here, &info, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    for (int rank = 0; rank < it->here; rank++) {
        fault_rank_admit(JOB, rank);
    }
    for (int rank = 0; rank < it->here; rank++) {
        pids[rank] = fault_start(JOB, rank, it->roles[rank], NULL);
    }
    if (it->then != NULL) {
        it->then();
    }
    direct_end(it->here, pids);
    return 0;
}

/* A rank dies while the host is asked whether it may connect: its death is a loss for the others. */
static pmix_status_t connected_kills(const struct host_question *question)
{
    siginfo_t end;

    if (question->entry == HOST_CONNECTED && PMIx_Check_nspace(question->asker->nspace, JOB) &&
        question->asker->rank == 1) {
        const pid_t pid = (pid_t)atomic_load(&fault_shared->pid[1]);

        atomic_fetch_add(&entered, 1);
        CHECK(kill(pid, SIGKILL) == 0, "it lives");
        /* It is a zombie, or the main thread has taken its status. */
        (void)waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT);
        usleep(20000); /* a slow host; the outcome is the same for a fast one */
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static int case_dying_in_connect(void)
{
    pid_t pids[2];

    host_begin(HOST_BIT(HOST_CONNECTED), connected_kills);
    fault_server_start();
    CHECK_STATUS(PMIx_server_register_nspace(JOB, 2, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    for (int rank = 0; rank < 2; rank++) {
        fault_rank_admit(JOB, rank);
    }
    pids[0] = fault_start(JOB, 0, "waits_for_the_dead", NULL);
    pids[1] = fault_start(JOB, 1, "dies_in_init", NULL);
    CHECK(WIFSIGNALED(fault_wait(pids[1])), "it is killed");
    direct_end(1, pids);
    return 0;
}

/* A tool is taken away: the host, notified of the end of its pull, ends the tool's job. */
static pmix_status_t pull_takes_tool(const struct host_question *question)
{
    pmix_proc_t proc;

    if (question->entry == HOST_TOOL) {
        PMIx_Load_procid(&proc, TOOL_JOB, 0);
        question->tool(PMIX_SUCCESS, &proc, question->cbdata);
    } else if (question->is_stop) {
        PMIx_server_deregister_nspace(TOOL_JOB, NULL, NULL);
        atomic_fetch_add(&entered, 1);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static int case_going_tool(void)
{
    pmix_proc_t proc;

    (void)fault_tmpdir_make();
    host_begin(HOST_BIT(HOST_TOOL) | HOST_BIT(HOST_IOF_PULL), pull_takes_tool);
    fault_server_start();
    const pid_t pid = fault_start(NULL, 0, "tool", NULL);

    WAIT_FOR(atomic_load(&fault_shared->state[0]) != 0, "its pull");
    PMIx_Load_procid(&proc, TOOL_JOB, 0);
    PMIx_server_deregister_client(&proc, NULL, NULL);
    direct_end(1, &pid);
    return 0;
}

/* The server ends: the host, notified that data will not come, ends the next job. */
static void on_data_refused(pmix_status_t status, char *data, size_t size, void *cbdata)
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
    CHECK_STATUS(PMIx_server_dmodex_request(&proc, on_data_refused, NULL), PMIX_SUCCESS);
    fault_server_stop();
    CHECK(atomic_load(&entered) == 1, "no answer");
    return 0;
}

/* ---- the host: a job or a process in each entry ----------------------------------------------- */

#define NO_ENTRY (-1)
#define DMODEX HOST_ENTRIES /* the callback of dmodex_request, which returns nothing */

static _Atomic int awaited = NO_ENTRY; /* the entry that ends the job, NO_ENTRY when it has */
static char nspace[64];                /* ... which is this one */
static bool ends_all;                  /* ... or but its process ... */
static pmix_status_t returned;         /* ... and returns this */

/* Return: what the entry returns. */
static pmix_status_t host_is_in(enum host_entry entry, pmix_status_t otherwise)
{
    static bool is_inside; /* one entry is called while another one ends the job */

    if (atomic_load(&awaited) != (int)entry || is_inside) {
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
    atomic_store(&awaited, NO_ENTRY);
    return returned;
}

static pmix_status_t end_inside(const struct host_question *question)
{
    pmix_status_t otherwise = PMIX_OPERATION_SUCCEEDED;

    if (question->entry == HOST_FENCE) {
        otherwise = PMIX_ERR_NOT_SUPPORTED;
    } else if (question->entry == HOST_MODEX) {
        otherwise = PMIX_ERR_NOT_FOUND;
    }
    return host_refuse(question, host_is_in(question->entry, otherwise));
}

static void on_data(pmix_status_t status, char *data, size_t size, void *cbdata)
{
    (void)host_is_in(DMODEX, PMIX_SUCCESS);
}

/* ---- what a rank does: what it is told does not matter -------------------------------------- */

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

static void registers(void)
{
    (void)listen_to(CODE);
}

static void deregisters(void)
{
    const pmix_status_t id = listen_to(CODE);

    CHECK(id >= 0, "no handler: %d", id);
    (void)PMIx_Deregister_event_handler((size_t)id, NULL, NULL);
}

static void finalizes_with_handler(void)
{
    CHECK(listen_to(CODE) >= 0, "no handler");
    (void)PMIx_Finalize(NULL, 0);
}

static void dies_with_handler(void)
{
    CHECK(listen_to(CODE) >= 0, "no handler");
    raise(SIGKILL);
}

/* The host ends its job meanwhile. */
static void stays_with_handler(void)
{
    CHECK(listen_to(CODE) >= 0, "no handler");
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
    enum host_entry entry;
    void (*act)(void);
} deeds[] = {
    { HOST_CONNECTED, just_leaves },
    { HOST_FINALIZED, finalizes },
    { HOST_ABORT, aborts },
    { HOST_FENCE, fences },
    { HOST_MODEX, gets },
    { HOST_REGISTER_EVENTS, registers },
    { HOST_DEREGISTER_EVENTS, deregisters },
    { HOST_DEREGISTER_EVENTS, finalizes_with_handler },
    { HOST_DEREGISTER_EVENTS, dies_with_handler },
    { HOST_DEREGISTER_EVENTS, stays_with_handler },
    { DMODEX, commits },
    { DMODEX, finalizes },
    { HOST_NOTIFY_EVENT, notifies },
    { HOST_NOTIFY_EVENT, notifies_of_much },
};
#define DEEDS (sizeof(deeds) / sizeof(deeds[0]))

static int role_deed(const char *arg)
{
    alarm(RANK_SECONDS);
    if (PMIx_Init(&me, NULL, 0) == PMIX_SUCCESS) {
        deeds[atoi(arg)].act();
    }
    _exit(0);
}

/* ---- the cases ------------------------------------------------------------------------------- */

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
    snprintf(nspace, sizeof(nspace), "%s.%zu.%d", ends_all ? "job" : "rank", number, -returned);
    job_start();
    for (int i = 0; i < 2 && deeds[number].entry == DMODEX; i++) {
        data_request();
    }
    atomic_store(&awaited, deeds[number].entry);
    const pid_t pid = fault_start(nspace, 0, "deed", arg);

    if (deeds[number].act == stays_with_handler) {
        WAIT_FOR(atomic_exchange(&fault_shared->state[0], 0) == 1, nspace);
        fault_job_end(nspace);
    }
    const int status = fault_wait(pid);

    CHECK(status == 0 || WTERMSIG(status) == SIGKILL, "the rank of %s hangs, or a check has failed",
          nspace);
    WAIT_FOR(atomic_load(&awaited) == NO_ENTRY, nspace);
    fault_job_end(nspace);
    fault_good_wait(1); /* the server goes on */
}

/* The host ends all of the job, or takes its process away, and returns a status. */
static const struct ending {
    const char *name;
    bool all;
    pmix_status_t returned;
} endings[] = {
    { "job_later", true, PMIX_SUCCESS },
    { "job_done", true, PMIX_OPERATION_SUCCEEDED },
    { "job_refused", true, PMIX_ERROR },
    { "rank_later", false, PMIX_SUCCESS },
    { "rank_done", false, PMIX_OPERATION_SUCCEEDED },
    { "rank_refused", false, PMIX_ERROR },
};

#define ENDINGS (sizeof(endings) / sizeof(endings[0]))

static int ending_run(void)
{
    const struct ending *const it = &endings[fault_case->arg];

    ends_all = it->all;
    returned = it->returned;
    host_begin(HOST_BIT(HOST_CONNECTED) | HOST_BIT(HOST_FINALIZED) | HOST_BIT(HOST_ABORT) |
                   HOST_BIT(HOST_FENCE) | HOST_BIT(HOST_MODEX) | HOST_BIT(HOST_REGISTER_EVENTS) |
                   HOST_BIT(HOST_DEREGISTER_EVENTS) | HOST_BIT(HOST_NOTIFY_EVENT),
               end_inside);
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

static const struct fault_role roles[] = {
    { "deed", role_deed },
    { "has_two_operations", role_has_two_operations },
    { "leaves", role_leaves },
    { "stays", role_stays },
    { "dies_in_init", role_dies_in_init },
    { "waits_for_the_dead", role_waits_for_the_dead },
    { "connects_loudly", role_connects_loudly },
    { "fences_thrice", role_fences_thrice },
    { "pulls", role_pulls },
    { "tool", role_tool },
    { "listens", role_listens },
    { "listens_to_two", role_listens_to_two },
};

int main(int argc, char **argv)
{
    static struct fault_case cases[DIRECTS + ENDINGS + 3];
    size_t n = 0;

    for (size_t i = 0; i < DIRECTS; i++) {
        cases[n++] = (struct fault_case){ directs[i].name, direct_run, (int)i };
    }
    for (size_t i = 0; i < ENDINGS; i++) {
        cases[n++] = (struct fault_case){ endings[i].name, ending_run, (int)i };
    }
    cases[n++] = (struct fault_case){ "going_tool", case_going_tool, 0 };
    cases[n++] = (struct fault_case){ "dying_in_connect", case_dying_in_connect, 0 };
    cases[n++] = (struct fault_case){ "ending_server", case_ending_server, 0 };
    return fault_main(argc, argv, cases, n, roles, sizeof(roles) / sizeof(roles[0]));
}

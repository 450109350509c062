/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* meddling_random_test.c - a host that calls the library inside each of its entries.
 *
 * It takes processes and jobs away, the caller and others, and registers them again, before it answers
 * in one of its ways.  The entries are called on the server's thread, which alone draws the host's
 * numbers: a seed gives the same acts for the same calls.  What is answered late is answered by a thread
 * of the host.
 *
 * Two jobs and a tool make many calls at once, none of which blocks; some of them die or leave in
 * the middle of it.  Each call that was taken has one answer, the server goes on, and under ASan a
 * look at what has gone is an error.  The seed is printed; SHMIX_NESTED_SEED gives another one, and
 * SHMIX_NESTED_ROUNDS how many rounds of it. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pmix_tool.h>
#include <shmix.h>

#include "fault.h"
#include "host.h"

#define ROUNDS 16u
#define BURSTS 2u
#define CALLS 12u
#define CALL_SECONDS 1   /* what waits for others has this limit */
#define RANK_SECONDS 60u /* ... and so all of a process has this */
#define CODE 44          /* of no range of PMIx: the host is asked for it */
#define PEERS_MAX 3

/* ---- calls ----------------------------------------------------------------------------------- */

static uint64_t seed;     /* the job's: all of it make the same calls, more or less */
static uint64_t own_seed; /* this process's */
static pmix_proc_t me;
static int size;               /* of the job, the processes here */
static _Atomic int owed[32];   /* answers, by the number of the function that calls */
static unsigned current;       /* ... the one that does now */
static unsigned number;        /* of the call */
static _Atomic size_t handler; /* 0: none */

static unsigned below(unsigned end)
{
    return (unsigned)(fault_random(&seed) % end);
}

/* What a callback gets. */
static void *self(void)
{
    return (void *)(uintptr_t)current;
}

static void count(pmix_status_t status)
{
    if (status == PMIX_SUCCESS) {
        atomic_fetch_add(&owed[current], 1);
    }
}

static void on_op(pmix_status_t status, void *cbdata)
{
    atomic_fetch_sub(&owed[(uintptr_t)cbdata], 1);
}

static void on_info(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                    pmix_release_cbfunc_t release, void *release_cbdata)
{
    if (release != NULL) {
        release(release_cbdata);
    }
    on_op(status, cbdata);
}

static void on_value(pmix_status_t status, pmix_value_t *value, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_lookup(pmix_status_t status, pmix_pdata_t *data, size_t ndata, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_spawn(pmix_status_t status, pmix_nspace_t nspace, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_credential(pmix_status_t status, pmix_byte_object_t *credential, pmix_info_t *info,
                          size_t ninfo, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_handler(pmix_status_t status, size_t id, void *cbdata)
{
    if (status == PMIX_SUCCESS) {
        handler = id;
    }
    on_op(status, cbdata);
}

static void on_pull(pmix_status_t status, size_t id, void *cbdata)
{
    on_op(status, cbdata);
}

static void on_output(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t info[], size_t ninfo)
{
}

/* What lasts as long as a call. */
struct call {
    pmix_info_t infos[3];
    size_t ninfo;
    pmix_proc_t procs[PEERS_MAX];
    size_t nprocs;
    char text[32];
    char *keys[2];
};

static struct call *call_new(void)
{
    struct call *const call = calloc(1, sizeof(*call)); /* for the life of this process */

    CHECK(call != NULL, "no memory");
    snprintf(call->text, sizeof(call->text), "word.%u", number);
    call->keys[0] = call->text;
    return call;
}

static void limit(struct call *call)
{
    const int seconds = CALL_SECONDS;

    PMIx_Info_load(&call->infos[call->ninfo++], PMIX_TIMEOUT, &seconds, PMIX_INT);
}

static void flag(struct call *call, const char *key)
{
    PMIx_Info_load(&call->infos[call->ninfo++], key, NULL, PMIX_BOOL);
}

/* All of the job, wherever they are; those here; or some of them. */
static void peers(struct call *call)
{
    const unsigned which = below(3);

    if (which == 0) {
        PMIx_Load_procid(&call->procs[call->nprocs++], me.nspace, PMIX_RANK_WILDCARD);
        return;
    }
    for (int rank = 0; rank < size && (which == 1 || rank < 2); rank++) {
        PMIx_Load_procid(&call->procs[call->nprocs++], me.nspace, (pmix_rank_t)rank);
    }
}

static void fences(void)
{
    struct call *const call = call_new();

    peers(call);
    limit(call);
    if (below(2) == 0) {
        flag(call, PMIX_COLLECT_DATA);
    }
    count(PMIx_Fence_nb(call->procs, call->nprocs, call->infos, call->ninfo, on_op, self()));
}

static void connects(void)
{
    struct call *const call = call_new();

    peers(call);
    limit(call);
    if (below(2) == 0) {
        flag(call, PMIX_CONNECT_NOTIFY_EACH);
    }
    if (below(2) == 0) {
        flag(call, PMIX_CONNECT_OPTIONAL);
    }
    count(PMIx_Connect_nb(call->procs, call->nprocs, call->infos, call->ninfo, on_op, self()));
}

static void disconnects(void)
{
    struct call *const call = call_new();

    peers(call);
    limit(call);
    count(PMIx_Disconnect_nb(call->procs, call->nprocs, call->infos, call->ninfo, on_op, self()));
}

static void constructs(void)
{
    struct call *const call = call_new();

    peers(call);
    limit(call);
    if (below(2) == 0) {
        flag(call, PMIX_GROUP_ASSIGN_CONTEXT_ID);
    }
    if (below(2) == 0) {
        flag(call, PMIX_GROUP_NOTIFY_TERMINATION);
    }
    snprintf(call->text, sizeof(call->text), "%.16s.%u", me.nspace, below(4));
    count(PMIx_Group_construct_nb(call->text, call->procs, call->nprocs, call->infos, call->ninfo,
                                  on_info, self()));
}

static void leaves(void)
{
    struct call *const call = call_new();

    snprintf(call->text, sizeof(call->text), "%.16s.%u", me.nspace, below(4));
    count(PMIx_Group_leave_nb(call->text, NULL, 0, on_op, self()));
}

static void invites(void)
{
    struct call *const call = call_new();

    limit(call);
    PMIx_Load_procid(&call->procs[0], me.nspace, (me.rank + 1) % 2);
    snprintf(call->text, sizeof(call->text), "%.16s.i%u", me.nspace, me.rank);
    count(PMIx_Group_invite_nb(call->text, call->procs, 1, call->infos, call->ninfo, on_info,
                               self()));
}

/* Of a process that is not here, of one that is, of any. */
static void gets(void)
{
    static const pmix_rank_t ranks[] = { 3, 0, 1, PMIX_RANK_UNDEF };
    struct call *const call = call_new();

    limit(call);
    PMIx_Load_procid(&call->procs[0], me.nspace, ranks[below(4)]);
    count(PMIx_Get_nb(&call->procs[0], call->text, call->infos, call->ninfo, on_value, self()));
}

static void puts_one(void)
{
    pmix_value_t value = { .type = PMIX_INT };

    (void)PMIx_Put(PMIX_GLOBAL, "key", &value);
    (void)PMIx_Commit();
}

static void publishes(void)
{
    struct call *const call = call_new();

    flag(call, call->text);
    count(PMIx_Publish_nb(call->infos, call->ninfo, on_op, self()));
}

static void looks_up(void)
{
    struct call *const call = call_new();

    count(PMIx_Lookup_nb(call->keys, NULL, 0, on_lookup, self()));
}

static void unpublishes(void)
{
    struct call *const call = call_new();

    count(PMIx_Unpublish_nb(call->keys, NULL, 0, on_op, self()));
}

static void spawns(void)
{
    pmix_app_t *const app = PMIx_App_create(1); /* for the life of this process */

    app->cmd = strdup("a.out");
    count(PMIx_Spawn_nb(NULL, 0, app, 1, on_spawn, self()));
}

static void queries(void)
{
    pmix_query_t *const query = PMIx_Query_create(1); /* for the life of this process */

    PMIx_Argv_append_nosize(&query->keys, "host.word");
    count(PMIx_Query_info_nb(query, 1, on_info, self()));
}

static void logs(void)
{
    struct call *const call = call_new();

    PMIx_Info_load(&call->infos[0], PMIX_LOG_EMAIL, "text", PMIX_STRING);
    count(PMIx_Log_nb(call->infos, 1, NULL, 0, on_op, self()));
}

static void notifies(void)
{
    (void)PMIx_Notify_event(CODE, NULL, PMIX_RANGE_GLOBAL, NULL, 0, NULL, NULL);
}

static void pulls(void)
{
    struct call *const call = call_new();

    PMIx_Load_procid(&call->procs[0], me.nspace, 0);
    count(PMIx_IOF_pull(&call->procs[0], 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL, on_output, on_pull,
                        self()));
}

static void pushes(void)
{
    struct call *const call = call_new();
    pmix_byte_object_t bytes = { .bytes = call->text, .size = sizeof(call->text) };

    PMIx_Load_procid(&call->procs[0], me.nspace, 1);
    count(PMIx_IOF_push(&call->procs[0], 1, &bytes, NULL, 0, on_op, self()));
}

static void controls(void)
{
    struct call *const call = call_new();

    flag(call, PMIX_JOB_CTRL_PAUSE);
    count(PMIx_Job_control_nb(NULL, 0, call->infos, 1, on_info, self()));
}

static void allocates(void)
{
    struct call *const call = call_new();

    flag(call, PMIX_ALLOC_NODE_LIST);
    count(PMIx_Allocation_request_nb(PMIX_ALLOC_NEW, call->infos, 1, on_info, self()));
}

static void asks_for_credential(void)
{
    count(PMIx_Get_credential_nb(NULL, 0, on_credential, self()));
}

static void listens(void)
{
    pmix_status_t codes[] = { CODE, CODE + 1 + (int)below(3) };

    (void)PMIx_Register_event_handler(codes, 2, NULL, 0, fault_event_ignored, on_handler, self());
    count(PMIX_SUCCESS);
}

static void listens_no_more(void)
{
    if (handler != 0) {
        count(PMIx_Deregister_event_handler(handler, on_op, self()));
        handler = 0;
    }
}

static void (*const calls[])(void) = {
    fences,     fences,          fences,      connects, connects, disconnects, constructs,
    constructs, leaves,          invites,     gets,     gets,     gets,        puts_one,
    publishes,  looks_up,        unpublishes, spawns,   queries,  logs,        notifies,
    pulls,      pulls,           pushes,      pushes,   controls, allocates,   asks_for_credential,
    listens,    listens_no_more,
};
#define CALLS_MAX (sizeof(calls) / sizeof(calls[0]))

/* ---- processes ------------------------------------------------------------------------------- */

enum end { LEAVES, EXITS, DIES, ENDS };

/* In the middle of the calls, or behind them. */
static void end(enum end how)
{
    if (how == DIES) {
        raise(SIGKILL);
    }
    if (how == LEAVES) {
        (void)PMIx_Finalize(NULL, 0);
    }
    _exit(0);
}

static char unanswered[200];

/* Return: false when answers are owed, whose calls @unanswered names by their numbers. */
static bool all_answered(void)
{
    size_t len = (size_t)snprintf(unanswered, sizeof(unanswered), "answers to calls");
    bool all = true;

    for (unsigned i = 0; i < CALLS_MAX; i++) {
        const int left = atomic_load(&owed[i]);

        CHECK(left >= 0, "%d answers too many to call %u", -left, i);
        if (left > 0 && len + 16 < sizeof(unanswered)) {
            len += (size_t)snprintf(unanswered + len, sizeof(unanswered) - len, " %u: %d", i, left);
        }
        all &= left <= 0;
    }
    return all;
}

static void burst(bool to_the_end, enum end how)
{
    const unsigned last = (unsigned)(fault_random(&own_seed) % CALLS);

    for (unsigned i = 0; i < CALLS; i++, number++) {
        const unsigned which = below(CALLS_MAX);
        const uint64_t before = seed;

        current = which;
        calls[which]();
        seed = before; /* however many it has drawn */
        (void)below(2);
        if (!to_the_end && i == last) {
            end(how);
        }
    }
}

/* @arg: the seed of the job, and how many processes it has here. */
static int role_rank(const char *arg)
{
    CHECK(sscanf(arg, "%" SCNu64 " %d", &seed, &size) == 2, "%s", arg);
    alarm(RANK_SECONDS);
    if (PMIx_Init(&me, NULL, 0) != PMIX_SUCCESS) {
        return 0; /* it has been taken away */
    }
    own_seed = seed + me.rank;
    const unsigned lot = (unsigned)(fault_random(&own_seed) % 8);
    const unsigned early = lot < 3 ? lot % BURSTS : BURSTS;
    const enum end how = (enum end)(fault_random(&own_seed) % ENDS);

    for (unsigned i = 0; i < BURSTS; i++) {
        burst(i != early, how);
        WAIT_FOR(all_answered(), unanswered);
    }
    end(how);
    return 0;
}

static void (*const tool_calls[])(void) = { pulls, pushes, queries, listens };
#define TOOL_CALLS (sizeof(tool_calls) / sizeof(tool_calls[0]))

static int role_tool(const char *arg)
{
    seed = strtoull(arg, NULL, 10);
    size = 2;
    alarm(RANK_SECONDS);
    if (PMIx_tool_init(&me, NULL, 0) != PMIX_SUCCESS) {
        return 0;
    }
    for (unsigned i = 0; i < 3 * TOOL_CALLS; i++, number++) {
        current = i % TOOL_CALLS;
        tool_calls[current]();
    }
    if (below(2) == 0) {
        WAIT_FOR(all_answered(), unanswered);
    }
    if (below(2) == 0) {
        raise(SIGKILL);
    }
    (void)PMIx_tool_finalize();
    _exit(0);
}

/* ---- the host -------------------------------------------------------------------------------- */

#define DEPTH_MAX 3 /* entries within entries */
#define JOBS_MAX 4

struct job {
    char name[32];
    int size; /* of its processes here */
};

static uint64_t draws; /* the host's numbers */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct job all_jobs[JOBS_MAX]; /* under lock, as the next */
static int job_count;

static unsigned draw_below(unsigned end)
{
    return (unsigned)(fault_random(&draws) % end);
}

/* ---- the host: acts ------------------------------------------------------------------------------------ */

enum act {
    TAKE_ASKER,
    TAKE_ONE,
    TAKE_TWO,
    TAKE_JOB,
    TAKE_ASKERS_JOB,
    BRING_ONE,
    DEFINE_SET,
    DELETE_SET,
    NOTIFY,
    DELIVER,
    REQUEST_DATA,
    LET_FLOW,
    ACTS,
};
static const char *const act_names[ACTS] = {
    "the asker goes", "a process goes",  "two processes go", "a job goes",
    "its job goes",   "a process comes", "a set is defined", "a set is deleted",
    "an event",       "output",          "data are wanted",  "input flows",
};
static const unsigned act_weights[ACTS] = { 4, 8, 6, 1, 1, 12, 9, 6, 15, 12, 15, 9 };
static unsigned acted[ACTS];

/* Return: false when there is nothing to meddle with. */
static bool one_pick(pmix_proc_t *ret)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    if (job_count > 0) {
        const struct job *const job = &all_jobs[draw_below((unsigned)job_count)];

        PMIx_Load_procid(ret, job->name, draw_below((unsigned)job->size));
        found = true;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void meddle(const pmix_proc_t *asker);

/* The host's own callback is a place for meddling, too. */
static void on_data(pmix_status_t status, char *data, size_t length, void *cbdata)
{
    meddle(NULL);
}

static void on_delivered(pmix_status_t status, void *cbdata)
{
}

static void set_act(enum act act, pmix_proc_t *proc)
{
    char name[16];

    snprintf(name, sizeof(name), "set.%u", draw_below(3));
    if (act == DEFINE_SET) {
        (void)PMIx_server_define_process_set(proc, 1, name);
    } else {
        (void)PMIx_server_delete_process_set(name);
    }
}

static void output_deliver(const pmix_proc_t *proc)
{
    char text[] = "some output\n";
    const pmix_byte_object_t bytes = { .bytes = text, .size = sizeof(text) - 1 };

    (void)PMIx_server_IOF_deliver(proc, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0, on_delivered,
                                  NULL);
}

static void act_do(enum act act, pmix_proc_t *proc, const pmix_proc_t *asker)
{
    switch (act) {
    case TAKE_ASKER:
        PMIx_server_deregister_client(asker != NULL ? asker : proc, NULL, NULL);
        break;
    case TAKE_TWO:
        PMIx_server_deregister_client(proc, NULL, NULL);
        proc->rank = proc->rank == 0 ? 1 : 0;
        PMIx_server_deregister_client(proc, NULL, NULL);
        break;
    case TAKE_ONE:
        PMIx_server_deregister_client(proc, NULL, NULL);
        break;
    case TAKE_JOB:
        PMIx_server_deregister_nspace(proc->nspace, NULL, NULL);
        break;
    case TAKE_ASKERS_JOB:
        PMIx_server_deregister_nspace(asker != NULL ? asker->nspace : proc->nspace, NULL, NULL);
        break;
    case BRING_ONE:
        (void)PMIx_server_register_client(proc, geteuid(), getegid(), NULL, NULL, NULL);
        break;
    case DEFINE_SET:
    case DELETE_SET:
        set_act(act, proc);
        break;
    case NOTIFY:
        (void)PMIx_Notify_event(CODE, proc, PMIX_RANGE_GLOBAL, NULL, 0, NULL, NULL);
        break;
    case DELIVER:
        output_deliver(proc);
        break;
    case REQUEST_DATA:
        (void)PMIx_server_dmodex_request(proc, on_data, NULL);
        break;
    default:
        (void)PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, draw_below(3) == 0, NULL,
                                           0, NULL, NULL);
        break;
    }
}

static enum act act_draw(void)
{
    unsigned total = 0;
    int act = 0;

    for (int i = 0; i < ACTS; i++) {
        total += act_weights[i];
    }
    for (unsigned left = draw_below(total); left >= act_weights[act]; act++) {
        left -= act_weights[act];
    }
    return (enum act)act;
}

/* @asker: NULL when nobody is known to ask. */
static void meddle(const pmix_proc_t *asker)
{
    static int depth;
    pmix_proc_t one, asks;

    if (depth == DEPTH_MAX || draw_below(2) == 0 || !one_pick(&one)) {
        return;
    }
    if (asker != NULL) {
        asks = *asker;
    }
    const enum act act = act_draw();

    depth++;
    acted[act]++;
    act_do(act, &one, asker != NULL ? &asks : NULL);
    depth--;
}

/* ---- the host: ways to answer ---------------------------------------------------------------- */

static unsigned asked;
static pthread_t late_answers;
static _Atomic bool is_over;

/* The callers may have gone.  And no input is held up for ever. */
static void *late_thread(void *arg)
{
    struct host_question question;

    while (!atomic_load(&is_over)) {
        fault_pause();
        (void)PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, false, NULL, 0, NULL,
                                           NULL);
        if (host_take(&question)) {
            host_answer(&question, PMIX_SUCCESS);
        }
    }
    return NULL;
}

static pmix_status_t answer_at_once(const struct host_question *question, bool twice)
{
    struct host_question copy = *question;

    host_answer(question, PMIX_SUCCESS);
    if (twice) {
        copy.bytes = NULL;
        copy.size = 0;
        host_answer(&copy, PMIX_ERR_NOT_FOUND);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t meddle_and_answer(const struct host_question *question)
{
    enum { AT_ONCE, TWICE, LATE, DONE, REFUSED, WAYS };

    meddle(question->asker);
    switch (question->entry) {
    case HOST_CONNECTED:
        return PMIX_OPERATION_SUCCEEDED;
    case HOST_TOOL:
        return answer_at_once(question, false);
    default:
        break;
    }
    meddle(question->asker);
    if (question->entry == HOST_FINALIZED) {
        return PMIX_OPERATION_SUCCEEDED;
    }
    asked++;
    const unsigned way = draw_below(WAYS);

    switch (way) {
    case AT_ONCE:
    case TWICE:
        return answer_at_once(question, way == TWICE);
    case LATE:
        return host_keep(question);
    default:
        return host_refuse(question,
                           way == DONE ? PMIX_OPERATION_SUCCEEDED : PMIX_ERR_NOT_AVAILABLE);
    }
}

/* Some hosts leave connects and groups to the servers. */
static void host_start(void)
{
    const uint32_t all = HOST_BIT(HOST_ENTRIES) - 1 - HOST_BIT(HOST_FABRIC);
    const uint32_t left = HOST_BIT(HOST_CONNECT) | HOST_BIT(HOST_DISCONNECT) | HOST_BIT(HOST_GROUP);

    host_begin(draw_below(3) == 0 ? all & ~left : all, meddle_and_answer);
    fault_server_start();
    CHECK(pthread_create(&late_answers, NULL, late_thread, NULL) == 0, "no thread");
}

/* These are there to be meddled with from now on; with none the host does what it is asked. */
static void jobs_offer(const struct job jobs[], int count)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        all_jobs[i] = jobs[i];
    }
    job_count = count;
    pthread_mutex_unlock(&lock);
}

/* Before the server ends.  Report how often the entries were called, and the acts inside them. */
static void host_stop(void)
{
    atomic_store(&is_over, true);
    CHECK(pthread_join(late_answers, NULL) == 0, "no thread");
    fault_say("the host was asked %4u times", asked);
    for (int i = 0; i < ACTS; i++) {
        fault_say("inside an entry %4u times: %s", acted[i], act_names[i]);
    }
    fault_server_stop();
}

/* ---- the case -------------------------------------------------------------------------------- */

/* One of its processes is on another node, if there is any beside those here. */
static void job_register(const struct job *job, int elsewhere)
{
    const uint32_t all = (uint32_t)(job->size + elsewhere);
    pmix_info_t info;

    CHECK_STATUS(PMIx_Info_load(&info, PMIX_JOB_SIZE, &all, PMIX_UINT32), PMIX_SUCCESS);
    CHECK_STATUS(PMIx_server_register_nspace(job->name, job->size, &info, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    for (int rank = 0; rank < job->size; rank++) {
        fault_rank_admit(job->name, rank);
    }
}

static void round_play(uint64_t *draw, unsigned which)
{
    struct job jobs[] = { { .size = 3 }, { .size = 2 } };
    pid_t pids[6];
    size_t started = 0;

    for (int i = 0; i < 2; i++) {
        snprintf(jobs[i].name, sizeof(jobs[i].name), "%s.%u", i == 0 ? "wide" : "here", which);
        job_register(&jobs[i], i == 0);
    }
    for (int i = 0; i < 2; i++) {
        char arg[40];

        snprintf(arg, sizeof(arg), "%" PRIu64 " %d", fault_random(draw), jobs[i].size);
        for (int rank = 0; rank < jobs[i].size; rank++) {
            pids[started++] = fault_start(jobs[i].name, rank, "rank", arg);
        }
    }
    char arg[24];

    snprintf(arg, sizeof(arg), "%" PRIu64, fault_random(draw));
    pids[started++] = fault_start(NULL, 0, "tool", arg);
    jobs_offer(jobs, 2);
    for (size_t i = 0; i < started; i++) {
        const int status = fault_wait(pids[i]);

        CHECK(!WIFEXITED(status) || WEXITSTATUS(status) == 0, "process %zu: %#x", i,
              (unsigned)status);
        CHECK(!WIFSIGNALED(status) || WTERMSIG(status) == SIGKILL, "process %zu: %#x", i,
              (unsigned)status);
    }
    jobs_offer(NULL, 0);
    for (int i = 0; i < 2; i++) {
        fault_job_end(jobs[i].name);
    }
}

static int play(void)
{
    const char *const other = getenv("SHMIX_NESTED_SEED");
    const char *const rounds = getenv("SHMIX_NESTED_ROUNDS");
    uint64_t draw = other != NULL ? strtoull(other, NULL, 10) : (uint64_t)fault_case->arg;

    fault_say("seed %" PRIu64, draw);
    (void)fault_tmpdir_make();
    fault_log_begin();
    setenv("SHMIX_GET_TIMEOUT", "0.5", 1);
    draws = draw;
    host_start();
    for (unsigned i = 0; i < (rounds != NULL ? (unsigned)atoi(rounds) : ROUNDS); i++) {
        round_play(&draw, i);
    }
    fault_job_whole("after.job", 2, 3);
    host_stop();
    return 0;
}

static const struct fault_case cases[] = {
    { "one", play, 1 },
    { "two", play, 2 },
    { "three", play, 3 },
};

static const struct fault_role roles[] = { { "rank", role_rank }, { "tool", role_tool } };

FAULT_MAIN(cases, roles)

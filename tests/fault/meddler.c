/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* meddler.c - an act inside each entry, one function per kind of callback.
 *
 * All entries are called on the server's thread, which alone draws the numbers: a seed gives the
 * same acts for the same calls.  What is answered late is answered by a thread of its own. */
#include "meddler.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix_server.h>

#include "fault.h"

#define DEPTH_MAX 3 /* entries within entries */
#define CODE 44     /* of no range of PMIx: it is the host's to carry */

static uint64_t seed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct meddler_job all_jobs[MEDDLER_JOBS_MAX]; /* under lock, as the next */
static int job_count;

static unsigned below(unsigned end)
{
    return (unsigned)(fault_random(&seed) % end);
}

/* ---- acts ------------------------------------------------------------------------------------ */

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
        const struct meddler_job *const job = &all_jobs[below((unsigned)job_count)];

        PMIx_Load_procid(ret, job->name, below((unsigned)job->size));
        found = true;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void on_op(pmix_status_t status, void *cbdata)
{
}

static void meddle(const pmix_proc_t *asker);

/* The host's own callback is a place for meddling, too. */
static void on_data(pmix_status_t status, char *data, size_t size, void *cbdata)
{
    meddle(NULL);
}

static void set_act(enum act act, pmix_proc_t *proc)
{
    char name[16];

    snprintf(name, sizeof(name), "set.%u", below(3));
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

    (void)PMIx_server_IOF_deliver(proc, PMIX_FWD_STDOUT_CHANNEL, &bytes, NULL, 0, on_op, NULL);
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
        (void)PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, below(3) == 0, NULL, 0,
                                           NULL, NULL);
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
    for (unsigned left = below(total); left >= act_weights[act]; act++) {
        left -= act_weights[act];
    }
    return (enum act)act;
}

/* @asker: NULL when nobody is known to ask. */
static void meddle(const pmix_proc_t *asker)
{
    static int depth;
    pmix_proc_t one, asks;

    if (depth == DEPTH_MAX || below(2) == 0 || !one_pick(&one)) {
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

/* ---- answers --------------------------------------------------------------------------------- */

/* The callback of a question: one of them. */
struct question {
    void (*answer)(const struct question *question, pmix_status_t status);
    pmix_op_cbfunc_t op;
    pmix_modex_cbfunc_t modex;
    pmix_info_cbfunc_t info;
    pmix_lookup_cbfunc_t lookup;
    pmix_spawn_cbfunc_t spawn;
    pmix_credential_cbfunc_t credential;
    pmix_validation_cbfunc_t validation;
    pmix_tool_connection_cbfunc_t tool;
    void *cbdata;
    char *bytes; /* of a fence: what all nodes say is what this one has said */
    size_t size;
};

static pmix_info_t given = { .key = "meddler", .value = { .type = PMIX_BOOL, .data.flag = true } };

static void answer_op(const struct question *question, pmix_status_t status)
{
    question->op(status, question->cbdata);
}

static void answer_modex(const struct question *question, pmix_status_t status)
{
    question->modex(status, question->bytes, question->size, question->cbdata, free,
                    question->bytes);
}

static void answer_info(const struct question *question, pmix_status_t status)
{
    question->info(status, &given, 1, question->cbdata, NULL, NULL);
}

static void answer_lookup(const struct question *question, pmix_status_t status)
{
    pmix_pdata_t data = { .proc = { .nspace = "meddler" }, .key = "meddler", .value = given.value };

    question->lookup(status, &data, 1, question->cbdata);
}

static void answer_spawn(const struct question *question, pmix_status_t status)
{
    pmix_nspace_t nspace = "meddler.job";

    question->spawn(status, nspace, question->cbdata);
}

static void answer_credential(const struct question *question, pmix_status_t status)
{
    char text[] = "meddler";
    pmix_byte_object_t credential = { .bytes = text, .size = sizeof(text) };

    question->credential(status, &credential, &given, 1, question->cbdata);
}

static void answer_validation(const struct question *question, pmix_status_t status)
{
    question->validation(status, &given, 1, question->cbdata);
}

/* ---- ways ------------------------------------------------------------------------------------ */

enum way { AT_ONCE, TWICE, LATE, DONE, REFUSED, WAYS };

#define LATE_MAX 4096
static struct question late[LATE_MAX]; /* under lock, as the next */
static size_t late_count;
static unsigned asked;

static pthread_t late_answers;
static _Atomic bool is_over;

/* Whoever has asked may have gone.  And no input is held up for ever. */
static void *late_thread(void *arg)
{
    while (!atomic_load(&is_over)) {
        fault_pause();
        (void)PMIx_server_IOF_flow_control(NULL, PMIX_FWD_STDIN_CHANNEL, false, NULL, 0, NULL,
                                           NULL);
        pthread_mutex_lock(&lock);
        const bool any = late_count > 0;
        const struct question question = any ? late[--late_count] : late[0];

        pthread_mutex_unlock(&lock);
        if (any) {
            question.answer(&question, PMIX_SUCCESS);
        }
    }
    return NULL;
}

static pmix_status_t answer_at_once(const struct question *question, bool twice)
{
    struct question copy = *question;

    question->answer(question, PMIX_SUCCESS);
    if (twice) {
        copy.bytes = NULL;
        copy.size = 0;
        copy.answer(&copy, PMIX_ERR_NOT_FOUND);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t answer_late(const struct question *question)
{
    pthread_mutex_lock(&lock);
    CHECK(late_count < LATE_MAX, "more questions than a round can ask");
    late[late_count++] = *question;
    pthread_mutex_unlock(&lock);
    return PMIX_SUCCESS;
}

static pmix_status_t ask(const struct question *question, const pmix_proc_t *asker)
{
    asked++;
    meddle(asker);
    meddle(asker);
    const enum way way = (enum way)below(WAYS);

    switch (way) {
    case AT_ONCE:
    case TWICE:
        return answer_at_once(question, way == TWICE);
    case LATE:
        return answer_late(question);
    default:
        free(question->bytes);
        return way == DONE ? PMIX_OPERATION_SUCCEEDED : PMIX_ERR_NOT_AVAILABLE;
    }
}

/* ---- the module ------------------------------------------------------------------------------ */

#define ASK(asker, member)                                                                         \
    ask(&(const struct question){ .answer = answer_##member, .member = cbfunc, .cbdata = cbdata }, \
        (asker))

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    meddle(proc);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata)
{
    meddle(proc);
    meddle(proc);
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char *msg,
                              pmix_proc_t *procs, size_t nprocs, pmix_op_cbfunc_t cbfunc,
                              void *cbdata)
{
    return ASK(proc, op);
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    return ask(&(const struct question){ .answer = answer_modex,
                                         .modex = cbfunc,
                                         .cbdata = cbdata,
                                         .bytes = data,
                                         .size = ndata },
               procs);
}

static pmix_status_t on_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                              pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(proc, modex);
}

static pmix_status_t on_connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(procs, op);
}

static pmix_status_t on_group(pmix_group_operation_t op, char *group, const pmix_proc_t procs[],
                              size_t nprocs, const pmix_info_t directives[], size_t ndirs,
                              pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(procs, info);
}

static pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(proc, op);
}

static pmix_status_t on_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t *info,
                               size_t ninfo, pmix_lookup_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(proc, lookup);
}

static pmix_status_t on_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t *info,
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(proc, op);
}

static pmix_status_t on_spawn(const pmix_proc_t *proc, const pmix_info_t *job_info, size_t ninfo,
                              const pmix_app_t *apps, size_t napps, pmix_spawn_cbfunc_t cbfunc,
                              void *cbdata)
{
    return ASK(proc, spawn);
}

static pmix_status_t on_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t *info,
                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(NULL, op);
}

static pmix_status_t on_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    return ASK(NULL, op);
}

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t *info, size_t ninfo,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(source, op);
}

static pmix_status_t on_query(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                              pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(proc, info);
}

static void on_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                    void *cbdata)
{
    static unsigned last;
    pmix_proc_t proc;
    char name[32];

    snprintf(name, sizeof(name), "tool.%u", ++last);
    PMIx_Load_procid(&proc, name, 0);
    meddle(NULL);
    cbfunc(PMIX_SUCCESS, &proc, cbdata);
}

static void on_log(const pmix_proc_t *client, const pmix_info_t *data, size_t ndata,
                   const pmix_info_t *directives, size_t ndirs, pmix_op_cbfunc_t cbfunc,
                   void *cbdata)
{
    const pmix_status_t rc = ASK(client, op);

    if (rc != PMIX_SUCCESS) {
        cbfunc(rc, cbdata);
    }
}

static pmix_status_t on_allocate(const pmix_proc_t *client, pmix_alloc_directive_t directive,
                                 const pmix_info_t *data, size_t ndata, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    return ASK(client, info);
}

static pmix_status_t on_job_control(const pmix_proc_t *requestor, const pmix_proc_t *targets,
                                    size_t ntargets, const pmix_info_t *directives, size_t ndirs,
                                    pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(requestor, info);
}

static pmix_status_t on_monitor(const pmix_proc_t *requestor, const pmix_info_t *monitor,
                                pmix_status_t error, const pmix_info_t *directives, size_t ndirs,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(requestor, info);
}

static pmix_status_t on_get_credential(const pmix_proc_t *proc, const pmix_info_t *directives,
                                       size_t ndirs, pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(proc, credential);
}

static pmix_status_t on_validate(const pmix_proc_t *proc, const pmix_byte_object_t *credential,
                                 const pmix_info_t *directives, size_t ndirs,
                                 pmix_validation_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(proc, validation);
}

static pmix_status_t on_pull(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *directives,
                             size_t ndirs, pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc,
                             void *cbdata)
{
    return ASK(procs, op);
}

static pmix_status_t on_push(const pmix_proc_t *source, const pmix_proc_t *targets, size_t ntargets,
                             const pmix_info_t *directives, size_t ndirs,
                             const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(source, op);
}

static void module_fill(pmix_server_module_t *module)
{
    module->client_connected2 = on_connected;
    module->client_finalized = on_finalized;
    module->abort = on_abort;
    module->fence_nb = on_fence;
    module->direct_modex = on_modex;
    module->connect = on_connect;
    module->disconnect = on_connect;
    module->group = on_group;
    module->publish = on_publish;
    module->lookup = on_lookup;
    module->unpublish = on_unpublish;
    module->spawn = on_spawn;
    module->register_events = on_register;
    module->deregister_events = on_deregister;
    module->notify_event = on_notify;
    module->query = on_query;
    module->tool_connected = on_tool;
    module->log = on_log;
    module->allocate = on_allocate;
    module->job_control = on_job_control;
    module->monitor = on_monitor;
    module->get_credential = on_get_credential;
    module->validate_credential = on_validate;
    module->iof_pull = on_pull;
    module->push_stdin = on_push;
}

void meddler_begin(uint64_t number)
{
    seed = number;
    module_fill(&fault_module);
    if (below(3) == 0) { /* some hosts leave it to the servers */
        fault_module.connect = fault_module.disconnect = NULL;
        fault_module.group = NULL;
    }
}

void meddler_answer(void)
{
    CHECK(pthread_create(&late_answers, NULL, late_thread, NULL) == 0, "no thread");
}

void meddler_meddle(const struct meddler_job jobs[], int count)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        all_jobs[i] = jobs[i];
    }
    job_count = count;
    pthread_mutex_unlock(&lock);
}

void meddler_end(void)
{
    atomic_store(&is_over, true);
    CHECK(pthread_join(late_answers, NULL) == 0, "no thread");
    fault_say("the host was asked %4u times", asked);
    for (int i = 0; i < ACTS; i++) {
        fault_say("inside an entry %4u times: %s", acted[i], act_names[i]);
    }
}

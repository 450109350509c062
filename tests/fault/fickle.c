/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fickle.c - one row per entry, one function per kind of callback. */
#include "fickle.h"

#include <pthread.h>
#include <string.h>

#include <pmix_server.h>

#include "base/util.h"
#include "fault.h"

#define LATE_MAX 4096
#define MISSED_MAX 2 /* what is asked is left to chance */

enum entry {
    ABORT,
    PUBLISH,
    LOOKUP,
    UNPUBLISH,
    SPAWN,
    REGISTER_EVENTS,
    DEREGISTER_EVENTS,
    NOTIFY_EVENT,
    QUERY,
    LOG,
    ALLOCATE,
    JOB_CONTROL,
    MONITOR,
    GET_CREDENTIAL,
    VALIDATE_CREDENTIAL,
    IOF_PULL,
    PUSH_STDIN,
    FABRIC,
    ENTRIES,
};
static const char *const names[ENTRIES] = {
    [ABORT] = "abort",
    [PUBLISH] = "publish",
    [LOOKUP] = "lookup",
    [UNPUBLISH] = "unpublish",
    [SPAWN] = "spawn",
    [REGISTER_EVENTS] = "register_events",
    [DEREGISTER_EVENTS] = "deregister_events",
    [NOTIFY_EVENT] = "notify_event",
    [QUERY] = "query",
    [LOG] = "log",
    [ALLOCATE] = "allocate",
    [JOB_CONTROL] = "job_control",
    [MONITOR] = "monitor",
    [GET_CREDENTIAL] = "get_credential",
    [VALIDATE_CREDENTIAL] = "validate_credential",
    [IOF_PULL] = "iof_pull",
    [PUSH_STDIN] = "push_stdin",
    [FABRIC] = "fabric",
};
static unsigned asked[ENTRIES];

/* ---- answers --------------------------------------------------------------------------------- */

/* The callback of a question: one of them. */
struct question {
    void (*answer)(const struct question *question, pmix_status_t status);
    pmix_op_cbfunc_t op;
    pmix_info_cbfunc_t info;
    pmix_lookup_cbfunc_t lookup;
    pmix_spawn_cbfunc_t spawn;
    pmix_credential_cbfunc_t credential;
    pmix_validation_cbfunc_t validation;
    void *cbdata;
};

static pmix_info_t given = { .key = "fickle", .value = { .type = PMIX_BOOL, .data.flag = true } };

static void answer_op(const struct question *question, pmix_status_t status)
{
    question->op(status, question->cbdata);
}

static void answer_info(const struct question *question, pmix_status_t status)
{
    question->info(status, &given, 1, question->cbdata, NULL, NULL);
}

static void answer_lookup(const struct question *question, pmix_status_t status)
{
    pmix_pdata_t data = { .proc = { .nspace = "fickle" }, .key = "fickle", .value = given.value };

    question->lookup(status, &data, 1, question->cbdata);
}

static void answer_spawn(const struct question *question, pmix_status_t status)
{
    pmix_nspace_t nspace = "fickle.job";

    question->spawn(status, nspace, question->cbdata);
}

static void answer_credential(const struct question *question, pmix_status_t status)
{
    char text[] = "fickle";
    pmix_byte_object_t credential = { .bytes = text, .size = sizeof(text) };

    question->credential(status, &credential, &given, 1, question->cbdata);
}

static void answer_validation(const struct question *question, pmix_status_t status)
{
    question->validation(status, &given, 1, question->cbdata);
}

/* ---- ways ------------------------------------------------------------------------------------ */

/* What is never answered counts for its process as long as the server is there: so it is once. */
enum way { AT_ONCE, REFUSED, LATE, NEVER, WAYS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct question late[LATE_MAX];
static size_t late_count;

static pmix_status_t ask(enum entry entry, const struct question *question)
{
    const unsigned number = asked[entry]++;
    enum way way = (enum way)(number % WAYS);

    way = way == NEVER && number > WAYS ? LATE : way;
    switch (way) {
    case AT_ONCE:
        question->answer(question, PMIX_SUCCESS);
        return PMIX_SUCCESS;
    case LATE:
        pthread_mutex_lock(&lock);
        CHECK(late_count < LATE_MAX, "more questions than one attack can ask");
        late[late_count++] = *question;
        pthread_mutex_unlock(&lock);
        return PMIX_SUCCESS;
    case NEVER:
        return PMIX_SUCCESS;
    default:
        return PMIX_ERR_NOT_AVAILABLE;
    }
}

void fickle_settle(void)
{
    pthread_mutex_lock(&lock);
    while (late_count > 0) {
        const struct question question = late[--late_count];

        pthread_mutex_unlock(&lock);
        question.answer(&question, late_count % 2 == 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
}

void fickle_end(void)
{
    unsigned missed = 0;

    for (int entry = 0; entry < ENTRIES; entry++) {
        fault_say("the host was asked %4u times: %s", asked[entry], names[entry]);
        missed += asked[entry] == 0;
    }
    CHECK(missed <= MISSED_MAX, "%u entries were never asked", missed);
}

/* ---- the module ------------------------------------------------------------------------------ */

#define ASK(entry, member) \
    ask((entry),           \
        &(const struct question){ .answer = answer_##member, .member = cbfunc, .cbdata = cbdata })

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char *msg,
                              pmix_proc_t *procs, size_t nprocs, pmix_op_cbfunc_t cbfunc,
                              void *cbdata)
{
    return ASK(ABORT, op);
}

static pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(PUBLISH, op);
}

static pmix_status_t on_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t *info,
                               size_t ninfo, pmix_lookup_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(keys != NULL && keys[0] != NULL, "a lookup of nothing");
    return ASK(LOOKUP, lookup);
}

static pmix_status_t on_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t *info,
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(UNPUBLISH, op);
}

static pmix_status_t on_spawn(const pmix_proc_t *proc, const pmix_info_t *job_info, size_t ninfo,
                              const pmix_app_t *apps, size_t napps, pmix_spawn_cbfunc_t cbfunc,
                              void *cbdata)
{
    CHECK(napps > 0 && apps[0].cmd != NULL && apps[0].cmd[0] != '\0', "a spawn of nothing");
    return ASK(SPAWN, spawn);
}

static pmix_status_t on_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t *info,
                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(REGISTER_EVENTS, op);
}

static pmix_status_t on_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    return ASK(DEREGISTER_EVENTS, op);
}

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t *info, size_t ninfo,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(NOTIFY_EVENT, op);
}

static pmix_status_t on_query(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                              pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(nqueries > 0 && queries[0].keys != NULL && queries[0].keys[0] != NULL, "no question");
    return ASK(QUERY, info);
}

static void on_log(const pmix_proc_t *client, const pmix_info_t *data, size_t ndata,
                   const pmix_info_t *directives, size_t ndirs, pmix_op_cbfunc_t cbfunc,
                   void *cbdata)
{
    CHECK(ndata > 0 && data[0].key[0] != '\0', "nothing is to be logged");
    const pmix_status_t rc = ASK(LOG, op);

    if (rc != PMIX_SUCCESS) {
        cbfunc(rc, cbdata);
    }
}

static pmix_status_t on_allocate(const pmix_proc_t *client, pmix_alloc_directive_t directive,
                                 const pmix_info_t *data, size_t ndata, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    return ASK(ALLOCATE, info);
}

static pmix_status_t on_job_control(const pmix_proc_t *requestor, const pmix_proc_t *targets,
                                    size_t ntargets, const pmix_info_t *directives, size_t ndirs,
                                    pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(JOB_CONTROL, info);
}

static pmix_status_t on_monitor(const pmix_proc_t *requestor, const pmix_info_t *monitor,
                                pmix_status_t error, const pmix_info_t *directives, size_t ndirs,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(monitor != NULL && ndirs < 1000, "nothing is to be monitored");
    return ASK(MONITOR, info);
}

static pmix_status_t on_get_credential(const pmix_proc_t *proc, const pmix_info_t *directives,
                                       size_t ndirs, pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(GET_CREDENTIAL, credential);
}

static pmix_status_t on_validate(const pmix_proc_t *proc, const pmix_byte_object_t *credential,
                                 const pmix_info_t *directives, size_t ndirs,
                                 pmix_validation_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(credential != NULL && credential->bytes != NULL, "no credential");
    return ASK(VALIDATE_CREDENTIAL, validation);
}

static pmix_status_t on_pull(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *directives,
                             size_t ndirs, pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc,
                             void *cbdata)
{
    CHECK(nprocs > 0 && procs[0].nspace[0] != '\0' && channels != 0, "output of nobody");
    return ASK(IOF_PULL, op);
}

static pmix_status_t on_push(const pmix_proc_t *source, const pmix_proc_t *targets, size_t ntargets,
                             const pmix_info_t *directives, size_t ndirs,
                             const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(ntargets > 0 && targets[0].nspace[0] != '\0' && bo != NULL, "input for nobody");
    return ASK(PUSH_STDIN, op);
}

static pmix_status_t on_fabric(const pmix_proc_t *requestor, pmix_fabric_operation_t op,
                               const pmix_info_t *directives, size_t ndirs,
                               pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(FABRIC, info);
}

void fickle_begin(void)
{
    fault_module.abort = on_abort;
    fault_module.publish = on_publish;
    fault_module.lookup = on_lookup;
    fault_module.unpublish = on_unpublish;
    fault_module.spawn = on_spawn;
    fault_module.register_events = on_register;
    fault_module.deregister_events = on_deregister;
    fault_module.notify_event = on_notify;
    fault_module.query = on_query;
    fault_module.log = on_log;
    fault_module.allocate = on_allocate;
    fault_module.job_control = on_job_control;
    fault_module.monitor = on_monitor;
    fault_module.get_credential = on_get_credential;
    fault_module.validate_credential = on_validate;
    fault_module.iof_pull = on_pull;
    fault_module.push_stdin = on_push;
    fault_module.fabric = on_fabric;
}

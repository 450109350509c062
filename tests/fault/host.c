/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.c - an entry makes a question of its parameters and checks those that no client may garble. */
#include "host.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "fault.h"

#define KEPT_MAX 4096

static host_fn host_decides;

/* ---- answers --------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct host_question kept[KEPT_MAX]; /* under lock, as the next */
static size_t kept_count;

void host_answer(const struct host_question *question, pmix_status_t status)
{
    static pmix_info_t given = { .key = "host", .value = { .type = PMIX_BOOL, .data.flag = true } };
    static unsigned last_tool;
    pmix_pdata_t data = { .proc = { .nspace = "host" }, .key = "host", .value = given.value };
    pmix_nspace_t nspace = "host.job";
    char text[] = "host", name[32];
    pmix_byte_object_t credential = { .bytes = text, .size = sizeof(text) };
    void *const cbdata = question->cbdata;
    pmix_proc_t proc;

    if (question->op != NULL) {
        question->op(status, cbdata);
    } else if (question->modex != NULL) {
        question->modex(status, question->bytes, question->size, cbdata, free, question->bytes);
    } else if (question->info != NULL) {
        question->info(status, &given, 1, cbdata, NULL, NULL);
    } else if (question->lookup != NULL) {
        question->lookup(status, &data, 1, cbdata);
    } else if (question->spawn != NULL) {
        question->spawn(status, nspace, cbdata);
    } else if (question->credential != NULL) {
        question->credential(status, &credential, &given, 1, cbdata);
    } else if (question->validation != NULL) {
        question->validation(status, &given, 1, cbdata);
    } else if (question->tool != NULL) {
        snprintf(name, sizeof(name), "tool.%u", ++last_tool);
        PMIx_Load_procid(&proc, name, 0);
        question->tool(status, &proc, cbdata);
    }
}

pmix_status_t host_refuse(const struct host_question *question, pmix_status_t status)
{
    free(question->bytes);
    return status;
}

pmix_status_t host_keep(const struct host_question *question)
{
    pthread_mutex_lock(&lock);
    CHECK(kept_count < KEPT_MAX, "more questions than one round can ask");
    kept[kept_count] = *question;
    kept[kept_count++].asker = NULL;
    pthread_mutex_unlock(&lock);
    return PMIX_SUCCESS;
}

bool host_take(struct host_question *ret)
{
    pthread_mutex_lock(&lock);
    const bool any = kept_count > 0;

    if (any) {
        *ret = kept[--kept_count];
    }
    pthread_mutex_unlock(&lock);
    return any;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* @which: the entry; @member: of struct host_question, the kind of its callback. */
#define ASK(which, by, member, ...)             \
    host_decides(&(const struct host_question){ \
        .entry = (which), .asker = (by), .member = cbfunc, .cbdata = cbdata, __VA_ARGS__ })

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object, pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(HOST_CONNECTED, proc, op);
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t cbfunc,
                                  void *cbdata)
{
    return ASK(HOST_FINALIZED, proc, op);
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status, const char *msg,
                              pmix_proc_t *procs, size_t nprocs, pmix_op_cbfunc_t cbfunc,
                              void *cbdata)
{
    return ASK(HOST_ABORT, proc, op);
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                              size_t ninfo, char *data, size_t ndata, pmix_modex_cbfunc_t cbfunc,
                              void *cbdata)
{
    return ASK(HOST_FENCE, procs, modex, .bytes = data, .size = ndata);
}

static pmix_status_t on_modex(const pmix_proc_t *proc, const pmix_info_t info[], size_t ninfo,
                              pmix_modex_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(HOST_MODEX, proc, modex);
}

static pmix_status_t on_connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(HOST_CONNECT, procs, op);
}

static pmix_status_t on_disconnect(const pmix_proc_t procs[], size_t nprocs,
                                   const pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    return ASK(HOST_DISCONNECT, procs, op);
}

static pmix_status_t on_group(pmix_group_operation_t op, char *group, const pmix_proc_t procs[],
                              size_t nprocs, const pmix_info_t directives[], size_t ndirs,
                              pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(HOST_GROUP, procs, info);
}

static pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t *info, size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(HOST_PUBLISH, proc, op);
}

static pmix_status_t on_lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t *info,
                               size_t ninfo, pmix_lookup_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(keys != NULL && keys[0] != NULL, "a lookup of nothing");
    return ASK(HOST_LOOKUP, proc, lookup);
}

static pmix_status_t on_unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t *info,
                                  size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(HOST_UNPUBLISH, proc, op);
}

static pmix_status_t on_spawn(const pmix_proc_t *proc, const pmix_info_t *job_info, size_t ninfo,
                              const pmix_app_t *apps, size_t napps, pmix_spawn_cbfunc_t cbfunc,
                              void *cbdata)
{
    CHECK(napps > 0 && apps[0].cmd != NULL && apps[0].cmd[0] != '\0', "a spawn of nothing");
    return ASK(HOST_SPAWN, proc, spawn);
}

static pmix_status_t on_register(pmix_status_t *codes, size_t ncodes, const pmix_info_t *info,
                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(HOST_REGISTER_EVENTS, NULL, op, .code = ncodes > 0 ? codes[0] : 0);
}

static pmix_status_t on_deregister(pmix_status_t *codes, size_t ncodes, pmix_op_cbfunc_t cbfunc,
                                   void *cbdata)
{
    return ASK(HOST_DEREGISTER_EVENTS, NULL, op, .code = ncodes > 0 ? codes[0] : 0);
}

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t *info, size_t ninfo,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(HOST_NOTIFY_EVENT, source, op, .code = code);
}

static pmix_status_t on_query(pmix_proc_t *proc, pmix_query_t *queries, size_t nqueries,
                              pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(nqueries > 0 && queries[0].keys != NULL && queries[0].keys[0] != NULL, "no question");
    return ASK(HOST_QUERY, proc, info);
}

static void on_tool(pmix_info_t *info, size_t ninfo, pmix_tool_connection_cbfunc_t cbfunc,
                    void *cbdata)
{
    (void)ASK(HOST_TOOL, NULL, tool);
}

static void on_log(const pmix_proc_t *client, const pmix_info_t *data, size_t ndata,
                   const pmix_info_t *directives, size_t ndirs, pmix_op_cbfunc_t cbfunc,
                   void *cbdata)
{
    CHECK(ndata > 0 && data[0].key[0] != '\0', "nothing is to be logged");
    const pmix_status_t rc = ASK(HOST_LOG, client, op);

    if (rc != PMIX_SUCCESS) {
        cbfunc(rc, cbdata);
    }
}

static pmix_status_t on_allocate(const pmix_proc_t *client, pmix_alloc_directive_t directive,
                                 const pmix_info_t *data, size_t ndata, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    return ASK(HOST_ALLOCATE, client, info);
}

static pmix_status_t on_job_control(const pmix_proc_t *requestor, const pmix_proc_t *targets,
                                    size_t ntargets, const pmix_info_t *directives, size_t ndirs,
                                    pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(HOST_JOB_CONTROL, requestor, info);
}

static pmix_status_t on_monitor(const pmix_proc_t *requestor, const pmix_info_t *monitor,
                                pmix_status_t error, const pmix_info_t *directives, size_t ndirs,
                                pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(monitor != NULL && ndirs < 1000, "nothing is to be monitored");
    return ASK(HOST_MONITOR, requestor, info);
}

static pmix_status_t on_get_credential(const pmix_proc_t *proc, const pmix_info_t *directives,
                                       size_t ndirs, pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(HOST_GET_CREDENTIAL, proc, credential);
}

static pmix_status_t on_validate(const pmix_proc_t *proc, const pmix_byte_object_t *credential,
                                 const pmix_info_t *directives, size_t ndirs,
                                 pmix_validation_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(credential != NULL && credential->bytes != NULL, "no credential");
    return ASK(HOST_VALIDATE_CREDENTIAL, proc, validation);
}

static pmix_status_t on_pull(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *directives,
                             size_t ndirs, pmix_iof_channel_t channels, pmix_op_cbfunc_t cbfunc,
                             void *cbdata)
{
    const bool is_stop = ndirs > 0 && PMIx_Check_key(directives[0].key, PMIX_IOF_STOP);

    CHECK(is_stop || (nprocs > 0 && procs[0].nspace[0] != '\0' && channels != 0),
          "output of no process");
    return ASK(HOST_IOF_PULL, procs, op, .is_stop = is_stop);
}

static pmix_status_t on_push(const pmix_proc_t *source, const pmix_proc_t *targets, size_t ntargets,
                             const pmix_info_t *directives, size_t ndirs,
                             const pmix_byte_object_t *bo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    CHECK(ntargets > 0 && targets[0].nspace[0] != '\0' && bo != NULL, "input for no process");
    return ASK(HOST_PUSH_STDIN, source, op);
}

static pmix_status_t on_fabric(const pmix_proc_t *requestor, pmix_fabric_operation_t op,
                               const pmix_info_t *directives, size_t ndirs,
                               pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return ASK(HOST_FABRIC, requestor, info);
}

#define ENTRIES(ROW)                                                \
    ROW(HOST_CONNECTED, client_connected2, on_connected)            \
    ROW(HOST_FINALIZED, client_finalized, on_finalized)             \
    ROW(HOST_ABORT, abort, on_abort)                                \
    ROW(HOST_FENCE, fence_nb, on_fence)                             \
    ROW(HOST_MODEX, direct_modex, on_modex)                         \
    ROW(HOST_CONNECT, connect, on_connect)                          \
    ROW(HOST_DISCONNECT, disconnect, on_disconnect)                 \
    ROW(HOST_GROUP, group, on_group)                                \
    ROW(HOST_PUBLISH, publish, on_publish)                          \
    ROW(HOST_LOOKUP, lookup, on_lookup)                             \
    ROW(HOST_UNPUBLISH, unpublish, on_unpublish)                    \
    ROW(HOST_SPAWN, spawn, on_spawn)                                \
    ROW(HOST_REGISTER_EVENTS, register_events, on_register)         \
    ROW(HOST_DEREGISTER_EVENTS, deregister_events, on_deregister)   \
    ROW(HOST_NOTIFY_EVENT, notify_event, on_notify)                 \
    ROW(HOST_QUERY, query, on_query)                                \
    ROW(HOST_TOOL, tool_connected, on_tool)                         \
    ROW(HOST_LOG, log, on_log)                                      \
    ROW(HOST_ALLOCATE, allocate, on_allocate)                       \
    ROW(HOST_JOB_CONTROL, job_control, on_job_control)              \
    ROW(HOST_MONITOR, monitor, on_monitor)                          \
    ROW(HOST_GET_CREDENTIAL, get_credential, on_get_credential)     \
    ROW(HOST_VALIDATE_CREDENTIAL, validate_credential, on_validate) \
    ROW(HOST_IOF_PULL, iof_pull, on_pull)                           \
    ROW(HOST_PUSH_STDIN, push_stdin, on_push)                       \
    ROW(HOST_FABRIC, fabric, on_fabric)

#define NAME_OF(entry, member, fn) [entry] = #member,
const char *const host_entry_names[HOST_ENTRIES] = { ENTRIES(NAME_OF) };

void host_begin(uint32_t entries, host_fn fn)
{
    host_decides = fn;
#define FILL(entry, member, on)             \
    if ((entries & HOST_BIT(entry)) != 0) { \
        fault_module.member = on;           \
    }
    ENTRIES(FILL)
}

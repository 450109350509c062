/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* upcall.c - one row per entry of the host's module: how it is called, the form of its answer, and
 * how many answers it may owe. */
#include "server/port/question.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/status.h"

#define EVENTS_MAX 4096u
#define TOOLS_MAX 1024u /* gone before the host has answered, and still waiting */
#define TOOLS_BYTES_MAX (UINT64_C(8) << 20)
#define EVENTS_BYTES_MAX (UINT64_C(64) << 20)

/* ---- the answers of the host ----------------------------------------------------------------- */

static void answer_op(pmix_status_t status, void *cbdata)
{
    sx_question_answer((uintptr_t)cbdata, &(struct sx_host_answer){ .status = status }, NULL, NULL);
}

static void answer_modex(pmix_status_t status, const char *data, size_t ndata, void *cbdata,
                         pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    const struct sx_host_answer said = { .status = status, .bytes = data, .size = ndata };

    sx_question_answer((uintptr_t)cbdata, &said, release_fn, release_cbdata);
}

static void answer_info(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                        pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    const struct sx_host_answer said = { .status = status, .info = info, .ninfo = ninfo };

    sx_question_answer((uintptr_t)cbdata, &said, release_fn, release_cbdata);
}

static void answer_validation(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata)
{
    answer_info(status, info, ninfo, cbdata, NULL, NULL);
}

/* The credential becomes the first of the infos, all of which are copied. */
static void answer_credential(pmix_status_t status, pmix_byte_object_t *credential,
                              pmix_info_t *info, size_t ninfo, void *cbdata)
{
    const size_t count = info == NULL ? 0 : ninfo;
    pmix_info_t *const infos = credential == NULL ? NULL : calloc(count + 1, sizeof(*infos));

    if (infos == NULL) {
        answer_info(credential == NULL ? status : PMIX_ERR_OUT_OF_RESOURCE, NULL, 0, cbdata, NULL,
                    NULL);
        return;
    }
    PMIx_Load_key(infos[0].key, PMIX_CREDENTIAL);
    infos[0].value = (pmix_value_t){ .type = PMIX_BYTE_OBJECT, .data.bo = *credential };
    if (count > 0) {
        memcpy(&infos[1], info, count * sizeof(*infos));
    }
    answer_info(status, infos, count + 1, cbdata, NULL, NULL);
    free(infos);
}

/* In the form of a LOOKUP's answer: the publisher before each value.  All is copied. */
static void answer_lookup(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void *cbdata)
{
    const size_t count = data == NULL ? 0 : ndata;
    pmix_info_t *const infos = calloc(2 * count + 1, sizeof(*infos));

    if (infos == NULL) {
        answer_info(PMIX_ERR_OUT_OF_RESOURCE, NULL, 0, cbdata, NULL, NULL);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        PMIx_Load_key(infos[2 * i].key, PMIX_PROCID);
        infos[2 * i].value = (pmix_value_t){ .type = PMIX_PROC, .data.proc = &data[i].proc };
        memcpy(infos[2 * i + 1].key, data[i].key, sizeof(infos[2 * i + 1].key));
        infos[2 * i + 1].value = data[i].value;
    }
    answer_info(status, infos, 2 * count, cbdata, NULL, NULL);
    free(infos);
}

/* The namespace is the one info of the answer; a success without one is none. */
static void answer_spawn(pmix_status_t status, pmix_nspace_t nspace, void *cbdata)
{
    const size_t len = nspace == NULL ? 0 : strnlen(nspace, PMIX_MAX_NSLEN + 1);
    pmix_info_t info = { .value = { .type = PMIX_STRING, .data.string = nspace } };

    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        answer_info(status, NULL, 0, cbdata, NULL, NULL);
    } else if (len == 0 || len > PMIX_MAX_NSLEN) {
        sx_log(SX_LOG_WARN, "the host has spawned a job and gives it %s",
               len == 0 ? "no name" : "a name that does not end");
        answer_info(PMIX_ERR_BAD_PARAM, NULL, 0, cbdata, NULL, NULL);
    } else {
        PMIx_Load_key(info.key, PMIX_NSPACE);
        answer_info(PMIX_SUCCESS, &info, 1, cbdata, NULL, NULL);
    }
}

static void answer_tool(pmix_status_t status, pmix_proc_t *proc, void *cbdata)
{
    struct sx_host_answer said = { .status = status, .proc = { .rank = PMIX_RANK_UNDEF } };

    if (proc != NULL) {
        said.proc = *proc;
    }
    sx_question_answer((uintptr_t)cbdata, &said, NULL, NULL);
}

/* ---- the entries --------------------------------------------------------------------------- */

typedef const pmix_server_module_t module_t;
typedef const struct sx_upcall up_t;

static pmix_op_cbfunc_t callback_of(up_t *up)
{
    return up->by_return ? NULL : answer_op;
}

static pmix_status_t call_connected(module_t *module, up_t *up, void *cbdata)
{
    return module->client_connected(up->proc, up->client->server_object, callback_of(up), cbdata);
}

static pmix_status_t call_connected2(module_t *module, up_t *up, void *cbdata)
{
    return module->client_connected2(up->proc, up->client->server_object, up->info, up->ninfo,
                                     callback_of(up), cbdata);
}

/* Some hosts call the callback without checking for NULL. */
static pmix_status_t call_finalized(module_t *module, up_t *up, void *cbdata)
{
    return module->client_finalized(up->proc, up->client->server_object, answer_op, cbdata);
}

static pmix_status_t call_abort(module_t *module, up_t *up, void *cbdata)
{
    return module->abort(up->proc, up->client->server_object, up->status, up->text, up->procs,
                         up->nprocs, answer_op, cbdata);
}

static pmix_status_t call_fence(module_t *module, up_t *up, void *cbdata)
{
    return module->fence_nb(up->procs, up->nprocs, up->info, up->ninfo, up->bytes, up->size,
                            answer_modex, cbdata);
}

static pmix_status_t call_modex(module_t *module, up_t *up, void *cbdata)
{
    return module->direct_modex(up->proc, up->info, up->ninfo, answer_modex, cbdata);
}

static pmix_status_t call_register(module_t *module, up_t *up, void *cbdata)
{
    return module->register_events(up->codes, up->ncodes, up->info, up->ninfo, answer_op, cbdata);
}

static pmix_status_t call_deregister(module_t *module, up_t *up, void *cbdata)
{
    return module->deregister_events(up->codes, up->ncodes, answer_op, cbdata);
}

static pmix_status_t call_notify(module_t *module, up_t *up, void *cbdata)
{
    return module->notify_event(up->status, up->proc, up->range, up->info, up->ninfo, answer_op,
                                cbdata);
}

static pmix_status_t call_connect(module_t *module, up_t *up, void *cbdata)
{
    return module->connect(up->procs, up->nprocs, up->info, up->ninfo, answer_op, cbdata);
}

static pmix_status_t call_disconnect(module_t *module, up_t *up, void *cbdata)
{
    return module->disconnect(up->procs, up->nprocs, up->info, up->ninfo, answer_op, cbdata);
}

static pmix_status_t call_query(module_t *module, up_t *up, void *cbdata)
{
    return module->query((pmix_proc_t *)(uintptr_t)up->proc, up->queries, up->nqueries, answer_info,
                         cbdata);
}

static pmix_status_t call_tool(module_t *module, up_t *up, void *cbdata)
{
    module->tool_connected(up->info, up->ninfo, answer_tool, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t call_group(module_t *module, up_t *up, void *cbdata)
{
    return module->group((pmix_group_operation_t)up->status, (char *)(uintptr_t)up->text, up->procs,
                         up->nprocs, up->info, up->ninfo, answer_info, cbdata);
}

static pmix_status_t call_job_control(module_t *module, up_t *up, void *cbdata)
{
    return module->job_control(up->proc, up->procs, up->nprocs, up->info, up->ninfo, answer_info,
                               cbdata);
}

/* The entry returns nothing: its answer is the callback's status. */
static pmix_status_t call_log(module_t *module, up_t *up, void *cbdata)
{
    module->log(up->proc, up->info, up->ndata, up->info + up->ndata, up->ninfo - up->ndata,
                answer_op, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t call_monitor(module_t *module, up_t *up, void *cbdata)
{
    return module->monitor(up->proc, up->info, up->status, up->info + up->ndata,
                           up->ninfo - up->ndata, answer_info, cbdata);
}

static pmix_status_t call_allocate(module_t *module, up_t *up, void *cbdata)
{
    return module->allocate(up->proc, (pmix_alloc_directive_t)up->status, up->info, up->ninfo,
                            answer_info, cbdata);
}

static pmix_status_t call_fabric(module_t *module, up_t *up, void *cbdata)
{
    return module->fabric(up->proc, (pmix_fabric_operation_t)up->status, up->info, up->ninfo,
                          answer_info, cbdata);
}

static pmix_status_t call_spawn(module_t *module, up_t *up, void *cbdata)
{
    return module->spawn(up->proc, up->info, up->ninfo, up->apps, up->napps, answer_spawn, cbdata);
}

static pmix_status_t call_get_credential(module_t *module, up_t *up, void *cbdata)
{
    return module->get_credential(up->proc, up->info, up->ninfo, answer_credential, cbdata);
}

/* The first of the infos is the credential. */
static pmix_status_t call_validate(module_t *module, up_t *up, void *cbdata)
{
    return module->validate_credential(up->proc, &up->info[0].value.data.bo, up->info + 1,
                                       up->ninfo - 1, answer_validation, cbdata);
}

static pmix_status_t call_publish(module_t *module, up_t *up, void *cbdata)
{
    return module->publish(up->proc, up->info, up->ninfo, answer_op, cbdata);
}

/* The first of the infos are the keys, where they lie until the host answers. */
static char **keys_of(up_t *up)
{
    for (size_t i = 0; i < up->ndata; i++) {
        up->keys[i] = up->info[i].key;
    }
    return up->keys;
}

static pmix_status_t call_lookup(module_t *module, up_t *up, void *cbdata)
{
    return module->lookup(up->proc, keys_of(up), up->info + up->ndata, up->ninfo - up->ndata,
                          answer_lookup, cbdata);
}

static pmix_status_t call_unpublish(module_t *module, up_t *up, void *cbdata)
{
    return module->unpublish(up->proc, keys_of(up), up->info + up->ndata, up->ninfo - up->ndata,
                             answer_op, cbdata);
}

/* The field status holds the channels. */
static pmix_status_t call_pull(module_t *module, up_t *up, void *cbdata)
{
    return module->iof_pull(up->procs, up->nprocs, up->info, up->ninfo,
                            (pmix_iof_channel_t)up->status, answer_op, cbdata);
}

/* The first of the infos is the input. */
static pmix_status_t call_push(module_t *module, up_t *up, void *cbdata)
{
    return module->push_stdin(up->proc, up->procs, up->nprocs, up->info + 1, up->ninfo - 1,
                              &up->info[0].value.data.bo, answer_op, cbdata);
}

#define ROW(member, call, max, bytes_max)                                            \
    {                                                                                \
#member, offsetof(pmix_server_module_t, member), call, max, bytes_max, false \
    }
#define NOTICE(member, call)                                              \
    {                                                                     \
#member, offsetof(pmix_server_module_t, member), call, 0, 0, true \
    }

static const struct sx_upcall_row rows[SX_UPCALL_KINDS] = {
    [SX_UPCALL_CLIENT_CONNECTED] = NOTICE(client_connected, call_connected),
    [SX_UPCALL_CLIENT_CONNECTED2] = NOTICE(client_connected2, call_connected2),
    [SX_UPCALL_CLIENT_FINALIZED] = NOTICE(client_finalized, call_finalized),
    [SX_UPCALL_ABORT] = NOTICE(abort, call_abort),
    [SX_UPCALL_FENCE_NB] = ROW(fence_nb, call_fence, 0, 0),
    [SX_UPCALL_DIRECT_MODEX] = ROW(direct_modex, call_modex, 0, 0),
    [SX_UPCALL_REGISTER_EVENTS] = ROW(register_events, call_register, EVENTS_MAX, EVENTS_BYTES_MAX),
    [SX_UPCALL_DEREGISTER_EVENTS] = ROW(deregister_events, call_deregister, EVENTS_MAX,
                                        EVENTS_BYTES_MAX),
    [SX_UPCALL_NOTIFY_EVENT] = ROW(notify_event, call_notify, EVENTS_MAX, EVENTS_BYTES_MAX),
    [SX_UPCALL_CONNECT] = ROW(connect, call_connect, 0, 0),
    [SX_UPCALL_DISCONNECT] = ROW(disconnect, call_disconnect, 0, 0),
    [SX_UPCALL_LOG] = ROW(log, call_log, 0, 0),
    [SX_UPCALL_JOB_CONTROL] = ROW(job_control, call_job_control, 0, 0),
    [SX_UPCALL_MONITOR] = ROW(monitor, call_monitor, 0, 0),
    [SX_UPCALL_ALLOCATE] = ROW(allocate, call_allocate, 0, 0),
    [SX_UPCALL_FABRIC] = ROW(fabric, call_fabric, 0, 0),
    [SX_UPCALL_SPAWN] = ROW(spawn, call_spawn, 0, 0),
    [SX_UPCALL_GET_CREDENTIAL] = ROW(get_credential, call_get_credential, 0, 0),
    [SX_UPCALL_VALIDATE_CREDENTIAL] = ROW(validate_credential, call_validate, 0, 0),
    [SX_UPCALL_PUBLISH] = ROW(publish, call_publish, 0, 0),
    [SX_UPCALL_LOOKUP] = ROW(lookup, call_lookup, 0, 0),
    [SX_UPCALL_UNPUBLISH] = ROW(unpublish, call_unpublish, 0, 0),
    [SX_UPCALL_IOF_PULL] = ROW(iof_pull, call_pull, 0, 0),
    [SX_UPCALL_PUSH_STDIN] = NOTICE(push_stdin, call_push),
    [SX_UPCALL_QUERY] = ROW(query, call_query, 0, 0),
    [SX_UPCALL_TOOL_CONNECTED] = ROW(tool_connected, call_tool, TOOLS_MAX, TOOLS_BYTES_MAX),
    [SX_UPCALL_GROUP] = ROW(group, call_group, 0, 0),
};

static bool has_entry(const struct sx_server *server, enum sx_upcall_kind kind)
{
    void (*entry)(void);

    memcpy(&entry, (const char *)&server->module + rows[kind].entry, sizeof(entry));
    return entry != NULL;
}

/* ---- asking -------------------------------------------------------------------------------- */

pmix_status_t sx_upcall_judge(struct sx_server *server, enum sx_upcall_kind kind, size_t bytes)
{
    const struct sx_upcall_row *const row = &rows[kind];
    struct sx_owed *const owed = &server->port.host.owed[kind];

    if (!has_entry(server, kind)) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (server->port.host.forgotten) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    owed->full_logged = owed->full_logged && owed->count > 0;
    if (row->max == 0 || (owed->count < row->max && owed->bytes + bytes <= row->bytes_max)) {
        return PMIX_SUCCESS;
    }
    if (!owed->full_logged) {
        owed->full_logged = true;
        sx_log(SX_LOG_WARN,
               "the host owes the answers to %u calls of its %s (%llu bytes); it is not called "
               "again before it gives one, and what it would be told meanwhile is lost: let it "
               "call back",
               owed->count, row->name, (unsigned long long)owed->bytes);
    }
    return PMIX_ERR_OUT_OF_RESOURCE;
}

void sx_infos_user_add(pmix_info_t info[], size_t *count, uid_t uid, gid_t gid)
{
    const uint32_t user = uid, group = gid;

    PMIx_Info_load(&info[(*count)++], PMIX_USERID, &user, PMIX_UINT32);
    PMIx_Info_load(&info[(*count)++], PMIX_GRPID, &group, PMIX_UINT32);
}

pmix_status_t sx_upcall(struct sx_server *server, enum sx_upcall_kind kind,
                        const struct sx_upcall *upcall)
{
    pmix_proc_t caller;
    struct sx_upcall up = *upcall;

    if (up.proc == NULL && up.client != NULL) {
        caller = sx_nspace_proc(up.client->nspace, up.client->rank);
        up.proc = &caller;
    }
    const size_t size = sx_question_size(&up);
    pmix_status_t rc = sx_upcall_judge(server, kind, size + up.info_bytes);

    if (rc == PMIX_SUCCESS) {
        rc = sx_question_new(server, &rows[kind], &server->port.host.owed[kind], &up, size) != NULL
                 ? PMIX_SUCCESS
                 : PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc != PMIX_SUCCESS) {
        sx_upcall_drop(&up);
    }
    return rc;
}

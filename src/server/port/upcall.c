/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* upcall.c - one row per entry of the host's module, and the questions that are open.
 *
 * The host gets a number, not a pointer.  An answer that arrives twice, or after the server has
 * forgotten the question, matches no question and is dropped.  Numbers are found through a table.
 * A question that a host never answers stays until the server ends.  The row bounds the number of
 * its open questions, unless the askers are bounded themselves.  Each client has a share of that
 * bound. */
#include "server/port/port.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/status.h"
#include "base/system/pages.h"
#include "base/value/value.h"
#include "server/model/quota.h"

#define EVENTS_MAX 4096u
#define TOOLS_MAX 1024u /* gone before the host has answered, and still waiting */
#define TOOLS_BYTES_MAX (UINT64_C(8) << 20)
#define EVENTS_BYTES_MAX (UINT64_C(64) << 20)

/* ---- the entries --------------------------------------------------------------------------- */

static void answer_op(pmix_status_t status, void *cbdata);
static void answer_modex(pmix_status_t status, const char *data, size_t ndata, void *cbdata,
                         pmix_release_cbfunc_t release_fn, void *release_cbdata);
static void answer_info(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                        pmix_release_cbfunc_t release_fn, void *release_cbdata);

static void answer_tool(pmix_status_t status, pmix_proc_t *proc, void *cbdata);
static void answer_credential(pmix_status_t status, pmix_byte_object_t *credential,
                              pmix_info_t *info, size_t ninfo, void *cbdata);
static void answer_validation(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata);
static void answer_lookup(pmix_status_t status, pmix_pdata_t data[], size_t ndata, void *cbdata);
static void answer_spawn(pmix_status_t status, pmix_nspace_t nspace, void *cbdata);

/* How an entry is called: with which parts of the question, and which callback it gets. */
typedef const pmix_server_module_t module_t;
typedef const struct sx_upcall up_t;
typedef pmix_status_t (*call_fn)(module_t *module, up_t *up, void *cbdata);

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

struct row {
    const char *name;
    size_t entry; /* in the module */
    call_fn call;
    unsigned max; /* unanswered ones, 0: only the askers' limit ... */
    uint64_t bytes_max;
    bool ends_with_client; /* not called any more for a client that the host has removed */
};

#define ROW(member, ...)                                             \
    {                                                                \
#member, offsetof(pmix_server_module_t, member), __VA_ARGS__ \
    }

static const struct row rows[SX_UPCALL_KINDS] = {
    [SX_UPCALL_CLIENT_CONNECTED] = ROW(client_connected, call_connected, 0, 0, true),
    [SX_UPCALL_CLIENT_CONNECTED2] = ROW(client_connected2, call_connected2, 0, 0, true),
    [SX_UPCALL_CLIENT_FINALIZED] = ROW(client_finalized, call_finalized, 0, 0, true),
    [SX_UPCALL_ABORT] = ROW(abort, call_abort, 0, 0, true),
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
    [SX_UPCALL_PUSH_STDIN] = ROW(push_stdin, call_push, 0, 0, true),
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

static void called_log(enum sx_upcall_kind kind, const struct sx_upcall *up)
{
    if (sx_log_wants(SX_LOG_DEBUG)) {
        sx_log(SX_LOG_DEBUG, "the host is called: %s for %s.%u, %zu processes, %zu bytes",
               rows[kind].name, up->proc == NULL ? "all" : up->proc->nspace,
               up->proc == NULL ? 0 : up->proc->rank, up->nprocs, up->size);
    }
}

/* ---- questions ----------------------------------------------------------------------------- */

struct question {
    struct sx_table_node node; /* open ones, until answered; the hash is the number */
    struct sx_list link;       /* the same, in their order */
    struct sx_list asker_link; /* asker.questions, until answered */
    struct sx_host_call call;  /* to the entry, until it is made */
    bool is_made;
    uint32_t removals; /* of its client, when it was asked */
    struct sx_loop_post post;
    struct sx_server *server;
    enum sx_upcall_kind kind;
    struct sx_owed *owed;      /* its account ... */
    size_t bytes;              /* ... as so many */
    struct sx_quota_row quota; /* owed.clients */
    struct sx_host_answer answer;
    pmix_release_cbfunc_t release_fn; /* the host's, or of a copy: for what it answers */
    void *release_cbdata;
    _Alignas(max_align_t) struct sx_upcall up; /* what it points at lies behind it */
};

static void question_ask(struct sx_host_call *call);

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sx_table open_table; /* under the lock, as the list and the number */
static struct sx_list open_list = SX_LIST_INIT(open_list);
static uintptr_t last_number; /* 0 is a notice's */

static void contents_destruct(const struct sx_upcall *up)
{
    for (size_t i = 0; i < up->ninfo; i++) {
        PMIX_INFO_DESTRUCT(&up->info[i]);
    }
    sx_elements_destruct(up->queries, up->nqueries, PMIX_QUERY);
    sx_elements_destruct(up->apps, up->napps, PMIX_APP);
}

/* Free the accounts once the server has no question left. */
static void owed_close_unless_used(struct sx_owed *owed)
{
    if (owed->count == 0 && owed->clients.what != NULL) {
        sx_quota_deinit(&owed->clients);
    }
}

/* Loop thread. */
static void question_free(struct question *question)
{
    question->owed->count--;
    question->owed->bytes -= question->bytes;
    sx_quota_give_back(&question->owed->clients, &question->quota);
    if (question->server->port.host.forgotten) {
        owed_close_unless_used(question->owed);
    }
    sx_list_remove(&question->asker_link);
    sx_list_remove(&question->call.link);
    if (question->up.client != NULL) {
        sx_client_release(question->up.client);
    }
    contents_destruct(&question->up);
    if (!question->is_made) {
        free(question->up.bytes);
    }
    free(question);
}

/* Put @size bytes at *@used of @block, which moves on; without a block only count them. */
static void *part_lay(char *block, size_t *used, const void *from, size_t size)
{
    char *const to = block == NULL ? NULL : block + *used;

    if (from == NULL || size == 0) {
        return NULL;
    }
    *used += sx_align_up(size, _Alignof(max_align_t));
    return to == NULL ? (void *)(uintptr_t)from : memcpy(to, from, size);
}

/* Lay out all that @up points at.  Return: the bytes that it takes. */
static size_t parts_lay(char *block, struct sx_upcall *up)
{
    size_t used = 0;

    up->info = part_lay(block, &used, up->info, up->ninfo * sizeof(*up->info));
    up->queries = part_lay(block, &used, up->queries, up->nqueries * sizeof(*up->queries));
    up->apps = part_lay(block, &used, up->apps, up->napps * sizeof(*up->apps));
    up->proc = part_lay(block, &used, up->proc, sizeof(*up->proc));
    up->procs = part_lay(block, &used, up->procs, up->nprocs * sizeof(*up->procs));
    up->keys = part_lay(block, &used, up->keys,
                        up->keys == NULL ? 0 : (up->ndata + 1) * sizeof(*up->keys));
    up->codes = part_lay(block, &used, up->codes, up->ncodes * sizeof(*up->codes));
    up->text = part_lay(block, &used, up->text, up->text == NULL ? 0 : strlen(up->text) + 1);
    return used;
}

/* A notice is in no table: it has no answer. */
static bool question_open(struct question *question)
{
    const bool is_notice = question->up.told == NULL;

    pthread_mutex_lock(&open_lock);
    const bool is_open = is_notice || sx_table_add(&open_table, &question->node, last_number + 1);

    if (is_open) {
        last_number += !is_notice;
        sx_list_append(&open_list, &question->link);
    }
    pthread_mutex_unlock(&open_lock);
    return is_open;
}

/* Count @question for its asker, if its entry has a bound.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE, logged, when the asker has its share already. */
static pmix_status_t question_count(struct question *question, enum sx_upcall_kind kind)
{
    const struct row *const row = &rows[kind];
    struct sx_server *const server = question->server;
    struct sx_owed *const owed = question->owed;

    if (row->max == 0 || (question->up.owner == NULL && question->up.client == NULL)) {
        return PMIX_SUCCESS;
    }
    if (owed->clients.what == NULL) {
        sx_quota_init(&owed->clients, row->name, row->max, row->bytes_max, server->seed);
    }
    const struct sx_quota_owner owner = question->up.owner != NULL
                                            ? *question->up.owner
                                            : sx_quota_owner_of(question->up.client);

    return sx_quota_take(&owed->clients, &owner, false, question->bytes, &question->quota);
}

/* One block with all that the host may look at until it answers.  Return: NULL when memory is out,
 * or the client has its share; then the infos are still the caller's. */
static struct question *question_new(struct sx_server *server, enum sx_upcall_kind kind,
                                     struct sx_upcall *up, size_t size)
{
    struct question *const question = sx_pages_malloc(size);

    if (question == NULL) {
        return NULL;
    }
    *question = (struct question){ .server = server,
                                   .kind = kind,
                                   .owed = &server->port.host.owed[kind],
                                   .up = *up,
                                   .bytes = size + up->info_bytes };
    if (question_count(question, kind) != PMIX_SUCCESS) {
        free(question);
        return NULL;
    }
    if (!question_open(question)) {
        sx_quota_give_back(&question->owed->clients, &question->quota);
        free(question);
        return NULL;
    }
    (void)parts_lay((char *)(question + 1), &question->up);
    question->up.owner = NULL; /* the caller's */
    sx_list_init(&question->asker_link);
    sx_host_call_append(server, &question->call, question_ask);
    if (up->asker != NULL) {
        sx_list_append(&up->asker->questions, &question->asker_link);
    }
    if (up->client != NULL) {
        question->removals = sx_client_retain(up->client)->removals;
    }
    question->owed->count++;
    question->owed->bytes += question->bytes;
    return question;
}

/* Under the lock.  Return: NULL when @number has been taken before. */
static struct question *question_take_locked(uintptr_t number)
{
    struct sx_table_node *const node = sx_table_first(&open_table, number);
    struct question *const question = node == NULL ? NULL
                                                   : SX_CONTAINER(node, struct question, node);

    if (question != NULL) {
        sx_table_remove(&open_table, node);
        sx_list_remove(&question->link);
    }
    return question;
}

static struct question *question_take(uintptr_t number)
{
    pthread_mutex_lock(&open_lock);
    struct question *const question = question_take_locked(number);

    pthread_mutex_unlock(&open_lock);
    return question;
}

static void question_answered(void *arg, uint64_t now_ns)
{
    struct question *const question = arg;
    struct sx_asker *const asker = sx_list_empty(&question->asker_link) ? NULL : question->up.asker;

    (void)now_ns;
    if (sx_log_wants(SX_LOG_DEBUG)) {
        sx_log(SX_LOG_DEBUG, "the host has answered %s: %s", rows[question->kind].name,
               PMIx_Error_string(question->answer.status));
    }
    sx_list_remove(&question->asker_link); /* the callback may free its owner */
    if (!question->server->port.host.forgotten) {
        question->up.told(asker, &question->answer);
    }
    if (question->release_fn != NULL) { /* released here, never inside the host's own callback */
        question->release_fn(question->release_cbdata);
    }
    question_free(question);
}

/* Post the answer to the loop; @question is not in the table any more. */
static void question_post(struct question *question, const struct sx_host_answer *said)
{
    question->answer = *said;
    if (said->status == PMIX_OPERATION_SUCCEEDED) { /* some hosts call back with it */
        question->answer.status = PMIX_SUCCESS;
    }
    question->answer.server = question->server;
    question->answer.id = question->up.id;
    question->answer.client = question->up.client;
    question->answer.size = said->bytes == NULL ? 0 : said->size;
    question->answer.ninfo = said->info == NULL ? 0 : said->ninfo;
    question->post = (struct sx_loop_post){ .fn = question_answered, .arg = question };
    (void)sx_loop_post(question->server->loop, &question->post); /* it runs: see below */
}

/* Infos that the host keeps only during its call: a release function of the host is not called for
 * them. */
struct copied {
    size_t count;
    pmix_info_t info[];
};

static void copied_free(void *arg)
{
    struct copied *const copied = arg;

    sx_elements_destruct(copied->info, copied->count, PMIX_INFO);
    free(copied);
}

static void infos_copy(struct question *question, struct sx_host_answer *said)
{
    struct copied *const copied = malloc(sizeof(*copied) + said->ninfo * sizeof(*said->info));
    pmix_status_t rc = copied == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;

    if (rc == PMIX_SUCCESS) {
        rc = sx_elements_copy(copied->info, said->info, said->ninfo, PMIX_INFO);
    }
    if (rc != PMIX_SUCCESS) {
        sx_log(SX_LOG_WARN, "what the host answers cannot be kept: %s", PMIx_Error_string(rc));
        free(copied);
        *said = (struct sx_host_answer){ .status = rc };
        return;
    }
    copied->count = said->ninfo;
    said->info = copied->info;
    question->release_fn = copied_free;
    question->release_cbdata = copied;
}

/* The host's answer, on any thread.  The answer is posted to the loop before the lock is released.
 * So the server, which ends after sx_upcall_forget_all, cannot end in between. */
static void answer_question(uintptr_t number, const struct sx_host_answer *answer,
                            pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct sx_host_answer said = *answer;

    pthread_mutex_lock(&open_lock);
    struct question *const question = question_take_locked(number);

    if (question != NULL) {
        question->release_fn = release_fn;
        question->release_cbdata = release_cbdata;
        if (release_fn == NULL && said.info != NULL && said.ninfo > 0) {
            infos_copy(question, &said);
        }
        question_post(question, &said);
    }
    pthread_mutex_unlock(&open_lock);
    if (question == NULL && number != 0) {
        sx_log(SX_LOG_INFO, "the host answered a question twice, or too late");
    }
}

static void answer_op(pmix_status_t status, void *cbdata)
{
    answer_question((uintptr_t)cbdata, &(struct sx_host_answer){ .status = status }, NULL, NULL);
}

static void answer_modex(pmix_status_t status, const char *data, size_t ndata, void *cbdata,
                         pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    const struct sx_host_answer said = { .status = status, .bytes = data, .size = ndata };

    answer_question((uintptr_t)cbdata, &said, release_fn, release_cbdata);
}

static void answer_info(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                        pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    const struct sx_host_answer said = { .status = status, .info = info, .ninfo = ninfo };

    answer_question((uintptr_t)cbdata, &said, release_fn, release_cbdata);
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
    answer_question((uintptr_t)cbdata, &said, NULL, NULL);
}

/* The answer is @rc, which the entry returned, unless the host has called back as well: then the
 * callback's answer counts. */
static void entry_returned(uintptr_t number, pmix_status_t rc)
{
    struct question *const question = question_take(number);

    if (question != NULL) {
        question_post(question,
                      &(struct sx_host_answer){ .status = rc,
                                                .refused = rc != PMIX_SUCCESS &&
                                                           rc != PMIX_OPERATION_SUCCEEDED });
    }
}

/* Whether the host has removed the client in an earlier call: its server object may be gone, and it
 * pushes no input any more. */
static bool is_removed(const struct question *question)
{
    const struct sx_client *const client = question->up.client;

    return rows[question->kind].ends_with_client && client != NULL &&
           client->removals != question->removals;
}

/* The question may have its answer, on any thread, before its entry returns.  It is freed on this
 * thread, so it lasts until then. */
static void question_ask(struct sx_host_call *call)
{
    struct question *const question = SX_CONTAINER(call, struct question, call);
    const struct row *const row = &rows[question->kind];
    const uintptr_t number = question->node.hash;
    const bool is_notice = question->up.told == NULL, by_return = question->up.by_return;
    pmix_status_t rc;

    if (is_removed(question)) {
        rc = PMIX_ERR_NOT_FOUND;
    } else {
        called_log(question->kind, &question->up);
        question->is_made = true;
        rc = row->call(&question->server->module, &question->up, (void *)number);
    }
    if (is_notice) {
        pthread_mutex_lock(&open_lock);
        sx_list_remove(&question->link);
        pthread_mutex_unlock(&open_lock);
        question_free(question);
    } else if (rc != PMIX_SUCCESS || by_return) {
        entry_returned(number, rc);
    }
}

/* ---- asking -------------------------------------------------------------------------------- */

void sx_asker_init(struct sx_asker *asker)
{
    sx_list_init(&asker->questions);
}

void sx_asker_deinit(struct sx_asker *asker)
{
    while (asker->questions.next != NULL && sx_list_pop(&asker->questions) != NULL) {
    }
}

pmix_status_t sx_upcall_judge(struct sx_server *server, enum sx_upcall_kind kind, size_t bytes)
{
    const struct row *const row = &rows[kind];
    struct sx_owed *const owed = &server->port.host.owed[kind];

    if (!has_entry(server, kind)) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (server->port.host.forgotten) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    owed->full_told = owed->full_told && owed->count > 0;
    if (row->max == 0 || (owed->count < row->max && owed->bytes + bytes <= row->bytes_max)) {
        return PMIX_SUCCESS;
    }
    if (!owed->full_told) {
        owed->full_told = true;
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

void sx_upcall_drop(const struct sx_upcall *upcall)
{
    free(upcall->bytes);
    contents_destruct(upcall);
}

pmix_status_t sx_upcall(struct sx_server *server, enum sx_upcall_kind kind,
                        const struct sx_upcall *upcall)
{
    pmix_proc_t caller;
    struct sx_upcall up = *upcall;
    struct question *question = NULL;

    if (up.proc == NULL && up.client != NULL) {
        caller = sx_nspace_proc(up.client->nspace, up.client->rank);
        up.proc = &caller;
    }
    const size_t size = sizeof(*question) + parts_lay(NULL, &up);
    pmix_status_t rc = sx_upcall_judge(server, kind, size + up.info_bytes);

    if (rc == PMIX_SUCCESS) {
        question = question_new(server, kind, &up, size);
        rc = question == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    }
    if (question == NULL) {
        sx_upcall_drop(&up);
    }
    return rc;
}

void sx_upcall_forget_all(struct sx_server *server)
{
    struct sx_list *it;

    server->port.host.forgotten = true;
    pthread_mutex_lock(&open_lock);
    while ((it = sx_list_pop(&open_list)) != NULL) {
        question_free(SX_LIST_ENTRY(it, struct question, link));
    }
    sx_table_deinit(&open_table);
    pthread_mutex_unlock(&open_lock);
    for (size_t i = 0; i < SX_COUNT(server->port.host.owed); i++) {
        owed_close_unless_used(&server->port.host.owed[i]);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* logging.c - one call, from its infos to its answer. */
#include "server/log/logging.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/call/directive_tables.h"
#include "base/call/role.h"
#include "base/stream/log_channel.h"
#include "base/value/value.h"
#include "base/waiter.h"
#include "server/port/port.h"

#define PRIORITY_ERROR 3u

struct call;

/* One info of the data. */
struct part {
    struct sx_sink_job job;
    struct call *call;
    uint8_t way; /* enum sx_log_way */
};

/* The request of a client, while it waits. */
struct asking {
    struct sx_pending pending;
    struct call *call;
};

struct call {
    struct sx_list link; /* server.log.calls */
    struct sx_server *server;
    struct sx_client *client; /* retained; NULL: the host */
    struct asking *asking;    /* NULL: no request waits any more */
    size_t bytes;             /* the memory that it holds, for the quota */
    pmix_op_cbfunc_t cbfunc;  /* of the host */
    void *cbdata;
    struct sx_host_call host_call;  /* with the status */
    pmix_info_t *data, *directives; /* its own */
    size_t ndata, ndirs;
    struct part *parts; /* ndata of them */
    struct sx_log_options options;
    pmix_proc_t source;
    time_t when;
    struct sx_asker asker;
    size_t next;   /* of the data */
    unsigned open; /* parts in progress, and a loop that starts more */
    bool any_required_asked;
    bool any_logged, any_missed;
    pmix_status_t status; /* of the first part that failed; of a required one in any case */
    bool required_missed;
};

/* ---- the end of a call ----------------------------------------------------------------------- */

static void call_free(struct call *call)
{
    sx_list_remove(&call->link);
    sx_asker_deinit(&call->asker);
    if (call->client != NULL) {
        sx_client_release(call->client);
    }
    if (call->data != NULL) {
        PMIX_INFO_FREE(call->data, call->ndata);
    }
    if (call->directives != NULL) {
        PMIX_INFO_FREE(call->directives, call->ndirs);
    }
    free(call->parts);
    free(call);
}

static void host_answer(struct sx_host_call *host_call)
{
    struct call *const call = SX_CONTAINER(host_call, struct call, host_call);

    call->cbfunc(call->status, call->cbdata);
    call_free(call);
}

static void call_end(struct call *call, pmix_status_t status)
{
    struct asking *const asking = call->asking;

    if (asking != NULL) {
        asking->call = NULL;
        asking->pending.with_host = false;
        sx_pending_answer(&asking->pending, status);
    } else if (call->client != NULL) {
        sx_pending_uncount(call->client, SX_PENDING_LOG, call->bytes);
    } else {
        call->status = status;
        sx_list_remove(&call->link);
        sx_host_call_append(call->server, &call->host_call, host_answer);
        return;
    }
    call_free(call);
}

static pmix_status_t call_status(const struct call *call)
{
    if (!call->any_missed) {
        return PMIX_SUCCESS;
    }
    return call->any_logged && !call->required_missed ? PMIX_ERR_PARTIAL_SUCCESS : call->status;
}

/* A part of the call ended with @status. */
static void call_note(struct call *call, pmix_status_t status, bool required)
{
    if (status == PMIX_SUCCESS) {
        call->any_logged = true;
        return;
    }
    if (!call->any_missed || (required && !call->required_missed)) {
        call->status = status;
    }
    call->any_missed = true;
    call->required_missed = call->required_missed || required;
}

static void call_go(struct call *call);

/* One part in progress has ended. */
static void call_close(struct call *call)
{
    if (--call->open > 0) {
        return;
    }
    if (call->next < call->ndata && !call->any_logged) { /* PMIX_LOG_ONCE: try the next */
        call_go(call);
    } else {
        call_end(call, call->options.once && call->any_logged ? PMIX_SUCCESS : call_status(call));
    }
}

/* ---- to an outlet ---------------------------------------------------------------------------- */

static pmix_info_t *info_of(const struct part *part)
{
    return &part->call->data[part - part->call->parts];
}

static void part_begin(struct sx_sink_job *job, struct sx_log_text *ret)
{
    const struct part *const part = SX_CONTAINER(job, struct part, job);
    const struct call *const call = part->call;
    const struct sx_log_options *const options = &call->options;
    const struct sx_log_style style = { .marks = options->marks,
                                        .source = &call->source,
                                        .when = call->when };
    const pmix_info_t *const info = info_of(part);

    if (part->way == SX_LOG_SYSLOG) {
        sx_log_text_syslog(ret, info->value.data.string,
                           options->priority.given ? options->priority.number : PRIORITY_ERROR,
                           &style);
    } else {
        sx_log_text_stream(ret, info->value.data.string, sx_log_channel_find(info->key)->name,
                           &style);
    }
}

static void part_done(struct sx_sink_job *job, pmix_status_t status)
{
    const struct part *const part = SX_CONTAINER(job, struct part, job);

    call_note(part->call, status, (info_of(part)->flags & PMIX_INFO_REQD) != 0);
    call_close(part->call);
}

static enum sx_sink_number outlet_of(uint8_t way)
{
    return way == SX_LOG_STDOUT   ? SX_SINK_STDOUT
           : way == SX_LOG_STDERR ? SX_SINK_STDERR
                                  : SX_SINK_SYSLOG;
}

static void part_put(struct part *part)
{
    part->job = (struct sx_sink_job){ .begin = part_begin, .done = part_done };
    part->call->open++;
    sx_sink_put(part->call->server, outlet_of(part->way), &part->job);
}

static void outlets_go(struct sx_server *server)
{
    for (int i = 0; i < SX_SINKS; i++) {
        sx_sink_go(server, (enum sx_sink_number)i);
    }
}

/* ---- to the host ----------------------------------------------------------------------------- */

static void host_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    struct call *const call = SX_CONTAINER(asker, struct call, asker);

    call_note(call, answer->status, call->any_required_asked);
    call_close(call);
}

/* Pass to the host the parts from @first to before @end that it serves, the directives, and the
 * asker's identity. */
static pmix_status_t question_build(const struct call *call, size_t first, size_t end,
                                    struct sx_upcall *up)
{
    const size_t max = end - first + call->ndirs + 2;
    pmix_info_t *const info = calloc(max, sizeof(*info));
    pmix_status_t rc = info == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;

    up->info = info;
    for (size_t i = first; i < end && rc == PMIX_SUCCESS; i++) {
        if (call->parts[i].way == SX_LOG_HOST) {
            rc = sx_elements_copy(&info[up->ninfo++], &call->data[i], 1, PMIX_INFO);
        }
    }
    up->ndata = up->ninfo;
    for (size_t i = 0; i < call->ndirs && rc == PMIX_SUCCESS; i++) {
        rc = sx_elements_copy(&info[up->ninfo++], &call->directives[i], 1, PMIX_INFO);
    }
    if (rc == PMIX_SUCCESS) {
        sx_infos_user_add(info, &up->ninfo, call->client->uid, call->client->gid);
    }
    return rc;
}

static void host_ask(struct call *call, size_t first, size_t end)
{
    struct sx_upcall up = { .answered = host_answered,
                            .asker = &call->asker,
                            .client = call->client,
                            .info_bytes = call->bytes };
    pmix_status_t rc = question_build(call, first, end, &up);

    if (rc == PMIX_SUCCESS) {
        rc = sx_upcall(call->server, SX_UPCALL_LOG, &up);
    } else {
        sx_upcall_drop(&up);
    }
    free(up.info);
    if (rc == PMIX_SUCCESS) {
        call->open++; /* the answer is handled only after this function has returned */
    } else {
        call_note(call, rc, call->any_required_asked);
    }
}

/* ---- the destination of each part ------------------------------------------------------------ */

static enum sx_log_way way_of(const struct call *call, const pmix_info_t *info)
{
    struct sx_server *const server = call->server;
    enum sx_log_way way = sx_log_channel_way(sx_log_channel_find(info->key), server->log.taken);

    if (way == SX_LOG_SYSLOG && !sx_sink_can(server, SX_SINK_SYSLOG)) {
        way = server->log.taken == 0 ? SX_LOG_HOST : SX_LOG_NOBODY;
    }
    if (way == SX_LOG_HOST && (server->module.log == NULL || call->client == NULL)) {
        way = SX_LOG_NOBODY;
    }
    return way;
}

/* Infos that describe a record belong to that record. */
static void matter_follow(struct call *call)
{
    bool any_record = false;

    for (size_t i = 0; i < call->ndata; i++) {
        const struct sx_log_channel *const channel = sx_log_channel_find(call->data[i].key);

        any_record = any_record || (channel != NULL && channel->run == SX_LOGS_RECORDS &&
                                    call->parts[i].way == SX_LOG_HOST);
    }
    for (size_t i = 0; i < call->ndata && any_record; i++) {
        if (sx_log_channel_find(call->data[i].key) == NULL) {
            call->parts[i].way = SX_LOG_HOST;
        }
    }
}

/* Return: PMIX_ERR_NOT_SUPPORTED when a required channel is not served. */
static pmix_status_t ways_find(struct call *call)
{
    for (size_t i = 0; i < call->ndata; i++) {
        call->parts[i].call = call;
        call->parts[i].way = way_of(call, &call->data[i]);
    }
    matter_follow(call);
    for (size_t i = 0; i < call->ndata; i++) {
        if (call->parts[i].way == SX_LOG_NOBODY && (call->data[i].flags & PMIX_INFO_REQD) != 0) {
            return PMIX_ERR_NOT_SUPPORTED;
        }
    }
    return PMIX_SUCCESS;
}

/* Start the next part.  Return: true when it is for the host. */
static bool part_go(struct call *call)
{
    struct part *const part = &call->parts[call->next++];

    if (part->way == SX_LOG_NOBODY) {
        call_note(call, PMIX_ERR_NOT_SUPPORTED, false);
    } else if (part->way == SX_LOG_HOST) {
        call->any_required_asked = call->any_required_asked ||
                                   (info_of(part)->flags & PMIX_INFO_REQD) != 0;
    } else {
        part_put(part);
    }
    return part->way == SX_LOG_HOST;
}

/* With PMIX_LOG_ONCE: until one is in progress. */
static void call_go(struct call *call)
{
    const size_t first = call->next;
    struct sx_server *const server = call->server;
    bool any_asked = false;

    call->open++;
    while (call->next < call->ndata && !(call->options.once && (call->open > 1 || any_asked))) {
        any_asked = part_go(call) || any_asked;
    }
    if (any_asked) {
        host_ask(call, first, call->next);
    }
    call_close(call);
    outlets_go(server); /* a callback may free the call */
}

static void call_begin(struct call *call)
{
    const pmix_value_t *const when = call->options.when == NULL ? NULL : &call->options.when->value;
    const pmix_status_t rc = ways_find(call);

    call->when = when != NULL && when->type == PMIX_TIME && !call->options.stamp_now
                     ? when->data.time
                     : time(NULL);
    if (rc == PMIX_SUCCESS) {
        call_go(call);
    } else {
        call_end(call, rc);
    }
}

static struct call *call_new(struct sx_server *server)
{
    struct call *const call = calloc(1, sizeof(*call));

    if (call != NULL) {
        call->server = server;
        sx_asker_init(&call->asker);
        sx_list_init(&call->link);
    }
    return call;
}

/* The infos are decoded.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM and PMIX_ERR_NOT_SUPPORTED as
 * sx_log_data_judge and sx_options_read; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t call_judge(struct call *call)
{
    pmix_status_t rc = sx_log_data_judge(call->data, call->ndata);

    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_LOG, call->directives, call->ndirs, &call->options);
    }
    if (rc == PMIX_SUCCESS) {
        call->parts = calloc(call->ndata, sizeof(*call->parts));
        rc = call->parts == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    }
    return rc;
}

/* ---- of clients ------------------------------------------------------------------------------ */

/* The client is gone, or has its answer. */
static void asking_free(struct sx_pending *pending)
{
    struct asking *const asking = SX_CONTAINER(pending, struct asking, pending);

    if (asking->call != NULL) {
        asking->call->asking = NULL;
    }
    free(asking);
}

static const struct sx_pending_kind asking_kind = { .quota = SX_PENDING_LOG, .free = asking_free };

/* Let request @id of @client wait for @call. */
static pmix_status_t asking_begin(struct call *call, struct sx_client *client, uint32_t id)
{
    struct asking *const asking = calloc(1, sizeof(*asking));

    if (asking == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    asking->pending.bytes = call->bytes;
    const pmix_status_t rc = sx_pending_begin(call->server, client, id, &asking_kind,
                                              &asking->pending);

    if (rc != PMIX_SUCCESS) {
        free(asking);
        return rc;
    }
    asking->pending.with_host = true;
    asking->call = call;
    call->asking = asking;
    call->client = sx_client_retain(client);
    return PMIX_SUCCESS;
}

bool sx_logging_on_log(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns)
{
    struct call *const call = call_new(server);
    pmix_status_t rc = call == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;

    (void)now_ns;
    if (rc == PMIX_SUCCESS) {
        call->bytes = frame->opened.size;
        call->source = sx_nspace_proc(client->nspace, client->rank);
        rc = sx_body_infos(&frame->opened, SX_LOG_DATA, &call->data, &call->ndata);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_body_infos(&frame->opened, SX_LOG_DIRECTIVES, &call->directives, &call->ndirs);
    }
    if (rc == PMIX_SUCCESS) {
        rc = call_judge(call);
    }
    if (rc == PMIX_SUCCESS) {
        rc = asking_begin(call, client, frame->header.id);
    }
    if (rc != PMIX_SUCCESS) {
        if (call != NULL) {
            call_free(call);
        }
        sx_reply(server, client, frame->header.id, rc, -1);
        return true;
    }
    /* A reader may be slow. */
    sx_reply_read(server, client, frame);
    sx_list_append(&server->log.calls, &call->link);
    call_begin(call);
    return true;
}

/* ---- of the host ----------------------------------------------------------------------------- */

static pmix_status_t host_begin(struct sx_server *server, void *arg)
{
    struct call *const call = arg;

    sx_list_append(&server->log.calls, &call->link);
    call_begin(call);
    return PMIX_SUCCESS;
}

static pmix_status_t infos_copy(pmix_info_t **ret, size_t *ret_count, const pmix_info_t *info,
                                size_t ninfo)
{
    if (ninfo == 0) {
        return PMIX_SUCCESS;
    }
    PMIX_INFO_CREATE(*ret, ninfo);
    *ret_count = *ret == NULL ? 0 : ninfo;
    if (*ret == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    return sx_elements_copy(*ret, info, ninfo, PMIX_INFO);
}

/* With @cbfunc: the callback may be called before this returns. */
static pmix_status_t host_log(struct sx_server *server, const pmix_info_t data[], size_t ndata,
                              const pmix_info_t directives[], size_t ndirs, pmix_op_cbfunc_t cbfunc,
                              void *cbdata)
{
    struct call *const call = call_new(server);

    if (call == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    call->cbfunc = cbfunc;
    call->cbdata = cbdata;
    call->source = server->self;
    pmix_status_t rc = infos_copy(&call->data, &call->ndata, data, ndata);

    if (rc == PMIX_SUCCESS) {
        rc = infos_copy(&call->directives, &call->ndirs, directives, ndirs);
    }
    if (rc == PMIX_SUCCESS) {
        rc = call_judge(call);
    }
    if (rc == PMIX_SUCCESS && call->options.source.count > 0) {
        call->source = call->options.source.all[0];
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_server_call(server, host_begin, call);
    }
    if (rc != PMIX_SUCCESS) {
        call_free(call);
    }
    return rc;
}

pmix_status_t sx_logging_by_host(const pmix_info_t data[], size_t ndata,
                                 const pmix_info_t directives[], size_t ndirs,
                                 pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_server *const server = sx_server_get();
    struct sx_waiter waiter = SX_WAITER_INIT;

    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    if (cbfunc != NULL) {
        return host_log(server, data, ndata, directives, ndirs, cbfunc, cbdata);
    }
    pmix_status_t rc = sx_role_may_wait();

    if (rc == PMIX_SUCCESS) {
        rc = host_log(server, data, ndata, directives, ndirs, sx_waiter_op_done, &waiter);
    }
    return rc == PMIX_SUCCESS ? sx_waiter_wait(&waiter) : rc;
}

/* ---- life ------------------------------------------------------------------------------------ */

void sx_logging_init(struct sx_server *server, const struct sx_server_options *options)
{
    server->log.taken = options->logs;
    sx_list_init(&server->log.calls);
    sx_sinks_init(server);
}

void sx_logging_stop(struct sx_server *server)
{
    sx_sinks_end(server);
    while (!sx_list_empty(&server->log.calls)) { /* calls that wait for the host */
        call_end(SX_LIST_ENTRY(server->log.calls.next, struct call, link), PMIX_ERR_NOT_AVAILABLE);
    }
}

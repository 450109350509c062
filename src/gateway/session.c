/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* session.c - requests of one rank: the table of commands, and the way of each to its answer. */
#include "gateway/session.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call/directive_tables.h"
#include "base/status.h"
#include "base/util.h"
#include "base/value/value.h"
#include "gateway/request.h"

#define TAG_HEARTBEAT 1 /* which has no answer */
#define TAG_FIRST 100   /* of requests */

static pmix_status_t finalize(struct sx_request *request, struct sx_wire_reader *body);

static const struct command {
    const char *name;
    sx_command_fn_t begin;
} commands[] = {
    [0] = { "REQ", sx_gateway_req },
    [1] = { "ABORT", sx_gateway_abort },
    [2] = { "COMMIT", sx_gateway_commit },
    [3] = { "FENCENB", sx_gateway_fence },
    [4] = { "GETNB", sx_gateway_get },
    [5] = { "FINALIZE", finalize },
    [6] = { "PUBLISHNB", sx_gateway_publish },
    [7] = { "LOOKUPNB", sx_gateway_lookup },
    [8] = { "UNPUBLISHNB", sx_gateway_unpublish },
    [9] = { "SPAWNNB", sx_gateway_spawn },
    [10] = { "CONNECTNB", sx_gateway_connect },
    [11] = { "DISCONNECTNB", sx_gateway_disconnect },
    [12] = { "NOTIFY", sx_gateway_event_notify },
    [13] = { "REGEVENTS", sx_gateway_event_register },
    [14] = { "DEREGEVENTS", sx_gateway_event_deregister },
    [15] = { "QUERY", sx_gateway_query },
    [16] = { "LOG", sx_gateway_log },
    [17] = { "ALLOC", sx_gateway_allocate },
    [18] = { "JOB_CONTROL", sx_gateway_job_control },
    [19] = { "MONITOR", sx_gateway_monitor },
    [20] = { "GET_CREDENTIAL", sx_gateway_get_credential },
    [21] = { "VALIDATE_CRED", sx_gateway_validate_credential },
    [22] = { "IOF_PULL", sx_gateway_iof_pull },
    [23] = { "IOF_PUSH", sx_gateway_iof_push },
    [24] = { "GROUP_CONSTRUCT", sx_gateway_group_construct },
    [27] = { "GROUP_LEAVE", sx_gateway_group_leave },
    [28] = { "GROUP_DESTRUCT", sx_gateway_group_destruct },
    [29] = { "IOF_DEREG", sx_gateway_iof_deregister },
    [30] = { "FABRIC_REGISTER", sx_gateway_fabric_register },
    [31] = { "FABRIC_UPDATE", sx_gateway_fabric_update },
    [33] = { "REFRESH_CACHE", sx_gateway_refresh },
    [37] = { "RESOLVE_PEERS", sx_gateway_resolve_peers },
    [38] = { "RESOLVE_NODE", sx_gateway_resolve_nodes },
    [39] = { "GDS_FALLBACK", sx_gateway_req },
};

static struct sx_session *the_session; /* a process has one, as it has one PMIx_Init */

struct sx_session *sx_session_current(void)
{
    return the_session;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static struct sx_request *request_new(struct sx_session *session, uint32_t tag)
{
    struct sx_request *const request = calloc(1, sizeof(*request));

    if (request == NULL) {
        return NULL;
    }
    request->session = session;
    request->tag = tag;
    request->out.form = session->foreign.form;
    sx_list_init(&request->deferred);
    sx_list_append(&session->requests, &request->node);
    session->request_count++;
    return request;
}

static void request_free(struct sx_request *request)
{
    sx_list_remove(&request->node);
    sx_list_remove(&request->deferred);
    request->session->request_count--;
    sx_codec_infos_free(&request->infos);
    free(request->procs.at);
    free(request->text);
    sx_wire_writer_deinit(&request->out);
    if (request->array.at != NULL) {
        sx_elements_destruct(request->array.at, request->array.count, request->array.type);
        free(request->array.at);
    }
    free(request);
}

struct sx_wire_writer sx_request_body(const struct sx_request *request, pmix_status_t status)
{
    struct sx_wire_writer body = sx_request_writer(request);

    sx_codec_put_status(&body, status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status);
    return body;
}

/* The largest body that the rank's library takes: longer ones end its connection. */
static size_t body_max(uint32_t release)
{
    return release < SX_FOREIGN_NUMBER(4, 0, 0)    ? (size_t)16 << 20
           : release >= SX_FOREIGN_NUMBER(6, 1, 0) ? (size_t)32 << 20
                                                   : SX_LINK_ANSWER_MAX;
}

/* Without an answer the other side would wait for ever.  If memory is out even for a status, the
 * session ends.  Many answers may be due at once: each waits until the rank has read those before
 * it. */
static void send_body(struct sx_session *session, uint32_t tag, struct sx_wire_writer *body)
{
    if (body->failed != PMIX_SUCCESS) {
        session->is_lost = true;
    } else if (session->link != NULL) {
        sx_gateway_link_make_room(session->link, SX_LINK_SEND_HIGH);
        sx_gateway_link_send(session->link, tag, body->bytes, body->size);
    }
}

void sx_request_answer_body(struct sx_request *request, struct sx_wire_writer *body)
{
    const struct sx_foreign *const foreign = &request->session->foreign;

    if (body->failed == PMIX_SUCCESS && body->size > body_max(foreign->number)) {
        sx_log(SX_LOG_WARN,
               "rank %u: the answer to %s has %zu MiB; at most %zu MiB go in one message to "
               "OpenPMIx %s",
               foreign->proc.rank, request->name, body->size >> 20, body_max(foreign->number) >> 20,
               foreign->version);
        body->failed = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (body->failed != PMIX_SUCCESS) {
        const pmix_status_t status = body->failed;

        sx_wire_writer_deinit(body);
        *body = sx_request_body(request, status);
    }
    send_body(request->session, request->tag, body);
    sx_wire_writer_deinit(body);
    request_free(request);
}

void sx_request_answer(struct sx_request *request, pmix_status_t status)
{
    struct sx_wire_writer body = sx_request_body(request, status);

    sx_request_answer_body(request, &body);
}

pmix_status_t sx_request_called(struct sx_request *request, pmix_status_t rc)
{
    if (rc == PMIX_OPERATION_SUCCEEDED) {
        sx_request_answer(request, PMIX_SUCCESS);
        return PMIX_SUCCESS;
    }
    return rc;
}

void sx_request_on_status(pmix_status_t status, void *cbdata)
{
    sx_request_answer(cbdata, status);
}

void sx_request_drop(struct sx_request *request)
{
    request_free(request);
}

void sx_request_get_array(struct sx_request *request, struct sx_wire_reader *body,
                          pmix_data_type_t type)
{
    request->array.type = type;
    sx_codec_get_array(body, type, &request->array.at, &request->array.count);
}

void sx_request_on_infos(pmix_status_t status, pmix_info_t *infos, size_t count, void *cbdata,
                         pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct sx_request *const request = cbdata;
    struct sx_wire_writer body = sx_request_body(request, status);

    sx_codec_put_infos(&body, infos, infos == NULL ? 0 : count);
    sx_request_answer_body(request, &body);
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
}

void sx_gateway_ignore_status(pmix_status_t status, void *cbdata)
{
    (void)status, (void)cbdata;
}

void sx_request_defer(struct sx_request *request, void (*resume)(struct sx_request *request))
{
    request->resume = resume;
    sx_list_append(&request->session->deferred, &request->deferred);
}

/* ---- Dispatch -------------------------------------------------------------------------------- */

static const struct command *command_find(uint8_t number)
{
    return number < SX_COUNT(commands) && commands[number].begin != NULL ? &commands[number] : NULL;
}

/* A body whose types this gateway does not carry is in order, but cannot be served. */
static bool is_broken(const struct sx_wire_reader *body)
{
    return body->failed != PMIX_SUCCESS && body->failed != PMIX_ERR_UNKNOWN_DATA_TYPE &&
           body->failed != PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t dispatch(struct sx_request *request, struct sx_wire_reader *body)
{
    const uint8_t number = sx_codec_get_u8(body, SX_CODEC_COMMAND);
    const struct command *const command = command_find(number);

    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    if (command == NULL) {
        sx_log(SX_LOG_INFO, "rank %u asks for command %u of OpenPMIx, which is not served",
               request->session->foreign.proc.rank, number);
        return PMIX_ERR_NOT_SUPPORTED;
    }
    request->name = command->name;
    sx_log(SX_LOG_DEBUG, "rank %u: %s, %zu bytes, tag %u", request->session->foreign.proc.rank,
           command->name, sx_wire_rest(body), request->tag);
    return command->begin(request, body);
}

pmix_status_t sx_session_on_message(struct sx_session *session, uint32_t tag, const void *body,
                                    size_t size)
{
    struct sx_wire_reader reader = { .at = body,
                                     .end = (const uint8_t *)body + size,
                                     .form = session->foreign.form };
    struct sx_request *request;
    pmix_status_t rc;

    if (tag == TAG_HEARTBEAT && !session->is_finalized) {
        sx_gateway_heartbeat();
        return PMIX_SUCCESS;
    }
    if (tag == TAG_HEARTBEAT) {
        return PMIX_SUCCESS;
    }
    if (tag < TAG_FIRST || session->is_finalized) {
        return PMIX_ERR_BAD_PARAM;
    }
    request = request_new(session, tag);
    if (request == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = dispatch(request, &reader);
    if (rc == PMIX_SUCCESS) {
        return PMIX_SUCCESS;
    }
    if (is_broken(&reader)) {
        request_free(request);
        return reader.failed;
    }
    sx_request_answer(request, rc == PMIX_ERR_UNKNOWN_DATA_TYPE ? PMIX_ERR_NOT_SUPPORTED : rc);
    return PMIX_SUCCESS;
}

/* ---- Life ------------------------------------------------------------------------------------ */

/* The only event that is the session's own: the rank sees the end of its connection. */
static void on_server_lost(size_t id, pmix_status_t status, const pmix_proc_t *source,
                           pmix_info_t *info, size_t ninfo, pmix_info_t *results, size_t nresults,
                           pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    (void)id, (void)status, (void)source, (void)info, (void)ninfo, (void)results, (void)nresults;
    if (the_session != NULL) {
        the_session->is_lost = true;
    }
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static pmix_status_t begin(struct sx_session *session)
{
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION_TO_SERVER, rc;
    const uint32_t pid = (uint32_t)session->foreign.pid;
    pmix_info_t infos[3], own;
    bool flag = true;
    int fd;

    PMIX_INFO_LOAD(&infos[0], PMIX_EXTERNAL_PROGRESS, &flag, PMIX_BOOL);
    infos[0].flags = PMIX_INFO_REQD;
    PMIX_INFO_LOAD(&infos[1], SX_INIT_STANDS_FOR, &pid, PMIX_UINT32);
    PMIX_INFO_LOAD(&infos[2], SX_INIT_LIBRARY, &session->foreign.number, PMIX_UINT32);
    rc = PMIx_Init(NULL, infos, SX_COUNT(infos));
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = shmix_fd(&fd);
    if (rc == PMIX_SUCCESS) {
        session->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        rc = session->fd < 0 ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
    }
    if (rc == PMIX_SUCCESS) {
        /* The rank's own first handler gets what the job has published before it. */
        PMIX_INFO_LOAD(&own, SX_EVENT_OWN, &flag, PMIX_BOOL);
        rc = PMIx_Register_event_handler(&lost, 1, &own, 1, on_server_lost, NULL, NULL);
        rc = rc < 0 ? rc : PMIX_SUCCESS;
    }
    if (rc != PMIX_SUCCESS) {
        PMIx_Finalize(NULL, 0);
    }
    return rc;
}

pmix_status_t sx_session_open(struct sx_gateway_link *link, const struct sx_foreign *foreign,
                              struct sx_session **ret)
{
    struct sx_session *const session = calloc(1, sizeof(*session));
    pmix_status_t rc;

    *ret = NULL;
    if (session == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    session->link = link;
    session->foreign = *foreign;
    session->fd = -1;
    sx_list_init(&session->requests);
    sx_list_init(&session->deferred);
    sx_list_init(&session->handlers);
    sx_list_init(&session->pulls);
    rc = begin(session);
    if (rc != PMIX_SUCCESS) {
        if (session->fd >= 0) {
            close(session->fd);
        }
        free(session);
        return rc;
    }
    the_session = session;
    *ret = session;
    return PMIX_SUCCESS;
}

/* Calls that still wait end inside PMIx_Finalize, and are answered there. */
static pmix_status_t client_end(struct sx_session *session)
{
    if (session->is_finalized) {
        return PMIX_SUCCESS;
    }
    shmix_job_close(session->job);
    session->job = NULL;
    session->is_finalized = true;
    return PMIx_Finalize(NULL, 0);
}

/* FINALIZE: the other side has fenced before, if it wants that. */
static pmix_status_t finalize(struct sx_request *request, struct sx_wire_reader *body)
{
    (void)body;
    sx_request_answer(request, client_end(request->session));
    return PMIX_SUCCESS;
}

bool sx_session_is_full(const struct sx_session *session)
{
    return session->request_count >= SX_SESSION_REQUESTS_MAX;
}

bool sx_session_is_finalized(const struct sx_session *session)
{
    return session->is_finalized;
}

int sx_session_fd(const struct sx_session *session)
{
    return session->fd;
}

pmix_status_t sx_session_progress(struct sx_session *session)
{
    struct sx_list *node;

    if (session->is_finalized) {
        return PMIX_SUCCESS;
    }
    do {
        PMIx_Progress();
        while ((node = sx_list_pop(&session->deferred)) != NULL) {
            struct sx_request *const request = SX_LIST_ENTRY(node, struct sx_request, deferred);

            request->resume(request);
        }
    } while (!sx_list_empty(&session->deferred));
    return session->is_lost ? PMIX_ERR_LOST_CONNECTION : PMIX_SUCCESS;
}

struct sx_session *sx_session_close(struct sx_session *session, bool lost)
{
    session->link = NULL;
    if (!lost) {
        client_end(session);
    }
    if (lost && !session->is_finalized) {
        return NULL; /* calls still wait, and would come back to it: the process exits */
    }
    SX_LIST_EACH(node, &session->requests) {
        request_free(SX_LIST_ENTRY(node, struct sx_request, node));
    }
    the_session = NULL;
    sx_gateway_event_deinit(session);
    sx_gateway_iof_deinit(session);
    sx_gateway_data_deinit(session);
    sx_gateway_prefetch_deinit(session);
    close(session->fd);
    free(session);
    return NULL;
}

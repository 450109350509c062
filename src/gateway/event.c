/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event.c - REGEVENTS, DEREGEVENTS, NOTIFY, and events to the rank (tag 0).
 *
 *   REGISTERED --the call of the public API returns its number--> LIVE --deregistered--> gone
 *          \--deregistered meanwhile--> gone once the number is there
 *
 * The rank registers each code once, and runs its own chain of handlers.  So each code has one
 * handler here, and none of ours lets the event go on to the next: the rank gets it once.  An event
 * that this rank has raised is not sent, since its library has shown it to its own handlers. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "gateway/request.h"

#define TAG_EVENT 0
#define COMMAND_NOTIFY 12
#define CODE_DEFAULT INT_MIN /* of the handler for all codes */

struct handler {
    struct sx_list node;        /* of session->handlers */
    struct sx_request *request; /* NULL: answered */
    pmix_status_t code;
    size_t id; /* SIZE_MAX: not there yet */
    bool is_dropped;
};

/* ---- To the rank ----------------------------------------------------------------------------- */

static void event_send(struct sx_session *session, pmix_status_t code, const pmix_proc_t *source,
                       const pmix_info_t *infos, size_t count)
{
    struct sx_wire_writer body = { .form = session->foreign.form };

    sx_codec_put_u8(&body, SX_CODEC_COMMAND, COMMAND_NOTIFY);
    sx_codec_put_status(&body, code);
    sx_codec_pack(&body, PMIX_PROC, source, 1);
    sx_codec_put_infos(&body, infos, count);
    /* Releases from 4.0 on expect a range behind it, and judge nothing by it. */
    sx_codec_put_u8(&body, PMIX_DATA_RANGE, PMIX_RANGE_UNDEF);
    if (body.failed != PMIX_SUCCESS) {
        sx_log(SX_LOG_WARN, "rank %u misses event %s: there is no memory for it",
               session->foreign.proc.rank, PMIx_Error_string(code));
    } else if (session->link != NULL) {
        sx_gateway_link_send(session->link, TAG_EVENT, body.bytes, body.size);
    }
    sx_wire_writer_deinit(&body);
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *infos,
                     size_t count, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    struct sx_session *const session = sx_session_current();

    (void)id, (void)results, (void)nresults;
    if (session != NULL && !PMIX_CHECK_PROCID(source, &session->foreign.proc)) {
        event_send(session, code, source, infos, count);
    }
    cbfunc(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* ---- REGEVENTS ------------------------------------------------------------------------------- */

static void handler_free(struct handler *handler)
{
    sx_list_remove(&handler->node);
    free(handler);
}

static struct handler *handler_find(struct sx_session *session, pmix_status_t code)
{
    SX_LIST_EACH(it, &session->handlers) {
        struct handler *const handler = SX_LIST_ENTRY(it, struct handler, node);

        if (handler->code == code && !handler->is_dropped) {
            return handler;
        }
    }
    return NULL;
}

/* One of @request's codes is done; the last one answers. */
static void one_done(struct sx_request *request, pmix_status_t status)
{
    if (request->status == PMIX_SUCCESS) {
        request->status = status;
    }
    if (--request->waiting == 0) {
        sx_request_answer(request, request->status);
    }
}

static void on_registered(pmix_status_t status, size_t id, void *cbdata)
{
    struct handler *const handler = cbdata;
    struct sx_request *const request = handler->request;

    handler->request = NULL;
    handler->id = id;
    if (status != PMIX_SUCCESS) {
        handler_free(handler);
    } else if (handler->is_dropped) {
        (void)PMIx_Deregister_event_handler(id, sx_gateway_ignore_status, NULL);
        handler_free(handler);
    }
    one_done(request, status);
}

/* Return: PMIX_SUCCESS when a callback will come. */
static pmix_status_t handler_add(struct sx_request *request, pmix_status_t code)
{
    struct handler *const handler = calloc(1, sizeof(*handler));
    pmix_status_t rc;

    if (handler == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    handler->request = request;
    handler->code = code;
    handler->id = SIZE_MAX;
    sx_list_append(&request->session->handlers, &handler->node);
    rc = PMIx_Register_event_handler(code == CODE_DEFAULT ? NULL : &handler->code,
                                     code == CODE_DEFAULT ? 0 : 1, request->infos.at,
                                     request->infos.count, on_event, on_registered, handler);
    if (rc != PMIX_SUCCESS) {
        handler_free(handler);
    }
    return rc;
}

/* SIZE ncodes, [STATUS], infos.  No code means all of them. */
pmix_status_t sx_gateway_event_register(struct sx_request *request, struct sx_wire_reader *body)
{
    static const pmix_status_t all = CODE_DEFAULT;
    const pmix_status_t *codes;
    size_t count;

    sx_request_get_array(request, body, PMIX_STATUS);
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    codes = request->array.count == 0 ? &all : request->array.at;
    count = request->array.count == 0 ? 1 : request->array.count;
    request->waiting = 1; /* this function */
    for (size_t i = 0; i < count; i++) {
        pmix_status_t rc = PMIX_SUCCESS;

        if (handler_find(request->session, codes[i]) == NULL) {
            request->waiting++;
            rc = handler_add(request, codes[i]);
            request->waiting -= rc != PMIX_SUCCESS;
        }
        request->status = request->status == PMIX_SUCCESS ? rc : request->status;
    }
    one_done(request, PMIX_SUCCESS);
    return PMIX_SUCCESS;
}

/* ---- DEREGEVENTS ----------------------------------------------------------------------------- */

static void handler_drop(struct handler *handler)
{
    if (handler->id == SIZE_MAX) {
        handler->is_dropped = true;
        return;
    }
    (void)PMIx_Deregister_event_handler(handler->id, sx_gateway_ignore_status, NULL);
    handler_free(handler);
}

/* STATUS packs to the end.  It has no answer. */
pmix_status_t sx_gateway_event_deregister(struct sx_request *request, struct sx_wire_reader *body)
{
    while (sx_wire_rest(body) > 0) {
        const pmix_status_t code = sx_codec_get_status(body);
        struct handler *const handler = body->failed != PMIX_SUCCESS
                                            ? NULL
                                            : handler_find(request->session, code);

        if (handler != NULL) {
            handler_drop(handler);
        }
    }
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    sx_request_drop(request);
    return PMIX_SUCCESS;
}

/* ---- NOTIFY ---------------------------------------------------------------------------------- */

/* STATUS code, DATA_RANGE, infos. */
pmix_status_t sx_gateway_event_notify(struct sx_request *request, struct sx_wire_reader *body)
{
    const pmix_status_t code = sx_codec_get_status(body);
    const pmix_data_range_t range = sx_codec_get_u8(body, PMIX_DATA_RANGE);

    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return sx_request_called(request, PMIx_Notify_event(code, NULL, range, request->infos.at,
                                                        request->infos.count, sx_request_on_status,
                                                        request));
}

void sx_gateway_event_deinit(struct sx_session *session)
{
    SX_LIST_EACH(it, &session->handlers) {
        handler_free(SX_LIST_ENTRY(it, struct handler, node));
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event.c - REGEVENTS, DEREGEVENTS, NOTIFY, and events to the rank (tag 0).
 *
 *   REGISTERED --the call of the public API returns its number--> LIVE --deregistered--> gone
 *          \--deregistered meanwhile--> gone once the number is there
 *
 * The rank registers each code once, and runs its own chain of handlers.  So each code is in one
 * handler here, and that one does not let the event go on to the next: the rank gets it once.  The
 * codes of one request are in one handler, so that kept events of all of them come in the order of
 * their publication.  An event that this rank has raised is not sent, since its library has shown
 * it to its own handlers. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "control/message.h"
#include "gateway/request.h"

#define TAG_EVENT 0
#define COMMAND_NOTIFY 12
#define CODE_DEFAULT INT_MIN          /* of the handler for all codes */
#define EVENTS_MAX ((size_t)16 << 20) /* that wait for the rank before further ones do */

struct handler {
    struct sx_list node;        /* of session->handlers */
    struct sx_request *request; /* NULL: answered */
    size_t id;                  /* SIZE_MAX: not there yet */
    size_t count;               /* of codes; 0: it is dropped */
    pmix_status_t codes[];
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
        sx_gateway_link_make_room(session->link, EVENTS_MAX);
        sx_gateway_link_send(session->link, TAG_EVENT, body.bytes, body.size);
    }
    sx_wire_writer_deinit(&body);
}

static bool has_code(const struct handler *handler, pmix_status_t code)
{
    for (size_t i = 0; i < handler->count; i++) {
        if (handler->codes[i] == code) {
            return true;
        }
    }
    return false;
}

/* Whether the rank has deregistered @code since our handler @id was registered for it. */
static bool is_dropped(struct sx_session *session, size_t id, pmix_status_t code)
{
    SX_LIST_EACH(it, &session->handlers) {
        const struct handler *const handler = SX_LIST_ENTRY(it, struct handler, node);

        if (handler->id == id) {
            return !has_code(handler, code) && !has_code(handler, CODE_DEFAULT);
        }
    }
    return false;
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source, pmix_info_t *infos,
                     size_t count, pmix_info_t *results, size_t nresults,
                     pmix_event_notification_cbfunc_fn_t cbfunc, void *cbdata)
{
    struct sx_session *const session = sx_session_current();

    (void)results, (void)nresults;
    if (session != NULL && is_dropped(session, id, code)) {
        cbfunc(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, cbdata); /* another may have it */
        return;
    }
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

        if (has_code(handler, code)) {
            return handler;
        }
    }
    return NULL;
}

static void on_registered(pmix_status_t status, size_t id, void *cbdata)
{
    struct handler *const handler = cbdata;
    struct sx_request *const request = handler->request;

    handler->request = NULL;
    handler->id = id;
    if (status != PMIX_SUCCESS) {
        handler_free(handler);
    } else if (handler->count == 0) {
        (void)PMIx_Deregister_event_handler(id, sx_gateway_ignore_status, NULL);
        handler_free(handler);
    }
    sx_request_answer(request, status);
}

/* Those of @count codes that no handler has yet, each once.  Return: NULL when memory is out. */
static struct handler *handler_new(struct sx_request *request, const pmix_status_t *codes,
                                   size_t count)
{
    struct handler *const handler = calloc(1, sizeof(*handler) + count * sizeof(*codes));

    if (handler == NULL) {
        return NULL;
    }
    handler->request = request;
    handler->id = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (!has_code(handler, codes[i]) && handler_find(request->session, codes[i]) == NULL) {
            handler->codes[handler->count++] = codes[i];
        }
    }
    sx_list_append(&request->session->handlers, &handler->node);
    return handler;
}

/* SIZE ncodes, [STATUS], infos.  No code means all of them.  The request keeps the codes that our
 * call borrows, as the rank may deregister some meanwhile. */
pmix_status_t sx_gateway_event_register(struct sx_request *request, struct sx_wire_reader *body)
{
    static const pmix_status_t all = CODE_DEFAULT;
    struct handler *handler;
    bool is_all;
    pmix_status_t rc;

    sx_request_get_array(request, body, PMIX_STATUS);
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    if (request->array.count > SX_REGISTER_CODES_MAX) { /* the walks below compare each with each */
        return PMIX_ERR_BAD_PARAM;
    }
    is_all = request->array.count == 0;
    handler = handler_new(request, is_all ? &all : request->array.at,
                          is_all ? 1 : request->array.count);
    if (handler == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (handler->count == 0) {
        handler_free(handler);
        sx_request_answer(request, PMIX_SUCCESS);
        return PMIX_SUCCESS;
    }
    if (!is_all) {
        memcpy(request->array.at, handler->codes, handler->count * sizeof(*handler->codes));
    }
    rc = PMIx_Register_event_handler(request->array.at, is_all ? 0 : handler->count,
                                     request->infos.at, request->infos.count, on_event,
                                     on_registered, handler);
    if (rc != PMIX_SUCCESS) {
        handler_free(handler);
    }
    return rc;
}

/* ---- DEREGEVENTS ----------------------------------------------------------------------------- */

static void code_drop(struct handler *handler, pmix_status_t code)
{
    size_t kept = 0;

    for (size_t i = 0; i < handler->count; i++) {
        if (handler->codes[i] != code) {
            handler->codes[kept++] = handler->codes[i];
        }
    }
    handler->count = kept;
    if (kept == 0 && handler->id != SIZE_MAX) {
        (void)PMIx_Deregister_event_handler(handler->id, sx_gateway_ignore_status, NULL);
        handler_free(handler);
    }
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
            code_drop(handler, code);
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

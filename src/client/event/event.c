/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event.c - PMIx_Register_event_handler, PMIx_Deregister_event_handler.
 *
 *     registration: in the table --server's list of kept events--> acknowledged, then called
 *
 * A registration reads the ring's count of events and sends it to the server.  The server returns
 * the events kept up to there, the newest first, in parts of a size that it chooses.  Later events
 * arrive by the ring.  A process without a server has its own events only. */
#include "client/event/event.h"
#include "client/event/event_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "base/call/chain.h"
#include "base/call/role.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/value/value.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "client/link/wait.h"
#include "ring/record.h"

/* The wishes of a handler, kept to withdraw them from the server. */
struct registered {
    struct sx_list node;
    size_t id, code_count;
    bool environment;
    pmix_status_t codes[];
};

void sx_event_deinit(void)
{
    struct sx_process *const p = &sx_process;
    struct sx_list *node;

    sx_chain_forget(sx_event_handlers());
    sx_handlers_deinit(sx_event_handlers());
    sx_handlers_init(sx_event_handlers());
    pthread_mutex_lock(&sx_events.lock);
    while ((node = sx_list_pop(&sx_events.registered)) != NULL) {
        free(SX_LIST_ENTRY(node, struct registered, node));
    }
    pthread_mutex_unlock(&sx_events.lock);
    pthread_mutex_lock(&p->lock);
    sx_event_queue_clear_locked();
    for (unsigned i = 0; i < p->link_count; i++) {
        p->links[i]->classes = 0;
        p->links[i]->events = (struct sx_link_events){ .last = 0 };
    }
    pthread_mutex_unlock(&p->lock);
}

/* ---- registration ------------------------------------------------------------------------- */

/* One registration on its way to the server and back. */
struct registration {
    struct sx_op op; /* `handler` is the id */
    bool environment;
    const pmix_status_t *codes;
    size_t code_count;
    uint64_t upto;        /* older events are from the server, newer ones from the ring */
    uint64_t before;      /* older events than this one are still to be fetched; 0: none */
    struct sx_list items; /* the events fetched so far */
    uint64_t in_hand;     /* the declaration whose handler makes this registration, 0: none */
    bool again;           /* acknowledged before there was a server */
    bool alone;           /* no server is asked; if there was none, joining one asks again */
    bool unasked;         /* there is no server with kept events */
    bool refused;         /* refused before it was counted: there is nothing to end */
};

static struct registered *registered_take(size_t id);

/* A request about a handler for these codes; the caller frees ret_body->iov_base. */
static pmix_status_t request_write(uint16_t kind, struct sx_event_register head, bool environment,
                                   const pmix_status_t *codes, size_t code_count,
                                   struct iovec *ret_body)
{
    struct sx_draft draft = { .head = &head,
                              .parts = { [SX_REGISTER_CODES] = { codes, code_count } } };

    head.flags = environment ? SX_EVENT_REGISTER_ENVIRONMENT : 0;
    return sx_wire_write(kind, &draft, NULL, 0, ret_body);
}

/* Send the registration to the server, or request more events; the answer continues it. */
static pmix_status_t registration_send(struct registration *registration)
{
    const struct sx_event_register head = { .upto = registration->upto,
                                            .before = registration->before };
    struct iovec body;
    pmix_status_t rc = request_write(SX_MSG_EVENT_REGISTER, head, registration->environment,
                                     registration->codes, registration->code_count, &body);

    if (rc == PMIX_SUCCESS) {
        rc = sx_request_start(&registration->op, SX_MSG_EVENT_REGISTER, &body, 1);
        free(body.iov_base);
    }
    return rc;
}

/* A lost server keeps no events; the handler still receives the event of the loss.  If the server
 * refuses, the handler does not exist: no event has been handed out to it. */
static void registration_end_locked(struct registration *registration)
{
    const pmix_status_t status = registration->op.status;
    const size_t id = registration->op.handler;

    if (status == PMIX_SUCCESS && !registration->unasked) {
        sx_event_late_locked(registration->op.link, &registration->items, id, registration->upto);
    } else {
        sx_event_items_free(&registration->items);
    }
    if (status != PMIX_SUCCESS && registration->again) {
        sx_log(SX_LOG_WARN,
               "an event handler does not hear of the events of server %s.%" PRIu32 ": %s",
               registration->op.link->server.nspace, registration->op.link->server.rank,
               PMIx_Error_string(status));
    } else if (status != PMIX_SUCCESS) {
        sx_handlers_remove(sx_event_handlers(), id);
        free(registered_take(id));
        registration->op.handler = SIZE_MAX;
    }
    if (status == PMIX_SUCCESS && !registration->again) {
        sx_event_declared_locked(id, registration->in_hand);
    }
    if (!registration->alone) {
        sx_handlers_since(sx_event_handlers(), id,
                          sx_event_of_ring(registration->op.link->place, registration->upto));
    }
    sx_events.registrations--;
}

/* Some of the kept events, the newest first. */
static void registration_part(struct sx_op *op, const struct sx_frame *frame)
{
    struct registration *const registration = SX_CONTAINER(op, struct registration, op);
    const uint64_t before = registration->before;

    registration->before =
        sx_event_kept_locked(op->link, (const uint8_t *)frame->body + sizeof(struct sx_reply),
                             frame->body_size - sizeof(struct sx_reply), &registration->items);
    if (before != 0 && registration->before >= before) {
        registration->before = 0;
        sx_event_garbled_locked(op->link, "kept events that never end");
    }
}

/* The server's answer, perhaps with more events to request. */
static void registration_answered(struct sx_op *op, const struct sx_frame *frame)
{
    struct registration *const registration = SX_CONTAINER(op, struct registration, op);

    if (op->status == PMIX_SUCCESS && frame->body_size > sizeof(struct sx_reply)) {
        registration_part(op, frame);
    } else {
        registration->before = 0;
    }
}

/* Request more, or release the events that follow the acknowledgement.  The thread that calls
 * callbacks hands events out as well, so the acknowledgement is first (EV3). */
static bool registration_finish(struct sx_op *op)
{
    struct registration *const registration = SX_CONTAINER(op, struct registration, op);

    if (registration->refused) {
        return true;
    }
    if (registration->before != 0 && registration_send(registration) == PMIX_SUCCESS) {
        return false;
    }
    pthread_mutex_lock(&sx_process.lock);
    registration_end_locked(registration);
    pthread_mutex_unlock(&sx_process.lock);
    return true;
}

static const struct sx_op_kind registration_kind = { .request = SX_MSG_EVENT_REGISTER,
                                                     .answered = registration_answered,
                                                     .part = registration_part,
                                                     .finish = registration_finish };

/* From now on the events with @codes in @link's ring are read.  Return: the newest one so far. */
static uint64_t classes_open_locked(struct sx_link *link, const pmix_status_t *codes, size_t ncodes)
{
    uint32_t classes = (ncodes == 0 ? SX_CLASSES_OF_CODES : 0) |
                       1u << SX_CLASS_OF_RANK(link->self.rank); /* events for this process alone */

    for (size_t i = 0; i < ncodes; i++) {
        classes |= 1u << SX_CLASS_OF_CODE(codes[i]);
    }
    if (link->classes == 0) {
        link->events.last = sx_event_published(link);
    }
    link->classes |= classes;
    return sx_event_published(link);
}

static pmix_status_t registered_keep(const struct registration *registration)
{
    const size_t codes_bytes = registration->code_count * sizeof(registration->codes[0]);
    struct registered *const kept = malloc(sizeof(*kept) + codes_bytes);

    if (kept == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    kept->id = registration->op.handler;
    kept->code_count = registration->code_count;
    kept->environment = registration->environment;
    if (codes_bytes != 0) {
        memcpy(kept->codes, registration->codes, codes_bytes);
    }
    pthread_mutex_lock(&sx_events.lock);
    sx_list_append(&sx_events.registered, &kept->node);
    pthread_mutex_unlock(&sx_events.lock);
    return PMIX_SUCCESS;
}

/* Return: a copy of @wanted with its codes; NULL when memory is out. */
static struct registration *registration_new(const struct registration *wanted)
{
    const size_t codes_bytes = wanted->code_count * sizeof(wanted->codes[0]);
    struct registration *const registration = malloc(sizeof(*registration) + codes_bytes);

    if (registration != NULL) {
        *registration = *wanted;
        sx_list_init(&registration->items);
        registration->codes = (const pmix_status_t *)(const void *)(registration + 1);
        if (codes_bytes != 0) {
            memcpy(registration + 1, wanted->codes, codes_bytes);
        }
    }
    return registration;
}

/* Send the registration to the server.  Without one, or when it is lost, only own events remain.
 * Return: as sx_op_settle. */
static pmix_status_t registration_run(struct registration *registration)
{
    struct sx_process *const p = &sx_process;
    const bool waits = !sx_callback_is_given(&registration->op.callback);
    pmix_status_t rc;

    if (!registration->alone && registration_send(registration) == PMIX_SUCCESS) {
        rc = sx_op_settle(&registration->op, waits, PMIX_SUCCESS);
    } else {
        registration->unasked = true;
        rc = sx_op_answer(&registration->op, PMIX_SUCCESS);
    }
    if (waits) {
        pthread_mutex_lock(&p->lock);
        sx_local_ring_locked(); /* events that were held back may be handed out now */
        pthread_mutex_unlock(&p->lock);
    }
    return rc;
}

static pmix_status_t handler_deregister(size_t id);

static void handler_spent(size_t id)
{
    (void)handler_deregister(id);
}

/* Add the handler to the table, and to the list of wishes for servers. */
static pmix_status_t handler_keep_locked(struct registration *registration,
                                         const struct sx_handler_options *options,
                                         pmix_notification_fn_t fn)
{
    sx_handlers_on_spent(sx_event_handlers(), handler_spent);
    pmix_status_t rc = sx_handlers_add(sx_event_handlers(), sx_process.self.nspace,
                                       registration->codes, registration->code_count, options, fn,
                                       &registration->op.handler);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = registered_keep(registration);
    if (rc != PMIX_SUCCESS) {
        sx_handlers_remove(sx_event_handlers(), registration->op.handler);
        registration->op.handler = SIZE_MAX;
    } else if (registration->alone) {
        sx_handlers_since(sx_event_handlers(), registration->op.handler, 0);
    }
    return rc;
}

/* The acknowledgement of a further server: the caller received the primary's. */
static void other_acknowledged(pmix_status_t status, size_t id, void *cbdata)
{
    (void)status;
    (void)id;
    (void)cbdata;
}

/* The same handler's registrations with the other servers, to be run without the lock. */
static void others_add_locked(const struct registration *registration, struct sx_list *ret_others)
{
    const struct sx_process *const p = &sx_process;

    for (unsigned i = 0; i < p->link_count; i++) {
        struct sx_link *const link = p->links[i];
        struct registration wanted = {
            .op = SX_OP_INIT(&registration_kind, link, .handler = registration->op.handler,
                             .callback = SX_CALLBACK(SX_SHAPE_HANDLER, handler, other_acknowledged,
                                                     NULL)),
            .environment = registration->environment,
            .codes = registration->codes,
            .code_count = registration->code_count,
            .again = true,
        };
        struct registration *const other = link != registration->op.link && sx_link_is_live(link)
                                               ? registration_new(&wanted)
                                               : NULL;

        if (other != NULL) {
            other->upto = classes_open_locked(link, other->codes, other->code_count);
            sx_events.registrations++;
            sx_list_append(ret_others, &other->op.task.node);
        }
    }
}

static void others_run(struct sx_list *others)
{
    struct sx_list *node;

    while ((node = sx_list_pop(others)) != NULL) {
        struct sx_op *const op = SX_LIST_ENTRY(node, struct sx_op, task.node);

        (void)registration_run(SX_CONTAINER(op, struct registration, op));
    }
}

/* Begin a registration.  *ret_others: the registrations to be run for servers besides the primary.
 * If the process joins a server after this, sx_event_register_again asks for this handler as well.
 * Return: PMIX_SUCCESS; an error, and nothing is registered. */
static pmix_status_t handler_add(struct registration *registration,
                                 const struct sx_handler_options *options,
                                 pmix_notification_fn_t fn, struct sx_list *ret_others)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    registration->alone = options->own || sx_link_status(registration->op.link) == PMIX_ERR_UNREACH;
    if (!options->own && sx_link_is_live(registration->op.link)) {
        registration->upto = classes_open_locked(registration->op.link, registration->codes,
                                                 registration->code_count);
    }
    const pmix_status_t rc = handler_keep_locked(registration, options, fn);
    if (rc == PMIX_SUCCESS) {
        sx_events.registrations++;
        if (!options->own) {
            others_add_locked(registration, ret_others);
        }
    }
    pthread_mutex_unlock(&p->lock);
    registration->refused = rc != PMIX_SUCCESS;
    return rc;
}

/* Return: with a callback as sx_op_settle; without, the handler's id or an error. */
static pmix_status_t handler_register(const pmix_status_t *codes, size_t ncodes,
                                      const pmix_info_t *info, size_t ninfo,
                                      pmix_notification_fn_t fn, struct sx_callback callback)
{
    struct sx_handler_options options = { 0 };
    const pmix_status_t read = sx_options_read(SX_OF_REGISTER_HANDLER, info, ninfo, &options);
    const bool waits = !sx_callback_is_given(&callback);
    struct sx_list others = SX_LIST_INIT(others);
    struct registration here = {
        .op = SX_OP_INIT(&registration_kind, sx_primary(), .callback = callback,
                         .handler = SIZE_MAX),
        .environment = read == PMIX_SUCCESS && codes != NULL &&
                       sx_handler_asks_environment(&options, codes, ncodes),
        .refused = read != PMIX_SUCCESS,
        .codes = codes,
        .code_count = ncodes,
        .items = SX_LIST_INIT(here.items),
        .in_hand = sx_progress_is_own_thread() ? sx_events.declared_in_hand : 0,
    };
    struct registration *const registration = waits ? &here : registration_new(&here);

    if (registration == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t added = read == PMIX_SUCCESS
                                    ? handler_add(registration, &options, fn, &others)
                                    : read;
    const pmix_status_t rc = added == PMIX_SUCCESS ? registration_run(registration)
                                                   : sx_op_answer(&registration->op, added);
    others_run(&others);

    return rc == PMIX_SUCCESS && waits ? (pmix_status_t)here.op.handler : rc;
}

/* The registration of the handler with the smallest id above @last and below @before.  Return: NULL
 * when there is none, or no memory. */
static struct registration *registered_next(struct sx_link *link, size_t last, size_t before)
{
    struct registration wanted = {
        .op = SX_OP_INIT(&registration_kind, link, .handler = before),
        .again = true,
    };
    struct registration *next = NULL;

    pthread_mutex_lock(&sx_events.lock);
    SX_LIST_EACH(it, &sx_events.registered) {
        const struct registered *const kept = SX_LIST_ENTRY(it, struct registered, node);

        if (kept->id > last && kept->id < wanted.op.handler) {
            wanted.op.handler = kept->id;
            wanted.environment = kept->environment;
            wanted.codes = kept->codes;
            wanted.code_count = kept->code_count;
        }
    }
    if (wanted.op.handler < before) {
        next = registration_new(&wanted);
    }
    pthread_mutex_unlock(&sx_events.lock);
    return next;
}

void sx_event_register_again(struct sx_link *link, size_t before)
{
    struct sx_process *const p = &sx_process;
    struct registration *next;

    for (size_t last = 0; (next = registered_next(link, last, before)) != NULL; free(next)) {
        last = next->op.handler;
        pthread_mutex_lock(&p->lock);
        const bool live = sx_link_is_live(link);
        if (live) {
            sx_events.registrations++;
            next->upto = classes_open_locked(link, next->codes, next->code_count);
        }
        pthread_mutex_unlock(&p->lock);
        if (live) {
            (void)registration_run(next); /* own events remain in any case */
        }
    }
}

/* The callback has been called, so events may reach the handler. */
static void server_activate(struct sx_op *op)
{
    const struct sx_role_server *const server = sx_role_server_get();

    if (op->status == PMIX_SUCCESS && server != NULL) {
        server->activate_handler(op->handler, false);
    }
}

static pmix_status_t server_register(const struct sx_role_server *server, pmix_status_t codes[],
                                     size_t ncodes, pmix_info_t info[], size_t ninfo,
                                     pmix_notification_fn_t evhdlr, struct sx_callback callback)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op),
                                            .release = server_activate };
    struct sx_op here = SX_OP_INIT(&kind, sx_primary(), .callback = callback), *op = &here;
    pmix_status_t rc = sx_op_open(&op);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const pmix_status_t id = server->register_handler(codes, ncodes, info, ninfo, evhdlr);
    if (!sx_callback_is_given(&callback)) {
        if (id >= 0) {
            server->activate_handler((size_t)id, true);
        }
        return id;
    }
    op->handler = id >= 0 ? (size_t)id : SIZE_MAX;
    rc = sx_op_answer(op, id >= 0 ? PMIX_SUCCESS : id);
    if (rc != PMIX_SUCCESS && id >= 0) { /* its number would never be used */
        server->deregister_handler((size_t)id);
    }
    return rc;
}

pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes, pmix_info_t info[],
                                          size_t ninfo, pmix_notification_fn_t evhdlr,
                                          pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_role_server *const server = sx_role_server_get();
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_HANDLER, handler, cbfunc, cbdata,
                                                    .alone = server != NULL);

    if (server == NULL && !sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (evhdlr == NULL || (codes == NULL && ncodes != 0) || (info == NULL && ninfo != 0)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (ncodes > SX_REGISTER_CODES_MAX) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "a handler for %zu codes: at most %u can be named; register several "
                        "handlers, or one without codes, which hears of all",
                        ncodes, SX_REGISTER_CODES_MAX);
    }
    if (server != NULL) {
        return server_register(server, codes, ncodes, info, ninfo, evhdlr, callback);
    }
    const pmix_status_t rc = sx_progress_start();
    return rc == PMIX_SUCCESS ? handler_register(codes, ncodes, info, ninfo, evhdlr, callback) : rc;
}

static struct registered *registered_take(size_t id)
{
    struct registered *found = NULL;

    pthread_mutex_lock(&sx_events.lock);
    SX_LIST_EACH(it, &sx_events.registered) {
        struct registered *const kept = SX_LIST_ENTRY(it, struct registered, node);

        if (kept->id == id) {
            sx_list_remove(it);
            found = kept;
            break;
        }
    }
    pthread_mutex_unlock(&sx_events.lock);
    return found;
}

static void servers_notify(uint16_t kind, const struct iovec *body)
{
    struct sx_process *const p = &sx_process;
    struct sx_link *links[SX_LINKS_EVER_MAX];

    pthread_mutex_lock(&p->lock);
    const unsigned count = p->link_count;
    memcpy(links, p->links, count * sizeof(links[0]));
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < count; i++) {
        if (sx_link_is_live(links[i])) {
            (void)sx_request_notice(links[i], kind, 0, body, 1);
        }
    }
}

static pmix_status_t handler_deregister(size_t id)
{
    const pmix_status_t rc = sx_handlers_remove(sx_event_handlers(), id);
    struct registered *const kept = rc == PMIX_SUCCESS ? registered_take(id) : NULL;

    if (kept != NULL) {
        const struct sx_event_register head = { .upto = 0 };
        struct iovec body;

        if (request_write(SX_MSG_EVENT_DEREGISTER, head, kept->environment, kept->codes,
                          kept->code_count, &body) == PMIX_SUCCESS) {
            servers_notify(SX_MSG_EVENT_DEREGISTER, &body);
            free(body.iov_base);
        }
        free(kept);
    }
    return rc;
}

pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref, pmix_op_cbfunc_t cbfunc,
                                            void *cbdata)
{
    const struct sx_role_server *const server = sx_role_server_get();
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata,
                                                    .alone = server != NULL);
    struct sx_op here = SX_OP_INIT(&sx_op_plain, sx_primary(), .callback = callback);
    struct sx_op *op = &here;

    if (server == NULL && !sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    const pmix_status_t rc = sx_op_open(&op);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return sx_op_answer(op, server != NULL ? server->deregister_handler(evhdlr_ref)
                                           : handler_deregister(evhdlr_ref));
}

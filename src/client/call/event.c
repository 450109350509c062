/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event.c - PMIx_Register_event_handler, PMIx_Deregister_event_handler, PMIx_Notify_event.
 *
 *     registration: in the table --server's list of kept events--> acknowledged, then delivered to
 *
 * A registration reads how many events the ring has had, tells the server, and gets those kept up
 * to there, the newest first and as many at a time as the server gives; the ring brings the rest.
 * A process without a server has its own events only. */
#include "client/call/event.h"

#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "base/chain.h"
#include "base/clock.h"
#include "base/role.h"
#include "base/status.h"
#include "base/value.h"
#include "client/link/local.h"
#include "client/link/process.h"
#include "client/link/progress.h"
#include "ring/record.h"

/* What a handler asked for, to take it back from the server. */
struct registered {
    struct sx_list node;
    size_t id, code_count;
    bool environment;
    pmix_status_t codes[];
};

static struct sx_list all_registered = SX_LIST_INIT(all_registered); /* under event_lock */

void sx_event_deinit(void)
{
    struct sx_process *const p = &sx_process;
    struct sx_list *node;

    sx_chain_forget(sx_event_handlers());
    sx_handlers_deinit(sx_event_handlers());
    sx_handlers_init(sx_event_handlers());
    pthread_mutex_lock(&p->event_lock);
    while ((node = sx_list_pop(&all_registered)) != NULL) {
        free(SX_LIST_ENTRY(node, struct registered, node));
    }
    pthread_mutex_unlock(&p->event_lock);
    pthread_mutex_lock(&p->lock);
    sx_event_queue_clear_locked();
    p->event_classes = 0;
    p->event_last = 0;
    p->event_gap = false;
    p->event_ranges = 0;
    p->event_unreached = p->event_unreached_told = 0;
    p->cursor_told = 0;
    p->handled_told = 0;
    pthread_mutex_unlock(&p->lock);
}

/* ---- notices: callbacks that only have to be called, once, not inside the call --------------- */

struct notice {
    struct sx_task task;
    pmix_hdlr_reg_cbfunc_t reg_cbfunc;
    pmix_op_cbfunc_t op_cbfunc;
    void *cbdata;
    pmix_status_t status;
    size_t id;
    void (*after)(size_t id); /* a registration's, when it has been told; NULL: nothing */
};

static void notice_run(struct sx_task *task)
{
    struct notice *const notice = SX_CONTAINER(task, struct notice, task);

    if (notice->reg_cbfunc != NULL) {
        notice->reg_cbfunc(notice->status, notice->id, notice->cbdata);
        if (notice->after != NULL && notice->status == PMIX_SUCCESS) {
            notice->after(notice->id);
        }
    } else {
        notice->op_cbfunc(notice->status, notice->cbdata);
    }
    free(notice);
}

static struct notice *notice_new(pmix_hdlr_reg_cbfunc_t reg_cbfunc, pmix_op_cbfunc_t op_cbfunc,
                                 void *cbdata)
{
    struct notice *const notice = malloc(sizeof(*notice));

    if (notice != NULL) {
        *notice = (struct notice){ .task = { .run = notice_run },
                                   .reg_cbfunc = reg_cbfunc,
                                   .op_cbfunc = op_cbfunc,
                                   .cbdata = cbdata };
    }
    return notice;
}

/* @rc is what the call without a callback would return.  Takes @notice over. */
static pmix_status_t notice_send(struct notice *notice, pmix_status_t rc, bool alone)
{
    notice->status = rc >= 0 ? PMIX_SUCCESS : rc;
    notice->id = rc >= 0 ? (size_t)rc : SIZE_MAX;
    if (!alone) {
        sx_task_post(&notice->task);
        return PMIX_SUCCESS;
    }
    const pmix_status_t started = sx_task_run_alone(&notice->task);
    if (started != PMIX_SUCCESS) {
        free(notice);
    }
    return started;
}

/* ---- registration ------------------------------------------------------------------------- */

/* One registration on its way to the server and back. */
struct registration {
    struct sx_call call;
    struct sx_task task;
    struct notice *notice; /* NULL: somebody waits */
    size_t id;
    bool environment;
    const pmix_status_t *codes;
    size_t code_count;
    uint64_t upto;        /* older events come from the server, newer ones from the ring */
    uint64_t before;      /* of these, those before it are still to come; 0: none */
    struct sx_list items; /* the others */
    uint64_t in_hand;     /* the declaration in whose handler this is done, 0: none */
    pmix_status_t status; /* the server's word; PMIX_SUCCESS when it gave none */
    bool again;           /* its acknowledgement was given before there was a server */
    bool over;            /* under lock */
};

static struct registered *registered_take(size_t id);

/* A handler for these codes, as a request in @iov. */
static void request_fill(struct sx_event_register *request, const pmix_status_t *codes,
                         size_t code_count, bool environment, struct iovec iov[3])
{
    static const uint32_t padding = 0;

    request->code_count = (uint32_t)code_count;
    request->flags = environment ? SX_EVENT_REGISTER_ENVIRONMENT : 0;
    iov[0] = (struct iovec){ .iov_base = request, .iov_len = sizeof(*request) };
    iov[1] = (struct iovec){ .iov_base = (void *)(uintptr_t)codes,
                             .iov_len = code_count * sizeof(codes[0]) };
    iov[2] = (struct iovec){ .iov_base = (void *)(uintptr_t)&padding,
                             .iov_len = code_count % 2 * sizeof(padding) };
}

/* Tell the server, or ask for more; the answer goes on with it. */
static pmix_status_t registration_send(struct registration *registration)
{
    struct sx_event_register request = { .upto = registration->upto,
                                         .before = registration->before };
    struct iovec iov[3];

    request_fill(&request, registration->codes, registration->code_count, registration->environment,
                 iov);
    return sx_request_start(&registration->call, SX_MSG_EVENT_REGISTER, iov, 3);
}

/* What follows the acknowledgement may be handed out now.  Under lock. */
static void registration_over_locked(const struct registration *registration, pmix_status_t status)
{
    if (status == PMIX_SUCCESS && !registration->again) {
        sx_event_declared_locked(registration->id, registration->in_hand);
    }
    sx_handlers_since(sx_event_handlers(), registration->id, registration->upto);
    sx_process.registrations--;
}

/* A server that is gone keeps nothing; the handler still hears of that.  One that refuses means
 * that there is no such handler: none of its events has been handed out. */
static void registration_end_locked(struct registration *registration)
{
    struct notice *const notice = registration->notice;

    if (registration->status == PMIX_SUCCESS) {
        sx_event_late_locked(&registration->items, registration->id, registration->upto);
    } else if (registration->again) {
        sx_event_items_free(&registration->items);
        sx_log(SX_LOG_WARN, "an event handler hears of this process's own events only: %s",
               PMIx_Error_string(registration->status));
    } else {
        sx_event_items_free(&registration->items);
        sx_handlers_remove(sx_event_handlers(), registration->id);
        free(registered_take(registration->id));
    }
    registration_over_locked(registration, registration->status);
    registration->over = true;
    if (notice != NULL) {
        notice->status = registration->status;
        notice->id = registration->status == PMIX_SUCCESS ? registration->id : SIZE_MAX;
        sx_task_post_locked(&notice->task);
        free(registration);
    }
}

static void registration_go_on(struct registration *registration)
{
    if (registration_send(registration) != PMIX_SUCCESS) {
        pthread_mutex_lock(&sx_process.lock);
        registration_end_locked(registration);
        pthread_mutex_unlock(&sx_process.lock);
    }
}

static void registration_run_task(struct sx_task *task)
{
    registration_go_on(SX_CONTAINER(task, struct registration, task));
}

static void registration_answered(struct sx_call *call, const struct sx_frame *frame)
{
    struct registration *const registration = SX_CONTAINER(call, struct registration, call);
    const uint64_t before = registration->before;

    registration->status = call->status;
    registration->before = 0;
    if (call->status == PMIX_SUCCESS && frame->body_size > sizeof(struct sx_reply)) {
        registration->before = sx_event_kept_locked((const uint8_t *)frame->body +
                                                        sizeof(struct sx_reply),
                                                    frame->body_size - sizeof(struct sx_reply),
                                                    &registration->items);
    }
    if (before != 0 && registration->before >= before) {
        registration->before = 0;
        sx_event_garbled_locked("kept events that never end");
    }
}

/* Whoever waits for it goes on by himself. */
static void registration_done(struct sx_call *call, const struct sx_frame *frame)
{
    struct registration *const registration = SX_CONTAINER(call, struct registration, call);

    (void)frame;
    if (call->status != PMIX_SUCCESS || registration->before == 0) {
        registration_end_locked(registration);
    } else if (registration->notice != NULL) {
        sx_task_post_locked(&registration->task);
    }
}

uint64_t sx_event_published(void)
{
    const struct sx_process *const p = &sx_process;
    uint64_t count = 0;

    for (uint32_t i = 1; i < SX_RING_CLASS_MAX; i++) {
        /* A-count <- R-count (ring.c): what is counted is in the ring. */
        count += atomic_load_explicit(&p->ring.header->class_count[i], memory_order_acquire);
    }
    return count;
}

/* From now on the ring's events of @codes are taken in.  Return: the newest one so far. */
static uint64_t classes_open_locked(struct sx_process *p, const pmix_status_t *codes, size_t ncodes)
{
    uint32_t classes = (ncodes == 0 ? SX_CLASSES_OF_CODES : 0) |
                       1u << SX_CLASS_OF_RANK(p->self.rank); /* those for this process alone */

    for (size_t i = 0; i < ncodes; i++) {
        classes |= 1u << SX_CLASS_OF_CODE(codes[i]);
    }
    if (p->event_classes == 0) {
        p->event_last = sx_event_published();
    }
    p->event_classes |= classes;
    return sx_event_published();
}

static pmix_status_t registered_keep(const struct registration *registration)
{
    const size_t codes_bytes = registration->code_count * sizeof(registration->codes[0]);
    struct registered *const kept = malloc(sizeof(*kept) + codes_bytes);

    if (kept == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    kept->id = registration->id;
    kept->code_count = registration->code_count;
    kept->environment = registration->environment;
    if (codes_bytes != 0) {
        memcpy(kept->codes, registration->codes, codes_bytes);
    }
    pthread_mutex_lock(&sx_process.event_lock);
    sx_list_append(&all_registered, &kept->node);
    pthread_mutex_unlock(&sx_process.event_lock);
    return PMIX_SUCCESS;
}

/* Return: @wanted in memory of its own, with its codes; NULL when memory is out. */
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

/* No server, or none any more: own events are left. */
static void registration_end_alone(const struct registration *registration)
{
    struct notice *const notice = registration->notice;

    pthread_mutex_lock(&sx_process.lock);
    registration_over_locked(registration, PMIX_SUCCESS);
    if (notice != NULL) {
        notice->status = PMIX_SUCCESS;
        notice->id = registration->id;
        sx_task_post_locked(&notice->task);
    }
    sx_local_ring_locked();
    pthread_mutex_unlock(&sx_process.lock);
}

static bool registration_is_answered(void *arg)
{
    const struct registration *const registration = arg;

    return registration->call.done || registration->over;
}

static void registration_wait(struct registration *registration)
{
    for (;;) {
        (void)sx_wait_until(registration_is_answered, registration, 1, SX_DEADLINE_NEVER);
        if (registration->over) {
            return;
        }
        registration_go_on(registration);
    }
}

/* Return: the server's word, if somebody waits for it. */
static pmix_status_t registration_run(const struct registration *wanted)
{
    struct sx_process *const p = &sx_process;
    struct registration *const registration = registration_new(wanted);

    if (registration == NULL || registration_send(registration) != PMIX_SUCCESS) {
        registration_end_alone(wanted);
        free(registration);
        return PMIX_SUCCESS;
    }
    if (wanted->notice != NULL) {
        return PMIX_SUCCESS; /* the end frees it */
    }
    registration_wait(registration);
    const pmix_status_t status = registration->status;
    free(registration);
    pthread_mutex_lock(&p->lock);
    sx_local_ring_locked(); /* what was held back may go now */
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* Return: the handler's id, or an error.  @notice is used or freed. */
static pmix_status_t handler_register(const pmix_status_t *codes, size_t ncodes,
                                      const pmix_info_t *info, size_t ninfo,
                                      pmix_notification_fn_t fn, struct notice *notice)
{
    struct sx_process *const p = &sx_process;
    const pmix_info_t *const level = sx_info_find(info, ninfo, PMIX_EVENT_ENVIRO_LEVEL);
    struct registration registration = {
        .call = { .fd = -1, .on_answer = registration_answered, .on_done = registration_done },
        .task = { .run = registration_run_task },
        .notice = notice,
        .id = SIZE_MAX,
        .environment = level != NULL && sx_value_is_true(&level->value),
        .codes = codes,
        .code_count = ncodes,
        .in_hand = sx_progress_is_own_thread() ? p->declared_in_hand : 0,
    };

    pthread_mutex_lock(&p->lock);
    p->registrations++;
    if (sx_link_status() == PMIX_SUCCESS) {
        registration.upto = classes_open_locked(p, codes, ncodes);
    }
    pthread_mutex_unlock(&p->lock);
    pmix_status_t rc = sx_handlers_add(sx_event_handlers(), p->self.nspace, codes, ncodes, info,
                                       ninfo, fn, &registration.id);
    if (rc == PMIX_SUCCESS) {
        rc = registered_keep(&registration);
    }
    if (rc == PMIX_SUCCESS) {
        rc = registration_run(&registration);
        return rc == PMIX_SUCCESS ? (pmix_status_t)registration.id : rc;
    }
    if (registration.id != SIZE_MAX) {
        sx_handlers_remove(sx_event_handlers(), registration.id);
    }
    pthread_mutex_lock(&p->lock);
    p->registrations--;
    pthread_mutex_unlock(&p->lock);
    if (notice != NULL) {
        (void)notice_send(notice, rc, false);
    }
    return rc;
}

/* The registration of the handler with the smallest id above @last and below @before.  Return: NULL
 * when there is none, or no memory. */
static struct registration *registered_next(size_t last, size_t before)
{
    struct registration wanted = {
        .call = { .fd = -1, .on_answer = registration_answered, .on_done = registration_done },
        .task = { .run = registration_run_task },
        .id = before,
        .again = true,
    };
    struct registration *next = NULL;

    pthread_mutex_lock(&sx_process.event_lock);
    SX_LIST_EACH(it, &all_registered) {
        const struct registered *const kept = SX_LIST_ENTRY(it, struct registered, node);

        if (kept->id > last && kept->id < wanted.id) {
            wanted.id = kept->id;
            wanted.environment = kept->environment;
            wanted.codes = kept->codes;
            wanted.code_count = kept->code_count;
        }
    }
    if (wanted.id < before) {
        next = registration_new(&wanted);
    }
    pthread_mutex_unlock(&sx_process.event_lock);
    return next;
}

void sx_event_register_again(size_t before)
{
    struct sx_process *const p = &sx_process;
    struct registration *next;

    for (size_t last = 0; (next = registered_next(last, before)) != NULL; free(next)) {
        last = next->id;
        pthread_mutex_lock(&p->lock);
        const bool live = sx_link_status() == PMIX_SUCCESS;
        if (live) {
            p->registrations++;
            next->upto = classes_open_locked(p, next->codes, next->code_count);
        }
        pthread_mutex_unlock(&p->lock);
        if (live) {
            (void)registration_run(next); /* its own events are left in any case */
        }
    }
}

pmix_status_t PMIx_Register_event_handler(pmix_status_t codes[], size_t ncodes, pmix_info_t info[],
                                          size_t ninfo, pmix_notification_fn_t evhdlr,
                                          pmix_hdlr_reg_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_role_server *const server = sx_role_server_get();
    struct notice *notice = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

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
    if (server == NULL) {
        rc = sx_progress_start();
    }
    if (rc == PMIX_SUCCESS && cbfunc != NULL) {
        notice = notice_new(cbfunc, NULL, cbdata);
        rc = notice != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (server == NULL) {
        rc = handler_register(codes, ncodes, info, ninfo, evhdlr, notice);
        return notice != NULL ? PMIX_SUCCESS : rc;
    }
    rc = server->register_handler(codes, ncodes, info, ninfo, evhdlr);
    if (notice == NULL) {
        if (rc >= 0) {
            server->activate_handler((size_t)rc);
        }
        return rc;
    }
    notice->after = server->activate_handler;
    const pmix_status_t sent = notice_send(notice, rc, true);

    if (sent != PMIX_SUCCESS && rc >= 0) { /* nobody would ever learn its number */
        server->deregister_handler((size_t)rc);
    }
    return sent;
}

static struct registered *registered_take(size_t id)
{
    struct registered *found = NULL;

    pthread_mutex_lock(&sx_process.event_lock);
    SX_LIST_EACH(it, &all_registered) {
        struct registered *const kept = SX_LIST_ENTRY(it, struct registered, node);

        if (kept->id == id) {
            sx_list_remove(it);
            found = kept;
            break;
        }
    }
    pthread_mutex_unlock(&sx_process.event_lock);
    return found;
}

static pmix_status_t handler_deregister(size_t id)
{
    const pmix_status_t rc = sx_handlers_remove(sx_event_handlers(), id);
    struct registered *const kept = rc == PMIX_SUCCESS ? registered_take(id) : NULL;

    if (kept != NULL) {
        struct sx_event_register request = { .upto = 0 };
        struct iovec iov[3];

        request_fill(&request, kept->codes, kept->code_count, kept->environment, iov);
        (void)sx_request_tell(SX_MSG_EVENT_DEREGISTER, 0, iov, 3);
        free(kept);
    }
    return rc;
}

pmix_status_t PMIx_Deregister_event_handler(size_t evhdlr_ref, pmix_op_cbfunc_t cbfunc,
                                            void *cbdata)
{
    const struct sx_role_server *const server = sx_role_server_get();
    struct notice *notice = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    if (server == NULL && !sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (cbfunc != NULL) {
        if (server == NULL) {
            rc = sx_progress_start();
        }
        notice = rc == PMIX_SUCCESS ? notice_new(NULL, cbfunc, cbdata) : NULL;
        if (notice == NULL) {
            return rc != PMIX_SUCCESS ? rc : PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    rc = server != NULL ? server->deregister_handler(evhdlr_ref) : handler_deregister(evhdlr_ref);
    return notice != NULL ? notice_send(notice, rc, server != NULL) : rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* notify.c - the events that this process makes: PMIx_Notify_event puts them, encoded once, into
 * the lane; its own ones go into its queue.
 *
 * The server adds the sender and orders the event.  The sender's own handlers receive it as all
 * others do, from the ring.  Only the range PMIX_RANGE_PROC_LOCAL never leaves the process. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "base/call/role.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/message/payloads.h"
#include "base/util.h"
#include "base/value/value.h"
#include "client/event/event.h"
#include "client/event/event_state.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "client/link/wait.h"
#include "ring/record.h"

pmix_status_t sx_event_encode(pmix_status_t code, const pmix_proc_t *source,
                              const struct sx_notify_options *options, const pmix_info_t info[],
                              size_t ninfo, void **ret_bytes, size_t *ret_size)
{
    struct sx_event event;
    struct sx_draft draft;
    void *bytes = NULL;
    size_t size;

    if (options->range == PMIX_RANGE_CUSTOM && options->targets.count == 0) {
        return PMIX_ERR_BAD_PARAM; /* a custom range without targets */
    }
    sx_event_draft(&draft, &event, code, source, options, info, ninfo);
    draft.nspace = sx_process.self.nspace;
    pmix_status_t rc = sx_body_measure(&draft, &size);
    if (rc == PMIX_SUCCESS) {
        bytes = malloc(size);
        rc = bytes == NULL ? PMIX_ERR_OUT_OF_RESOURCE : sx_body_write(&draft, bytes);
    }
    if (rc != PMIX_SUCCESS) {
        free(bytes);
        return rc;
    }
    *ret_bytes = bytes;
    *ret_size = size;
    return PMIX_SUCCESS;
}

/* ---- for the handlers of this process -------------------------------------------------------- */

/* Make an item for an own event.  Return: as sx_event_local. */
static pmix_status_t item_local(pmix_status_t code, const struct sx_notify_options *options,
                                const pmix_info_t info[], size_t ninfo, struct sx_event_item **ret)
{
    struct sx_notify_options here = *options;
    void *bytes = NULL;
    size_t size = 0;

    here.range = PMIX_RANGE_PROC_LOCAL;
    const pmix_status_t rc = sx_event_encode(code, &sx_process.self, &here, info, ninfo, &bytes,
                                             &size);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&sx_process.lock);
    *ret = sx_event_item_new_locked(NULL, bytes, size);
    pthread_mutex_unlock(&sx_process.lock);
    free(bytes);
    if (*ret == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    (*ret)->is_local = true;
    return PMIX_SUCCESS;
}

static void local_append_locked(struct sx_event_item *item)
{
    item->lists = sx_events.late_lists;
    item->local_number = ++sx_events.locals_posted;
    sx_list_append(&sx_events.waiting, &item->task.node);
    sx_local_ring_locked();
}

pmix_status_t sx_event_local(pmix_status_t code, const struct sx_notify_options *options,
                             const pmix_info_t info[], size_t ninfo)
{
    struct sx_process *const p = &sx_process;
    struct sx_event_item *item = NULL;
    const pmix_status_t rc = item_local(code, options, info, ninfo, &item);

    if (rc == PMIX_SUCCESS) {
        pthread_mutex_lock(&p->lock);
        local_append_locked(item);
        pthread_mutex_unlock(&p->lock);
    }
    return rc;
}

/* ---- declarations of PMIx_Init ------------------------------------------------------------- */

#define SX_DECLARED_MAX 16u

void sx_event_declared_keep_locked(const struct sx_event_item *item)
{
    struct sx_events *const e = &sx_events;

    SX_LIST_EACH(it, &e->declared) {
        struct sx_event_item *const kept = sx_event_item_of(it);

        if (kept->size == item->size && memcmp(kept->bytes, item->bytes, item->size) == 0) {
            kept->declared = item->declared;
            return;
        }
    }
    struct sx_event_item *const kept = sx_event_item_new_locked(NULL, item->bytes, item->size);
    if (kept == NULL) {
        return;
    }
    kept->is_local = true;
    kept->declared = item->declared;
    sx_list_append(&e->declared, &kept->task.node);
    if (++e->declared_count > SX_DECLARED_MAX) {
        sx_log(SX_LOG_INFO, "late handlers do not receive the oldest of more than %u declarations",
               SX_DECLARED_MAX);
        sx_event_item_free(sx_event_item_of(sx_list_pop(&e->declared)));
        e->declared_count--;
    }
}

pmix_status_t sx_event_declare(pmix_status_t code, const pmix_info_t info[], size_t ninfo)
{
    struct sx_process *const p = &sx_process;
    const struct sx_notify_options options = { .non_default = true };
    struct sx_event_item *item = NULL;
    const pmix_status_t rc = item_local(code, &options, info, ninfo, &item);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&p->lock);
    item->declared = ++sx_events.declared_last;
    if (sx_events.registrations == 0 && !sx_event_has_handlers()) {
        sx_event_declared_keep_locked(item);
        sx_event_item_free(item);
    } else {
        local_append_locked(item);
    }
    pthread_mutex_unlock(&p->lock);
    return PMIX_SUCCESS;
}

void sx_event_declared_locked(size_t only, uint64_t in_hand)
{
    struct sx_events *const e = &sx_events;

    SX_LIST_EACH(it, &e->declared) {
        const struct sx_event_item *const kept = sx_event_item_of(it);
        struct sx_event_item *const late = kept->declared != in_hand
                                               ? sx_event_item_new_locked(NULL, kept->bytes,
                                                                          kept->size)
                                               : NULL;

        if (late != NULL) {
            late->is_local = true;
            late->declared = kept->declared;
            late->has_only = true;
            late->only = only;
            late->lists = e->late_lists;
            sx_list_append(&e->late, &late->task.node);
        }
    }
}

struct sx_event_item *sx_event_lost_item(uint64_t count, bool own)
{
    const struct sx_notify_options options = { 0 };
    struct sx_event_item *item = NULL;
    pmix_info_t info[2];

    memset(info, 0, sizeof(info));
    memcpy(info[0].key, SHMIX_EVENTS_LOST_COUNT, sizeof(SHMIX_EVENTS_LOST_COUNT));
    info[0].value.type = PMIX_UINT64;
    info[0].value.data.uint64 = count;
    memcpy(info[1].key, SHMIX_EVENTS_LOST_OWN, sizeof(SHMIX_EVENTS_LOST_OWN));
    info[1].value.type = PMIX_BOOL;
    info[1].value.data.flag = true;
    (void)item_local(SHMIX_ERR_EVENTS_LOST, &options, info, own ? 2 : 1, &item);
    return item;
}

void sx_event_unreached_locked(struct sx_link *link, uint64_t count)
{
    struct sx_link_events *const e = &link->events;
    struct sx_event_item *item;

    e->unreached = count > e->unreached ? count : e->unreached;
    if (e->unreached == e->unreached_reported || e->unreached_waits) {
        return;
    }
    item = sx_event_item_new_locked(link, NULL, 0);
    if (item != NULL) { /* else the next pump tries again */
        item->is_unreached = true;
        item->is_local = true;
        item->lists = sx_events.late_lists;
        e->unreached_waits = true;
        sx_list_append(&sx_events.waiting, &item->task.node);
    }
}

/* The server is the source of events about the link to it. */
static void link_event_add_locked(struct sx_link *link, pmix_status_t code)
{
    struct sx_event event = { .code = code,
                              .source_rank = link->server.rank,
                              .source_len = (uint16_t)sx_name_len(link->server.nspace,
                                                                  PMIX_MAX_NSLEN) };
    uint8_t bytes[sizeof(event) + sizeof(link->server.nspace)] = { 0 };
    struct sx_event_item *item;

    memcpy(bytes, &event, sizeof(event));
    memcpy(bytes + sizeof(event), link->server.nspace, event.source_len);
    item = sx_event_item_new_locked(link, bytes, sizeof(event) + sx_align_up(event.source_len, 8));
    if (item != NULL) {
        item->is_local = true;
        item->lists = sx_events.late_lists;
        item->is_failure = code == PMIX_ERR_COMM_FAILURE;
        sx_events.failure_waits = sx_events.failure_waits || item->is_failure;
        sx_list_append(&sx_events.waiting, &item->task.node);
    }
}

void sx_event_lost_locked(struct sx_link *link)
{
    link_event_add_locked(link, PMIX_ERR_LOST_CONNECTION_TO_SERVER);
}

void sx_event_garbled_locked(struct sx_link *link, const char *what)
{
    struct sx_process *const p = &sx_process;

    if (!sx_events.failure_waits) { /* else it is queued, and handled first */
        sx_log(SX_LOG_ERROR, "%s.%" PRIu32 " cannot read what its server sent: %s", p->self.nspace,
               p->self.rank, what);
        link_event_add_locked(link, PMIX_ERR_COMM_FAILURE);
        sx_local_ring_locked();
    }
}

/* ---- for others ------------------------------------------------------------------------------ */

/* Whether only the server can decide if the event is permitted, or reaches all its receivers.  The
 * server answers that to a request; a lane carries no answers. */
static bool asks_for_reach(const struct sx_link *link, const struct sx_event *event)
{
    if (sx_event_code_is_hosts(event->code)) {
        return true;
    }
    /* relaxed: an event that is sent meanwhile is reported later, as a loss. */
    if (atomic_load_explicit(&link->board.header->events_confined, memory_order_relaxed) == 0 ||
        (event->flags & SX_EVENT_STAYS_LOCAL) != 0) {
        return false;
    }
    return event->target_count > 0 ||
           (event->range != PMIX_RANGE_LOCAL && event->range != PMIX_RANGE_RM);
}

struct published {
    struct sx_op op;
    uint64_t number;
};

static void publish_answered(struct sx_op *op, const struct sx_frame *frame)
{
    struct sx_event_number answer;

    if (frame != NULL && frame->body_size >= sizeof(answer)) {
        memcpy(&answer, frame->body, sizeof(answer));
        SX_CONTAINER(op, struct published, op)->number = answer.number;
    }
}

pmix_status_t sx_event_submit(struct sx_link *link, const void *bytes, size_t size,
                              uint64_t deadline_ns, uint64_t *ret_number)
{
    static const struct sx_op_kind kind = { .answered = publish_answered };
    const struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };
    struct published published = { .op = SX_OP_INIT(&kind, link) };
    const pmix_status_t rc = sx_request(&published.op, SX_MSG_EVENT_BULK, &iov, 1, deadline_ns);

    *ret_number = published.number;
    return rc;
}

static pmix_status_t event_send(pmix_status_t code, const struct sx_notify_options *options,
                                const pmix_info_t info[], size_t ninfo)
{
    struct sx_link *const link = sx_primary();
    pmix_status_t rc = sx_link_status(link);
    void *bytes = NULL;
    size_t size = 0;
    uint64_t number;

    if (rc == PMIX_ERR_UNREACH) { /* a singleton: there is no other receiver */
        return sx_event_local(code, options, info, ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_event_encode(code, &link->self, options, info, ninfo, &bytes, &size);
    }
    if (rc == PMIX_SUCCESS && size <= SX_LANE_MESSAGE_MAX && !asks_for_reach(link, bytes)) {
        const struct iovec iov = { .iov_base = bytes, .iov_len = size };
        bool rung;

        rc = sx_lane_send(link, SX_LANE_NOTIFY, &iov, 1, &rung);
    } else if (rc == PMIX_SUCCESS) {
        rc = sx_event_submit(link, bytes, size, SX_DEADLINE_NEVER, &number);
    }
    free(bytes);
    return rc;
}

pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t *source,
                                pmix_data_range_t range, const pmix_info_t info[], size_t ninfo,
                                pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_role_server *const server = sx_role_server_get();
    struct sx_notify_options options = { .range = range };
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata,
                                                    .alone = server != NULL);
    struct sx_op here = SX_OP_INIT(&sx_op_plain, sx_primary(), .callback = callback);
    struct sx_op *op = &here;

    if (server == NULL && !sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if ((info == NULL && ninfo != 0) || range > PMIX_RANGE_PROC_LOCAL ||
        (source != NULL && !sx_proc_is_valid(source))) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_options_read(SX_OF_NOTIFY, info, ninfo, &options);
    if (rc == PMIX_SUCCESS) {
        rc = sx_op_open(&op);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (server != NULL) {
        rc = server->notify(status, source, &options, info, ninfo);
    } else if (range == PMIX_RANGE_PROC_LOCAL) {
        rc = sx_event_local(status, &options, info, ninfo);
    } else {
        rc = event_send(status, &options, info, ninfo);
    }
    /* With a callback, an error of the call itself is returned, and nothing is called. */
    return rc == PMIX_SUCCESS || rc == PMIX_ERR_PARTIAL_SUCCESS
               ? sx_op_answer(op, rc)
               : sx_op_settle(op, cbfunc == NULL, rc);
}

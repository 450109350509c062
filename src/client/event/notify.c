/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* notify.c - PMIx_Notify_event: an event, encoded once, into the lane.
 *
 * The server adds the sender and orders the event.  The sender's own handlers receive it as all
 * others do, from the ring.  Only the range PMIX_RANGE_PROC_LOCAL never leaves the process. */
#include <stdlib.h>
#include <string.h>

#include "base/call/role.h"
#include "base/clock.h"
#include "client/event/event.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "ring/record.h"

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

        rc = sx_lane_tell(link, SX_LANE_NOTIFY, &iov, 1, &rung);
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

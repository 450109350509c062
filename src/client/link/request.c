/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* request.c - operations that travel over the control socket, and the threads that wait for them.
 *
 * The operation is in the list before its frame is sent, so the answer finds it, no matter how
 * early it arrives.  Nothing is sent twice: a frame is delivered whole, or the link is lost. */
#include "client/link/op.h"

#include <stdlib.h>
#include <string.h>

#include "base/call/role.h"
#include "base/clock.h"
#include "base/status.h"
#include "client/link/link.h"
#include "client/link/wait.h"

static size_t body_size_of(const struct iovec *iov, int iov_count)
{
    size_t size = 0;

    for (int i = 0; i < iov_count; i++) {
        size = sx_add_size(size, iov[i].iov_len, &size) ? size : SIZE_MAX;
    }
    return size;
}

pmix_status_t sx_op_judge(const struct sx_op *op)
{
    const pmix_status_t rc = sx_link_status(op->link);

    return rc == PMIX_SUCCESS && op->callback.shape == SX_SHAPE_NONE ? sx_role_may_wait() : rc;
}

/* Give @op a number, unless it has one, and add it to the list of pending requests.  The caller
 * sends the frame afterwards, so that the answer finds @op. */
static pmix_status_t op_enlist(struct sx_op *op, bool windowed)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    const pmix_status_t rc = sx_op_judge(op);
    if (rc == PMIX_SUCCESS) {
        op->id = op->id != 0 ? op->id : sx_link_next_id_locked(op->link);
        op->done = false;
        op->held = true;
        op->windowed = windowed;
        op->fd = -1;
        sx_list_append(&op->link->requests, &op->task.node);
    } else if (windowed) {
        sx_window_forget_locked(&op->link->window);
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* Take @op out again: there will be no answer, or no thread waits for it. */
static void op_forget_locked(struct sx_op *op)
{
    sx_list_remove(&op->task.node);
    if (op->windowed) { /* the server may still read the window */
        op->windowed = false;
        sx_window_forget_locked(&op->link->window);
    }
}

/* Take the result @rc of sending the frame into account.  Return: as sx_request_start. */
static pmix_status_t op_sent(struct sx_op *op, pmix_status_t rc)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    if (rc != PMIX_SUCCESS && op->done) {
        rc = PMIX_SUCCESS; /* the loss of the link was its answer */
    } else if (rc != PMIX_SUCCESS) {
        op_forget_locked(op);
    }
    if (rc == PMIX_SUCCESS) {
        sx_op_release_locked(op);
    } else if (rc == PMIX_ERR_LOST_CONNECTION) {
        sx_link_lost_locked(op->link, NULL);
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* The first @size bytes of the window, about request @id.  @op is completed by the answer to this
 * frame; unless @flags have SX_FRAME_MORE it has the window until then. */
static pmix_status_t send_piece(uint16_t kind, uint16_t flags, uint32_t id, size_t size,
                                struct sx_op *op)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS);

    op->id = id;
    const pmix_status_t rc = op_enlist(op, (flags & SX_FRAME_MORE) == 0);

    return rc != PMIX_SUCCESS ? rc
                              : op_sent(op, sx_frame_send_window(op->link->socket_fd, kind, flags,
                                                                 id, size, deadline_ns));
}

/* A request that fits in a frame. */
static pmix_status_t send_small(struct sx_op *op, uint16_t kind, const struct iovec *iov,
                                int iov_count)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS);

    op->id = 0;
    const pmix_status_t rc = op_enlist(op, false);

    return rc != PMIX_SUCCESS ? rc
                              : op_sent(op, sx_frame_send(op->link->socket_fd, kind, op->id, iov,
                                                          iov_count, deadline_ns));
}

static bool op_is_done(void *arg)
{
    const struct sx_op *op = arg;

    return op->done;
}

pmix_status_t sx_op_wait(struct sx_op *op)
{
    struct sx_process *const p = &sx_process;
    pmix_status_t rc = sx_wait_until(op->link, op_is_done, op, op->yield_count, op->deadline_ns);

    if (rc == PMIX_SUCCESS) { /* @op was seen done under lock */
        return op->status;
    }
    pthread_mutex_lock(&p->lock);
    if (op->done) {
        rc = op->status;
    } else {
        op_forget_locked(op);
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* ---- through the window -------------------------------------------------------------------- */

static void window_forget(struct sx_link *link)
{
    pthread_mutex_lock(&sx_process.lock);
    sx_window_forget_locked(&link->window);
    pthread_mutex_unlock(&sx_process.lock);
}

/* This request has the window: get one if the process has none yet. */
static pmix_status_t window_obtain(struct sx_link *link, uint64_t deadline_ns)
{
    struct sx_op op = SX_OP_INIT(&sx_op_plain, link);

    if (link->window.fd >= 0) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = sx_request(&op, SX_MSG_WINDOW_GET, NULL, 0, deadline_ns);

    if (rc == PMIX_SUCCESS && op.fd < 0) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "a window without its descriptor");
    }
    pthread_mutex_lock(&sx_process.lock);
    link->window.fd = op.fd;
    pthread_mutex_unlock(&sx_process.lock);
    return rc;
}

/* Send all pieces but the last.  The last one is in the window then, and *ret_size is its
 * size. */
static pmix_status_t send_pieces(struct sx_link *link, uint16_t kind, uint32_t id,
                                 struct sx_window_rest *rest, size_t *ret_size)
{
    for (;;) {
        const size_t size = rest->size < SX_WINDOW_BYTES ? rest->size : SX_WINDOW_BYTES;
        struct sx_op op = SX_OP_INIT(&sx_op_plain, link);
        pmix_status_t rc = sx_window_fill(&link->window, rest, size);

        if (rc == PMIX_SUCCESS && rest->size == 0) {
            *ret_size = size;
            return PMIX_SUCCESS;
        }
        if (rc == PMIX_SUCCESS) {
            rc = send_piece(kind, SX_FRAME_MORE, id, size, &op);
        }
        if (rc == PMIX_SUCCESS) {
            op.deadline_ns = sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS);
            rc = sx_op_wait(&op);
        }
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
}

static pmix_status_t send_windowed(struct sx_op *op, uint16_t kind, const struct iovec *iov,
                                   size_t size)
{
    struct sx_link *const link = op->link;
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS);
    struct sx_window_rest rest = { .iov = iov, .size = size };
    size_t last;
    pmix_status_t rc = sx_message_size_judge(kind, size);

    if (rc == PMIX_SUCCESS) {
        rc = sx_window_judge(size < SX_WINDOW_BYTES ? size : SX_WINDOW_BYTES);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(link);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_wait_until(link, sx_window_take_locked, &link->window, 0, deadline_ns);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = window_obtain(link, deadline_ns);
    if (rc == PMIX_SUCCESS) {
        pthread_mutex_lock(&sx_process.lock);
        op->id = sx_link_next_id_locked(link);
        pthread_mutex_unlock(&sx_process.lock);
        rc = send_pieces(link, kind, op->id, &rest, &last);
    }
    if (rc != PMIX_SUCCESS) {
        window_forget(link);
        return rc;
    }
    return send_piece(kind, 0, op->id, last, op);
}

/* ---- either way ---------------------------------------------------------------------------- */

pmix_status_t sx_request_start(struct sx_op *op, uint16_t kind, const struct iovec *iov,
                               int iov_count)
{
    const size_t size = body_size_of(iov, iov_count);

    if (sx_log_wants(SX_LOG_DEBUG)) {
        sx_log(SX_LOG_DEBUG, "asks the server: %s, %zu bytes", sx_message_spec(kind)->name, size);
    }
    return size > SX_FRAME_BODY_MAX ? send_windowed(op, kind, iov, size)
                                    : send_small(op, kind, iov, iov_count);
}

pmix_status_t sx_request_notice(struct sx_link *link, uint16_t kind, uint32_t id,
                                const struct iovec *iov, int iov_count)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS);
    struct sx_op op = SX_OP_INIT(&sx_op_plain, link);
    const pmix_status_t rc = sx_link_status(link);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (body_size_of(iov, iov_count) > SX_FRAME_BODY_MAX) {
        return sx_request(&op, kind, iov, iov_count, deadline_ns);
    }
    return sx_frame_send(link->socket_fd, kind, id, iov, iov_count, deadline_ns);
}

pmix_status_t sx_request(struct sx_op *op, uint16_t kind, const struct iovec *iov, int iov_count,
                         uint64_t deadline_ns)
{
    pmix_status_t rc = sx_request_start(op, kind, iov, iov_count);

    op->deadline_ns = deadline_ns;
    rc = rc == PMIX_SUCCESS ? sx_op_wait(op) : rc;
    if (sx_log_wants(SX_LOG_DEBUG)) {
        sx_log(SX_LOG_DEBUG, "the server has answered %s: %s", sx_message_spec(kind)->name,
               PMIx_Error_string(rc));
    }
    return rc;
}

/* ---- one call, blocking or not -------------------------------------------------------------- */

pmix_status_t sx_op_open(struct sx_op **op)
{
    const struct sx_op_kind *const kind = (*op)->kind;

    if (!sx_callback_is_given(&(*op)->callback)) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = (*op)->callback.alone ? PMIX_SUCCESS : sx_progress_start();
    struct sx_op *const kept = rc == PMIX_SUCCESS ? malloc(kind->size) : NULL;

    if (kept == NULL) {
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(kept, *op, kind->size);
    *op = kept;
    return PMIX_SUCCESS;
}

pmix_status_t sx_op_settle(struct sx_op *op, bool waits, pmix_status_t started)
{
    if (started != PMIX_SUCCESS && !waits) {
        sx_op_free(op);
    }
    if (started != PMIX_SUCCESS || !waits) {
        return started;
    }
    do {
        op->status = sx_op_wait(op);
        if (!op->done && op->status == PMIX_ERR_TIMEOUT && op->kind->cancel != 0) {
            (void)sx_request_notice(op->link, op->kind->cancel, op->id, NULL, 0);
        }
    } while (!sx_op_finish(op));
    return op->status;
}

static pmix_status_t ask(struct sx_op *op, const struct iovec *body)
{
    if (op->callback.shape == SX_SHAPE_IGNORED) {
        return sx_request_notice(op->link, op->kind->request, 0, body, 1);
    }
    const bool waits = !sx_callback_is_given(&op->callback);

    return sx_op_settle(op, waits, sx_request_start(op, op->kind->request, body, 1));
}

pmix_status_t sx_op_ask(struct sx_op *op, struct sx_draft *draft)
{
    struct iovec body;
    pmix_status_t rc = sx_link_status(op->link);

    if (rc == PMIX_SUCCESS) {
        rc = sx_wire_write(op->kind->request, draft, NULL, 0, &body);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_op_open(&op);
    if (rc == PMIX_SUCCESS) {
        rc = ask(op, &body);
    }
    free(body.iov_base);
    return rc;
}

pmix_status_t sx_op_answer(struct sx_op *op, pmix_status_t status)
{
    op->status = status;
    if (!sx_callback_is_given(&op->callback)) {
        return sx_op_finish(op) ? op->status : sx_op_settle(op, true, PMIX_SUCCESS);
    }
    if (!op->callback.alone) {
        sx_task_post(&op->task);
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = sx_task_run_alone(&op->task);
    if (rc != PMIX_SUCCESS) {
        op->status = rc;
        sx_op_free(op);
    }
    return rc;
}

/* ---- messages through the lane --------------------------------------------------------------- */

struct lane_room {
    const _Atomic uint64_t *head;
    uint64_t seen;
};

static bool lane_has_moved(void *arg)
{
    const struct lane_room *room = arg;

    /* relaxed: whether there is room is decided by the next append. */
    return atomic_load_explicit(room->head, memory_order_relaxed) != room->seen;
}

pmix_status_t sx_lane_submit(struct sx_link *link, uint32_t kind, const struct iovec *iov,
                             int iov_count)
{
    for (;;) {
        pmix_status_t rc;

        if (!sx_link_is_live(link)) {
            return sx_link_status(link);
        }
        struct lane_room room = { .head = &link->slot->lane_head };
        /* relaxed: a head read before the append can only be too old. */
        room.seen = atomic_load_explicit(room.head, memory_order_relaxed);
        rc = sx_lane_append(&link->lane, kind, iov, iov_count);
        if (rc != PMIX_ERR_WOULD_BLOCK) {
            return rc;
        }
        sx_lane_doorbell(&link->lane);
        pthread_mutex_unlock(&link->lane_lock);
        rc = sx_wait_until(link, lane_has_moved, &room, 0, SX_DEADLINE_NEVER);
        pthread_mutex_lock(&link->lane_lock);
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
}

pmix_status_t sx_lane_send(struct sx_link *link, uint32_t kind, const struct iovec *iov,
                           int iov_count, bool *ret_rung)
{
    pthread_mutex_lock(&link->lane_lock);
    const pmix_status_t rc = sx_lane_submit(link, kind, iov, iov_count);
    if (rc == PMIX_SUCCESS) {
        const uint32_t rung_before = link->lane.epoch_rung;

        sx_lane_doorbell(&link->lane);
        *ret_rung = link->lane.epoch_rung != rung_before;
    }
    pthread_mutex_unlock(&link->lane_lock);
    return rc;
}

/* ---- arrivals ----------------------------------------------------------------------------- */

/* A program that continues logs a line when the number of refusals is a power of two. */
static pmix_status_t arrive_refuse_locked(struct sx_link *link)
{
    const unsigned refused = ++link->collectives_refused;

    return (refused & (refused - 1)) != 0
               ? PMIX_ERR_OUT_OF_RESOURCE
               : SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                          "%u fences and connects of this process are under way, as many as its "
                          "server allows; wait for one to end, or start the server with a larger "
                          "SHMIX_SERVER_COLLECTIVES",
                          link->collective_count);
}

/* Add @op to the list of pending collectives before its arrival can reach the server; @arrive
 * receives their number. */
static pmix_status_t arrive_enlist(struct sx_op *op, struct sx_lane_arrive *arrive)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    pmix_status_t rc = sx_op_judge(op);
    if (rc == PMIX_SUCCESS && op->link->collective_count >= op->link->collectives_max) {
        rc = arrive_refuse_locked(op->link);
    }
    if (rc == PMIX_SUCCESS) {
        op->id = sx_link_next_id_locked(op->link);
        op->held = true;
        sx_list_append(&op->link->collectives, &op->task.node);
        arrive->open = (uint16_t)++op->link->collective_count;
        sx_wakefd_want_locked();
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* Take the result @status of sending the arrival into account.  Return: PMIX_SUCCESS when @op has
 * ended or will end; else it has been taken out again. */
static pmix_status_t arrive_sent(struct sx_op *op, pmix_status_t status)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    if (status != PMIX_SUCCESS && !op->done) {
        sx_list_remove(&op->task.node);
        op->link->collective_count--;
    } else {
        status = PMIX_SUCCESS;
        sx_op_release_locked(op);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

static pmix_status_t arrive_send(struct sx_op *op, const struct iovec *iov)
{
    struct sx_op sent = SX_OP_INIT(&sx_op_plain, op->link);
    bool rung = false;

    if (iov->iov_len > SX_LANE_MESSAGE_MAX) {
        return sx_request(&sent, SX_MSG_ARRIVE_BULK, iov, 1,
                          sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS));
    }
    const pmix_status_t rc = sx_lane_send(op->link, SX_LANE_ARRIVE, iov, 1, &rung);

    op->yield_count -= rung && op->yield_count != 0;
    return rc;
}

pmix_status_t sx_arrive_start(struct sx_op *op, struct sx_lane_arrive *arrive, size_t size)
{
    const struct iovec iov = { arrive, size };
    const pmix_status_t rc = arrive_enlist(op, arrive);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    arrive->op = op->id;
    return arrive_sent(op, arrive_send(op, &iov));
}

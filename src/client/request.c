/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* request.c - call and wait: requests over the control socket.
 *
 * The sender is in the list before its frame is sent, so the answer finds it however early it
 * comes.  Nothing is resent: a frame is delivered whole or the link is lost. */
#include "client/request.h"

#include "base/clock.h"
#include "client/client.h"
#include "client/progress.h"

#define SX_REQUEST_YIELDS 1u

struct sx_call *sx_call_find(struct sx_list *list, uint32_t id)
{
    SX_LIST_EACH(it, list) {
        struct sx_call *call = SX_LIST_ENTRY(it, struct sx_call, node);

        if (call->id == id) {
            return call;
        }
    }
    return NULL;
}

void sx_call_complete(struct sx_call *call, pmix_status_t status, struct sx_frame *frame)
{
    sx_list_remove(&call->node);
    if (call->windowed) {
        call->windowed = false;
        sx_window_free_locked(&sx_process.window);
    }
    call->status = status;
    call->done = true;
    if (frame != NULL && frame->fd_count > 0) {
        call->fd = frame->fds[0];
        frame->fds[0] = -1;
    }
    if (frame != NULL && call->on_answer != NULL) {
        call->on_answer(call, frame);
    }
    if (call->on_done != NULL && !call->held) {
        call->on_done(call, frame);
    }
}

void sx_call_release_locked(struct sx_call *call)
{
    call->held = false;
    if (call->done && call->on_done != NULL) {
        call->on_done(call, NULL);
        /* What rang for the answer has rung before the task was posted. */
        sx_local_ring_locked();
    }
}

static size_t body_size_of(const struct iovec *iov, int iov_count)
{
    size_t size = 0;

    for (int i = 0; i < iov_count; i++) {
        size = sx_add_size(size, iov[i].iov_len, &size) ? size : SIZE_MAX;
    }
    return size;
}

uint32_t sx_request_id(void)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    p->id_last = p->id_last == UINT32_MAX ? 1 : p->id_last + 1; /* 0 wants no answer */
    const uint32_t id = p->id_last;
    pthread_mutex_unlock(&p->lock);
    return id;
}

/* Among those who wait for an answer, before it is sent: so the answer finds it, however early. */
static pmix_status_t call_enlist(struct sx_call *call, bool windowed)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    const pmix_status_t rc = sx_link_status();
    if (rc == PMIX_SUCCESS) {
        call->done = false;
        call->held = true;
        call->windowed = windowed;
        call->fd = -1;
        sx_list_append(&p->requests, &call->node);
    } else if (windowed) {
        sx_window_forget_locked(&p->window);
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* Taken out again: there will be no answer, or nobody waits for it. */
static void call_forget_locked(struct sx_call *call)
{
    sx_list_remove(&call->node);
    if (call->windowed) { /* what is in the window may still be read */
        call->windowed = false;
        sx_window_forget_locked(&sx_process.window);
    }
}

/* The frame was sent as @rc says.  Return: as sx_request_start. */
static pmix_status_t call_sent(struct sx_call *call, pmix_status_t rc)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    if (rc != PMIX_SUCCESS && call->done) {
        rc = PMIX_SUCCESS; /* the loss of the link was its answer */
    } else if (rc != PMIX_SUCCESS) {
        call_forget_locked(call);
    }
    if (rc == PMIX_SUCCESS) {
        sx_call_release_locked(call);
    } else if (rc == PMIX_ERR_LOST_CONNECTION) {
        sx_link_lost_locked("the control socket is closed");
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

pmix_status_t sx_request_piece(uint16_t kind, uint16_t flags, uint32_t id, size_t size,
                               struct sx_call *call)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS);

    call->id = id;
    const pmix_status_t rc = call_enlist(call, (flags & SX_FRAME_MORE) == 0);

    return rc != PMIX_SUCCESS ? rc
                              : call_sent(call, sx_frame_send_window(sx_process.socket_fd, kind,
                                                                     flags, id, size, deadline_ns));
}

pmix_status_t sx_request_start(struct sx_call *call, uint16_t kind, const struct iovec *iov,
                               int iov_count)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS);
    const size_t size = body_size_of(iov, iov_count);

    if (size > SX_FRAME_BODY_MAX) {
        return sx_window_send(call, kind, iov, iov_count, size);
    }
    call->id = sx_request_id();
    const pmix_status_t rc = call_enlist(call, false);

    return rc != PMIX_SUCCESS ? rc
                              : call_sent(call, sx_frame_send(sx_process.socket_fd, kind, call->id,
                                                              iov, iov_count, deadline_ns));
}

pmix_status_t sx_request_tell(uint16_t kind, uint32_t id, const struct iovec *iov, int iov_count)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS);
    struct sx_call call = SX_CALL_INIT(NULL);
    const pmix_status_t rc = sx_link_status();

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (body_size_of(iov, iov_count) > SX_FRAME_BODY_MAX) {
        return sx_request(&call, kind, iov, iov_count, deadline_ns);
    }
    return sx_frame_send(sx_process.socket_fd, kind, id, iov, iov_count, deadline_ns);
}

static bool call_is_done(void *arg)
{
    const struct sx_call *call = arg;

    return call->done;
}

pmix_status_t sx_call_wait(struct sx_call *call, unsigned yield_count, uint64_t deadline_ns)
{
    struct sx_process *const p = &sx_process;
    pmix_status_t rc = sx_wait_until(call_is_done, call, yield_count, deadline_ns);

    pthread_mutex_lock(&p->lock);
    if (call->done) {
        rc = call->status;
    } else {
        call_forget_locked(call);
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

pmix_status_t sx_request(struct sx_call *call, uint16_t kind, const struct iovec *iov,
                         int iov_count, uint64_t deadline_ns)
{
    const pmix_status_t rc = sx_request_start(call, kind, iov, iov_count);

    return rc == PMIX_SUCCESS ? sx_call_wait(call, SX_REQUEST_YIELDS, deadline_ns) : rc;
}

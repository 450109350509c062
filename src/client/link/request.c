/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* request.c - call and wait: requests over the control socket.
 *
 * The sender is in the list before its frame is sent, so the answer finds it, no matter how
 * early it comes.  Nothing is sent twice: a frame is delivered whole, or the link is lost. */
#include "client/link/request.h"

#include "base/clock.h"
#include "base/status.h"
#include "client/link/process.h"
#include "client/link/progress.h"
#include "client/link/window.h"

#define SX_REQUEST_YIELDS 1u

static size_t body_size_of(const struct iovec *iov, int iov_count)
{
    size_t size = 0;

    for (int i = 0; i < iov_count; i++) {
        size = sx_add_size(size, iov[i].iov_len, &size) ? size : SIZE_MAX;
    }
    return size;
}

static uint32_t next_id(void)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    p->id_last = p->id_last == UINT32_MAX ? 1 : p->id_last + 1; /* 0 wants no answer */
    const uint32_t id = p->id_last;
    pthread_mutex_unlock(&p->lock);
    return id;
}

/* Put the call among those that wait for an answer, before the frame is sent, so that the answer
 * finds it. */
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

/* Take the call out again: there will be no answer, or nobody waits for it. */
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

/* The first @size bytes of the window, about request @id.  @call is completed by the answer to this
 * frame; unless @flags have SX_FRAME_MORE it has the window until then. */
static pmix_status_t send_piece(uint16_t kind, uint16_t flags, uint32_t id, size_t size,
                                struct sx_call *call)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS);

    call->id = id;
    const pmix_status_t rc = call_enlist(call, (flags & SX_FRAME_MORE) == 0);

    return rc != PMIX_SUCCESS ? rc
                              : call_sent(call, sx_frame_send_window(sx_process.socket_fd, kind,
                                                                     flags, id, size, deadline_ns));
}

/* A request that fits in a frame. */
static pmix_status_t send_small(struct sx_call *call, uint16_t kind, const struct iovec *iov,
                                int iov_count)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS);

    call->id = next_id();
    const pmix_status_t rc = call_enlist(call, false);

    return rc != PMIX_SUCCESS ? rc
                              : call_sent(call, sx_frame_send(sx_process.socket_fd, kind, call->id,
                                                              iov, iov_count, deadline_ns));
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

/* ---- through the window -------------------------------------------------------------------- */

static void window_forget(struct sx_process *p)
{
    pthread_mutex_lock(&p->lock);
    sx_window_forget_locked(&p->window);
    pthread_mutex_unlock(&p->lock);
}

/* The window is ours: get one where there is none yet. */
static pmix_status_t window_obtain(struct sx_process *p, uint64_t deadline_ns)
{
    struct sx_call call = SX_CALL_INIT(NULL);

    if (p->window.fd >= 0) {
        return PMIX_SUCCESS;
    }
    pmix_status_t rc = send_small(&call, SX_MSG_WINDOW_GET, NULL, 0);

    if (rc == PMIX_SUCCESS) {
        rc = sx_call_wait(&call, SX_REQUEST_YIELDS, deadline_ns);
    }

    if (rc == PMIX_SUCCESS && call.fd < 0) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "a window without its descriptor");
    }
    pthread_mutex_lock(&p->lock);
    p->window.fd = call.fd;
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* Send all pieces but the last.  The last one is in the window then, and *ret_size is its
 * size. */
static pmix_status_t send_pieces(struct sx_process *p, uint16_t kind, uint32_t id,
                                 struct sx_window_rest *rest, size_t *ret_size)
{
    for (;;) {
        const size_t size = rest->size < SX_WINDOW_BYTES ? rest->size : SX_WINDOW_BYTES;
        struct sx_call call = SX_CALL_INIT(NULL);
        pmix_status_t rc = sx_window_fill(p->window.fd, rest, size);

        if (rc == PMIX_SUCCESS && rest->size == 0) {
            *ret_size = size;
            return PMIX_SUCCESS;
        }
        if (rc == PMIX_SUCCESS) {
            rc = send_piece(kind, SX_FRAME_MORE, id, size, &call);
        }
        if (rc == PMIX_SUCCESS) {
            rc = sx_call_wait(&call, 1, sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS));
        }
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
}

static pmix_status_t send_windowed(struct sx_call *call, uint16_t kind, const struct iovec *iov,
                                   size_t size)
{
    struct sx_process *const p = &sx_process;
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS);
    struct sx_window_rest rest = { .iov = iov, .size = size };
    size_t last;
    pmix_status_t rc = sx_message_size_judge(kind, size);

    if (rc == PMIX_SUCCESS) {
        rc = sx_window_judge(size < SX_WINDOW_BYTES ? size : SX_WINDOW_BYTES);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status();
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_wait_until(sx_window_take_locked, &p->window, 0, deadline_ns);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = window_obtain(p, deadline_ns);
    if (rc == PMIX_SUCCESS) {
        call->id = next_id();
        rc = send_pieces(p, kind, call->id, &rest, &last);
    }
    if (rc != PMIX_SUCCESS) {
        window_forget(p);
        return rc;
    }
    return send_piece(kind, 0, call->id, last, call);
}

/* ---- either way ---------------------------------------------------------------------------- */

pmix_status_t sx_request_start(struct sx_call *call, uint16_t kind, const struct iovec *iov,
                               int iov_count)
{
    const size_t size = body_size_of(iov, iov_count);

    return size > SX_FRAME_BODY_MAX ? send_windowed(call, kind, iov, size)
                                    : send_small(call, kind, iov, iov_count);
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

pmix_status_t sx_request(struct sx_call *call, uint16_t kind, const struct iovec *iov,
                         int iov_count, uint64_t deadline_ns)
{
    const pmix_status_t rc = sx_request_start(call, kind, iov, iov_count);

    return rc == PMIX_SUCCESS ? sx_call_wait(call, SX_REQUEST_YIELDS, deadline_ns) : rc;
}

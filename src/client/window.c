/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* window.c - take the window, fill it, send what is in it, as often as it takes.
 *
 * It is written, not mapped: where memory is out that is an error of the request, not a signal. */
#include "client/window.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/status.h"
#include "client/client.h"
#include "client/progress.h"

/* ---- whose it is --------------------------------------------------------------------------- */

/* Under lock. */
static bool take(void *arg)
{
    struct sx_window *const window = arg;

    if (window->busy) {
        return false;
    }
    return window->busy = true;
}

void sx_window_free_locked(struct sx_window *window)
{
    window->busy = false;
    sx_local_ring_locked();
}

void sx_window_deinit(struct sx_window *window)
{
    if (window->fd >= 0) {
        close(window->fd);
    }
    *window = SX_WINDOW_NULL;
}

void sx_window_forget_locked(struct sx_window *window)
{
    sx_window_deinit(window);
    sx_local_ring_locked();
}

static void forget(struct sx_process *p)
{
    pthread_mutex_lock(&p->lock);
    sx_window_forget_locked(&p->window);
    pthread_mutex_unlock(&p->lock);
}

/* The window is ours: get one where there is none yet. */
static pmix_status_t obtain(struct sx_process *p, uint64_t deadline_ns)
{
    struct sx_call call = SX_CALL_INIT(NULL);

    if (p->window.fd >= 0) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = sx_request(&call, SX_MSG_WINDOW_GET, NULL, 0, deadline_ns);

    if (rc == PMIX_SUCCESS && call.fd < 0) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "a window without its descriptor");
    }
    pthread_mutex_lock(&p->lock);
    p->window.fd = call.fd;
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* ---- what goes through it ------------------------------------------------------------------ */

/* The rest of a body. */
struct rest {
    const struct iovec *iov;
    size_t off; /* in *iov */
    size_t size;
};

/* Asked beforehand, since writing past the limit would kill the process (SIGXFSZ). */
static pmix_status_t file_size_judge(size_t size)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur
               ? SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                          "a message of %zu bytes is over the limit of file size (raise it: "
                          "ulimit -f)",
                          size)
               : PMIX_SUCCESS;
}

static pmix_status_t fill(int fd, struct rest *rest, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const size_t here = rest->iov->iov_len - rest->off;
        const size_t now = here < size - done ? here : size - done;
        const ssize_t n = pwrite(fd, (const uint8_t *)rest->iov->iov_base + rest->off, now,
                                 (off_t)done);

        if (n < 0 && errno != EINTR) {
            return SX_RAISE(sx_status_from_errno(errno), "memory for a message of %zu bytes: %s",
                            rest->size, strerror(errno));
        }
        done += n > 0 ? (size_t)n : 0;
        rest->off += n > 0 ? (size_t)n : 0;
        if (rest->off == rest->iov->iov_len) {
            rest->iov++;
            rest->off = 0;
        }
    }
    rest->size -= size;
    return PMIX_SUCCESS;
}

/* All pieces but the last, which is in the window then; *ret_size is its size. */
static pmix_status_t send_pieces(struct sx_process *p, uint16_t kind, uint32_t id,
                                 struct rest *rest, size_t *ret_size)
{
    for (;;) {
        const size_t size = rest->size < SX_WINDOW_BYTES ? rest->size : SX_WINDOW_BYTES;
        struct sx_call call = SX_CALL_INIT(NULL);
        pmix_status_t rc = fill(p->window.fd, rest, size);

        if (rc == PMIX_SUCCESS && rest->size == 0) {
            *ret_size = size;
            return PMIX_SUCCESS;
        }
        if (rc == PMIX_SUCCESS) {
            rc = sx_request_piece(kind, SX_FRAME_MORE, id, size, &call);
        }
        if (rc == PMIX_SUCCESS) {
            rc = sx_call_wait(&call, 1, sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS));
        }
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
}

pmix_status_t sx_window_send(struct sx_call *call, uint16_t kind, const struct iovec *iov,
                             int iov_count, size_t size)
{
    struct sx_process *const p = &sx_process;
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS);
    struct rest rest = { .iov = iov, .size = size };
    size_t last;
    pmix_status_t rc = sx_message_size_judge(kind, size);

    (void)iov_count;
    if (rc == PMIX_SUCCESS) {
        rc = file_size_judge(size < SX_WINDOW_BYTES ? size : SX_WINDOW_BYTES);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status();
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_wait_until(take, &p->window, 0, deadline_ns);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = obtain(p, deadline_ns);
    if (rc == PMIX_SUCCESS) {
        call->id = sx_request_id();
        rc = send_pieces(p, kind, call->id, &rest, &last);
    }
    if (rc != PMIX_SUCCESS) {
        forget(p);
        return rc;
    }
    return sx_request_piece(kind, 0, call->id, last, call);
}

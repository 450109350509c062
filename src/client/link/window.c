/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* window.c - which request has the window, and what is written into it.
 *
 * The window is written, not mapped.  So a lack of memory is an error of the request, not a signal.
 */
#include "client/link/window.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/status.h"
#include "client/link/local.h"

/* ---- whose it is --------------------------------------------------------------------------- */

bool sx_window_take_locked(void *arg)
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

/* ---- what goes through it ------------------------------------------------------------------ */

/* Asked beforehand, since writing past the limit would kill the process (SIGXFSZ). */
pmix_status_t sx_window_judge(size_t size)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && size > limit.rlim_cur
               ? SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                          "a message of %zu bytes is over the limit of file size (raise it: "
                          "ulimit -f)",
                          size)
               : PMIX_SUCCESS;
}

pmix_status_t sx_window_fill(int fd, struct sx_window_rest *rest, size_t size)
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* window.c - which request has the window, and writing into it.
 *
 * Pages are written for the first time through the descriptor, so a lack of memory is an error of
 * the request, not a signal.  These pages stay, so later large pieces are copied into a map. */
#include "client/link/link.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/status.h"
#include "client/link/wait.h"

#define SX_WINDOW_MAP_BYTES ((size_t)64 << 10) /* from here a system call costs more than faults */

/* ---- the owner ----------------------------------------------------------------------------- */

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
    if (window->map != NULL) {
        munmap(window->map, window->map_size);
    }
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

/* ---- pieces -------------------------------------------------------------------------------- */

/* Checked beforehand, since writing past the limit would kill the process (SIGXFSZ). */
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

/* Map the pages written so far, unless the server could truncate them.  Return: whether the first
 * @size bytes can be copied into. */
static bool window_map(struct sx_window *window, size_t size)
{
    if (size < SX_WINDOW_MAP_BYTES || size > window->written) {
        return false;
    }
    if (size <= window->map_size) {
        return true;
    }
    const int seals = fcntl(window->fd, F_GET_SEALS);
    void *const map = seals < 0 || (seals & F_SEAL_SHRINK) == 0
                          ? MAP_FAILED
                          : mmap(NULL, window->written, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_POPULATE, window->fd, 0);

    if (map == MAP_FAILED) {
        return false;
    }
    if (window->map != NULL) {
        munmap(window->map, window->map_size);
    }
    window->map = map;
    window->map_size = window->written;
    return true;
}

/* Return: as pwrite. */
static ssize_t window_write(struct sx_window *window, bool mapped, const void *from, size_t size,
                            size_t off)
{
    if (!mapped) {
        return pwrite(window->fd, from, size, (off_t)off);
    }
    memcpy(window->map + off, from, size);
    return (ssize_t)size;
}

pmix_status_t sx_window_fill(struct sx_window *window, struct sx_window_rest *rest, size_t size)
{
    const bool mapped = window_map(window, size);
    size_t done = 0;

    while (done < size) {
        const size_t here = rest->iov->iov_len - rest->off;
        const size_t now = here < size - done ? here : size - done;
        const ssize_t n = window_write(window, mapped,
                                       (const uint8_t *)rest->iov->iov_base + rest->off, now, done);

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
    window->written = window->written > size ? window->written : size;
    rest->size -= size;
    return PMIX_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* out.c - the kind of a descriptor's file, and the write that suits it. */
#include "base/stream/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void sx_out_open(struct sx_out *out, int fd)
{
    struct stat st;
    char path[32];

    *out = (struct sx_out){ .fd = fd };
    if (fstat(fd, &st) != 0 || S_ISREG(st.st_mode)) {
        return;
    }
    if (S_ISSOCK(st.st_mode)) {
        out->socket = true;
        return;
    }
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    const int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

    out->own = own >= 0;
    out->careful = own < 0;
    if (own >= 0) {
        out->fd = own;
    }
}

void sx_out_close(struct sx_out *out)
{
    if (out->own) {
        close(out->fd);
    }
    *out = SX_OUT_NULL;
}

ssize_t sx_out_write(const struct sx_out *out, const void *bytes, size_t size)
{
    struct pollfd ready = { .fd = out->fd, .events = POLLOUT };

    if (out->socket) {
        return send(out->fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    if (out->careful) {
        if (poll(&ready, 1, 0) == 0) {
            errno = EAGAIN;
            return -1;
        }
        /* A pipe with room has room for this much at least, so the write does not block. */
        size = size < PIPE_BUF ? size : PIPE_BUF;
    }
    return write(out->fd, bytes, size);
}

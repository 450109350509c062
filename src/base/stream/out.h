/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* out.h - a borrowed descriptor (stdout, say), written to without ever waiting for room.
 *
 * Other processes share its file description, so it is not made non-blocking.  Pipes and terminals
 * are opened once more, for an own description that may be non-blocking.  A socket gets
 * MSG_DONTWAIT with each write.  A file that cannot be opened again is polled first and written to
 * in small parts. */
#ifndef SX_BASE_STREAM_OUT_H
#define SX_BASE_STREAM_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sx_out {
    int fd;       /* to poll; -1: none */
    bool own;     /* opened here, closed here */
    bool socket;  /* the call itself has the flag not to wait */
    bool careful; /* it may block */
};

#define SX_OUT_NULL ((struct sx_out){ .fd = -1 })

void sx_out_open(struct sx_out *out, int fd);
void sx_out_close(struct sx_out *out);

/* As write(2).  Return: -1 with EAGAIN when there is no room. */
ssize_t sx_out_write(const struct sx_out *out, const void *bytes, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* out.h - somebody else's descriptor (stdout, say), written to without ever waiting for room.
 *
 * Others share what it refers to, so it is not made non-blocking.  Pipes and terminals are opened
 * once more, for a description of our own that may be; a socket is told so with each write; what
 * cannot be opened again is asked first and written to in small parts. */
#ifndef SX_BASE_STREAM_OUT_H
#define SX_BASE_STREAM_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct sx_out {
    int fd;       /* to poll; -1: none */
    bool own;     /* opened here, closed here */
    bool socket;  /* the call itself says that it does not wait */
    bool careful; /* it may block */
};

#define SX_OUT_NULL ((struct sx_out){ .fd = -1 })

void sx_out_open(struct sx_out *out, int fd);
void sx_out_close(struct sx_out *out);

/* As write(2).  Return: -1 with EAGAIN when there is no room. */
ssize_t sx_out_write(const struct sx_out *out, const void *bytes, size_t size);

#endif

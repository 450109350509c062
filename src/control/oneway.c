/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* oneway.c - a pair of sockets, and a check of its reader's end. */
#include "control/oneway.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/status.h"
#include "control/socket.h"

pmix_status_t sx_oneway_open(int *ret_server, int *ret_reader)
{
    int fds[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) {
        return SX_RAISE(sx_status_from_errno(errno), "no pair of sockets: %s", strerror(errno));
    }
    sx_socket_refuse_rights(fds[0]);
    *ret_server = fds[0];
    *ret_reader = fds[1];
    return PMIX_SUCCESS;
}

enum sx_oneway_said sx_oneway_hear(int fd)
{
    struct pollfd said = { .fd = fd, .events = POLLIN | POLLRDHUP };

    if (poll(&said, 1, 0) <= 0) {
        return SX_ONEWAY_NOTHING;
    }
    return (said.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0 ? SX_ONEWAY_ENOUGH
                                                                 : SX_ONEWAY_BREACH;
}

int sx_oneway_send(int fd, const struct iovec *iov, size_t iov_count)
{
    return sx_socket_send(fd, iov, iov_count, NULL, 0);
}

void sx_oneway_close(int fd)
{
    sx_socket_hang_up(fd);
}

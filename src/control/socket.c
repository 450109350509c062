/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* socket.c - recvmsg and sendmsg with SCM_RIGHTS, in one place.
 *
 * No descriptor that a peer sends gets lost here: it is handed to the caller or closed, also when
 * the message is empty, too long or carries too many. */
#include "control/socket.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

void sx_socket_close_fds(struct sx_recv_message *message)
{
    for (int i = 0; i < message->fd_count; i++) {
        if (message->fds[i] >= 0) {
            close(message->fds[i]);
        }
    }
    message->fd_count = 0;
}

void sx_socket_take_fds(struct sx_recv_message *message, struct msghdr *msg)
{
    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg); cmsg != NULL; cmsg = CMSG_NXTHDR(msg, cmsg)) {
        if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const size_t count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        for (size_t i = 0; i < count; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(fd));
            if (message->fd_count < SX_RECV_FDS_MAX) {
                message->fds[message->fd_count++] = fd;
            } else {
                close(fd);
                message->truncated = true;
            }
        }
    }
    if ((msg->msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
        message->truncated = true;
    }
}

int sx_socket_receive(int fd, int flags, void *buf, size_t buf_size,
                      struct sx_recv_message *message)
{
    _Alignas(struct cmsghdr) char control[SX_SOCKET_CONTROL_BYTES];
    struct iovec iov = { .iov_base = buf, .iov_len = buf_size };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
    };
    bool reset = false;
    ssize_t got;

    *message = (struct sx_recv_message){ .bytes = NULL };
    for (;;) {
        got = recvmsg(fd, &msg, flags | MSG_CMSG_CLOEXEC);
        if (got >= 0 || (errno != EINTR && errno != ECONNRESET) || reset) {
            break;
        }
        /* The peer closed without reading all of ours: told once, then come its last messages. */
        reset = errno == ECONNRESET;
    }
    if (got < 0) {
        return errno;
    }
    sx_socket_take_fds(message, &msg);
    if (got == 0) {
        /* The end, or an empty message, which no frame is: the same to us. */
        sx_socket_close_fds(message);
        return 0;
    }
    message->bytes = buf;
    message->size = (size_t)got;
    return 0;
}

int sx_socket_send(int fd, const struct iovec *iov, size_t iov_count, const int *fds, int fd_count)
{
    _Alignas(struct cmsghdr) char control[SX_SOCKET_CONTROL_BYTES];
    /* sendmsg only reads the vector, whatever its type says. */
    union {
        const struct iovec *in;
        struct iovec *out;
    } vector = { .in = iov };
    struct msghdr msg = { .msg_iov = vector.out, .msg_iovlen = iov_count };
    ssize_t sent;

    if (fd_count > 0) {
        memset(control, 0, sizeof(control));
        msg.msg_control = control;
        msg.msg_controllen = CMSG_SPACE((size_t)fd_count * sizeof(int));
        struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);

        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN((size_t)fd_count * sizeof(int));
        memcpy(CMSG_DATA(cmsg), fds, (size_t)fd_count * sizeof(int));
    }
    do {
        sent = sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? errno : 0;
}

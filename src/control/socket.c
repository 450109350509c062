/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* socket.c - recvmsg and sendmsg with SCM_RIGHTS, in one place.
 *
 * No descriptor that a server sends is lost here: it is handed to the caller or closed, also when
 * the message is empty, too long or carries too many.  Descriptors that a client sends are never
 * taken. */
#include "control/socket.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/switch.h"
#include "control/closer.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* Linux 6.16 */
#endif

/* Room for the control data of one message: exactly SX_SOCKET_FDS_MAX descriptors. */
#define CONTROL_BYTES CMSG_SPACE(SX_SOCKET_FDS_MAX * sizeof(int))

/* recvmsg, which reports once that the peer closed with unread messages in its queue; the peer's
 * last messages follow.  Return: as recvmsg, 0 also for the end. */
static ssize_t receive(int fd, struct msghdr *msg, int flags)
{
    bool reset = false;

    for (;;) {
        const ssize_t got = recvmsg(fd, msg, flags);

        if (got >= 0 || (errno != EINTR && errno != ECONNRESET) || reset) {
            return got;
        }
        reset = errno == ECONNRESET;
    }
}

/* ---- a client's side ----------------------------------------------------------------------- */

void sx_socket_close_fds(struct sx_socket_message *message)
{
    for (int i = 0; i < message->fd_count; i++) {
        if (message->fds[i] >= 0) {
            close(message->fds[i]);
        }
    }
    message->fd_count = 0;
}

static void take_fds(struct sx_socket_message *message, struct msghdr *msg)
{
    for (struct cmsghdr *cmsg = CMSG_FIRSTHDR(msg); cmsg != NULL; cmsg = CMSG_NXTHDR(msg, cmsg)) {
        if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS) {
            continue;
        }
        const size_t count = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        for (size_t i = 0; i < count; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof(int), sizeof(fd));
            if (message->fd_count < SX_SOCKET_FDS_MAX) {
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
                      struct sx_socket_message *message)
{
    _Alignas(struct cmsghdr) char control[CONTROL_BYTES];
    struct iovec iov = { .iov_base = buf, .iov_len = buf_size };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
    };
    const ssize_t got = receive(fd, &msg, flags | MSG_CMSG_CLOEXEC);

    *message = (struct sx_socket_message){ .bytes = NULL };
    if (got < 0) {
        return errno;
    }
    take_fds(message, &msg);
    if (got == 0) {
        /* The end, or an empty message, which is not a frame: both are handled alike. */
        sx_socket_close_fds(message);
        return 0;
    }
    message->bytes = buf;
    message->size = (size_t)got;
    return 0;
}

/* ---- a server's side ----------------------------------------------------------------------- */

enum { RIGHTS_UNKNOWN, RIGHTS_REFUSED, RIGHTS_PASS };

static _Atomic int rights_state = RIGHTS_UNKNOWN;

static bool ask_kernel_to_refuse(int fd)
{
    const int off = 0;

    return setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off)) == 0;
}

bool sx_socket_can_refuse_rights(void)
{
    /* relaxed: every thread finds the same answer, and the order of threads does not matter. */
    int state = atomic_load_explicit(&rights_state, memory_order_relaxed);

    if (state == RIGHTS_UNKNOWN) {
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

        if (fd < 0) {
            return false; /* for now: the careful answer */
        }
        state = !sx_switch_is_off("SHMIX_PASSRIGHTS") && ask_kernel_to_refuse(fd) ? RIGHTS_REFUSED
                                                                                  : RIGHTS_PASS;
        close(fd);
        atomic_store_explicit(&rights_state, state, memory_order_relaxed);
    }
    return state == RIGHTS_REFUSED;
}

void sx_socket_refuse_rights(int fd)
{
    const int on = 1;

    if (sx_socket_can_refuse_rights()) {
        (void)ask_kernel_to_refuse(fd);
    } else {
        /* Each message then has its sender's credentials: so an empty one differs from the end. */
        (void)setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
    }
}

enum sx_socket_next sx_socket_look(int fd)
{
    /* Room for the sender and nothing else: descriptors do not fit, and are not made. */
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
    char byte;
    struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
    };
    const ssize_t got = receive(fd, &msg, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (got < 0) {
        return errno == EAGAIN || errno == EWOULDBLOCK ? SX_SOCKET_NOTHING : SX_SOCKET_END;
    }
    if ((msg.msg_flags & MSG_CTRUNC) != 0) {
        return SX_SOCKET_RIGHTS;
    }
    return got > 0 || CMSG_FIRSTHDR(&msg) != NULL ? SX_SOCKET_MESSAGE : SX_SOCKET_END;
}

int sx_socket_receive_plain(int fd, void *buf, size_t buf_size, struct sx_recv_message *message)
{
    struct iovec iov = { .iov_base = buf, .iov_len = buf_size };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
    const ssize_t got = receive(fd, &msg, MSG_DONTWAIT);

    *message = (struct sx_recv_message){ .bytes = NULL };
    if (got < 0) {
        return errno;
    }
    if (got > 0) { /* the end, or an empty message, which is not a frame: both handled alike */
        message->bytes = buf;
        message->size = (size_t)got;
        message->truncated = (msg.msg_flags & MSG_TRUNC) != 0;
    }
    return 0;
}

void sx_socket_hang_up(int fd)
{
    /* From here on no message arrives.  When an engine holds the socket a little longer, the peer
     * sees the end now. */
    shutdown(fd, SHUT_RDWR);
    if (sx_socket_can_refuse_rights() || sx_socket_look(fd) == SX_SOCKET_END) {
        close(fd);
    } else {
        sx_closer_close(fd); /* its unread messages are discarded with it */
    }
}

void sx_socket_close_listener(int fd)
{
    shutdown(fd, SHUT_RDWR);
    while (!sx_socket_can_refuse_rights()) {
        const int waiting = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

        if (waiting < 0) {
            break;
        }
        sx_socket_hang_up(waiting);
    }
    close(fd);
}

/* ---- both ---------------------------------------------------------------------------------- */

int sx_socket_send(int fd, const struct iovec *iov, size_t iov_count, const int *fds, int fd_count)
{
    _Alignas(struct cmsghdr) char control[CONTROL_BYTES];
    /* sendmsg only reads the vector, although its type is not const. */
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

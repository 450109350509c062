/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* socket.c - recvmsg and sendmsg with SCM_RIGHTS, in one place.
 *
 * No descriptor that a server sends is lost here: it is handed to the caller or closed, also when
 * the message is empty, too long or carries too many.  Descriptors that a client sends are never
 * taken. */
#include "control/socket.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/environment.h"
#include "base/log.h"
#include "base/status.h"
#include "base/system/process.h"

/* Close a socket and discard its messages, in a thread that may wait; private to control.
 *
 * Needed on kernels that cannot refuse descriptors (before Linux 6.16), and there only for sockets
 * with untaken messages.  The threads end with the work. */

/* So many closing sockets may block at once; later ones wait, and no other thread waits for
 * them. */
#define CLOSER_THREADS_MAX 16u

/* ---- closing in a thread that may wait ------------------------------------------------------- */

/* A list of sockets, and threads that empty the list.
 *
 * A socket is emptied before it is closed: the last reference to it may be an engine's, which
 * releases it on its own thread.  By then the socket must be empty. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *closing; /* newest last; under lock, as all below */
static size_t closing_count, closing_capacity;
static unsigned thread_count;

static void empty(int fd)
{
    enum sx_socket_next next;
    char byte;

    while ((next = sx_socket_look(fd)) == SX_SOCKET_MESSAGE || next == SX_SOCKET_RIGHTS) {
        (void)!recv(fd, &byte, 1, MSG_DONTWAIT); /* frees its descriptors; this thread may wait */
    }
}

static void *closer_run(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (closing_count > 0) {
        const int fd = closing[--closing_count];

        pthread_mutex_unlock(&lock);
        empty(fd);
        close(fd);
        pthread_mutex_lock(&lock);
    }
    thread_count--;
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Under lock.  Return: false when memory is out. */
static bool closing_add(int fd)
{
    if (!SX_ARRAY_RESERVE(closing, closing_count, closing_capacity, 16)) {
        return false;
    }
    closing[closing_count++] = fd;
    return true;
}

/* Take over @fd, on which no more can come (SHUT_RD).  Any thread; never waits. */
static void close_later(int fd)
{
    pthread_mutex_lock(&lock);
    if (!closing_add(fd)) {
        sx_log(SX_LOG_WARN, "no memory to close a connection later: it stays open");
    } else if (thread_count < CLOSER_THREADS_MAX && sx_thread_detached(closer_run, NULL)) {
        thread_count++;
    }
    pthread_mutex_unlock(&lock);
}

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
        close_later(fd); /* its unread messages are discarded with it */
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

/* ---- one way --------------------------------------------------------------------------------- */

/* A pair of sockets, and a check of its reader's end. */

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

enum sx_oneway_said sx_oneway_receive(int fd)
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

/* ---- address --------------------------------------------------------------------------------- */

/* The hundred bytes of a socket address, and ways around that limit. */

static bool take(struct sx_address *ret, int length)
{
    ret->un.sun_family = AF_UNIX;
    ret->size_bytes = sizeof(ret->un);
    return length > 0 && (size_t)length < sizeof(ret->un.sun_path);
}

bool sx_address_of_fd(struct sx_address *ret, int fd, const char *name)
{
    *ret = (struct sx_address){ 0 };
    return take(ret, snprintf(ret->un.sun_path, sizeof(ret->un.sun_path), "/proc/self/fd/%d%s%s",
                              fd, name != NULL ? "/" : "", name != NULL ? name : ""));
}

bool sx_address_of_path(struct sx_address *ret, const char *path)
{
    *ret = (struct sx_address){ 0 };
    return take(ret, snprintf(ret->un.sun_path, sizeof(ret->un.sun_path), "%s", path));
}

bool sx_address_of_name(struct sx_address *ret, const char *name)
{
    char *const path = ret->un.sun_path;

    *ret = (struct sx_address){ 0 };
    const bool fits = take(ret, snprintf(path + 1, sizeof(ret->un.sun_path) - 1, "%s", name) + 1);

    /* The zero in front makes it one, and its length belongs to it. */
    ret->size_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(path + 1));
    return fits;
}

int sx_address_bind(int fd, const struct sx_address *address)
{
    return bind(fd, (const struct sockaddr *)(const void *)&address->un, address->size_bytes) == 0
               ? 0
               : errno;
}

int sx_address_connect(int fd, const struct sx_address *address)
{
    int rc;

    do {
        rc = connect(fd, (const struct sockaddr *)(const void *)&address->un, address->size_bytes);
    } while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : errno;
}

int sx_address_listener(int fd, struct ucred *ret_cred)
{
    socklen_t size = sizeof(*ret_cred);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ret_cred, &size) == 0 ? 0 : errno;
}

bool sx_address_has_gone(int fd, pid_t pid)
{
    struct ucred cred;

    return sx_address_listener(fd, &cred) == 0 && cred.pid == pid && sx_process_has_ended(pid);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hand.c - a message is one datagram; the folder is opened once, and judged by its descriptor. */
#include "launch/serve/hand.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "control/socket.h"
#include "launch/common/say.h"

int sx_hand_send(int fd, enum sx_hand_kind kind, int32_t number, const char *text)
{
    struct sx_hand_message message = { .kind = kind, .number = number };
    const struct iovec part = { .iov_base = &message, .iov_len = sizeof(message) };

    if (text != NULL) {
        strncpy(message.text, text, sizeof(message.text) - 1);
    }
    return sx_socket_send(fd, &part, 1, NULL, 0);
}

int sx_hand_receive(int fd, struct sx_hand_message *ret)
{
    _Alignas(8) struct sx_hand_message buffer;
    struct sx_socket_message message;
    int why = sx_socket_receive(fd, MSG_DONTWAIT, &buffer, sizeof(buffer), &message);

    if (why == ECONNRESET) { /* it left messages of ours unread; its own may still be here */
        why = sx_socket_receive(fd, MSG_DONTWAIT, &buffer, sizeof(buffer), &message);
    }
    if (why != 0) {
        return why;
    }
    if (message.bytes == NULL) {
        return EPIPE;
    }
    const bool good = message.size == sizeof(buffer) && !message.truncated && message.fd_count == 0;

    sx_socket_close_fds(&message);
    *ret = buffer;
    ret->text[SX_HAND_TEXT_MAX - 1] = '\0';
    return good ? 0 : EPIPE;
}

bool sx_hand_await(int fd, uint64_t deadline_ns)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    int got = 0;

    do {
        const uint64_t now_ns = sx_now_ns();
        const uint64_t left_ns = now_ns < deadline_ns ? deadline_ns - now_ns : 0;

        got = poll(&ready, 1, (int)((left_ns + SX_NS_PER_MS - 1) / SX_NS_PER_MS));
    } while (got < 0 && errno == EINTR);
    return got > 0;
}

/* Room for all descriptors, aligned as a message of control. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(SX_HAND_FDS_MAX * sizeof(int))];
};

int sx_hand_request_send(int fd, const struct sx_hand_head *head, const int *fds, size_t count)
{
    const size_t size = count * sizeof(int);
    union control control = { .bytes = { 0 } };
    struct iovec part = { .iov_base = (void *)(uintptr_t)head, .iov_len = sizeof(*head) };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = CMSG_SPACE(size) };
    struct cmsghdr *const first = CMSG_FIRSTHDR(&message);

    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(size);
    for (size_t i = 0; i < count; i++) {
        memcpy(CMSG_DATA(first) + i * sizeof(int), &fds[i], sizeof(int));
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(*head) ? 0 : errno;
}

ssize_t sx_hand_request_receive(int fd, struct sx_hand_head *ret, int *ret_fds, int *ret_count)
{
    union control control;
    struct iovec part = { .iov_base = ret, .iov_len = sizeof(*ret) };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof(control.bytes) };
    const ssize_t got = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    const struct cmsghdr *const first = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;

    *ret_count = 0;
    if (first != NULL && first->cmsg_level == SOL_SOCKET && first->cmsg_type == SCM_RIGHTS) {
        *ret_count = (int)((first->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(ret_fds, CMSG_DATA(first), (size_t)*ret_count * sizeof(int));
    }
    return got;
}

void sx_hand_command(uint64_t ret[4])
{
    struct stat st = { .st_size = 0 };

    (void)stat("/proc/self/exe", &st);
    ret[0] = st.st_dev;
    ret[1] = st.st_ino;
    ret[2] = (uint64_t)st.st_size;
    ret[3] = (uint64_t)st.st_mtim.tv_sec * SX_NS_PER_SEC + (uint64_t)st.st_mtim.tv_nsec;
}

int sx_hand_folder(bool makes, char **ret_path)
{
    const char *const said = getenv("TMPDIR"), *const parent = said == NULL || said[0] == '\0'
                                                                   ? "/tmp"
                                                                   : said;
    char *const path = sx_cli_printf("%s/shmix-%u-serve", parent, (unsigned)geteuid());
    struct stat st;
    int fd = -1, why = parent[0] == '/' ? 0 : ENOENT;

    if (why == 0 && makes && mkdir(path, 0700) != 0 && errno != EEXIST) {
        why = errno;
    }
    if (why == 0) {
        fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        why = fd < 0 ? errno : 0;
    }
    if (why == 0 && (fstat(fd, &st) != 0 || st.st_uid != geteuid() || (st.st_mode & 077) != 0)) {
        why = EPERM;
        close(fd);
    }
    if (ret_path != NULL) {
        *ret_path = path;
    } else {
        free(path);
    }
    errno = why;
    return why == 0 ? fd : -1;
}

int sx_hand_connect(pid_t *ret_server)
{
    const int folder = sx_hand_folder(false, NULL);
    struct sx_address address;
    struct ucred cred;

    if (folder < 0) {
        return -1;
    }
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int why = fd < 0 ? errno : 0;

    if (why == 0 && !sx_address_of_fd(&address, folder, SX_HAND_SOCKET)) {
        why = ENAMETOOLONG;
    }
    if (why == 0) {
        why = sx_address_connect(fd, &address);
    }
    if (why == 0 && (sx_address_listener(fd, &cred) != 0 || cred.uid != geteuid())) {
        why = EPERM;
    }
    close(folder);
    if (why != 0 && fd >= 0) {
        close(fd);
    }
    *ret_server = why == 0 ? cred.pid : 0;
    errno = why;
    return why == 0 ? fd : -1;
}

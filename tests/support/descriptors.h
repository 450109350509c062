/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* descriptors.h - descriptors through a socket, by hand. */
#ifndef SX_TESTS_DESCRIPTORS_H
#define SX_TESTS_DESCRIPTORS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

#define DESCRIPTORS_MAX 253 /* more than that the kernel takes of nobody */

/* Send @size bytes with @fd_count copies of @fd.  Return: what sendmsg says. */
static inline ssize_t descriptors_send(int socket_fd, const void *bytes, size_t size, int fd,
                                       int fd_count)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))] = { 0 };
    struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };
    struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

    if (fd_count > 0) {
        msg.msg_control = control;
        msg.msg_controllen = CMSG_SPACE((size_t)fd_count * sizeof(int));
        struct cmsghdr *const part = CMSG_FIRSTHDR(&msg);

        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN((size_t)fd_count * sizeof(int));
        for (int i = 0; i < fd_count; i++) {
            memcpy(CMSG_DATA(part) + (size_t)i * sizeof(int), &fd, sizeof(fd));
        }
    }
    return sendmsg(socket_fd, &msg, MSG_NOSIGNAL);
}

/* Take a byte and the descriptor that comes with it.  Return: the descriptor, -1 when none has come. */
static inline int descriptor_receive(int socket_fd, int flags)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    char byte;
    struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
    };
    int fd;

    if (recvmsg(socket_fd, &msg, flags | MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR(&msg) == NULL) {
        return -1;
    }
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
    return fd;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* socket.h - one SEQPACKET message, and the rule for descriptors in it; private to control.
 *
 * Descriptors go one way, from a server to its clients.  A server takes none: closing the last
 * reference to another process's object can take as long as that process likes (a socket that
 * lingers, a file of a file system that hangs).  So the server makes the kernel refuse them to
 * their sender (SO_PASSRIGHTS, Linux 6.16).  Where the kernel cannot, a server checks each message
 * before it takes it.  A message with descriptors stays in the socket, and another thread discards
 * it with the socket (closer.h). */
#ifndef SX_CONTROL_SOCKET_H
#define SX_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "control/loop.h"

/* ---- a client's side ----------------------------------------------------------------------- */

#define SX_SOCKET_FDS_MAX 8 /* of one message; more are closed and truncated is set */

struct sx_socket_message {
    const void *bytes; /* NULL: the orderly end */
    size_t size;
    int fds[SX_SOCKET_FDS_MAX]; /* the receiver's, close-on-exec */
    int fd_count;
    bool truncated; /* longer than the buffer, or too many descriptors */
};

/* Receive one message into @buf (8-aligned).  @flags: MSG_DONTWAIT or 0.  Return: 0 or an errno
 * value. */
int sx_socket_receive(int fd, int flags, void *buf, size_t buf_size,
                      struct sx_socket_message *message);
void sx_socket_close_fds(struct sx_socket_message *message); /* what @message still holds */

/* ---- a server's side ----------------------------------------------------------------------- */

/* Whether this kernel can refuse descriptors; SHMIX_PASSRIGHTS=0 denies it. */
bool sx_socket_can_refuse_rights(void);

/* For a socket on which none are wanted: a listening one, of which others inherit it, before it
 * listens, or a connected one. */
void sx_socket_refuse_rights(int fd);

/* The kind of the next message on @fd, without taking it or waiting.  On a socket that was given to
 * sx_socket_refuse_rights, where the kernel cannot refuse. */
enum sx_socket_next {
    SX_SOCKET_NOTHING,
    SX_SOCKET_MESSAGE,
    SX_SOCKET_RIGHTS, /* a message that carries descriptors */
    SX_SOCKET_END,
};
enum sx_socket_next sx_socket_look(int fd);

/* Receive one message that carries no descriptors into @buf (8-aligned), without waiting.  Return:
 * 0 or an errno value; @message->bytes is NULL at the orderly end. */
int sx_socket_receive_plain(int fd, void *buf, size_t buf_size, struct sx_recv_message *message);

/* End a connection and close @fd, without waiting for messages of its peer. */
void sx_socket_hang_up(int fd);
/* The same for a non-blocking listening socket, with its unaccepted connections. */
void sx_socket_close_listener(int fd);

/* ---- both ---------------------------------------------------------------------------------- */

/* Send @iov with @fds as one message, without blocking and without SIGPIPE; EINTR is retried.
 * Return: 0 or an errno value. */
int sx_socket_send(int fd, const struct iovec *iov, size_t iov_count, const int *fds, int fd_count);

#endif

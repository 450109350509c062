/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* socket.h - one SEQPACKET message, and the rule for descriptors in it; private to control.
 *
 * Descriptors go one way, from a server to its clients.  A server takes none: closing the last
 * reference to another process's object can take as long as that process likes (a socket that
 * lingers, a file of a file system that hangs).  So the server makes the kernel refuse them to
 * their sender (SO_PASSRIGHTS, Linux 6.16).  Where the kernel cannot, a server checks each message
 * before it takes it.  A message with descriptors stays in the socket, and another thread discards
 * it with the socket. */
#ifndef SX_CONTROL_SOCKET_H
#define SX_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <pmix_common.h>

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

/* ---- one way --------------------------------------------------------------------------------- */

/* A SEQPACKET socket on which a server only sends, and its reader only reads.
 *
 * The reader sends one signal: that it wants no more (shutdown(2) or close(2)).  Other messages
 * from it are never taken. */

enum sx_oneway_said {
    SX_ONEWAY_NOTHING,
    SX_ONEWAY_ENOUGH, /* it wants no more, or has gone */
    SX_ONEWAY_BREACH, /* it has sent a message */
};

/* Both ends, close-on-exec.  Return: PMIX_SUCCESS; as sx_status_from_errno. */
pmix_status_t sx_oneway_open(int *ret_server, int *ret_reader);
/* The state of the reader of the server's end @fd.  Never waits. */
enum sx_oneway_said sx_oneway_receive(int fd);
/* One message.  Never waits.  Return: 0 or an errno value. */
int sx_oneway_send(int fd, const struct iovec *iov, size_t iov_count);
/* Close the server's end.  Sent messages can still be read.  Never waits. */
void sx_oneway_close(int fd);

/* ---- address --------------------------------------------------------------------------------- */

/* The address of a unix socket, and its listener; private to control. */

struct sx_address {
    struct sockaddr_un un;
    socklen_t size_bytes;
};

/* The file @name in the directory @fd, or the file @fd itself when @name is NULL: short for a path
 * of any length.  Return: false when @name does not fit. */
bool sx_address_of_fd(struct sx_address *ret, int fd, const char *name);
/* The path @path.  Return: false when it does not fit. */
bool sx_address_of_path(struct sx_address *ret, const char *path);

/* The abstract name @name, which is in no file system.  Return: false when it does not fit. */
bool sx_address_of_name(struct sx_address *ret, const char *name);

/* Return: 0 or an errno value. */
int sx_address_bind(int fd, const struct sx_address *address);
int sx_address_connect(int fd, const struct sx_address *address);

/* The process that called listen for the socket that the connected @fd leads to.  It may have
 * ended: the kernel keeps its pid (0: it is of another container), its user and its group.  Return:
 * 0 or an errno value. */
int sx_address_listener(int fd, struct ucred *ret_cred);

/* Whether process @pid, which made that socket listen, has ended.  An io_uring of an ended process
 * may still be released by the kernel, or a child may hold the socket: in both cases no process
 * accepts. */
bool sx_address_has_gone(int fd, pid_t pid);

#endif

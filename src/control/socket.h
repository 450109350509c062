/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* socket.h - one SEQPACKET message with its descriptors, received whole; private to control. */
#ifndef SX_CONTROL_SOCKET_H
#define SX_CONTROL_SOCKET_H

#include <stddef.h>
#include <sys/socket.h>

#include "control/loop.h"

/* Room for the control data of one message: exactly SX_RECV_FDS_MAX descriptors. */
#define SX_SOCKET_CONTROL_BYTES CMSG_SPACE(SX_RECV_FDS_MAX * sizeof(int))

/* Take the descriptors out of @msg's control data into @message; what is too much is closed and
 * sets truncated, as do MSG_TRUNC and MSG_CTRUNC in @msg->msg_flags. */
void sx_socket_take_fds(struct sx_recv_message *message, struct msghdr *msg);

/* Close what @message still holds. */
void sx_socket_close_fds(struct sx_recv_message *message);

/* Receive one message into @buf (8-aligned).  @flags: MSG_DONTWAIT or 0.  Return: 0, and
 * @message->bytes is NULL at the orderly end; or an errno value. */
int sx_socket_receive(int fd, int flags, void *buf, size_t buf_size,
                      struct sx_recv_message *message);

/* Send @iov with @fds as one message, without blocking and without SIGPIPE; EINTR is retried.
 * Return: 0 or an errno value. */
struct iovec;
int sx_socket_send(int fd, const struct iovec *iov, size_t iov_count, const int *fds, int fd_count);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* peer.h - the user, and the process, at the other end of a loopback connection, by the kernel.
 *
 * The kernel's socket monitor (NETLINK_SOCK_DIAG) is asked for the other end of exactly this
 * connection, which lies in the same network namespace.  Its answer has the user who made that
 * socket, and the socket's inode.  No privilege is needed.  A socket whose process has closed it
 * has no inode any more, and no user. */
#ifndef SX_GATEWAY_PEER_H
#define SX_GATEWAY_PEER_H

#include <stdint.h>
#include <sys/types.h>

struct sx_gateway_peer {
    uid_t uid;
    uint64_t inode;
};

/* Return: 0 or errno; ENOTCONN when no process has the other end any more. */
int sx_gateway_peer_find(int fd, struct sx_gateway_peer *ret);

/* A process that holds the socket @inode, which belongs to user @uid: of several the one from which
 * the others were forked.  Reading the descriptors of all processes takes long, so a process that
 * has @nspace and @rank in its environment is tried first, and of these one that @starter (0: no
 * process) has started, which needs no walk over all processes.  Return: 0 when none can be
 * seen. */
pid_t sx_gateway_peer_process(const struct sx_gateway_peer *peer, pid_t starter, const char *nspace,
                              uint32_t rank);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* serve.h - one connection, from its first byte to its end, in a process of its own; and the user
 * and the process at its other end.
 *
 *     STRANGER --its handshake--> CLAIM --PMIx_Init as that rank--> RANK --FINALIZE--> exit
 *        |                          |                                 |
 *        |                          |   EOF, its process ends: exit without PMIx_Finalize
 *        |                          \--refused--> a log line, exit
 *        \--SX_SERVE_HELLO_SEC, a handshake of another form--> exit
 *
 * The rank's process is watched too: a child that it forked may hold the connection open.  The
 * process also ends when the starter does, and when the server is lost; the rank then sees the end
 * of its connection.  One thread. */
#ifndef SX_GATEWAY_SERVE_H
#define SX_GATEWAY_SERVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- the peer -------------------------------------------------------------------------------- */

/* The user, and the process, at the other end of a loopback connection, by the kernel.
 *
 * The kernel's socket monitor (NETLINK_SOCK_DIAG) is asked for the other end of exactly this
 * connection, which lies in the same network namespace.  Its answer has the user who made that
 * socket, and the socket's inode.  No privilege is needed.  A socket whose process has closed it
 * has no inode any more, and no user. */

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

#define SX_SERVE_HELLO_SEC 5

struct sx_serve {
    int fd;                      /* the connection */
    int life_fd;                 /* ends with the starter, or becomes readable */
    int news_fd;                 /* for struct sx_gateway_news; -1: no process wants them */
    struct sx_gateway_peer peer; /* its user has been checked */
    pid_t starter;               /* of the ranks; 0: unknown */
    _Atomic int *state;          /* shared with the process that accepts */
};

enum sx_stranger_state {
    SX_STRANGER_SILENT,
    SX_STRANGER_GREETED, /* set by the process itself, or ... */
    SX_STRANGER_EVICTED, /* ... by the one that accepts: too many are silent */
};

/* Return: false when the other process was first. */
static inline bool sx_stranger_becomes(_Atomic int *state, enum sx_stranger_state next)
{
    int silent = SX_STRANGER_SILENT;

    /* relaxed: no other data go with it. */
    return atomic_compare_exchange_strong_explicit(state, &silent, (int)next, memory_order_relaxed,
                                                   memory_order_relaxed);
}

/* Return: the exit status of this process. */
int sx_serve(const struct sx_serve *serve);

#endif

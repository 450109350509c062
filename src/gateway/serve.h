/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* serve.h - one connection, from its first byte to its end, in a process of its own.
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

#include "gateway/peer.h"

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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* closer.h - close a socket and discard its messages, in a thread that may wait; private to
 * control.
 *
 * Needed on kernels that cannot refuse descriptors (before Linux 6.16), and there only for sockets
 * with untaken messages.  The threads end with the work. */
#ifndef SX_CONTROL_CLOSER_H
#define SX_CONTROL_CLOSER_H

/* So many closing sockets may block at once; later ones wait, and no other thread waits for
 * them. */
#define SX_CLOSER_THREADS_MAX 16u

/* Take over @fd, on which no more can come (SHUT_RD).  Any thread; never waits. */
void sx_closer_close(int fd);

#endif

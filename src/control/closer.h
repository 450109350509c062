/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* closer.h - throw away a socket with what was sent on it, in a thread that may wait; private to
 * control.
 *
 * Needed on kernels that do not refuse descriptors for us (before Linux 6.16), and there only for
 * sockets whose peer has sent something that nobody took.  The threads end with the work. */
#ifndef SX_CONTROL_CLOSER_H
#define SX_CONTROL_CLOSER_H

/* So many may be held up at once; what comes behind them waits, and nobody waits for it. */
#define SX_CLOSER_THREADS_MAX 16u

/* Take over @fd, on which no more can come (SHUT_RD).  Any thread; never waits. */
void sx_closer_close(int fd);

#endif

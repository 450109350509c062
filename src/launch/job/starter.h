/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* starter.h - threads that start processes for the launcher, which does not wait for their exec.
 *
 *   IDLE --order--> a child runs in the launcher's memory --its exec or its end--> IDLE
 *
 * A child borrows the launcher's memory, so no page tables are copied.  Its thread lends it what
 * the C library has for each thread, and sleeps meanwhile.  A file system that hangs keeps the
 * child and that thread, and nobody else: the next child has another thread, and there are
 * SX_RUN_STARTERS_MAX.  A thread that is kept does not hold the end of the launcher. */
#ifndef SX_LAUNCH_JOB_STARTER_H
#define SX_LAUNCH_JOB_STARTER_H

#include <sys/types.h>

#define SX_RUN_STARTERS_MAX 8

/* Start a child of this process that runs @run(@arg) until it executes a program or ends.  It may
 * make system calls only.  @arg is malloc'ed, and is freed when the child does not use it any more.
 * The threads live as long as the process: the kernel takes the end of one for the death of its
 * children's parent (PR_SET_PDEATHSIG).  The launcher's thread only.  Return: its pid; -1: nothing
 * is started, and @arg is the caller's, as all starters are kept, or a thread or a process is
 * refused. */
pid_t sx_run_starter_begin(int (*run)(void *arg), void *arg);

#endif

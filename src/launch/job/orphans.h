/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* orphans.h - processes that the ranks of a job leave behind.
 *
 *   the last rank ends --killed and reaped, again and again--> none left --> the job is over
 *                           \--2 s--> a message names those that are left
 *
 * A process that has left its rank's process group, or its session, and loses its parent becomes a
 * child of the launcher (PR_SET_CHILD_SUBREAPER).  Its environment names its job.  When all jobs
 * are over, every such child is taken for an orphan, unless the launcher had children before it
 * began.  (A program that was executed in the place of a shell inherits the children of that
 * shell.)  Where the kernel does not show a process its children (CONFIG_PROC_CHILDREN), orphans
 * are left alone. */
#ifndef SX_LAUNCH_JOB_ORPHANS_H
#define SX_LAUNCH_JOB_ORPHANS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"

struct sx_run_state;
struct sx_run_job;

struct sx_run_survivors {
    int children_fd;   /* -1: nothing is done */
    bool guests;       /* the launcher had children before */
    uint64_t until_ns; /* a deadline, for the orphans of all jobs */
};

/* Call this before the first rank starts.  Close is safe with children_fd -1, and twice. */
void sx_run_survivors_open(struct sx_run_state *run);
void sx_run_survivors_close(struct sx_run_state *run);

#define SX_RUN_SURVIVORS_LOOK_NS (5 * SX_NS_PER_MS)

/* Kill the processes that the ranks of @job, which have ended, have left.  Return: true when none
 * is left, or the time is over; else call again when a child has ended, and after
 * SX_RUN_SURVIVORS_LOOK_NS. */
bool sx_run_survivors_end(struct sx_run_job *job);
/* The same for all jobs. */
bool sx_run_survivors_end_all(struct sx_run_state *run);

#endif

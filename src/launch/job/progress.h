/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* progress.h - how far a launch is, on a terminal, if it takes longer than a second.
 *
 *   QUIET --a second, and ranks are missing--> SHOWN: one line, rewritten --> OVER: line erased
 *      \----all have connected, or one has ended, or a job ends----------------^
 *
 * Ranks are missing while not all of them have been started, or some have connected (PMIx_Init) and
 * others not.  Where none connects, as in a job of shell commands, there is nothing to wait for.
 * The line is erased before anything else is written to the terminal. */
#ifndef SX_LAUNCH_JOB_PROGRESS_H
#define SX_LAUNCH_JOB_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct sx_run_state;

struct sx_run_progress {
    bool on;
    uint32_t up, connected; /* the counts that are shown */
    uint64_t next_ns;       /* the line is not shown again before this time */
    uint64_t deadline_ns;   /* when to compare again, if nothing happens */
};

/* Begin to watch the launch, if @wanted and stderr is a terminal.  The launch began at
 * @begin_ns. */
void sx_run_progress_init(struct sx_run_progress *progress, bool wanted, uint64_t begin_ns);

/* Show the counts that have changed. */
void sx_run_progress_look(struct sx_run_state *run, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* remove.h - what is left of jobs that are over.
 *
 *   OVER --its output has ended, nobody holds it--> gone
 *
 * A job that was spawned goes with all that was made for it, so that the memory of the launcher is
 * that of the jobs that live, however many there have been. */
#ifndef SX_LAUNCH_JOB_REMOVE_H
#define SX_LAUNCH_JOB_REMOVE_H

#include "launch/job/state.h"

/* Close what @job has open; any job, and twice. */
void sx_run_past_close(struct sx_run_job *job);

/* Remove what can go. */
void sx_run_past_remove(struct sx_run_state *run);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* remove.h - remove jobs that are over.
 *
 *   OVER --its output has ended, nobody holds it--> gone
 *
 * A job that was spawned is removed with all that was made for it.  So the launcher's memory
 * depends on the jobs that live, however many there have been. */
#ifndef SX_LAUNCH_JOB_REMOVE_H
#define SX_LAUNCH_JOB_REMOVE_H

#include "launch/job/state.h"

/* Close the descriptors of @job; any job, and twice. */
void sx_run_past_close(struct sx_run_job *job);

/* Remove the jobs that can be removed. */
void sx_run_past_remove(struct sx_run_state *run);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawned.h - a job that another one, or a tool, has spawned.
 *
 *   request --judged, named, placed, registered--> STARTING --the last exec--> its caller continues
 *       \----------------------\------------- a cause ---------\--> its caller gets an error
 *
 * An error before the caller continues is the caller's to deal with: the user gets a message, and
 * the run has not failed.  A rank that runs and fails before the last one was started is not such
 * an error: the caller continues then, and receives the job's end.  Afterwards the job is like any
 * other.  Its failure is not a failure of its parent, unless they are connected.  It decides the
 * exit code if it is the first failure.  If the parent ends for a cause, the child ends with it
 * unless it was spawned as a separate job.  A parent that ends well leaves the child running. */
#ifndef SX_LAUNCH_JOB_SPAWNED_H
#define SX_LAUNCH_JOB_SPAWNED_H

#include "launch/ask/spawn_request.h"
#include "launch/job/state.h"

/* Make a job of @request, which this call takes over; @parent: NULL for a tool. */
void sx_run_child_spawn(struct sx_run_state *run, struct sx_run_request *request,
                        struct sx_run_job *parent);

/* All ranks of @job that could be started have been; any job. */
void sx_run_child_started(struct sx_run_job *job);
/* A rank of @job has done something that ends the job.  The caller of the spawn receives that the
 * job has started, even if not all of its ranks have.  Any job may be given. */
void sx_run_child_acts(struct sx_run_job *job);
/* Report how many ranks of @job run, once each period, if wanted; any job. */
void sx_run_child_progress(struct sx_run_job *job, uint64_t now_ns);
/* @rank has ended, and its end is noted; any job. */
void sx_run_child_rank_ended(const struct sx_run_job *job, uint32_t rank);
/* The last rank of @job has ended; any job. */
void sx_run_child_over(struct sx_run_job *job);
/* Free the parts that only a spawned job has; any job. */
void sx_run_child_deinit(struct sx_run_job *job);

/* Whether the caller of the spawn still waits. */
bool sx_run_child_is_awaited(const struct sx_run_job *job);
/* Whether the end of @job has no effect on the launcher's exit code. */
bool sx_run_child_ends_apart(const struct sx_run_job *job);
/* All jobs that @parent has spawned may outlive it. */
void sx_run_child_part(const struct sx_run_job *parent);
/* Whether @job may outlive its parent. */
bool sx_run_child_is_separate(const struct sx_run_job *job);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawned.h - a job that another one, or a tool, has spawned.
 *
 *   request --judged, named, placed, registered--> STARTING --the last exec--> its caller goes on
 *       \----------------------\------------- a cause ---------\--> its caller gets an error
 *
 * What goes wrong before the caller goes on is the caller's to deal with: it is told to the
 * user, and is no failure of the run.  A rank that runs and fails before the last one was
 * started is no such thing: the caller goes on then, and hears of the job's end.  Afterwards the
 * job is one of all: its failure is none of its parent's, unless they are connected, and decides
 * the exit code if it is the first.  Where the parent ends for a cause, the child goes with it
 * unless it was spawned as a separate one; a parent that ends well leaves it. */
#ifndef SX_LAUNCH_JOB_SPAWNED_H
#define SX_LAUNCH_JOB_SPAWNED_H

#include "launch/ask/spawn_request.h"
#include "launch/job/state.h"

/* Make a job of @request, which is taken over; @parent: NULL for a tool. */
void sx_run_child_spawn(struct sx_run_state *run, struct sx_run_request *request,
                        struct sx_run_job *parent);

/* All ranks of @job that could be started have been; any job. */
void sx_run_child_started(struct sx_run_job *job);
/* A rank of @job has done what ends it: the caller of the spawn is told that it has started, if not
 * all of its ranks; any job. */
void sx_run_child_acts(struct sx_run_job *job);
/* Report how many ranks of @job are up, once a period, if that is wanted; any job. */
void sx_run_child_progress(struct sx_run_job *job, uint64_t now_ns);
/* @rank has ended, and how is noted; any job. */
void sx_run_child_rank_ended(const struct sx_run_job *job, uint32_t rank);
/* The last rank of @job has ended; any job. */
void sx_run_child_over(struct sx_run_job *job);
/* Free what only a spawned job has; any job. */
void sx_run_child_deinit(struct sx_run_job *job);

/* Its caller waits still. */
bool sx_run_child_is_awaited(const struct sx_run_job *job);
/* What becomes of it is nothing to the launcher's exit code. */
bool sx_run_child_ends_apart(const struct sx_run_job *job);
/* The jobs that @parent has spawned may outlive it, all of them. */
void sx_run_child_part(const struct sx_run_job *parent);
/* It may outlive its parent. */
bool sx_run_child_is_separate(const struct sx_run_job *job);

#endif

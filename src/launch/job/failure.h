/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* failure.h - what the end of a rank, the loss of its client, or an abort means for its job.
 *
 *   --on-failure abort   a failure ends the job.  So does the loss of a client whose rank lives on
 *                        (a wrapper), after a moment in which the rank may end by itself and give
 *                        the reason.  An abort after a loss waits as long: it may be a reaction.
 *   --on-failure notify  a failure is reported, to the user and as an event to the job, which
 *                        continues without the rank.
 *   an abort of a part   ends those ranks, which is no failure, and answers when they have ended.
 *
 * Other jobs continue, except those that an abort names.  The first failure or abort of any job
 * decides the exit code. */
#ifndef SX_LAUNCH_JOB_FAILURE_H
#define SX_LAUNCH_JOB_FAILURE_H

#include <signal.h>

#include "launch/job/state.h"

/* Answer the aborts. */
void sx_run_failure_deinit(struct sx_run_job *job);

/* Take and act on all news of the server. */
void sx_run_failure_news(struct sx_run_state *run);

/* @rank, which is a client over PMI-1 only, asks for the end of its job, as by PMIx_Abort. */
void sx_run_failure_abort(struct sx_run_job *job, uint32_t rank, int status, const char *text);
/* @rank's client has gone, which was a client over PMI-1 only. */
void sx_run_failure_lost(struct sx_run_job *job, uint32_t rank);

/* @rank, which has been reaped, ended as @info describes.  @good: with status 0 and no client. */
void sx_run_failure_rank_ended(struct sx_run_job *job, uint32_t rank, const siginfo_t *info,
                               bool good);

/* When sx_run_failure_check has something to do; before that time it does nothing. */
uint64_t sx_run_failure_deadline_ns(const struct sx_run_job *job);
void sx_run_failure_check(struct sx_run_job *job, uint64_t now_ns);

#endif

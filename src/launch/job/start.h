/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* start.h - ranks are started, job after job and a few each turn, so that signals and deaths are
 * handled meanwhile.  A rank that cannot be started ends its job. */
#ifndef SX_LAUNCH_JOB_START_H
#define SX_LAUNCH_JOB_START_H

#include "launch/job/state.h"

/* Open the descriptors that starting takes.  Return: 0 or errno. */
int sx_run_start_open(struct sx_run_state *run);
void sx_run_start_close(struct sx_run_state *run);

/* Whether a rank is still to be started. */
bool sx_run_is_starting(const struct sx_run_state *run);
void sx_run_start_some(struct sx_run_state *run);

/* Whether nothing here refers to @job any more, which is over. */
bool sx_run_start_is_done(const struct sx_run_job *job);

/* Start @rank once more, which has failed; not before sx_run_start_can allows it. */
bool sx_run_start_can(const struct sx_run_job *job);
void sx_run_start_rank(struct sx_run_job *job, uint32_t rank);

/* Handle reports of ranks that could not execute their program. */
void sx_run_start_reports(struct sx_run_state *run);

/* The ranks that live, by their processes.  A search returns NULL when @pid is not a rank's. */
void sx_run_bearer_add(struct sx_run_state *run, struct sx_run_rank *rank);
void sx_run_bearer_remove(struct sx_run_state *run, struct sx_run_rank *rank);
struct sx_run_rank *sx_run_bearer(const struct sx_run_state *run, pid_t pid);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* leftovers.h - files that killed ranks of a job leave outside of its directory. */
#ifndef SX_LAUNCH_JOB_LEFTOVERS_H
#define SX_LAUNCH_JOB_LEFTOVERS_H

#include "launch/job/janitor.h"
#include "launch/job/job.h"

/* Announce the files to the janitor before they exist. */
void sx_run_leftovers_announce(struct sx_janitor *janitor, const struct sx_run_job *job);
/* Remove the files of the job named @nspace, of which no process is left.  Nobody else has this
 * name. */
void sx_run_leftovers_sweep(const char *nspace);
/* @job is over: remove its files, and let the janitor forget them. */
void sx_run_leftovers_remove(struct sx_janitor *janitor, const struct sx_run_job *job);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* leftovers.h - files that killed ranks of a job leave outside of its directory. */
#ifndef SX_LAUNCH_JOB_LEFTOVERS_H
#define SX_LAUNCH_JOB_LEFTOVERS_H

#include "launch/job/janitor.h"
#include "launch/job/job.h"

/* The janitor is told before they exist. */
void sx_run_leftovers_announce(struct sx_janitor *janitor, const struct sx_run_job *job);
/* Those of the job named @nspace go, of which no process is left: nobody else has the name. */
void sx_run_leftovers_sweep(const char *nspace);
/* @job is over: they go, and the janitor forgets them. */
void sx_run_leftovers_remove(struct sx_janitor *janitor, const struct sx_run_job *job);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* dry_run.h - the command of a rank: all that is known before anything is started. */
#ifndef SX_LAUNCH_ASK_DRY_RUN_H
#define SX_LAUNCH_ASK_DRY_RUN_H

#include <stdio.h>

#include "launch/job/job.h"

/* Write, for a shell, the variables of @rank of @job that differ from those of this process, and
 * the rank's directory and command. */
void sx_run_dry_write(const struct sx_run_job *job, uint32_t rank, FILE *to);
/* The same as members of a JSON object that is open: "unset", "env", "wdir", "path", "argv". */
void sx_run_dry_json(const struct sx_run_job *job, uint32_t rank, FILE *to);

#endif

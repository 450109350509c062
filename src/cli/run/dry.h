/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* dry.h - what would run where, for --dry-run: all that is known before anything is started. */
#ifndef SX_CLI_RUN_DRY_H
#define SX_CLI_RUN_DRY_H

#include "cli/run/job.h"
#include "cli/run/place.h"

/* Print to stdout a line that says where @rank of @job would run, and below it, for a shell, the
 * variables that differ from this process's, its directory and its command. */
void sx_run_dry_print(const struct sx_run_options *options, const struct sx_run_machine *machine,
                      const struct sx_run_job *job, uint32_t rank);

#endif

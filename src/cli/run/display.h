/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* display.h - the lines of --display: one per rank, in words and without the command's name. */
#ifndef SX_CLI_RUN_DISPLAY_H
#define SX_CLI_RUN_DISPLAY_H

#include <sys/types.h>

#include "cli/run/job.h"
#include "cli/run/place.h"

/* With several jobs "rank" is "job 1, rank".
 *
 * "map: rank 3, app 1 (./ice), NUMA node 1, bound to core 5, CPUs 10-11"; malloc'ed. */
char *sx_run_display_map(const struct sx_run_options *options, const struct sx_run_machine *machine,
                         const struct sx_run_job *job, uint32_t rank);

/* "bindings: rank 3, app 1 (./ice), pid 4711, core 5, CPUs 10-11"; malloc'ed. */
char *sx_run_display_binding(const struct sx_run_options *options,
                             const struct sx_run_machine *machine, const struct sx_run_job *job,
                             uint32_t rank, pid_t pid);

#endif

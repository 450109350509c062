/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* display.h - the output of --display and --dry-run: about the node, and about each rank.
 *
 * A text is malloc'ed and has a line for each item.  It is plain text without the command's name
 * or, if asked for, a JSON object.  With several jobs "rank" is "job 1, rank". */
#ifndef SX_LAUNCH_PLACE_DISPLAY_H
#define SX_LAUNCH_PLACE_DISPLAY_H

#include <stdio.h>
#include <sys/types.h>

#include "launch/job/job.h"
#include "launch/place/place.h"

struct sx_run_state;

/* The options of the display, and the machine; @host is its name. */
struct sx_run_display {
    const struct sx_run_options *options;
    const struct sx_run_machine *machine;
    const char *host;
};

/* The allocation, the CPUs for us, and the topology; "" when none of them is to be shown.
 *
 * "allocation: node box, 2 slots, CPUs 0-1, 8192 MiB" */
char *sx_run_display_node(const struct sx_run_display *display);

/* "map: rank 3, app 1 (./ice), NUMA node 1, bound to core 5, CPUs 10-11".  In detail, the rank's
 * variables and its command follow (launch/place/display.h). */
char *sx_run_display_map(const struct sx_run_display *display, const struct sx_run_job *job,
                         uint32_t rank);

/* "bindings: rank 3, app 1 (./ice), pid 4711, core 5, CPUs 10-11" */
char *sx_run_display_binding(const struct sx_run_display *display, const struct sx_run_job *job,
                             uint32_t rank, pid_t pid);

/* Show @text on stderr, and free it.  @run: NULL before there is one. */
void sx_run_display_say(const struct sx_run_display *display, struct sx_run_state *run, char *text);
/* Show the maps of @job, if they are wanted. */
void sx_run_display_job(const struct sx_run_display *display, struct sx_run_state *run,
                        const struct sx_run_job *job);

/* Show the ranks of @job that run, in the form of mpirun and prterun.  Each line is "(rank, host,
 * exe, pid) = (0, box, /bin/ice, 4711)".  @to: a file, "-" for stdout, "+" for stderr. */
void sx_run_display_processes(struct sx_run_state *run, const struct sx_run_job *job,
                              const char *to);

#endif

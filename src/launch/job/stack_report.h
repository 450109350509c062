/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* stack_report.h - report what ranks do when their time is over, if the spawn or the user asks for
 * it.
 *
 *   the time is over --states shown, more wanted--> TRACING --no more, or 10 s--> the job ends
 *          \-- no more --------------------------------------------------------------^
 *
 * A separate process lists the open collectives, and the stacks with eu-stack, gstack, pstack or
 * gdb, whichever is installed. */
#ifndef SX_LAUNCH_JOB_STACK_REPORT_H
#define SX_LAUNCH_JOB_STACK_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launch/job/loop.h"

struct sx_run_job;
struct sx_run_state;

/* One for the time limit of each spawned job, and one for that of all jobs; zeroed at first. */
struct sx_run_late {
    struct sx_run_state *run;
    bool reported;
    pid_t tracer;              /* 0: none */
    struct sx_run_watch watch; /* watches the tracer's end, at which ... */
    uint64_t *deadline_ns;     /* ...  this becomes the current time */
};

/* Start /bin/sh with @words in a group of its own.  @reports: its output goes to our stderr.
 * Return: its pid, or -1. */
pid_t sx_run_shell_start(char **words, bool reports);

/* The time of @job is over.  Return: true when the job continues until its timeout_ns, which has
 * been set; any job. */
bool sx_run_report_late(struct sx_run_job *job);

/* The time of all jobs of @run is over.  Return: the same for the timeout_ns of @run. */
bool sx_run_report_all_late(struct sx_run_state *run);

/* The report is not wanted any more.  Safe twice, and on a zeroed one. */
void sx_run_report_deinit(struct sx_run_late *late);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* stack_report.h - what the ranks do whose time is over, if its spawn or the user wants to know.
 *
 *   the time is over --states said, more wanted--> TRACING --no more, or 10 s--> the job ends
 *          \-- no more --------------------------------------------------------------^
 *
 * A process of its own lists the open collectives.  It asks eu-stack, gstack, pstack or gdb,
 * whichever is there, for the stacks. */
#ifndef SX_LAUNCH_JOB_STACK_REPORT_H
#define SX_LAUNCH_JOB_STACK_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launch/job/loop.h"

struct sx_run_job;
struct sx_run_state;

/* One for the limit of each spawned job, and one for that of all; zeroed at first. */
struct sx_run_late {
    struct sx_run_state *run;
    bool reported;
    pid_t tracer;              /* 0: none */
    struct sx_run_watch watch; /* its end, ... */
    uint64_t *deadline_ns;     /* ... when this becomes now */
};

/* Start /bin/sh with @words in a group of its own; @reports: what it writes goes to our stderr.
 * Return: its pid, or -1. */
pid_t sx_run_shell_start(char **words, bool reports);

/* The time of @job is over.  Return: true when it is to go on until its timeout_ns, which has been
 * set; any job. */
bool sx_run_report_late(struct sx_run_job *job);

/* The time of all jobs of @run is over.  Return: the same of its timeout_ns. */
bool sx_run_report_all_late(struct sx_run_state *run);

/* Nobody wants to know any more; safe twice, and on a zeroed one. */
void sx_run_report_deinit(struct sx_run_late *late);

#endif

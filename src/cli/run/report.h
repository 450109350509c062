/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* report.h - what the ranks of a job do whose time is over, if its spawn wants to know.
 *
 *   the time is over --states said, traces wanted--> TRACING --no more, or 10 s--> the job ends
 *          \-- no traces -------------------------------------------------------------^
 *
 * Stacks are read by eu-stack, gstack or gdb, whichever is there, in a process of their own. */
#ifndef SX_CLI_RUN_REPORT_H
#define SX_CLI_RUN_REPORT_H

#include "cli/run/job.h"

/* The time of @job is over.  Return: true when it is to go on until its timeout_ns, which has been
 * set; any job. */
bool sx_run_report_late(struct sx_run_job *job);

/* @job goes; safe twice, any job. */
void sx_run_report_deinit(struct sx_run_job *job);

#endif

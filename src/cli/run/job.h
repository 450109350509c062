/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job.h - the life of the ranks: started, watched, fed, heard, and ended together.
 *
 *   STARTING --all started--> RUNNING --the last rank has ended--> DRAINING --> over
 *       \------------------------\-- a cause --> ENDING (signal, grace, SIGKILL) --/
 *
 * The first cause decides the exit code: a rank that was killed or exited non-zero (run/failure.h
 * says whether it ends the job), an abort, a signal to the launcher, the timeout, or an output that
 * nobody takes any more. */
#ifndef SX_CLI_RUN_JOB_H
#define SX_CLI_RUN_JOB_H

#include <sys/resource.h>

#include "cli/janitor.h"
#include "cli/run/host.h"
#include "cli/run/options.h"
#include "cli/run/place.h"
#include "cli/run/program.h"

#define SX_RUN_EXIT_TIMEOUT 124
#define SX_RUN_EXIT_SIGNAL 128 /* plus the signal */

struct sx_run_job_setup {
    const struct sx_run_options *options;
    const struct sx_run_machine *machine;
    struct sx_janitor *janitor;
    struct sx_run_host *host;
    const char *nspace;
    const char *lib_dir;                   /* of the library that the ranks are to load */
    const struct sx_run_program *programs; /* one an application */
    struct rlimit files;                   /* the user's own limit, which the ranks get */
    bool keep_hup_ignored;
    int signal_fd; /* all signals of sx_run_job_signals, blocked by the caller */
};

/* The signals that the launcher handles. */
void sx_run_job_signals(sigset_t *ret_set);

/* Descriptors that a job of @rank_count ranks needs. */
uint64_t sx_run_job_files(const struct sx_run_options *options);

/* Run the job.  Return: the exit code. */
int sx_run_job(const struct sx_run_job_setup *setup);

#endif

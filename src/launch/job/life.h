/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* life.h - the life of the jobs: their ranks are started, watched, and ended, and their input and
 * output are served.
 *
 *   every job until it is over (launch/job/job.h) --> DRAINING the output --> the exit code
 *
 * The first cause decides the exit code.  Causes are a rank that was killed or exited non-zero, an
 * abort, a signal to the launcher, the timeout, or an output that nobody reads any more.  The last
 * three end all jobs; launch/job/failure.h says whether a rank's end does. */
#ifndef SX_LAUNCH_JOB_LIFE_H
#define SX_LAUNCH_JOB_LIFE_H

#include <signal.h>
#include <sys/resource.h>

#include "launch/ask/options.h"
#include "launch/job/janitor.h"
#include "launch/job/job.h"
#include "launch/place/place.h"
#include "launch/pmi/host.h"

#define SX_RUN_EXIT_TIMEOUT 124
#define SX_RUN_EXIT_SIGNAL 128 /* plus the signal */

struct sx_run_look;
struct sx_run_record;

struct sx_run_setup {
    const struct sx_run_options *options;
    struct sx_run_jobs *jobs;
    const struct sx_run_machine *machine;
    struct sx_run_look *look;
    struct sx_janitor *janitor;
    struct sx_run_host *host;
    struct sx_run_record *record;
    const struct sx_session *session;
    const char *lib_dir; /* of the library that the ranks are to load */
    struct rlimit files; /* the user's own limit, which the ranks get */
    bool keep_hup_ignored;
    uint64_t begin_ns; /* when the launch began */
    int signal_fd;     /* all signals of sx_run_signals, blocked by the caller */
};

/* The signals that the launcher handles. */
void sx_run_signals(sigset_t *ret_set);

/* How many descriptors @job_count jobs take, with all ranks of @options. */
uint64_t sx_run_files(const struct sx_run_options *options, uint32_t job_count);

/* Run the jobs.  Return: the exit code. */
int sx_run_life(const struct sx_run_setup *setup);

#endif

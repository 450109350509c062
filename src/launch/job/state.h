/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* state.h - the state that the launcher has once for all of its jobs, shared by launch/job/life.c,
 * launch/job/start.c, launch/job/end.c and launch/job/failure.c; one thread. */
#ifndef SX_LAUNCH_JOB_STATE_H
#define SX_LAUNCH_JOB_STATE_H

#include <limits.h>

#include "launch/job/debugger.h"
#include "launch/job/exec.h"
#include "launch/job/job.h"
#include "launch/job/life.h"
#include "launch/job/loop.h"
#include "launch/job/orphans.h"
#include "launch/job/progress.h"
#include "launch/job/stack_report.h"
#include "launch/pmi/foreign.h"
#include "launch/stdio/input.h"
#include "launch/stdio/output.h"

struct sx_run_state {
    const struct sx_run_setup *setup;
    struct sx_run_jobs *jobs;
    const char *all; /* the name of all jobs in messages */
    struct sx_run_loop loop;
    struct sx_run_sink sinks[2];
    struct sx_run_sink *sink_of[2]; /* one sink for both when they are the same file */
    struct sx_run_input input;
    struct sx_run_spawn spawn;
    struct sx_run_watch signals, news;
    struct sx_run_foreign foreign;
    struct sx_run_survivors survivors;
    bool terminals_suit;  /* the ranks, unless options or their jobs decide otherwise */
    uint32_t at_terminal; /* ranks that live and have a terminal */
    int no_terminal;      /* errno: there are no terminals; 0: none has failed so far */
    int null_fd;
    int xml_fd; /* of the topology, for clients that ask over PMI-1; -1: none has asked yet */
    struct sx_table by_pid; /* ranks that live */
    bool closing;           /* no further job is accepted */
    bool input_begun;
    struct sx_run_progress progress;
    uint32_t awaited; /* a message follows when so many ranks have connected; 0: none */
    bool give_up;
    int code;         /* of the first failure of any job */
    bool output_lost; /* a file of its output could not be written */
    struct sx_run_debuggers debuggers;
    uint64_t timeout_ns, drain_ns; /* deadlines */
    struct sx_run_late late;       /* the report at the first deadline */
    char host[HOST_NAME_MAX + 1];
};

#endif

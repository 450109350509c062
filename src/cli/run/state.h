/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* state.h - the job as run/job.c, run/end.c and run/failure.c share it; one thread. */
#ifndef SX_CLI_RUN_STATE_H
#define SX_CLI_RUN_STATE_H

#include <limits.h>

#include "cli/run/foreign.h"
#include "cli/run/input.h"
#include "cli/run/job.h"
#include "cli/run/loop.h"
#include "cli/run/output.h"
#include "cli/run/spawn.h"

struct sx_run_rank {
    pid_t pid;
    bool alive;
    bool unwanted;   /* an abort names it: its end is no failure */
    bool lost;       /* its client has gone, and the process that was started has not yet */
    bool loss_heard; /* its client has gone, and the others have been told */
    struct sx_run_stream streams[2]; /* of stdout and stderr */
};

struct sx_run_state {
    const struct sx_run_job_setup *setup;
    struct sx_run_loop loop;
    struct sx_run_sink sinks[2];
    struct sx_run_sink *sink_of[2]; /* one sink for both when they are the same file */
    struct sx_run_input input;
    struct sx_run_spawn spawn;
    struct sx_run_watch signals, news, reports;
    struct sx_run_foreign foreign;
    int null_fd;
    struct sx_run_rank *ranks;
    uint32_t spawned, alive;
    uint32_t *rank_of_pid; /* open addressing, rank + 1; power of two */
    uint32_t rank_of_pid_mask;
    bool ending, killed, give_up;
    int code;                               /* of the first failure */
    uint64_t kill_ns, timeout_ns, drain_ns; /* deadlines */
    uint64_t term_ns;                       /* the same: those who are told of the end first */
    uint32_t loss_awaited;                  /* by them, of this rank; UINT32_MAX: of none */
    struct sx_run_news *aborts;             /* taken and not answered */
    const struct sx_run_news *reaction;     /* of them, one that may have a cause ... */
    uint64_t reaction_ns;                   /* ... until then */
    uint64_t unwanted_ns;                   /* when unwanted ranks are killed */
    uint64_t lost_ns;                       /* when lost ranks are looked at */
    char host[HOST_NAME_MAX + 1];
};

static inline bool sx_run_starting(const struct sx_run_state *job)
{
    return !job->ending && job->spawned < job->setup->options->rank_count;
}

#endif

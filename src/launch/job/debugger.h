/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* debugger.h - the command of --debugger, started for each rank that it is meant for.
 *
 *   the rank is stopped --> the command runs, the first one has the terminal --> it ends
 *
 * Each debugger has a process group of its own, so Ctrl-C interrupts the debugger and not the
 * launcher.  The launcher waits for all debuggers.  A signal to the launcher ends them, and so does
 * the time limit. */
#ifndef SX_LAUNCH_JOB_DEBUGGER_H
#define SX_LAUNCH_JOB_DEBUGGER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct sx_run_job;
struct sx_run_state;

struct sx_run_debugger {
    pid_t pid, of; /* pid: the debugger; of: the process that it examines */
    uint32_t rank;
};

struct sx_run_debuggers {
    struct sx_run_debugger *all; /* the debuggers that live */
    uint32_t count, room;
    pid_t front; /* the debugger that has the terminal; 0: none */
    bool told;   /* the debuggers have been asked to end */
};

/* Whether the command is for @rank of @job. */
bool sx_run_debugger_is_wanted(const struct sx_run_job *job, uint32_t rank);
/* The same, if @rank is to stop before the first instruction of its program. */
bool sx_run_debugger_is_first(const struct sx_run_job *job, uint32_t rank);

/* Start the command for @rank, which waits, unless it has one. */
void sx_run_debugger_start(struct sx_run_job *job, uint32_t rank);

bool sx_run_debugger_is(const struct sx_run_state *run, pid_t pid);

/* Process @pid, which is reaped, has ended.  Any process may be given. */
void sx_run_debugger_ended(struct sx_run_state *run, pid_t pid);

/* End the debuggers.  The first call asks them (SIGTERM); the second call, or one with @at_once,
 * kills them. */
void sx_run_debuggers_end(struct sx_run_state *run, bool at_once);
void sx_run_debuggers_deinit(struct sx_run_state *run);

#endif

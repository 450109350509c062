/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* diagnose.h - what helps to find why a rank hangs or has failed: a report on the stacks of ranks,
 * the file of a core, and debuggers.
 *
 * The report says what ranks do when their time is over, if the spawn or the user asks for
 * it.
 *
 *   the time is over --states shown, more wanted--> TRACING --no more, or 10 s--> the job ends
 *          \-- no more --------------------------------------------------------------^
 *
 * A separate process lists the open collectives ('shmix ls collectives'), and the stacks
 * ('shmix stack'). */
#ifndef SX_LAUNCH_JOB_DIAGNOSE_H
#define SX_LAUNCH_JOB_DIAGNOSE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "launch/job/loop.h"

struct sx_run_job;
struct sx_run_state;

/* One for the time limit of each spawned job, and one for that of all jobs; zeroed at first. */
struct sx_run_late {
    struct sx_run_state *run;
    bool reported;
    pid_t tracer;           /* 0: none */
    struct sx_poll watch;   /* watches the tracer's end, at which ... */
    struct sx_timer *timer; /* ... the time limit has passed again */
};

/* Start /bin/sh with @words in a group of its own.  @reports: its output goes to our stderr.
 * Return: its pid, or -1. */
pid_t sx_run_shell_start(char **words, bool reports);

/* The time of @job is over.  Return: true when the job continues until its timer of the time
 * limit, which has been set again; any job. */
bool sx_run_report_late(struct sx_run_job *job);

/* The time of all jobs of @run is over.  Return: the same for the timer of @run. */
bool sx_run_report_all_late(struct sx_run_state *run);

/* The report is not wanted any more.  Safe twice, and on a zeroed one. */
void sx_run_report_deinit(struct sx_run_late *late);

/* ---- core ------------------------------------------------------------------------------------ */

/* The file that holds the memory image of a process that the kernel has killed
 * (core(5)). */

struct sx_run_core {
    const char *pattern; /* /proc/sys/kernel/core_pattern */
    bool adds_pid;       /* core_uses_pid */
    const char *dir;     /* where the process was started; it may have left this directory */
    pid_t pid;
    int signal;
    time_t since; /* a file that is older belongs to another process */
};

/* Return: the file, if it exists; else the command that shows the image, or the program that
 * received it.  The text is malloc'ed.  NULL: not known. */
char *sx_run_core_find(const struct sx_run_core *core);

/* The same, with the pattern that this system has. */
char *sx_run_core_of(pid_t pid, int signal, const char *dir, time_t since);

/* ---- debugger -------------------------------------------------------------------------------- */

/* The command of --debugger, started for each rank that it is meant for.
 *
 *   the rank is stopped --> the command runs, the first one has the terminal --> it ends
 *
 * Each debugger has a process group of its own, so Ctrl-C interrupts the debugger and not the
 * launcher.  The launcher waits for all debuggers.  A signal to the launcher ends them, and so does
 * the time limit. */

struct sx_run_job;
struct sx_run_state;

struct sx_run_debugger {
    pid_t pid, of; /* pid: the debugger; of: the process that it examines */
    uint32_t rank;
};

struct sx_run_debuggers {
    struct sx_run_debugger *all; /* the debuggers that live */
    uint32_t count, room;
    pid_t front;   /* the debugger that has the terminal; 0: none */
    bool notified; /* the debuggers have been asked to end */
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* record.h - what is reported about a run: the file of --report, the steps of --verbose, and the
 * line that shows how far a launch is.
 *
 * The file is JSON: the jobs, their ranks, and how they ended.
 *
 *   jobs that were removed: as text, at once \
 *                                             > one object, written when all is over, and renamed
 *   jobs that exist at the end --------------/
 *
 * The file is complete or does not exist, however the run ends except by SIGKILL.  If the file
 * cannot be written, a line on stderr reports it, and the exit code stays the same. */
#ifndef SX_LAUNCH_JOB_RECORD_H
#define SX_LAUNCH_JOB_RECORD_H

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

#include "launch/job/job.h"

#define SX_RUN_RECORD_BYTES_MAX (64u << 20) /* of removed jobs: further ones are only counted */

struct sx_run_record {
    const char *path; /* NULL: no report is wanted; "-": stdout */
    char **command;   /* the words behind "run"; the array is owned */
    uint64_t begun_ns;
    FILE *past; /* of jobs that were removed; NULL: there were none */
    char *past_text;
    size_t past_size;
    uint32_t left_out; /* jobs that are counted only */
    bool reason_due;   /* the exit code is known, and the next line gives the reason */
    char *reason;
};

/* @words are the words behind "run", before they are parsed. */
void sx_run_record_init(struct sx_run_record *record, char *const *words);
void sx_run_record_deinit(struct sx_run_record *record);

/* Return: 0; or errno, when a file of that name cannot be made. */
int sx_run_record_judge(const char *path);

/* A process of @rank has started, or has ended as @info and @usage describe.  The caller notes
 * whether it had connected. */
void sx_run_record_started(struct sx_run_rank *rank);
void sx_run_record_ended(struct sx_run_rank *rank, const siginfo_t *info,
                         const struct rusage *usage);

/* The next line to the user (sx_run_record_said) gives the reason for the exit code. */
void sx_run_record_reason(struct sx_run_record *record);
void sx_run_record_said(struct sx_run_record *record, const char *line);

/* @job, which is over, is about to be removed. */
void sx_run_record_past(struct sx_run_record *record, const struct sx_run_job *job);

/* All is over, and @code is the exit code.  Report what is wrong with the file. */
void sx_run_record_write(struct sx_run_record *record, const struct sx_run_jobs *jobs, int code);

/* ---- steps ----------------------------------------------------------------------------------- */

/* The steps of a launch and when each was done, for --verbose. */

struct sx_run_state;

/* Write a line to stderr, through the queue, so that it does not cut a rank's line in two. */
void sx_run_say(struct sx_run_state *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void sx_run_say_list(struct sx_run_state *run, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

/* The same for a line that ranks cause, by a spawn that fails or a job that they have spawned.  All
 * ranks are of one user and may cause SHMIX_LOG_LINES of them in a minute, as those of the library
 * (server/entry); further ones are counted. */
void sx_run_say_caused(struct sx_run_state *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Either: caused for a job that was spawned. */
void sx_run_say_of(const struct sx_run_job *job, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void sx_run_say_of_list(const struct sx_run_job *job, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));
/* The launcher ends: say how many lines have been left out. */
void sx_run_caused_end(struct sx_run_state *run);

/* The lines that ranks have caused since a minute began. */
struct sx_run_caused {
    uint64_t until_ns; /* 0: none */
    uint64_t lines, left_out;
};

/* From now on print each step with the time since this call, if wanted. */
void sx_run_steps_begin(bool notified);

/* A step is done.  @run: its queue keeps the output in order; NULL: it has not begun. */
void sx_run_step(struct sx_run_state *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- progress -------------------------------------------------------------------------------- */

/* How far a launch is, on a terminal, if it takes longer than a second.
 *
 *   QUIET --a second, and ranks are missing--> SHOWN: one line, rewritten --> OVER: line erased
 *      \----all have connected, or one has ended, or a job ends----------------^
 *
 * Ranks are missing while not all of them have been started, or some have connected (PMIx_Init) and
 * others not.  Where none connects, as in a job of shell commands, there is nothing to wait for.
 * The line is erased before anything else is written to the terminal. */

struct sx_run_state;

struct sx_run_progress {
    bool on;
    uint32_t up, connected; /* the counts that are shown */
    uint64_t next_ns;       /* the line is not shown again before this time */
    struct sx_timer look;   /* when to compare again, if nothing happens */
};

/* Begin to watch the launch, if @wanted and stderr is a terminal.  The launch began at
 * @begin_ns. */
void sx_run_progress_init(struct sx_run_progress *progress, bool wanted, uint64_t begin_ns);

/* Show the counts that have changed; @connected ranks have. */
void sx_run_progress_look(struct sx_run_state *run, uint32_t connected, uint64_t now_ns);

#endif

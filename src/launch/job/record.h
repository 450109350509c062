/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* record.h - what a run was, as a file of JSON (--report): its jobs, their ranks, how they ended.
 *
 *   jobs that have gone: as text, at once \
 *                                          > one object, written when all is over, and renamed
 *   jobs that are there at the end --------/
 *
 * The file is there whole or not at all, however the run ends but by SIGKILL.  A file that cannot
 * be written is a line on stderr, and no other exit code. */
#ifndef SX_LAUNCH_JOB_RECORD_H
#define SX_LAUNCH_JOB_RECORD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>

#include "launch/job/job.h"

#define SX_RUN_RECORD_BYTES_MAX (64u << 20) /* of jobs that have gone: further ones are counted */

struct sx_run_record {
    const char *path; /* NULL: none is wanted; "-": stdout */
    char **command;   /* the words behind "run"; the array is owned */
    uint64_t begun_ns;
    FILE *past; /* of jobs that have gone; NULL: there were none */
    char *past_text;
    size_t past_size;
    uint32_t left_out; /* jobs */
    bool reason_due;   /* the exit code is known, and the next line says why */
    char *reason;
};

/* @words are those behind "run", before they are read. */
void sx_run_record_init(struct sx_run_record *record, char *const *words);
void sx_run_record_deinit(struct sx_run_record *record);

/* Return: 0; or errno, when there can be no file of that name. */
int sx_run_record_judge(const char *path);

/* A process of @rank has started, or has ended as @info and @usage say. */
void sx_run_record_started(struct sx_run_rank *rank);
void sx_run_record_ended(struct sx_run_job *job, uint32_t rank, const siginfo_t *info,
                         const struct rusage *usage);

/* The next line to the user (sx_run_record_said) says why the exit code is what it is. */
void sx_run_record_reason(struct sx_run_record *record);
void sx_run_record_said(struct sx_run_record *record, const char *line);

/* @job, which is over, goes. */
void sx_run_record_past(struct sx_run_record *record, const struct sx_run_job *job);

/* All is over, and @code is the exit code.  Say what is wrong with the file. */
void sx_run_record_write(struct sx_run_record *record, const struct sx_run_jobs *jobs, int code);

#endif

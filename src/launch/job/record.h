/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* record.h - what a run was, as a file of JSON (--report): its jobs, their ranks, how they ended.
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

/* A process of @rank has started, or has ended as @info and @usage describe. */
void sx_run_record_started(struct sx_run_rank *rank);
void sx_run_record_ended(struct sx_run_job *job, uint32_t rank, const siginfo_t *info,
                         const struct rusage *usage);

/* The next line to the user (sx_run_record_said) gives the reason for the exit code. */
void sx_run_record_reason(struct sx_run_record *record);
void sx_run_record_said(struct sx_run_record *record, const char *line);

/* @job, which is over, is about to be removed. */
void sx_run_record_past(struct sx_run_record *record, const struct sx_run_job *job);

/* All is over, and @code is the exit code.  Report what is wrong with the file. */
void sx_run_record_write(struct sx_run_record *record, const struct sx_run_jobs *jobs, int code);

#endif

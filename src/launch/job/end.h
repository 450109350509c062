/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* end.h - words about the jobs, signals to them, and how one or all of them end.
 *
 *   running --the first cause--> ENDING: one message, one signal, a grace --> SIGKILL
 *                                   \--an event is the cause: handlers first-^ */
#ifndef SX_LAUNCH_JOB_END_H
#define SX_LAUNCH_JOB_END_H

#include "base/clock.h"
#include "launch/job/state.h"

/* Between SIGTERM and SIGKILL, where --kill-grace does not say. */
#define SX_RUN_GRACE_NS (500 * SX_NS_PER_MS)       /* after a death or an abort */
#define SX_RUN_SIGNAL_GRACE_NS (2 * SX_NS_PER_SEC) /* after the user's signal */

/* Return: that, or what --kill-grace says. */
uint64_t sx_run_end_grace_ns(const struct sx_run_state *run, uint64_t grace_ns);

/* A line on stderr, through the queue, so that it does not cut a rank's line in two. */
void sx_run_say(struct sx_run_state *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* To the process groups of all ranks of all jobs. */
void sx_run_signal(struct sx_run_state *run, int number);

/* The launcher's exit code, for what becomes of @job, unless something before has decided it. */
void sx_run_code(const struct sx_run_job *job, int code);

/* Note why @job ends, unless that is known. */
void sx_run_end_fate(struct sx_run_job *job, pmix_status_t fate);

/* End the job with SIGTERM, and after it those that it has spawned and that are not to outlive it.
 * The first cause wins; what follows from it is not reported. */
void sx_run_end(struct sx_run_job *job, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* End all jobs with signal @number; those that wait for handlers no longer do.  Return: false when
 * all were ending already, and nothing was said. */
bool sx_run_end_all(struct sx_run_state *run, int code, int number, uint64_t grace_ns,
                    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The job, if it is ending, at once: the user does not wait. */
void sx_run_end_hurry(struct sx_run_job *job);

/* As sx_run_end, once those who have handlers have heard of the events that tell of it, or
 * --event-grace is over; @rank: whose client's loss is one of them (UINT32_MAX: of none). */
void sx_run_end_told(struct sx_run_job *job, int code, uint32_t rank, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* @rank's client is lost, and that has been published. */
void sx_run_end_loss_heard(struct sx_run_job *job, uint32_t rank);
/* Ranks of @job depend on one of @dead that has died: @job goes with that one, if it goes. */
void sx_run_end_bereft(struct sx_run_job *job, const struct sx_run_job *dead);
/* All handlers have been called, or are not to be waited for. */
void sx_run_end_handled(struct sx_run_job *job);

/* When sx_run_end_check has something to do; it does nothing before. */
uint64_t sx_run_end_deadline_ns(const struct sx_run_job *job);
void sx_run_end_check(struct sx_run_job *job, uint64_t now_ns);
/* The launcher was stopped for so long. */
void sx_run_end_delay(struct sx_run_job *job, uint64_t stopped_ns);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* end.h - messages about jobs, signals to them, and the end of one job or of all.
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

/* Return: the time that --kill-grace gives, else @grace_ns. */
uint64_t sx_run_end_grace_ns(const struct sx_run_state *run, uint64_t grace_ns);

/* Write a line to stderr, through the queue, so that it does not cut a rank's line in two. */
void sx_run_say(struct sx_run_state *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Send the signal to the process groups of all ranks of all jobs. */
void sx_run_signal(struct sx_run_state *run, int number);

/* Set the launcher's exit code, for the fate of @job, unless something earlier has decided it. */
void sx_run_code(const struct sx_run_job *job, int code);

/* Note why @job ends, unless the reason is known. */
void sx_run_end_fate(struct sx_run_job *job, pmix_status_t fate);

/* End the job with SIGTERM, and after it the jobs that it has spawned and that are not to outlive
 * it.  The first cause wins; its consequences are not reported. */
void sx_run_end(struct sx_run_job *job, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* End all jobs with signal @number; jobs that wait for handlers stop waiting.  Return: false when
 * all were ending already; then no message is written. */
bool sx_run_end_all(struct sx_run_state *run, int code, int number, uint64_t grace_ns,
                    const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Kill @job at once if it is ending: the user does not wait. */
void sx_run_end_hurry(struct sx_run_job *job);

/* As sx_run_end, but the job ends only after the handlers of the events that report the cause have
 * been called, or --event-grace is over.  @rank: the loss of its client is one of these events
 * (UINT32_MAX: no rank's is). */
void sx_run_end_told(struct sx_run_job *job, int code, uint32_t rank, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* @rank's client is lost, and the loss has been published. */
void sx_run_end_loss_heard(struct sx_run_job *job, uint32_t rank);
/* Ranks of @job depend on a rank of one of @dead, and that rank has died.  If that job ends, @job
 * ends with it. */
void sx_run_end_bereft(struct sx_run_job *job, const struct sx_run_job *dead);
/* All handlers have been called, or the launcher stops waiting for them. */
void sx_run_end_handled(struct sx_run_job *job);

/* When sx_run_end_check has something to do; before that time it does nothing. */
uint64_t sx_run_end_deadline_ns(const struct sx_run_job *job);
void sx_run_end_check(struct sx_run_job *job, uint64_t now_ns);
/* Move the deadlines: the launcher was stopped for so long. */
void sx_run_end_delay(struct sx_run_job *job, uint64_t stopped_ns);

#endif

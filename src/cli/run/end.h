/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* end.h - words about the job, signals to it, and its end.
 *
 *   running --the first cause--> ENDING: one message, one signal, a grace --> SIGKILL
 *                                   \--an event is the cause: handlers first-^ */
#ifndef SX_CLI_RUN_END_H
#define SX_CLI_RUN_END_H

#include "base/clock.h"
#include "cli/run/state.h"

#define SX_RUN_GRACE_NS (500 * SX_NS_PER_MS)       /* after a death or an abort */
#define SX_RUN_SIGNAL_GRACE_NS (2 * SX_NS_PER_SEC) /* after the user's signal */

/* A line on stderr, through the queue, so that it does not cut a rank's line in two. */
void sx_run_say(struct sx_run_state *job, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* To the process groups of all ranks. */
void sx_run_signal(struct sx_run_state *job, int number);
void sx_run_kill(struct sx_run_state *job);

/* The exit code of the job, unless something before has decided it. */
void sx_run_code(struct sx_run_state *job, int code);

/* End the job with signal @number.  The first cause wins; what follows from it is not reported. */
void sx_run_end(struct sx_run_state *job, int code, int number, uint64_t grace_ns, const char *fmt,
                ...) __attribute__((format(printf, 5, 6)));

/* The same with SIGTERM, once those who have handlers have heard of the events that tell of it, or
 * --kill-grace is over; @rank: whose client's loss is one of them (UINT32_MAX: of none). */
void sx_run_end_told(struct sx_run_state *job, int code, uint32_t rank, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* @rank's client is lost, and that has been published. */
void sx_run_end_loss_heard(struct sx_run_state *job, uint32_t rank);
/* All handlers have been called, or are not to be waited for. */
void sx_run_end_handled(struct sx_run_state *job);

#endif

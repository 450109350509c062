/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* restart.h - ranks that have failed and are started again, as often as their application says.
 *
 *   FAILED --its limit is not reached--> PENDING --the server has its end, and its output is
 *       \                                   |       passed on--> it is started, with the number of
 *        \--the job judges (failure.c)      |                    its life (PMIX_REINCARNATION)
 *                                           \--an abort names it, the job ends--> it does not come
 *
 * The others receive the same event as when any rank ends, and their collective operations fail
 * until the rank is back.  A restarted rank reads no input. */
#ifndef SX_LAUNCH_JOB_RESTART_H
#define SX_LAUNCH_JOB_RESTART_H

#include "launch/job/state.h"

/* The first restart is immediate.  Before further restarts a rank whose lives are short pauses,
 * twice as long each time. */
#define SX_RUN_AGAIN_PAUSE_MIN_NS (10 * SX_NS_PER_MS)
#define SX_RUN_AGAIN_PAUSE_MAX_NS SX_NS_PER_SEC
#define SX_RUN_AGAIN_SHORT_NS SX_NS_PER_SEC

/* Return: how long a rank pauses that has been restarted @restarts times.  Its last pause was
 * @pause_ns, and it has lived for @lived_ns since. */
uint64_t sx_run_again_pause_ns(uint32_t restarts, uint64_t pause_ns, uint64_t lived_ns);

/* The first restarts of a job have a line each, and then the 64th, the 128th and so on.  Return:
 * whether the next restart has a line; *ret_untold: how many before it have none. */
#define SX_RUN_AGAIN_LINES 32u
bool sx_run_again_has_line(struct sx_run_job *job, uint32_t *ret_untold);
/* @job is over: report how many restarts have had no line since. */
void sx_run_again_over(struct sx_run_job *job);

/* @rank has failed.  Return: whether it will be restarted. */
bool sx_run_again_note(struct sx_run_job *job, uint32_t rank);

/* Restart those ranks that can be started by now, some each turn. */
void sx_run_again_some(struct sx_run_state *run);

/* When to check the pending ranks of @job; SX_DEADLINE_NEVER: there are none. */
uint64_t sx_run_again_deadline_ns(const struct sx_run_job *job);

/* Whether @rank has ended, and will be restarted. */
bool sx_run_again_is_pending(const struct sx_run_job *job, uint32_t rank);

/* Whether any rank of @job will be. */
static inline bool sx_run_again_any(const struct sx_run_job *job)
{
    return !job->ending && job->again > 0;
}

#endif

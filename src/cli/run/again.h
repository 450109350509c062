/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* again.h - ranks that have failed and are started again, as often as their application says.
 *
 *   FAILED --its limit is not reached--> PENDING --the server knows of its end, and its output is
 *       \                                   |       passed on--> it is started, with the number of
 *        \--the job judges (failure.c)      |                    its life (PMIX_REINCARNATION)
 *                                           \--an abort names it, the job ends--> it does not come
 *
 * The others hear of the end as of any rank that ends, and their collective operations fail until
 * the rank is back.  A rank that comes again reads no input. */
#ifndef SX_CLI_RUN_AGAIN_H
#define SX_CLI_RUN_AGAIN_H

#include "cli/run/state.h"

/* How long to wait before the next look at those that are pending. */
#define SX_RUN_AGAIN_LOOK_NS (5 * SX_NS_PER_MS)

/* @rank has failed.  Return: whether it will come again. */
bool sx_run_again_note(struct sx_run_job *job, uint32_t rank);

/* Start those that can be started by now, some a turn. */
void sx_run_again_some(struct sx_run_state *run);

/* Whether @rank has ended, and will come again. */
bool sx_run_again_is_pending(const struct sx_run_job *job, uint32_t rank);

/* Whether any of @job will. */
static inline bool sx_run_again_any(const struct sx_run_job *job)
{
    return !job->ending && job->again > 0;
}

#endif

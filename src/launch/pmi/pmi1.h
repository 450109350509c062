/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1.h - PMI-1, the protocol of a default MPICH, answered by the launcher.
 *
 *   NEW --init--> CLIENT --finalize--> DONE (which may init again)
 *                    \--its connection ends--> the rank has lost its client (launch/job/failure.h)
 *
 * Each rank inherits one end of a socket, whose number is in PMI_FD; it asks a line at a time and
 * waits for the answer.  A rank that sends what is no PMI-1, or does not take its answers, loses
 * the connection and nothing else.  Memory is bounded: one unfinished line a rank, what ranks have
 * put (launch/pmi/pmi1_words.h), and one unfinished spawn a rank (launch/pmi/pmi1_spawn.h).  One
 * thread, the launcher's. */
#ifndef SX_LAUNCH_PMI_PMI1_H
#define SX_LAUNCH_PMI_PMI1_H

#include <stdbool.h>
#include <stdint.h>

struct sx_run_job;

/* Give @rank, which is about to be started, a connection, and @env what tells it so.  Return: 0 or
 * errno; the rank's end, which the caller closes when it has been started, in *ret_fd. */
int sx_run_pmi1_connect(struct sx_run_job *job, uint32_t rank, char ***env, int *ret_fd);
void sx_run_pmi1_deinit(struct sx_run_job *job); /* safe on one that never had any, and twice */

/* True while @rank has called MPI_Init over PMI-1, and MPI_Finalize not yet. */
bool sx_run_pmi1_is_client(const struct sx_run_job *job, uint32_t rank);

/* @rank's process has ended: take what it still has said. */
void sx_run_pmi1_hear_last(struct sx_run_job *job, uint32_t rank);
/* @rank has ended or will not be started, and its job goes on: barriers fail from now on, those
 * included that ranks wait in. */
void sx_run_pmi1_rank_gone(struct sx_run_job *job, uint32_t rank);

#endif

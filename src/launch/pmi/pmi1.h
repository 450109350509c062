/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1.h - PMI-1, the protocol of a default MPICH, answered by the launcher.
 *
 *   NEW --init--> CLIENT --finalize--> DONE (which may init again)
 *                    \--its connection ends--> the rank has lost its client (launch/job/state.h)
 *
 * Each rank inherits one end of a socket, whose number is in PMI_FD; the rank sends one line at a
 * time and waits for the answer.  A rank that sends something other than PMI-1, or does not read
 * its answers, only loses the connection.  Memory is bounded: one unfinished line for each rank,
 * the pairs that ranks have put (launch/pmi/pmi1_line.h), and one unfinished spawn for each rank
 * (launch/pmi/pmi1_line.h).  One thread, the launcher's. */
#ifndef SX_LAUNCH_PMI_PMI1_H
#define SX_LAUNCH_PMI_PMI1_H

#include <stdbool.h>
#include <stdint.h>

struct sx_run_job;

/* Give @rank, which is about to be started, a connection, and add its variables to @env.  Return: 0
 * or errno.  *ret_fd is the rank's end, which the caller closes when the rank has been started. */
int sx_run_pmi1_connect(struct sx_run_job *job, uint32_t rank, char ***env, int *ret_fd);
void sx_run_pmi1_deinit(struct sx_run_job *job); /* safe on a job without connections, and twice */

/* True while @rank has called MPI_Init over PMI-1, and MPI_Finalize not yet. */
bool sx_run_pmi1_is_client(const struct sx_run_job *job, uint32_t rank);

/* @rank's process has ended: read the rest of its messages. */
void sx_run_pmi1_receive_last(struct sx_run_job *job, uint32_t rank);
/* @rank has ended or will not be started, and its job continues: barriers fail from now on, also
 * those in which ranks are waiting. */
void sx_run_pmi1_rank_gone(struct sx_run_job *job, uint32_t rank);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* find.h - the ring of a running job, found and mapped without asking its server. */
#ifndef SX_CLI_EVENTS_FIND_H
#define SX_CLI_EVENTS_FIND_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/target.h"
#include "ring/board.h"
#include "ring/ring.h"

struct sx_events_job {
    struct sx_ring ring;
    struct sx_board board; /* of the same server: shows whether it lives */
    pid_t server_pid;
};

/* Open the job that @wanted names.  If @wanted is empty, open the caller's own job, if there is
 * one, else the only job.  Return: false, with a message, when there is none or more than one. */
bool sx_events_find(struct sx_whose *wanted, struct sx_events_job *ret_job);

void sx_events_job_close(struct sx_events_job *job);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* events.h - what following events and injecting them share: the ring of a running job, found and
 * mapped without asking its server, and the words for numbers, codes and ranges. */
#ifndef SX_CLI_EVENTS_EVENTS_H
#define SX_CLI_EVENTS_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
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

/* ---- words ----------------------------------------------------------------------------------- */

/* Setters (options.h) for words on the command line.  Each sets an int64_t; SX_EVENTS_ANY
 * stands for an option that was not given. */

#define SX_EVENTS_ANY INT64_MIN

/* A number, or a name as "PMIX_ERR_PROC_ABORTED". */
bool sx_events_code_set(void *at, const char *value);
bool sx_events_rank_set(void *at, const char *value);
/* "global" for PMIX_RANGE_GLOBAL. */
bool sx_events_range_set(void *at, const char *value);

/* The word for a range; NULL when there is none. */
const char *sx_events_range_name(uint8_t range);

#endif

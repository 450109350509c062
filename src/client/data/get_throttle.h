/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get_throttle.h - no more Gets wait at the server than it allows one client; the others wait here.
 *
 *     non-blocking   sent --answered--> the next in the queue is sent
 *                      \--no place--> QUEUED --a place is free, or its deadline--> its task runs
 *     blocking       waits for a place in its own thread
 *
 * Some places are for blocking Gets alone, so that a program's own wait does not stand behind
 * thousands of others.  All under the process's lock unless it says otherwise. */
#ifndef SX_CLIENT_DATA_GET_THROTTLE_H
#define SX_CLIENT_DATA_GET_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

#include "client/link/intake.h"
#include "client/link/op.h"

#define SX_GATE_RESERVED 64u /* places for blocking Gets */

/* Go, or queue until the task of @op is posted: it has a place then, or PMIX_ERR_TIMEOUT as its
 * status because its deadline came first.  Without the lock, on the thread that runs tasks.
 * Return: true when it has a place, which is to be left. */
bool sx_gate_enter(struct sx_op *op);

/* Wait for a place, without the lock.  Return: PMIX_SUCCESS, and then it is to be left; as
 * sx_wait_until. */
pmix_status_t sx_gate_wait(uint64_t deadline_ns);

/* Give the place back: the next one is let in. */
void sx_gate_leave_locked(void);
/* The same without the lock. */
void sx_gate_leave(void);

/* Queued Gets whose time is over. */
extern const struct sx_intake sx_gate_intake;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* get_throttle.h - back-pressure: Gets beyond the server's limit for one client wait here.
 *
 *     non-blocking   sent --answered--> the next in the queue is sent
 *                      \--no place--> QUEUED --a place is free, or its deadline--> its task runs
 *     blocking       waits for a place in its own thread
 *
 * Some places are for blocking Gets alone, so that a blocking call does not wait behind thousands
 * of others.  All under the process's lock unless it says otherwise. */
#ifndef SX_CLIENT_DATA_GET_THROTTLE_H
#define SX_CLIENT_DATA_GET_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

#include "client/link/link.h"
#include "client/link/op.h"

#define SX_GATE_RESERVED 64u /* places for blocking Gets */

/* Take a place, or queue until the task of @op is posted: @op has a place then, or the status
 * PMIX_ERR_TIMEOUT because its deadline passed first.  Without the lock, on the thread that runs
 * tasks.  Return: true when it has a place, which the caller gives back. */
bool sx_gate_enter(struct sx_op *op);

/* Wait for a place, without the lock.  Return: PMIX_SUCCESS, and then the place must be given back;
 * as sx_wait_until. */
pmix_status_t sx_gate_wait(uint64_t deadline_ns);

/* Give the place back: the next Get in the queue receives it. */
void sx_gate_leave_locked(void);
/* The same without the lock. */
void sx_gate_leave(void);

/* End queued Gets whose deadline has passed. */
extern const struct sx_intake sx_gate_intake;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* submit.h - messages to the server through the lane.
 *
 * A message of the lane has no answer.  An arrival at a collective has a number, and its end is
 * read from the ring.  A full lane delays the thread that appends, and no other. */
#ifndef SX_CLIENT_LINK_SUBMIT_H
#define SX_CLIENT_LINK_SUBMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "client/link/link.h"
#include "ring/record.h"

/* Append one message to the lane, waiting while it is full.  lane_lock is held, and given back
 * while this waits: others may append meanwhile.  The doorbell is not rung.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM (longer than SX_LANE_MESSAGE_MAX); as sx_link_status. */
pmix_status_t sx_lane_submit(struct sx_link *link, uint32_t kind, const struct iovec *iov,
                             int iov_count);

/* The same, and ring the doorbell.  lane_lock is not held.  *ret_rung: the server slept, so this
 * took a system call. */
pmix_status_t sx_lane_tell(struct sx_link *link, uint32_t kind, const struct iovec *iov,
                           int iov_count, bool *ret_rung);

/* Arrive: @arrive, whose `op` is filled in, and what follows it, @size bytes in all.  If this has
 * to ring the doorbell, @op yields once less.  Return: as sx_request_start. */
pmix_status_t sx_arrive_start(struct sx_op *op, struct sx_lane_arrive *arrive, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* request.h - send a request over the control socket, and wait for its answer. */
#ifndef SX_CLIENT_LINK_REQUEST_H
#define SX_CLIENT_LINK_REQUEST_H

#include <stdint.h>
#include <sys/uio.h>

#include <pmix_common.h>

#include "client/link/call.h"

/* An answer that does not depend on other processes comes within this time, or not at all. */
#define SX_REQUEST_TIMEOUT_NS (30 * SX_NS_PER_SEC)

/* Send a request whose answer completes @call.  A request that does not fit in a frame goes
 * through the window, and may have to wait for it.  Return: PMIX_SUCCESS: on_done has been or
 * will be called, exactly once.  On an error nothing is called: as sx_link_status and
 * sx_frame_send; PMIX_ERR_OUT_OF_RESOURCE (logged): too large, no memory for it here or there,
 * or over the limit of file size. */
pmix_status_t sx_request_start(struct sx_call *call, uint16_t kind, const struct iovec *iov,
                               int iov_count);

/* Wait until @call is done.  Any thread may take in its answer.  @yield_count: as sx_wait_until.
 * Return: its status; PMIX_ERR_TIMEOUT when @deadline_ns came first, and the call is
 * abandoned. */
pmix_status_t sx_call_wait(struct sx_call *call, unsigned yield_count, uint64_t deadline_ns);

/* Start and wait.  Return: the answer's status. */
pmix_status_t sx_request(struct sx_call *call, uint16_t kind, const struct iovec *iov,
                         int iov_count, uint64_t deadline_ns);

/* Send a request that wants no answer.  A large one waits until it was taken. */
pmix_status_t sx_request_tell(uint16_t kind, uint32_t id, const struct iovec *iov, int iov_count);

#endif

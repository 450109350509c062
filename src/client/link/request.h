/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* request.h - start an operation, and wait for it if it has no callback.
 *
 * A call of the Standard is one function: check the arguments, name the parts of the body, send the
 * request.  PMIx_X calls it without a callback, PMIx_X_nb with one. */
#ifndef SX_CLIENT_LINK_REQUEST_H
#define SX_CLIENT_LINK_REQUEST_H

#include <stdint.h>
#include <sys/uio.h>

#include <pmix_common.h>

#include "base/message/signature.h"
#include "client/link/op.h"

/* An answer that does not depend on other processes arrives within this time, or not at all. */
#define SX_REQUEST_TIMEOUT_NS (30 * SX_NS_PER_SEC)

/* ---- one call, blocking or not -------------------------------------------------------------- */

/* *@op is on the caller's stack.  If it has a callback, it is replaced by a copy on the heap, and
 * the thread that calls the callback runs.  Return: PMIX_SUCCESS, and sx_op_answer or _settle must
 * be called next; as sx_progress_start. */
pmix_status_t sx_op_open(struct sx_op **op);

/* All of a call that the server answers: write the body that @draft describes, open @op, which is
 * on the caller's stack, and send it.  With a callback: return PMIX_SUCCESS when it will be called.
 * Without: wait.  Return: how @op ended; PMIX_ERR_TIMEOUT when its deadline passed first.  In any
 * case an error of sx_link_status, sx_wire_write, sx_op_open or sx_request_start. */
pmix_status_t sx_op_ask(struct sx_op *op, struct sx_draft *draft);

/* The end of an open operation that was started in another way, with the result @started.  @waits:
 * @op has no callback.  An operation with a callback may be freed as soon as it has started.
 * Return: as sx_op_ask; with a callback and an error @op is freed. */
pmix_status_t sx_op_settle(struct sx_op *op, bool waits, pmix_status_t started);

/* The same for an operation that has ended, with @status, without a request. */
pmix_status_t sx_op_answer(struct sx_op *op, pmix_status_t status);

/* Can @op be sent to its server?  Return: PMIX_SUCCESS; as sx_link_status; as sx_role_may_wait when
 * its caller waits for it. */
pmix_status_t sx_op_judge(const struct sx_op *op);

/* ---- requests ------------------------------------------------------------------------------- */

/* Send a request whose answer completes @op.  A request that does not fit in a frame goes through
 * the window, and may have to wait for it.  Return: PMIX_SUCCESS: @op is or will be completed,
 * exactly once.  On an error it will not be completed: as sx_op_judge and sx_frame_send;
 * PMIX_ERR_OUT_OF_RESOURCE (logged): the body is too large, is over the limit of file size, or has
 * no memory here or there. */
pmix_status_t sx_request_start(struct sx_op *op, uint16_t kind, const struct iovec *iov,
                               int iov_count);

/* Wait until @op is done.  Any thread may take in its answer.  Return: its status; PMIX_ERR_TIMEOUT
 * when its deadline passed first, and @op is abandoned. */
pmix_status_t sx_op_wait(struct sx_op *op);

/* Start and wait.  Return: the answer's status. */
pmix_status_t sx_request(struct sx_op *op, uint16_t kind, const struct iovec *iov, int iov_count,
                         uint64_t deadline_ns);

/* Send a request that wants no answer.  A large one waits until it was taken. */
pmix_status_t sx_request_tell(struct sx_link *link, uint16_t kind, uint32_t id,
                              const struct iovec *iov, int iov_count);

#endif

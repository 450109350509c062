/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* session.h - what one connected rank asks, answered by the public API.
 *
 *   CLOSED --sx_session_open--> OPEN --its FINALIZE--> FINALIZED --sx_session_close--> CLOSED
 *                                 \-------------the link is gone-------------------------^
 *
 * The session is the rank's ordinary client: it calls PMIx_Init as that rank, with
 * PMIX_EXTERNAL_PROGRESS, and then PMIx_..._nb.  Everything runs on the caller's one thread: it
 * polls the link's descriptor and sx_session_fd, hands in each frame, and calls
 * sx_session_progress.  Answers leave by sx_gateway_link_send, in any order.
 *
 * Bounds: SX_SESSION_REQUESTS_MAX requests are open at once.  While sx_session_is_full, the caller
 * reads no more from the link. */
#ifndef SX_GATEWAY_SESSION_H
#define SX_GATEWAY_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#define SX_SESSION_REQUESTS_MAX 32768

struct sx_foreign;      /* gateway/hello.h: its rank, version and encoding */
struct sx_gateway_link; /* gateway/link.h */
struct sx_session;

/* Become @foreign's rank at our server, which the environment names.  @link is borrowed until
 * sx_session_close; @foreign is copied.  Return: PMIX_SUCCESS, or why PMIx_Init refused; then
 * *ret is NULL. */
pmix_status_t sx_session_open(struct sx_gateway_link *link, const struct sx_foreign *foreign,
                              struct sx_session **ret);

/* One frame of the link; @body is borrowed for the call.  Return: PMIX_SUCCESS; any other status
 * means that the other side has broken the form, and that the link is to be closed. */
pmix_status_t sx_session_on_message(struct sx_session *session, uint32_t tag, const void *body,
                                    size_t size);

/* True while it can take no further request. */
bool sx_session_is_full(const struct sx_session *session);

/* True once the rank has finalized, and its answer is queued: the other side closes. */
bool sx_session_is_finalized(const struct sx_session *session);

/* Readable when there is something for sx_session_progress. */
int sx_session_fd(const struct sx_session *session);

/* Take in what our server has sent and answer what it completes.  Return: PMIX_SUCCESS;
 * PMIX_ERR_LOST_CONNECTION when the server is gone. */
pmix_status_t sx_session_progress(struct sx_session *session);

/* End the session; what is unanswered is dropped.  It calls PMIx_Finalize unless the rank's
 * FINALIZE has; with @lost it does not: the process exits, and the server sees a lost rank.
 * Return: NULL. */
struct sx_session *sx_session_close(struct sx_session *session, bool lost);

#endif

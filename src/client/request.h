/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* request.h - something asked of the server, and its one answer.
 *
 *     start --> pending --answer, or the link is lost--> done
 *                 \--deadline (sx_call_wait)--> forgotten
 *
 * A call is owned by whoever starts it and must stay until it is done or abandoned.  Its on_done
 * runs under the process's lock, in the thread that happened to take the answer in; it may post a
 * task and nothing that waits.  As the owner may be gone after on_done, it does not run while the
 * call is being started: whoever starts it holds it until then (sx_call_release_locked).  Without
 * on_done somebody waits for the call (sx_call_wait). */
#ifndef SX_CLIENT_REQUEST_H
#define SX_CLIENT_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include <pmix_common.h>

#include "base/list.h"
#include "control/channel.h"

/* Answers that do not depend on other processes come within this time or not at all. */
#define SX_REQUEST_TIMEOUT_NS (30 * SX_NS_PER_SEC)

struct sx_call {
    struct sx_list node; /* process.requests or process.collectives */
    uint32_t id;
    bool done, held; /* under lock */
    bool windowed;   /* under lock: its body is in the window, until it is done */
    pmix_status_t status;
    int fd; /* the answer's descriptor, -1 without; its taker closes it */
    /* The answer itself, under lock, before anything else is done about it; may be NULL. */
    void (*on_answer)(struct sx_call *call, const struct sx_frame *frame);
    /* @frame is NULL when the link was lost, or the answer came while the call was held. */
    void (*on_done)(struct sx_call *call, const struct sx_frame *frame);
};

#define SX_CALL_INIT(fn)          \
    {                             \
        .fd = -1, .on_done = (fn) \
    }

/* Send a request whose answer completes @call; one that does not fit in a frame goes through the
 * window, for which it may have to wait.  Return: PMIX_SUCCESS (on_done has been or will be called,
 * exactly once); else nothing will be called: as sx_link_status, sx_frame_send and
 * sx_window_send. */
pmix_status_t sx_request_start(struct sx_call *call, uint16_t kind, const struct iovec *iov,
                               int iov_count);

/* For the window: the number of a request to come, and a frame of it about the first @size bytes of
 * the window.  @call is completed by the answer to this frame; unless @flags have SX_FRAME_MORE it
 * has the window until then.  Return: as sx_request_start. */
uint32_t sx_request_id(void);
pmix_status_t sx_request_piece(uint16_t kind, uint16_t flags, uint32_t id, size_t size,
                               struct sx_call *call);

/* Wait until @call is done, whatever thread takes in its answer; @yield_count as sx_wait_until.
 * Return: its status; PMIX_ERR_TIMEOUT when @deadline_ns came first (the call is abandoned). */
pmix_status_t sx_call_wait(struct sx_call *call, unsigned yield_count, uint64_t deadline_ns);

/* Both.  Return: the answer's status. */
pmix_status_t sx_request(struct sx_call *call, uint16_t kind, const struct iovec *iov,
                         int iov_count, uint64_t deadline_ns);

/* Send without wanting an answer; a large one waits until it was taken. */
pmix_status_t sx_request_tell(uint16_t kind, uint32_t id, const struct iovec *iov, int iov_count);

/* ---- under lock --------------------------------------------------------------------------- */

/* The answer is there: take @call out of its list and complete it. */
void sx_call_complete(struct sx_call *call, pmix_status_t status, struct sx_frame *frame);
/* The starter lets go of @call, and must not touch it any more if it has an on_done. */
void sx_call_release_locked(struct sx_call *call);
/* Return: the call of @id in @list, or NULL. */
struct sx_call *sx_call_find(struct sx_list *list, uint32_t id);

#endif

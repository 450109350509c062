/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* call.h - something asked of the server, and its one answer.
 *
 *     start --> pending --answer, or the link is lost--> done
 *                 \--deadline (sx_call_wait)--> forgotten
 *
 * The thread that starts a call owns it and keeps it until it is done or abandoned.
 *
 * on_done runs under the process's lock, in the thread that took the answer in.  It may post a
 * task, but must not wait.  The owner may be gone after on_done, so on_done does not run while
 * the call is being started: the starter holds the call until then (sx_call_release_locked).  A
 * call without on_done has somebody who waits for it (sx_call_wait). */
#ifndef SX_CLIENT_LINK_CALL_H
#define SX_CLIENT_LINK_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/list.h"
#include "control/channel.h"

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

/* The answer has come: take @call out of its list and complete it. */
void sx_call_complete(struct sx_call *call, pmix_status_t status, struct sx_frame *frame);
/* The starter lets go of @call.  If @call has an on_done, the starter must not touch it any
 * more. */
void sx_call_release_locked(struct sx_call *call);
/* Return: the call of @id in @list, or NULL. */
struct sx_call *sx_call_find(struct sx_list *list, uint32_t id);

#endif

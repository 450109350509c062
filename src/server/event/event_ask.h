/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_ask.h - who wants events from outside the node, and the host's word on it.
 *
 *     want --a question about one of its codes is open--> WAITING --answered--> want again
 *       |  \--codes that the host was not asked for--> ASKING --answered--> ended
 *       \--none of both--> ended
 *
 * A refusal of the host is the registration's: then nothing of it is counted.  A host that cannot
 * (PMIX_ERR_NOT_SUPPORTED, no entry) refuses nothing: events of this node come all the same.  One
 * that says nothing for SX_EVENT_ASK_NS is not waited for any longer. */
#ifndef SX_SERVER_EVENT_EVENT_ASK_H
#define SX_SERVER_EVENT_EVENT_ASK_H

#include "base/clock.h"
#include "server/port/pending.h"

#define SX_EVENT_ASK_NS (10 * SX_NS_PER_SEC)

/* A registration of a client that is on its way.  Its owner sets the second part. */
struct sx_event_want {
    struct sx_pending pending;
    struct sx_list link; /* server.event_wants, while the host thinks */
    uint64_t question;   /* that is waited for */
    bool asks;           /* it is its own */
    size_t counted;      /* so many of its codes are */

    pmix_status_t *codes;
    size_t code_count;
    bool environment; /* it wants events of the environment */
};

/* Count its codes, once the host has been asked for those that it has not been; then its pending
 * request, which has begun, is answered with what came of it: inside when nothing has to be waited
 * for. */
void sx_event_want(struct sx_event_want *want, uint64_t now_ns);
/* For the owner's kind of pending request: out of what it waits in, and what it counted if it was
 * refused. */
void sx_event_want_closed(struct sx_pending *pending);

/* A handler of the host itself wants @codes of the environment; it waits for no answer.  Return:
 * how many of them are counted: all, unless memory is short. */
size_t sx_event_wanted_by_host(struct sx_server *server, const pmix_status_t codes[], size_t count);
void sx_event_unwanted_by_host(struct sx_server *server, const pmix_status_t codes[], size_t count);

#endif

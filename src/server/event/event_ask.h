/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_ask.h - registrations for events from outside the node, and the host's answers to them.
 *
 *     want --a question about one of its codes is open--> WAITING --answered--> want again
 *       |  \--codes that the host was not asked for--> ASKING --answered--> ended
 *       \--none of both--> ended
 *
 * A refusal of the host fails the registration, and none of its codes are counted.  A host without
 * support (PMIX_ERR_NOT_SUPPORTED, or no entry) refuses nothing: events of this node arrive all the
 * same.  After SX_EVENT_ASK_NS without an answer, the server stops waiting for the host. */
#ifndef SX_SERVER_EVENT_EVENT_ASK_H
#define SX_SERVER_EVENT_EVENT_ASK_H

#include "base/clock.h"
#include "server/port/pending.h"

#define SX_EVENT_ASK_NS (10 * SX_NS_PER_SEC)

/* A client's registration in progress.  Its owner sets the second part. */
struct sx_event_want {
    struct sx_pending pending;
    struct sx_list link; /* server.event_wants, while the host has not answered */
    uint64_t question;   /* the question that it waits for */
    bool asks;           /* the question is its own */
    size_t counted;      /* how many of its codes are counted */

    pmix_status_t *codes;
    size_t code_count;
    bool environment; /* the client wants events of the environment */
};

/* Count the codes of @want, after asking the host for those that it has not been asked for.  Then
 * answer the pending request, which has begun, with the result.  If nothing has to be waited for,
 * the answer is sent inside this call. */
void sx_event_want(struct sx_event_want *want, uint64_t now_ns);
/* For the owner's kind of pending request: remove it from the list in which it waits, and undo its
 * counts if the host refused. */
void sx_event_want_closed(struct sx_pending *pending);

/* A handler of the host itself wants @codes of the environment; it waits for no answer.  Return:
 * how many of the codes are counted: all, unless memory is short. */
size_t sx_event_wanted_by_host(struct sx_server *server, const pmix_status_t codes[], size_t count);
void sx_event_unwanted_by_host(struct sx_server *server, const pmix_status_t codes[], size_t count);

#endif

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
#ifndef SX_SERVER_ENGINE_EVENT_ASK_H
#define SX_SERVER_ENGINE_EVENT_ASK_H

#include "base/clock.h"
#include "server/model/state.h"

#define SX_EVENT_ASK_NS (10 * SX_NS_PER_SEC)
#define SX_EVENT_WANTS_PER_CLIENT 4096u /* registrations that wait for the host */

/* A registration of a client that is on its way.  Its owner sets the second part. */
struct sx_event_want {
    struct sx_list link; /* server.event_wants, while the host thinks */
    struct sx_timer timer;
    struct sx_server *server;
    uint64_t question; /* that is waited for */
    bool asks;         /* it is its own */
    size_t counted;    /* so many of its codes are */

    struct sx_client *client; /* retained from sx_event_want to its end */
    const pmix_status_t *codes;
    size_t code_count;
    bool environment; /* it wants events of the environment */
    /* Called once: its codes are counted, or @rc says why not. */
    void (*ended)(struct sx_event_want *want, pmix_status_t rc);
    /* Called instead when the client has gone. */
    void (*dropped)(struct sx_event_want *want);
};

/* Count its codes, once the host has been asked for those that it has not been.  The want ends
 * inside when nothing has to be waited for. */
void sx_event_want(struct sx_server *server, struct sx_event_want *want, uint64_t now_ns);
/* @client (NULL: each) has gone: drop its wants. */
void sx_event_wants_drop(struct sx_server *server, const struct sx_client *client);

/* A handler of the host itself wants @codes of the environment; it waits for no answer.  Return:
 * how many of them are counted: all, unless memory is short. */
size_t sx_event_wanted_by_host(struct sx_server *server, const pmix_status_t codes[], size_t count);
void sx_event_unwanted_by_host(struct sx_server *server, const pmix_status_t codes[], size_t count);

#endif

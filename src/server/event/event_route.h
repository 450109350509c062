/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_route.h - the receivers of an event: namespaces of this node, the host, other nodes.
 *
 *     range       namespaces here         the host's own handlers   the host's notify_event
 *     RM          none                    all, without codes too    yes
 *     LOCAL       all                     with the code             no
 *     NAMESPACE   the source's            made here, or its own     yes
 *     SESSION     the source's session's  with the code             yes
 *     GLOBAL      all                     with the code             yes
 *     CUSTOM      the targets'            when it is a target       unless all targets are here
 *     PROC_LOCAL  none                    its own                   no
 *
 * notify_event receives only clients' events, and only those without PMIX_EVENT_STAYS_LOCAL.  If an
 * event is for processes on other nodes and nothing can pass it on to them, its publisher gets an
 * error. */
#ifndef SX_SERVER_EVENT_EVENT_ROUTE_H
#define SX_SERVER_EVENT_EVENT_ROUTE_H

#include "server/model/event_block.h"
#include "server/model/state.h"

enum sx_event_origin {
    SX_EVENT_FROM_CLIENT,
    SX_EVENT_FROM_HOST,
    SX_EVENT_FROM_LIBRARY,
};

/* Fill into the block what follows from the source: its session, and whether the manager itself
 * addresses all.  Call this before all functions below. */
void sx_event_route(struct sx_server *server, struct sx_event_block *block,
                    enum sx_event_origin origin);

bool sx_event_concerns(const struct sx_event_block *block, const struct sx_nspace *nspace);
/* Whether the event concerns a job that is not registered here yet: the job may be registered
 * later. */
bool sx_event_awaits_job(struct sx_server *server, const struct sx_event_block *block);
/* Whether the host's handlers receive the event if they are registered for its code. */
bool sx_event_reaches_host(struct sx_server *server, const struct sx_event_block *block,
                           enum sx_event_origin origin);
/* Whether the host's handlers without codes receive it, too.  Events that the library raises are
 * not for a client's default handler; a lost client concerns the host. */
bool sx_event_is_for_host(const struct sx_event_block *block, enum sx_event_origin origin);
enum sx_event_way {
    SX_EVENT_STAYS,
    SX_EVENT_GOES_UP, /* the host's notify_event is called */
    SX_EVENT_LEAVES,  /* some process on another node can receive it only through the host */
};
/* The route of a client's event.  A host without notify_event is assumed to have only the nodes
 * that its jobs name. */
enum sx_event_way sx_event_way(struct sx_server *server, const struct sx_event_block *block);

/* Jobs were registered or removed: set on the board whether events would have to leave the node and
 * cannot. */
void sx_event_confine(struct sx_server *server);

#endif

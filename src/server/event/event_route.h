/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_route.h - whom an event concerns: namespaces of this node, the host, other nodes.
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
 * notify_event is told of clients' events only, and of none with PMIX_EVENT_STAYS_LOCAL.  Where
 * nobody can pass an event on to those on other nodes whom it is for, its publisher is told. */
#ifndef SX_SERVER_EVENT_EVENT_ROUTE_H
#define SX_SERVER_EVENT_EVENT_ROUTE_H

#include "server/model/event_block.h"
#include "server/model/state.h"

enum sx_event_origin {
    SX_EVENT_FROM_CLIENT,
    SX_EVENT_FROM_HOST,
    SX_EVENT_FROM_LIBRARY,
};

/* Say in the block what the source tells of it: its session, and whether the manager itself speaks
 * to everybody.  Before all that follows. */
void sx_event_route(struct sx_server *server, struct sx_event_block *block,
                    enum sx_event_origin origin);

bool sx_event_concerns(const struct sx_event_block *block, const struct sx_nspace *nspace);
/* Whether it concerns a job that nobody here knows: it may be registered later. */
bool sx_event_awaits_job(struct sx_server *server, const struct sx_event_block *block);
/* Whether the host's handlers hear of it if they ask for its code. */
bool sx_event_reaches_host(struct sx_server *server, const struct sx_event_block *block,
                           enum sx_event_origin origin);
/* Whether the host's handlers without codes hear of it, too.  What the library says is none of a
 * client's default handler's business; a lost client is the host's. */
bool sx_event_is_for_host(const struct sx_event_block *block, enum sx_event_origin origin);
enum sx_event_way {
    SX_EVENT_STAYS,
    SX_EVENT_GOES_UP, /* the host's notify_event is told */
    SX_EVENT_LEAVES,  /* and somebody on another node hears of it through the host alone */
};
/* The way of a client's event.  A host without notify_event is taken to have no nodes but those
 * that its jobs tell of. */
enum sx_event_way sx_event_way(struct sx_server *server, const struct sx_event_block *block);

/* Jobs have come or gone: say on the board whether events would have to leave the node and
 * cannot. */
void sx_event_confine(struct sx_server *server);

#endif

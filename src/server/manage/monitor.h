/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* monitor.h - failure detector for processes whose heartbeats, or changes of a file, stop.
 *
 *     WATCHED --no beat for a period, more often than is allowed---> event, SILENT
 *        ^------------------------------a beat---------------------------/
 *
 * A heartbeat is a count in the client's lane.  It needs no message: the server reads the count
 * once a period.  A client may be watched for several periods at once, each under a name of its own
 * or none, until it cancels them or leaves.  The host does other kinds of monitoring.
 *
 * The client checks a file itself, with its own rights, and counts the changes in its lane.  So the
 * server touches no file that a client names, and no file system makes it wait.  A client that
 * stops checking causes an event as well.  Client and server each have a clock.  So a file that
 * changes once a period may be counted zero times in one period of the server and twice in the
 * next.  Therefore one more period is allowed. */
#ifndef SX_SERVER_MANAGE_MONITOR_H
#define SX_SERVER_MANAGE_MONITOR_H

#include "server/model/state.h"

#define SX_MONITORS_MAX 16u /* the maximum for one client */

struct sx_monitor {
    struct sx_list link; /* client.monitors */
    struct sx_server *server;
    struct sx_client *client; /* the owner: freed when the client leaves */
    struct sx_timer timer;
    pmix_status_t code; /* of the event */
    uint64_t period_ns;
    uint32_t pardoned; /* periods without a beat that are allowed */
    uint32_t sign;     /* the number of the sign in the lane, from 1; 0: its heartbeats */
    uint32_t beats;    /* at the last check */
    uint32_t missed;   /* periods since then, while WATCHED */
    bool is_silent;
    const char *file; /* stored after the id; empty: none */
    char id[];        /* empty: none */
};

/* A period is over, and the count is @beats.  Return: whether an event for its silence is due
 * now. */
bool sx_monitor_look(struct sx_monitor *monitor, uint32_t beats);

/* Handle MONITOR.  Return: true, as this is not a breach of protocol. */
bool sx_monitor_on_monitor(struct sx_server *server, struct sx_client *client,
                           struct sx_frame *frame, uint64_t now_ns);

void sx_monitor_client_gone(struct sx_server *server, struct sx_client *client);

#endif

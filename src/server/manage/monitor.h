/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* monitor.h - processes that want to be missed when their heartbeats, or signs of life in a file,
 * stop.
 *
 *     WATCHED --no beat for a period, more often than is pardoned--> event, SILENT
 *        ^------------------------------a beat---------------------------/
 *
 * A heartbeat is a count in the client's lane.  It costs nobody a message: the server looks at the
 * count once a period.  A client may be watched for several periods at once, each under a name of
 * its own or none, until it cancels them or goes.  Other kinds of monitoring are the host's.
 *
 * At a file the client looks itself, with its own rights, and counts the changes in its lane.  So
 * the server touches no file that a client names, and no file system makes it wait; and a client
 * that looks no more is missed as well.  Client and server each have a clock: what changes once a
 * period may be counted zero times in one of the server's and twice in the next.  So one more
 * period is pardoned. */
#ifndef SX_SERVER_MANAGE_MONITOR_H
#define SX_SERVER_MANAGE_MONITOR_H

#include "server/model/state.h"

#define SX_MONITORS_MAX 16u /* that a client may have */

struct sx_monitor {
    struct sx_list link; /* client.monitors */
    struct sx_server *server;
    struct sx_client *client; /* which takes it away when it goes */
    struct sx_timer timer;
    pmix_status_t code; /* of the event */
    uint64_t period_ns;
    uint32_t pardoned; /* periods without a beat */
    uint32_t sign;     /* which of the lane's signs is meant, from 1; 0: its heartbeats */
    uint32_t beats;    /* when it was looked last */
    uint32_t missed;   /* periods since then, while WATCHED */
    bool is_silent;
    const char *file; /* behind the id; empty: none */
    char id[];        /* empty: none */
};

/* A period is over, and the count is @beats.  Return: whether its silence is to be told now. */
bool sx_monitor_look(struct sx_monitor *monitor, uint32_t beats);

/* MONITOR.  Return: true, it is no breach. */
bool sx_monitor_on_monitor(struct sx_server *server, struct sx_client *client,
                           struct sx_frame *frame, uint64_t now_ns);

void sx_monitor_client_gone(struct sx_server *server, struct sx_client *client);

#endif

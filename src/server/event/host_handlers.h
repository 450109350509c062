/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_handlers.h - the host's own event handlers: what the library reports to the host itself.
 *
 * Some hosts end the job at any event that reaches a handler without codes.  So such a handler
 * receives only lost processes and events that were addressed to the host. */
#ifndef SX_SERVER_EVENT_HOST_HANDLERS_H
#define SX_SERVER_EVENT_HOST_HANDLERS_H

#include "server/model/event_block.h"
#include "server/model/state.h"

/* From now on handlers run on @server's loop thread. */
void sx_hostevent_serve(struct sx_server *server);

/* Any thread.  No event reaches the handler before it is activated.  Return: the handler's id, 0 or
 * more, or an error as of sx_handlers_add. */
pmix_status_t sx_hostevent_register(pmix_status_t codes[], size_t ncodes, pmix_info_t info[],
                                    size_t ninfo, pmix_notification_fn_t handler);
/* Activate the handler; any thread.  It receives the kept events, and all later ones.  If it asked
 * for the level of the environment, the host is asked for its codes as for a client's.  @waits:
 * return only after that, unless this is the loop thread. */
void sx_hostevent_activate(size_t id, bool waits);
/* Return: PMIX_SUCCESS, for an unknown id as well: hosts deregister what they never registered
 * (Slurm always the id 0). */
pmix_status_t sx_hostevent_deregister(size_t id);

/* Loop thread: have the matching handlers called, one after the other, in later turns.  Keep the
 * event for handlers that are registered later. */
void sx_hostevent_deliver(struct sx_server *server, struct sx_event_block *block);

/* The server has ended: forget all handlers. */
void sx_hostevent_clear(void);

#endif

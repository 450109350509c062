/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event.h - the path of an event through the server, from its publisher to its receivers. */
#ifndef SX_SERVER_EVENT_EVENT_H
#define SX_SERVER_EVENT_EVENT_H

#include "server/event/event_route.h"
#include "server/model/state.h"

/* Set how many events, and how many bytes of them, are kept, as the host or the environment says.
 * Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a value that is not a number. */
pmix_status_t sx_events_init(struct sx_server *server, const struct sx_server_options *options);
/* No client is connected any more: stop informing the host about codes. */
void sx_events_stop(struct sx_server *server);
/* All namespaces have been removed. */
void sx_events_deinit(struct sx_server *server);

/* ---- sources ------------------------------------------------------------------------------- */

/* Take an event from a client's lane.  Return: PMIX_SUCCESS, or PMIX_ERR_BAD_PARAM for bytes that
 * no client writes. */
pmix_status_t sx_event_on_notify(struct sx_server *server, struct sx_client *client,
                                 const struct sx_opened *body);
/* Handle EVENT_BULK.  Return: false for a breach of protocol. */
bool sx_event_on_bulk(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns);
/* Publish an event of the host; any thread (struct sx_role_server). */
pmix_status_t sx_event_notify(pmix_status_t code, const pmix_proc_t *source,
                              const struct sx_notify_options *options, const pmix_info_t info[],
                              size_t ninfo);
/* Publish any block; the maker keeps its reference.  @client: the publisher; NULL: not a client of
 * this server.  Return: PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS if the event was also for other
 * nodes and reaches none of them; PMIX_ERR_NO_PERMISSIONS when some of the processes that it names
 * are of another user. */
pmix_status_t sx_event_publish(struct sx_server *server, struct sx_event_block *block,
                               enum sx_event_origin origin, struct sx_client *client);

/* ---- the life of namespaces and clients ----------------------------------------------------- */

void sx_event_nspace_added(struct sx_server *server, struct sx_nspace *nspace);
/* The namespace has a ring now. */
void sx_event_nspace_opened(struct sx_server *server, struct sx_nspace *nspace);
void sx_event_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

void sx_event_client_connected(struct sx_server *server, struct sx_client *client);
/* The client has finalized, died or was removed: it wants no events and waits for nothing. */
void sx_event_client_left(struct sx_server *server, struct sx_client *client);

/* A client has read the records of its ring up to @seq. */
void sx_event_client_read(struct sx_server *server, struct sx_client *client, uint64_t seq);

/* Wake the sleeping readers of all rings that were written since the last call; once per turn. */
void sx_event_wake(struct sx_server *server);
/* Wake them after everything that has been posted to the host so far. */
void sx_event_wake_behind_host(struct sx_server *server);
/* Wake all clients of @nspace that have handlers, even if there is no new event. */
void sx_event_wake_handlers(struct sx_server *server, struct sx_nspace *nspace);

#endif

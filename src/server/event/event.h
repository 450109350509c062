/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event.h - the way of an event through the server: from its publisher to those it concerns. */
#ifndef SX_SERVER_EVENT_EVENT_H
#define SX_SERVER_EVENT_EVENT_H

#include "server/event/event_route.h"
#include "server/model/state.h"

/* How many events of which size are kept, by the host's word or the environment's.  Return:
 * PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a number that is none. */
pmix_status_t sx_events_init(struct sx_server *server, const struct sx_server_options *options);
/* Nobody is connected: the host is told no more about codes. */
void sx_events_stop(struct sx_server *server);
/* All namespaces have gone. */
void sx_events_deinit(struct sx_server *server);

/* ---- sources ------------------------------------------------------------------------------- */

/* A client's event in its lane.  Return: PMIX_SUCCESS, or PMIX_ERR_BAD_PARAM for what no client
 * writes. */
pmix_status_t sx_event_on_notify(struct sx_server *server, struct sx_client *client,
                                 const struct sx_opened *body);
/* EVENT_BULK.  Return: false for a breach of protocol. */
bool sx_event_on_bulk(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns);
/* The host's; any thread (struct sx_role_server). */
pmix_status_t sx_event_notify(pmix_status_t code, const pmix_proc_t *source,
                              const struct sx_notify_options *options, const pmix_info_t info[],
                              size_t ninfo);
/* Any block; its maker keeps its reference.  @client: whose it is; NULL: none's of
 * this server.  Return: PMIX_SUCCESS; PMIX_ERR_PARTIAL_SUCCESS when it was for other nodes, too,
 * and gets to none; PMIX_ERR_NO_PERMISSIONS when some that it names are of another user. */
pmix_status_t sx_event_publish(struct sx_server *server, struct sx_event_block *block,
                               enum sx_event_origin origin, struct sx_client *client);

/* ---- the life of namespaces and clients ----------------------------------------------------- */

void sx_event_nspace_added(struct sx_server *server, struct sx_nspace *nspace);
/* It has a ring now. */
void sx_event_nspace_opened(struct sx_server *server, struct sx_nspace *nspace);
void sx_event_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

void sx_event_client_connected(struct sx_server *server, struct sx_client *client);
/* It has said good-bye, died or was taken away: it wants nothing and waits for nothing. */
void sx_event_client_left(struct sx_server *server, struct sx_client *client);

/* A client has had the records of its ring up to @seq. */
void sx_event_client_read(struct sx_server *server, struct sx_client *client, uint64_t seq);

/* Wake the sleepers of all rings that were written since the last call; once per turn. */
void sx_event_wake(struct sx_server *server);
/* Wake them behind what the host has been posted so far. */
void sx_event_wake_behind_host(struct sx_server *server);
/* Wake all clients of @nspace that have handlers, news or not. */
void sx_event_wake_handlers(struct sx_server *server, struct sx_nspace *nspace);

#endif

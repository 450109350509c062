/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* reaper.h - how a client ends: with a good-bye, or by a death that one of three signals
 * reports. */
#ifndef SX_SERVER_ENTRY_REAPER_H
#define SX_SERVER_ENTRY_REAPER_H

#include "server/model/state.h"

/* Watch for the death of a client that has connected: pidfd (the authority) and life word (a hint).
 * The end of the process before it is no longer watched. */
void sx_reaper_watch(struct sx_server *server, struct sx_client *client);
void sx_reaper_unwatch(struct sx_server *server, struct sx_client *client);

/* Watch the life word too, once the client holds it (at its first lane message). */
void sx_reaper_watch_hint(struct sx_server *server, struct sx_client *client);

/* The client's socket has ended.  After FINALIZE this is in order; otherwise the client is lost. */
void sx_reaper_socket_ended(struct sx_server *server, struct sx_client *client, const char *why);

/* A client that has finalized may connect again.  So may another process in its place, as a wrapper
 * may run two programs.  If its process was the host's own child and has exited, no process
 * connects again.  The client has departed, and operations that wait for it continue without it.
 * The host may also report the departure itself. */
void sx_reaper_client_departed(struct sx_server *server, struct sx_client *client);
/* A process takes the client's place, or the client is removed: stop waiting for its departure. */
void sx_reaper_await_nobody(struct sx_server *server, struct sx_client *client);

/* The client has sent FINALIZE.  Answer it, notify the host, and keep the socket until it ends. */
void sx_reaper_client_finalized(struct sx_server *server, struct sx_client *client, uint32_t id);

/* Another process claims to be this client.  Return: true when the process before it has died; the
 * client is then lost, and may be connected again.  The host may notice a death before this server
 * does, and start the rank again. */
bool sx_reaper_client_replaced(struct sx_server *server, struct sx_client *client);

/* A breach of protocol: one log line with the reason, then as lost. */
void sx_reaper_client_breaks(struct sx_server *server, struct sx_client *client, const char *why);
/* The client is gone without a good-bye.  Its collectives end, its waiters are answered, and the
 * host is notified. */
void sx_reaper_client_lost(struct sx_server *server, struct sx_client *client);

/* The host takes @name: tools that have it are disconnected. */
void sx_reaper_name_claimed(struct sx_server *server, const char *name);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* reaper.h - how a client ends: with a good-bye, or by a death that one of three signals tells. */
#ifndef SX_SERVER_ENTRY_REAPER_H
#define SX_SERVER_ENTRY_REAPER_H

#include "server/model/state.h"

/* Watch for the death of a client that has connected: pidfd (the authority) and life word (a hint).
 * The end of the process before it is no longer watched. */
void sx_reaper_watch(struct sx_server *server, struct sx_client *client);
void sx_reaper_unwatch(struct sx_server *server, struct sx_client *client);

/* Watch the life word too, once the client holds it (at its first lane message). */
void sx_reaper_watch_hint(struct sx_server *server, struct sx_client *client);

/* Its socket has ended.  After FINALIZE this is in order; otherwise the client is lost. */
void sx_reaper_socket_ended(struct sx_server *server, struct sx_client *client, const char *why);

/* A client that has finalized may come back.  So may another process in its place, as a wrapper may
 * run two programs.  If its process was the host's own child and has exited, nobody comes back: the
 * client has departed, and those that wait for it go on without it.  The host may also say so
 * itself. */
void sx_reaper_client_departed(struct sx_server *server, struct sx_client *client);
/* A process takes its place, or the client goes: stop waiting for its departure. */
void sx_reaper_await_nobody(struct sx_server *server, struct sx_client *client);

/* It asked to leave.  Answer it, tell the host, and keep the socket until it ends. */
void sx_reaper_client_finalized(struct sx_server *server, struct sx_client *client, uint32_t id);

/* Another process says that it is this client.  Return: true when the process before it has died;
 * the client is then lost, and may be connected again.  The host may hear of a death before we do
 * and start the rank again. */
bool sx_reaper_client_replaced(struct sx_server *server, struct sx_client *client);

/* A breach of protocol: one log line with the reason, then as lost. */
void sx_reaper_client_breaks(struct sx_server *server, struct sx_client *client, const char *why);
/* It is gone without a good-bye.  Its collectives end, its waiters are answered, and the host
 * is told. */
void sx_reaper_client_lost(struct sx_server *server, struct sx_client *client);

/* The host takes @name: tools that have it are disconnected. */
void sx_reaper_name_claimed(struct sx_server *server, const char *name);

#endif

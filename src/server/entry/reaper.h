/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* reaper.h - how a client ends: in an orderly way, or noticed by one of three signals. */
#ifndef SX_SERVER_ENTRY_REAPER_H
#define SX_SERVER_ENTRY_REAPER_H

#include "server/model/state.h"

/* Watch the death of a client that has connected, and no longer the end of the process before:
 * pidfd (the authority) and life word (a hint). */
void sx_reaper_watch(struct sx_server *server, struct sx_client *client);
void sx_reaper_unwatch(struct sx_server *server, struct sx_client *client);

/* Watch the life word too, once the client holds it (at its first lane message). */
void sx_reaper_watch_hint(struct sx_server *server, struct sx_client *client);

/* Its socket has ended: orderly after FINALIZE, else the client is lost. */
void sx_reaper_socket_ended(struct sx_server *server, struct sx_client *client, const char *why);

/* A client that has finalized may come back, and so may another process in its place (a wrapper
 * runs two programs).  Once its own process has exited, and that was the host's own child, nobody
 * does: then it has departed, and others that wait for it go on without.  The host may say so
 * itself. */
void sx_reaper_client_departed(struct sx_server *server, struct sx_client *client);
/* A process takes its place, or the client goes: its departure is not awaited any more. */
void sx_reaper_await_nobody(struct sx_server *server, struct sx_client *client);

/* It asked to leave: answer, tell the host, keep the socket until it ends. */
void sx_reaper_client_finalized(struct sx_server *server, struct sx_client *client, uint32_t id);

/* Another process says that it is this client.  Return: whether the one before has died; then the
 * client has been lost, and may be connected again.  The host starts a rank again when it has heard
 * of its death, which may be before we do. */
bool sx_reaper_client_replaced(struct sx_server *server, struct sx_client *client);

/* A breach of protocol: one log line with the reason, then as lost. */
void sx_reaper_client_breaks(struct sx_server *server, struct sx_client *client, const char *why);
/* It is gone without a word: its collectives end, its waiters are answered, the host is told. */
void sx_reaper_client_lost(struct sx_server *server, struct sx_client *client);

#endif

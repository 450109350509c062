/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connection.h - from an accepted socket to a welcomed client, and its end. */
#ifndef SX_SERVER_ENTRY_CONNECTION_H
#define SX_SERVER_ENTRY_CONNECTION_H

#include "server/model/state.h"

/* How many accepted sockets may be waiting to say who they are; also at most a quarter of the
 * descriptors that this process may have. */
#define SX_CONNECTION_PENDING_MAX 4096u
#define SX_CONNECTION_PENDING_MIN 8u

/* Start to accept on the rendezvous. */
pmix_status_t sx_connection_listen(struct sx_server *server);
/* The server ends.  Each client learns it from its closed socket. */
void sx_connection_end_all(struct sx_server *server);

/* Close what a connected client holds from us: slot, lane, doorbell, socket.  The client becomes
 * REGISTERED (it may connect again), unless it is already DEAD. */
void sx_connection_close(struct sx_server *server, struct sx_client *client);

/* Take what is in the socket of a client, or of the first peer that has sent something and has not
 * said who it is. */
void sx_connection_take(struct sx_client *client, uint64_t now_ns);
void sx_connection_take_stranger(struct sx_server *server, uint64_t now_ns);

#endif

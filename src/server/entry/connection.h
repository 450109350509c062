/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connection.h - from an accepted socket to a welcomed client, and its end. */
#ifndef SX_SERVER_ENTRY_CONNECTION_H
#define SX_SERVER_ENTRY_CONNECTION_H

#include "server/model/state.h"

/* Accepted sockets that have not said who they are: so many, and at most a quarter of the
 * descriptors that this process may have. */
#define SX_CONNECTION_PENDING_MAX 4096u
#define SX_CONNECTION_PENDING_MIN 8u

/* Start to accept on the rendezvous. */
pmix_status_t sx_connection_listen(struct sx_server *server);
/* The server ends: every client is told by its closed socket. */
void sx_connection_end_all(struct sx_server *server);

/* Close what a connected client holds of us: slot, lane, doorbell, socket.  It becomes REGISTERED
 * (it may connect again) unless it is DEAD already. */
void sx_connection_close(struct sx_server *server, struct sx_client *client);

/* Take what is in the socket of a client, or of the first of those who have not said who they are
 * and have sent something. */
void sx_connection_take(struct sx_client *client, uint64_t now_ns);
void sx_connection_take_stranger(struct sx_server *server, uint64_t now_ns);

#endif

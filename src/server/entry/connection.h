/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connection.h - the connection of a client: the descriptors that it receives, its frames, and its
 * end. */
#ifndef SX_SERVER_ENTRY_CONNECTION_H
#define SX_SERVER_ENTRY_CONNECTION_H

#include "server/model/state.h"

/* An accepted socket: first a stranger's (hello.c), then its client's.  The loop frees the
 * connection later, because a connection may end inside one of its own callbacks. */
struct sx_connection {
    struct sx_list link; /* strangers.silent or turn.strangers */
    struct sx_server *server;
    struct sx_channel channel;
    struct sx_loop_post burial;
};

/* Close the connection, which has no owner any more. */
void sx_connection_end(struct sx_connection *connection);

/* Make @connection @client's, and answer its HELLO, which has @flags and number @id.  Return:
 * PMIX_SUCCESS; an error when the client could not be equipped, or the host refuses it. */
pmix_status_t sx_connection_welcome(struct sx_server *server, struct sx_client *client,
                                    struct sx_connection *connection, uint32_t flags, uint32_t id);

/* The server ends.  Each client notices the end by its closed socket. */
void sx_connection_end_all(struct sx_server *server);

/* Close what a connected client holds from this server: slot, lane, doorbell, socket.  The client
 * becomes REGISTERED (it may connect again), unless it is already DEAD. */
void sx_connection_close(struct sx_server *server, struct sx_client *client);

/* Take the frames that wait in the client's socket. */
void sx_connection_take(struct sx_client *client, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wake.h - waking clients: those that wait on their bells, and those that sleep in poll(2), which
 * have a socket each that is written once per sleep. */
#ifndef SX_SERVER_PORT_WAKE_H
#define SX_SERVER_PORT_WAKE_H

#include "server/model/state.h"

/* Wake a client that may be waiting on its bell for an answer; no effect when it is not
 * connected. */
void sx_wake_client(struct sx_server *server, struct sx_client *client);

/* A new pair of sockets.  Return: PMIX_SUCCESS, the server's end is in the client and the other one
 * in *ret_fd. */
pmix_status_t sx_wake_fd_open(struct sx_server *server, struct sx_client *client, int *ret_fd);
/* Close the socket of a client that ends; safe when there is none. */
void sx_wake_fd_close(struct sx_client *client);

/* News of @class_bits for this client, or for all of the namespace, has been published.  At most
 * one system call per client that sleeps; none for others. */
void sx_wake_ring(struct sx_server *server, struct sx_client *client, uint32_t class_bits);
void sx_wake_all(struct sx_server *server, const struct sx_nspace *nspace, uint32_t class_bits);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* waiting_gets.h - clients ask for values that they have not found in the store. */
#ifndef SX_SERVER_DATA_WAITING_GETS_H
#define SX_SERVER_DATA_WAITING_GETS_H

#include "server/model/state.h"

#define SX_GETS_PATIENCE_NS (2 * SX_NS_PER_SEC) /* unless the host or the environment says else */

/* How long a Get without a time limit waits for a key that its rank has not committed along with
 * others: the host's word, else the environment's SHMIX_GET_TIMEOUT.
 * Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM with one line. */
pmix_status_t sx_gets_init(struct sx_server *server, const struct sx_server_options *options);

bool sx_gets_on_get(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                    uint64_t now_ns);

/* The values of one commit of @client, its @first or not, are complete: answer who waited for
 * them. */
void sx_gets_committed(struct sx_server *server, struct sx_client *client, bool first);

/* The host has registered it: Gets that wait for its rank wait for it. */
void sx_gets_client_added(struct sx_server *server, struct sx_client *client);
/* It has a slot on the board now: it is to ring when somebody waits for it. */
void sx_gets_client_connected(struct sx_server *server, struct sx_client *client);
/* The client puts nothing more. */
void sx_gets_client_gone(struct sx_server *server, struct sx_client *client);
/* The host has given it data. */
void sx_gets_nspace_filled(struct sx_nspace *nspace);
/* With it the host has @said (enum sx_said) whether the topology comes later. */
void sx_gets_nspace_coming(struct sx_server *server, struct sx_nspace *nspace, uint8_t said);
void sx_gets_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
void sx_gets_deinit(struct sx_server *server);

#endif

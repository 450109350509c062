/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* waiting_gets.h - requests of clients for values that are not in the store. */
#ifndef SX_SERVER_DATA_WAITING_GETS_H
#define SX_SERVER_DATA_WAITING_GETS_H

#include "server/model/state.h"

#define SX_GETS_PATIENCE_NS (2 * SX_NS_PER_SEC) /* unless the host or environment sets another */

/* Set how long a Get without a time limit waits for a key that its rank has not committed along
 * with others.  The host's value comes first, then the environment's SHMIX_GET_TIMEOUT. Return:
 * PMIX_SUCCESS; PMIX_ERR_BAD_PARAM with one line. */
pmix_status_t sx_gets_init(struct sx_server *server, const struct sx_server_options *options);

bool sx_gets_on_get(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                    uint64_t now_ns);

/* The values of one commit of @client are complete: answer the Gets that wait for them.  @first:
 * the commit is its first. */
void sx_gets_committed(struct sx_server *server, struct sx_client *client, bool first);

/* The host has registered the client: Gets that wait for its rank wait for it now. */
void sx_gets_client_added(struct sx_server *server, struct sx_client *client);
/* The client has a slot on the board now: set its flag if Gets wait for it. */
void sx_gets_client_connected(struct sx_server *server, struct sx_client *client);
/* The client puts no more data. */
void sx_gets_client_gone(struct sx_server *server, struct sx_client *client);
/* The host has given the namespace data. */
void sx_gets_nspace_filled(struct sx_nspace *nspace);
/* With these data the host has set @said (enum sx_said): whether the topology follows later. */
void sx_gets_nspace_coming(struct sx_server *server, struct sx_nspace *nspace, uint8_t said);
void sx_gets_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
void sx_gets_deinit(struct sx_server *server);

#endif

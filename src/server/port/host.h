/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.h - notices about clients to the host. */
#ifndef SX_SERVER_PORT_HOST_H
#define SX_SERVER_PORT_HOST_H

#include "server/model/state.h"

/* Return: PMIX_SUCCESS, or the host's refusal. */
pmix_status_t sx_host_client_connected(struct sx_server *server, struct sx_client *client);
void sx_host_client_finalized(struct sx_server *server, struct sx_client *client);
/* @client has ended without a good-bye.  For a tool, whose parent is not the host, this is the
 * host's only notice. */
void sx_host_client_lost(struct sx_server *server, struct sx_client *client);

#endif

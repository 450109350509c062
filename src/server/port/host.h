/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host.h - what the host is told of clients. */
#ifndef SX_SERVER_PORT_HOST_H
#define SX_SERVER_PORT_HOST_H

#include "server/model/state.h"

/* Return: PMIX_SUCCESS, or the host's refusal. */
pmix_status_t sx_host_client_connected(struct sx_server *server, struct sx_client *client);
void sx_host_client_finalized(struct sx_server *server, struct sx_client *client);
/* It has ended without a good-bye: a host is not the parent of a tool, and is told here. */
void sx_host_client_lost(struct sx_server *server, struct sx_client *client);

#endif

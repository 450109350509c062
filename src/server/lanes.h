/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lanes.h - taking what clients have written into their lanes, a fair share a turn. */
#ifndef SX_SERVER_LANES_H
#define SX_SERVER_LANES_H

#include <stdbool.h>

#include "server/server.h"

/* Let the loop look at the lanes before it sleeps and once a turn.  Before the loop runs. */
void sx_lanes_hook(struct sx_server *server);

/* The client has a lane now / no longer. */
pmix_status_t sx_lanes_add(struct sx_server *server, struct sx_client *client);
void sx_lanes_remove(struct sx_server *server, struct sx_client *client);

/* Take all that @client has submitted so far, at most one lane full.  Return: false when the client
 * was dropped for what it wrote. */
bool sx_lane_drain(struct sx_server *server, struct sx_client *client);

#endif

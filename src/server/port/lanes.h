/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lanes.h - taking the messages that clients have written into their lanes. */
#ifndef SX_SERVER_PORT_LANES_H
#define SX_SERVER_PORT_LANES_H

#include <stdbool.h>

#include "server/model/state.h"

/* The client has a lane now / no longer. */
pmix_status_t sx_lanes_add(struct sx_server *server, struct sx_client *client);
void sx_lanes_remove(struct sx_server *server, struct sx_client *client);

/* Take one message of a connected client and charge it; the client is dropped for a message that no
 * correct client writes. */
void sx_lane_take_one(struct sx_server *server, struct sx_client *client);

/* Where the lane of @client ends now, and whether it has been taken up to @mark. */
uint64_t sx_lane_end(const struct sx_client *client);
bool sx_lane_taken(const struct sx_client *client, uint64_t mark);

/* Call @mark->reached when all that the lane of @client, which is connected, has now was taken: in
 * this call, if that is little.  The mark's owner removes @mark.link to cancel the call.  There is
 * no call when the client ends before. */
void sx_lane_mark(struct sx_server *server, struct sx_client *client, struct sx_lane_mark *mark);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* dispatch.h - the table: which handler answers which control frame and which lane message. */
#ifndef SX_SERVER_DISPATCH_H
#define SX_SERVER_DISPATCH_H

#include "server/server.h"

/* A checked frame of a connected client.  A breach of protocol drops the client. */
void sx_dispatch_frame(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

/* What a lane message costs, in units (turn.h). */
uint64_t sx_dispatch_lane_cost(uint32_t kind, size_t size);

/* A lane message, already copied out.  Return: PMIX_SUCCESS, or an error for a message that no
 * client of ours writes (the caller drops the client). */
pmix_status_t sx_dispatch_lane(struct sx_server *server, struct sx_client *client, uint32_t kind,
                               const void *body, size_t size);

#endif

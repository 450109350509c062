/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* input.h - what processes push to others, on its way to the host, which may stop them.
 *
 *     producer: GOES --the host says so, or answers PMIX_ERR_IOF_XOFF--> STOPPED
 *                 ^--the host says so---------------------------------------/
 *     push: asked of the host --its word--> answered;  of one that is STOPPED: parked until it GOES
 *
 * One that is stopped is not answered, and so sends no more: what it has not sent stays with it.
 * A producer is a process that has pushed; when one that pushes its own standard input goes, the
 * host hears that this input is complete.  Bounds: what a client may have unanswered
 * (pending.h). */
#ifndef SX_SERVER_IOF_INPUT_H
#define SX_SERVER_IOF_INPUT_H

#include "server/model/state.h"

void sx_input_init(struct sx_server *server);

/* IOF_PUSH.  Return: true, it is no breach. */
bool sx_input_on_push(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns);

void sx_input_client_gone(struct sx_server *server, struct sx_client *client);
void sx_input_clear(struct sx_server *server);

#endif

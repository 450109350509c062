/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* input.h - input that processes push to others through the host, which may stop them.
 *
 *     producer: GOES --the host stops it, or answers PMIX_ERR_IOF_XOFF--> STOPPED
 *                 ^--the host lets it continue-------------------------------/
 *     push: passed to the host --its answer--> answered;  STOPPED: parked until the producer GOES
 *
 * A stopped producer gets no answer, and so sends no more: unsent input stays in its process.  A
 * producer is a process that has pushed.  When a producer of its own standard input leaves, the
 * host receives that this input is complete.  Bounds: a client's unanswered requests
 * (pending.h). */
#ifndef SX_SERVER_IOF_INPUT_H
#define SX_SERVER_IOF_INPUT_H

#include "server/model/state.h"

void sx_input_init(struct sx_server *server);

/* Handle IOF_PUSH.  Return: true, as this is not a breach of protocol. */
bool sx_input_on_push(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns);

void sx_input_client_gone(struct sx_server *server, struct sx_client *client);
void sx_input_clear(struct sx_server *server);

#endif

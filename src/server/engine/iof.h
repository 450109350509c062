/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* iof.h - output of processes, from the host that has it to those who pull it.
 *
 *     PMIx_IOF_pull: ASKED --the host agrees--> OPEN --its process wants no more, or ends--> gone
 *                       \--the host refuses, or its process ends--------------------^
 *
 * Bounds: SX_PULLS_MAX pulls of a client (pending.h), SX_OUTPUTS_BYTES_MAX (output.h). */
#ifndef SX_SERVER_ENGINE_IOF_H
#define SX_SERVER_ENGINE_IOF_H

#include "server/model/state.h"

void sx_iof_init(struct sx_server *server);

/* IOF_PULL.  Return: true, it is no breach. */
bool sx_iof_on_pull(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                    uint64_t now_ns);

/* It reads no more. */
void sx_iof_client_gone(struct sx_server *server, struct sx_client *client);
void sx_iof_stop(struct sx_server *server);

#endif

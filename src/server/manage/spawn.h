/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn.h - a client requests another job: the host starts it, and gets the identity of its
 * parent. */
#ifndef SX_SERVER_MANAGE_SPAWN_H
#define SX_SERVER_MANAGE_SPAWN_H

#include "server/model/state.h"

/* Handle SPAWN.  Return: true, as this is not a breach of protocol. */
bool sx_spawn_on_spawn(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

#endif

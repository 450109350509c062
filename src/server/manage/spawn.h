/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn.h - a client wants another job: the host starts it, and is told whose child it is. */
#ifndef SX_SERVER_MANAGE_SPAWN_H
#define SX_SERVER_MANAGE_SPAWN_H

#include "server/model/state.h"

/* SPAWN.  Return: true, it is no breach. */
bool sx_spawn_on_spawn(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

#endif

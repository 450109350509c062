/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* turn.h - one round over all clients, once per turn of the loop. */
#ifndef SX_SERVER_ENTRY_TURN_H
#define SX_SERVER_ENTRY_TURN_H

#include "server/model/state.h"

/* Let the loop serve clients once per turn and before it sleeps.  Before the loop runs. */
void sx_turn_hook(struct sx_server *server);

#endif

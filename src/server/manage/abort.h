/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* abort.h - PMIx_Abort of a client, handed to the host. */
#ifndef SX_SERVER_MANAGE_ABORT_H
#define SX_SERVER_MANAGE_ABORT_H

#include "server/model/state.h"

bool sx_abort_on_abort(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

#endif

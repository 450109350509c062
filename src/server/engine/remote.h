/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* remote.h - ranks of other nodes: the host is asked for what they have committed. */
#ifndef SX_SERVER_ENGINE_REMOTE_H
#define SX_SERVER_ENGINE_REMOTE_H

#include "server/engine/waiting.h"

/* Whether @rank can be a process of another node that the host may be asked for. */
bool sx_remote_is_there(const struct sx_server *server, const struct sx_nspace *nspace,
                        uint32_t rank);

/* @wait is for such a rank, and `patient` if it has a time limit within which the value may still
 * come.  It is answered, now or later. */
void sx_remote_wait(struct sx_wait *wait, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hello.h - strangers: peers that have connected, until their identity is established. */
#ifndef SX_SERVER_ENTRY_HELLO_H
#define SX_SERVER_ENTRY_HELLO_H

#include "server/model/state.h"

/* The largest number of strangers; also at most a quarter of this process's descriptors. */
#define SX_STRANGERS_MAX 4096u
#define SX_STRANGERS_MIN 8u

/* Start to accept on the rendezvous. */
pmix_status_t sx_strangers_listen(struct sx_server *server);
/* Accept no peer any more, and close the strangers that are connected. */
void sx_strangers_end(struct sx_server *server);

/* Take what is in the socket of the first one that has sent something. */
void sx_stranger_take(struct sx_server *server, uint64_t now_ns);

#endif

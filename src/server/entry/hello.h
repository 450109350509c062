/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hello.h - who has connected, until it is known who he is. */
#ifndef SX_SERVER_ENTRY_HELLO_H
#define SX_SERVER_ENTRY_HELLO_H

#include "server/model/state.h"

/* How many there may be; also at most a quarter of the descriptors that this process may have. */
#define SX_STRANGERS_MAX 4096u
#define SX_STRANGERS_MIN 8u

/* Start to accept on the rendezvous. */
pmix_status_t sx_strangers_listen(struct sx_server *server);
/* Accept nobody any more, and close those who are there. */
void sx_strangers_end(struct sx_server *server);

/* Take what is in the socket of the first one that has sent something. */
void sx_stranger_take(struct sx_server *server, uint64_t now_ns);

#endif

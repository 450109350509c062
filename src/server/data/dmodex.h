/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* dmodex.h - the server of another node asks, through the host, for the data of a local rank. */
#ifndef SX_SERVER_DATA_DMODEX_H
#define SX_SERVER_DATA_DMODEX_H

#include "server/model/state.h"

/* The client has committed: answer the requests that waited for its first commit. */
void sx_dmodex_committed(struct sx_server *server, struct sx_client *client, bool first);

/* The client is gone: answer its waiting requests with PMIX_ERR_NOT_FOUND. */
void sx_dmodex_client_gone(struct sx_server *server, struct sx_client *client);

#endif

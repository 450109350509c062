/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* resource.h - data of no job, such as a session's or a node's: in every job's store. */
#ifndef SX_SERVER_ENGINE_RESOURCE_H
#define SX_SERVER_ENGINE_RESOURCE_H

#include "server/model/state.h"

#define SX_RESOURCE_COUNT_MAX 65536u

/* The namespace has its data now: where it is silent, the resources speak. */
pmix_status_t sx_resource_nspace_added(struct sx_server *server, struct sx_nspace *nspace);

/* The server ends: forget them. */
void sx_resource_clear(struct sx_server *server);

#endif

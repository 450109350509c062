/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pset.h - process sets: names that a host gives to processes, listed for each of them. */
#ifndef SX_SERVER_ENGINE_PSET_H
#define SX_SERVER_ENGINE_PSET_H

#include "server/model/state.h"

#define SX_PSET_COUNT_MAX 65536u
#define SX_PSET_MEMBERS_MAX (1u << 20)

/* The namespace has its data now: its processes get the names of the sets they are in already. */
pmix_status_t sx_pset_nspace_added(struct sx_server *server, struct sx_nspace *nspace);

/* The server ends: forget all sets. */
void sx_pset_clear(struct sx_server *server);

#endif

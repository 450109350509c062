/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pset.h - process sets: names that a host gives to processes. */
#ifndef SX_SERVER_ENGINE_PSET_H
#define SX_SERVER_ENGINE_PSET_H

#include "server/model/state.h"

#define SX_PSET_MEMBERS_MAX (1u << 20)

/* The namespace has its data now: sets that mean all of it have its processes.  Return:
 * PMIX_SUCCESS; as sx_memberships_change. */
pmix_status_t sx_pset_nspace_added(struct sx_server *server, struct sx_nspace *nspace);

#endif

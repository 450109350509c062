/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pset.h - process sets: names that a host, or one of its clients, gives to processes. */
#ifndef SX_SERVER_ENGINE_PSET_H
#define SX_SERVER_ENGINE_PSET_H

#include "server/model/state.h"

#define SX_PSET_MEMBERS_MAX (1u << 20)

void sx_psets_init(struct sx_server *server);

/* The processes are the set @name from now on; @client defines it, NULL: the host.  Loop thread.
 * Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; as sx_memberships_add. */
pmix_status_t sx_pset_define(struct sx_server *server, struct sx_client *client,
                             const pmix_proc_t members[], size_t count, const char *name);

/* The client has gone. The sets that it has defined go, the first at once and the others soon.  A
 * tool's set does not: it goes with the job of its first process. */
void sx_pset_client_gone(struct sx_server *server, struct sx_client *client);
void sx_pset_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

/* It is the first of its namespace here, or of another user than the others: sets of clients have
 * processes of their own user alone. */
void sx_pset_client_added(struct sx_server *server, struct sx_client *client);

/* The namespace has its data now: sets that mean all of it, and may, have its processes.  Return:
 * PMIX_SUCCESS; as sx_memberships_change. */
pmix_status_t sx_pset_nspace_added(struct sx_server *server, struct sx_nspace *nspace);

#endif

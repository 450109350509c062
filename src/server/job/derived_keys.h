/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* derived_keys.h - what follows from a host's words about a job, so that no client computes it. */
#ifndef SX_SERVER_JOB_DERIVED_KEYS_H
#define SX_SERVER_JOB_DERIVED_KEYS_H

#include "server/job/nodemap.h"
#include "server/model/state.h"

/* Which of @map's nodes is this one: by the number that the host gave the job, by its name, or
 * because there is but one.  Return: UINT32_MAX when nothing says it. */
uint32_t sx_derive_own_node(const struct sx_server *server, const struct sx_nspace *nspace,
                            const struct sx_nodemap *map);

/* Store what is missing: of the job its sizes, nodes and local peers, of each node its name, peers
 * and their number, of each application what apps.h says, of each rank host name, node, local and
 * node rank, and application 0.  @map
 * has no nodes when the host gave none; @node_count is how many it told of otherwise.
 * Return: PMIX_SUCCESS; what the store says. */
pmix_status_t sx_derive(struct sx_server *server, struct sx_nspace *nspace,
                        const struct sx_nodemap *map, uint32_t node_count);

/* The same for a local process that was registered after its namespace. */
pmix_status_t sx_derive_client(struct sx_server *server, struct sx_nspace *nspace,
                               const struct sx_client *client);

/* The process of @client is there: its PMIX_PROC_PID, as this server sees it. */
void sx_derive_process(struct sx_server *server, struct sx_client *client);

#endif

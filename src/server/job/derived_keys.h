/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* derived_keys.h - values that follow from the host's info about a job, so that no client computes
 * them. */
#ifndef SX_SERVER_JOB_DERIVED_KEYS_H
#define SX_SERVER_JOB_DERIVED_KEYS_H

#include "server/job/nodemap.h"
#include "server/model/state.h"

/* Return: the index of this node in @map: by the number that the host gave the job, by its name, or
 * because the map has only one node.  UINT32_MAX when none of these gives it. */
uint32_t sx_derive_own_node(const struct sx_server *server, const struct sx_nspace *nspace,
                            const struct sx_nodemap *map);

/* Store the missing values.  For the job: its sizes, nodes and local peers.  For each node: its
 * name, its peers and their number.  For each application: the keys of apps.h.  For each rank: host
 * name, node, local and node rank, and application 0.  @map has no nodes when the host gave none;
 * @node_count is the number of nodes that it gave otherwise.  Return: PMIX_SUCCESS; the error of
 * the store. */
pmix_status_t sx_derive(struct sx_server *server, struct sx_nspace *nspace,
                        const struct sx_nodemap *map, uint32_t node_count);

/* The same for a local process that was registered after its namespace. */
pmix_status_t sx_derive_client(struct sx_server *server, struct sx_nspace *nspace,
                               const struct sx_client *client);

/* The process of @client has connected: store its PMIX_PROC_PID, as this server sees it. */
void sx_derive_process(struct sx_server *server, struct sx_client *client);

#endif

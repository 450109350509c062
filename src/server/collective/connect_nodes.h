/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_nodes.h - what a connect over several nodes leaves at this one, beside its membership.
 *
 * The processes by which the host knows those who are connected: they stay what they were, whoever
 * dies meanwhile, so all nodes name the same ones when they disconnect.  And the namespaces that
 * the host of this node has not told of: their job-level information came from where it is known,
 * and goes with the last span that brought it, or becomes the host's when that registers them. */
#ifndef SX_SERVER_COLLECTIVE_CONNECT_NODES_H
#define SX_SERVER_COLLECTIVE_CONNECT_NODES_H

#include "server/collective/collective_kind.h"

struct sx_connect_nodes;

/* Zeroed is empty: namespaces that were brought, each as often as it was. */
struct sx_brought {
    char (*names)[PMIX_MAX_NSLEN + 1];
    size_t count, capacity;
};
/* @nspace is one of an agreement (sx_agreement_nspace_body).  Return: PMIX_SUCCESS, also when the
 * host of this node knows it; PMIX_ERR_UNPACK_FAILURE; as sx_jobinfo_store. */
pmix_status_t sx_connect_nodes_bring(struct sx_server *server, const struct sx_opened *nspace,
                                     struct sx_brought *brought);
/* They go again. */
void sx_connect_nodes_take_back(struct sx_server *server, struct sx_brought *brought);

/* They stay for good, as nothing will end that they came with. */
void sx_connect_nodes_leave(struct sx_brought *brought);

/* Whether this server brings @nspace, one of those of @collective, to the others. */
bool sx_connect_nodes_brings(const struct sx_collective *collective,
                             const struct sx_nspace *nspace);

/* Takes what was @brought.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_connect_nodes_add(struct sx_server *server, const char *name,
                                   const pmix_proc_t *procs, size_t proc_count,
                                   struct sx_brought *brought);
/* By the name of the membership.  Return: NULL when all its members were here. */
struct sx_connect_nodes *sx_connect_nodes_find(const struct sx_server *server, const char *name);
pmix_proc_t *sx_connect_nodes_procs(const struct sx_connect_nodes *span, size_t *ret_count);
/* The membership is no more.  What came with it goes when the loop is next. */
void sx_connect_nodes_end(struct sx_server *server, const char *name);

/* The server ends. */
void sx_connect_nodess_deinit(struct sx_server *server);

#endif

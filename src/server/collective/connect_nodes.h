/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_nodes.h - state that a connect over several nodes leaves here, beside its membership.
 *
 * One part are the processes by which the host identifies the connected ones.  They never change
 * when members die, so all nodes name the same ones when they disconnect.  The other part are the
 * namespaces that the host of this node has not registered.  Their job-level information came from
 * a node that has it.  It is removed with the last span that brought it, or becomes the host's when
 * the host registers them. */
#ifndef SX_SERVER_COLLECTIVE_CONNECT_NODES_H
#define SX_SERVER_COLLECTIVE_CONNECT_NODES_H

#include "server/collective/collective.h"

struct sx_connect_nodes;

/* Namespaces that were brought, each as often as it was.  Zeroed is empty. */
struct sx_brought {
    char (*names)[PMIX_MAX_NSLEN + 1];
    size_t count, capacity;
};
/* Add @nspace of an agreement (sx_agreement_nspace_body).  Return: PMIX_SUCCESS, also when the host
 * of this node has registered it; PMIX_ERR_UNPACK_FAILURE; as sx_jobinfo_store. */
pmix_status_t sx_connect_nodes_bring(struct sx_server *server, const struct sx_opened *nspace,
                                     struct sx_brought *brought);
/* Remove the @brought namespaces again. */
void sx_connect_nodes_take_back(struct sx_server *server, struct sx_brought *brought);

/* Keep the @brought namespaces for good, as no operation will end that brought them. */
void sx_connect_nodes_leave(struct sx_brought *brought);

/* Return: whether this server brings @nspace, of which @first is the first process in the list of
 * @collective, to the others. */
bool sx_connect_nodes_brings(const struct sx_collective *collective, const struct sx_nspace *nspace,
                             uint32_t first);

/* Takes ownership of @brought.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_connect_nodes_add(struct sx_server *server, const char *name,
                                   const struct sx_alias_list *procs, struct sx_brought *brought);
/* Find a span by the name of the membership.  Return: NULL when all its members were here. */
struct sx_connect_nodes *sx_connect_nodes_find(const struct sx_server *server, const char *name);
const struct sx_alias_list *sx_connect_nodes_procs(const struct sx_connect_nodes *span);
/* The membership has ended.  Its span, and what that brought, is removed in the loop's next
 * turn. */
void sx_connect_nodes_end(struct sx_server *server, const char *name);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective.h - the one engine for all collective operations.
 *
 * An operation is identified by its kind and its signature: the sorted list of processes, and the
 * id that its callers may give.  The differences between kinds are in their rows
 * (server/entry/kinds.c).
 *
 *     OPEN --last expected local member arrives--> FULL --host answers, or not needed--> released
 *       \------a member goes before it arrives, or is late: its status is everybody's------^
 *
 * The host has one operation per kind and signature at a time; the next one waits, FULL, for its
 * answer.  An operation that ends earlier for its members, for example by their time limit, stays
 * with the host.  The data of the host's answer are then stored.
 *
 * The row of its kind decides what happens when a member leaves.  A fence continues without a
 * member that departs before it arrives.  Where it would end with PMIX_SUCCESS, it then ends with
 * PMIX_ERR_PARTIAL_SUCCESS, as with OpenPMIx.  A connect ends at once, unless its callers pardon
 * that.
 *
 * A connected namespace or group has a gap when a member has ended.  If an operation ends because
 * such a member is missing, it ends so for all others.  Members that call later get the same
 * status, so that their next calls match. */
#ifndef SX_SERVER_COLLECTIVE_COLLECTIVE_H
#define SX_SERVER_COLLECTIVE_COLLECTIVE_H

#include "server/model/state.h"

/* A lane message: the client joins an operation.  Return: PMIX_SUCCESS (even if the operation
 * fails), or PMIX_ERR_BAD_PARAM for bytes that no client of this library writes. */
pmix_status_t sx_collective_arrive(struct sx_server *server, struct sx_client *client,
                                   const struct sx_opened *body);

/* The host has registered @client: open operations that name it expect it too. */
void sx_collective_client_added(struct sx_server *server, struct sx_client *client);
/* The host has registered @nspace: operations that waited for this find their members. */
void sx_collective_nspace_registered(struct sx_server *server, struct sx_nspace *nspace);
/* @client has called PMIx_Init: rows of open operations that wait for it are updated. */
void sx_collective_client_connected(struct sx_server *server, struct sx_client *client);
/* @client is dead, has finalized, or has departed.  The operations that wait for it, and those that
 * it had joined, continue or end as their row requires (server/entry/kinds.c).  An operation in
 * which no member waits any more ends. */
void sx_collective_client_gone(struct sx_server *server, struct sx_client *client);
/* @client has left a group, but still runs.  Operations that do not name it any more do not wait
 * for it.  They have @pardons (SX_PARDON_*) from now on. */
void sx_collective_client_withdrew(struct sx_server *server, struct sx_client *client,
                                   uint8_t pardons);
/* A member of @list on another node has left it, or (@died) ended.  Which operations it had called
 * is not known here.  Operations that name the list continue without it, or end, as if it had not
 * called.  They have @pardons (SX_PARDON_*) from now on. */
void sx_collective_member_elsewhere_gone(struct sx_server *server, const char *list, bool died,
                                         uint8_t pardons);
/* The namespace ends, and may be registered again.  Operations of it that the host still has block
 * no others, and the host's answers to them are dropped. */
void sx_collective_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
/* The server ends. */
void sx_collective_end_all(struct sx_server *server);

#endif

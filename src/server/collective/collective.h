/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective.h - the one engine of everything that several processes do together.
 *
 * An operation is known by its kind and its signature: the sorted list of processes, and the id
 * that its callers may give.  What tells the kinds apart is in their rows (server/entry/kinds.c).
 *
 *     OPEN --last expected local member arrives--> FULL --host answers, or not needed--> released
 *       \------a member goes before it arrives, or is late: its status is everybody's------^
 *
 * Of one kind and signature the host has one operation at a time; the next one waits, FULL, for its
 * answer.  One that ends for its members before that, as by their time limit, stays with the host:
 * the data of the answer are stored then.
 *
 * What becomes of it when a member goes is its kind's to say.  A fence goes on without one that
 * departs before it arrives; it ends with PMIX_ERR_PARTIAL_SUCCESS then where it would end well, as
 * with OpenPMIx.  A connect ends at once, unless its callers pardon that.
 *
 * A connected namespace or group has a gap when a member has ended.  What ends for want of such a
 * member ends so for all others: who calls later is told as well, so that their next calls meet.
 */
#ifndef SX_SERVER_COLLECTIVE_COLLECTIVE_H
#define SX_SERVER_COLLECTIVE_COLLECTIVE_H

#include "server/model/state.h"

/* A lane message: the client joins an operation.  Return: PMIX_SUCCESS (even if the
 * operation fails), or PMIX_ERR_BAD_PARAM for bytes that no client of ours writes. */
pmix_status_t sx_collective_arrive(struct sx_server *server, struct sx_client *client,
                                   const struct sx_opened *body);

/* The host has registered it: operations under way that name it expect it too. */
void sx_collective_client_added(struct sx_server *server, struct sx_client *client);
/* The host has registered the namespace: operations that waited for that know their members. */
void sx_collective_nspace_registered(struct sx_server *server, struct sx_nspace *nspace);
/* It has called PMIx_Init: operations that are shown as waiting for it say who it is. */
void sx_collective_client_connected(struct sx_server *server, struct sx_client *client);
/* It is dead, has said good-bye, or has departed.  The operations that wait for it, and those that
 * it had joined, go on or end as their row says (server/entry/kinds.c).  One in which nobody waits
 * any more ends. */
void sx_collective_client_gone(struct sx_server *server, struct sx_client *client);
/* It has left a group, and goes on: operations that name it no more do not wait for it.  They have
 * @pardons (SX_PARDON_*) from now on. */
void sx_collective_client_withdrew(struct sx_server *server, struct sx_client *client,
                                   uint8_t pardons);
/* A member of @list that was on another node has left it, or (@died) ended; nobody knows what it
 * had called.  What names the list goes on without it, or ends, as if it had not called; with
 * @pardons (SX_PARDON_*) from now on. */
void sx_collective_member_elsewhere_gone(struct sx_server *server, const char *list, bool died,
                                         uint8_t pardons);
/* The namespace goes, and may be registered again: what the host still has of it holds up nobody,
 * and its answer is nobody's. */
void sx_collective_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
/* The server ends. */
void sx_collective_end_all(struct sx_server *server);

#endif

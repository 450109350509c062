/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* at_hand.h - the other namespaces whose data a completed call has brought to this process.
 *
 *     UNKNOWN --connect, construct, collecting fence--> AT HAND
 *     AT HAND --the last disconnect, destruct or leave--> UNKNOWN
 *
 * Their stores lie on this node and are mapped when a Get first wants them, with PMIX_OPTIONAL
 * too.  A connect or a construct is known by its list in the node's store.  A fence or a mere
 * exchange leaves no list: it marks the view of each namespace.
 *
 * A mapped store may be another user's.  So each end of a list of this process unmaps every other
 * namespace with which no list is left.  How it was mapped, and in which order its processes ended,
 * does not matter.  The server decides whether it may be mapped again.  The marks are only about
 * PMIX_OPTIONAL. */
#ifndef SX_CLIENT_DATA_AT_HAND_H
#define SX_CLIENT_DATA_AT_HAND_H

#include <stdbool.h>
#include <stddef.h>

#include <pmix_common.h>

struct sx_op;
struct sx_view;

/* A call that exchanges the data of @procs begins: mark their namespaces.  Return: as
 * sx_view_obtain. */
pmix_status_t sx_at_hand_mark(const pmix_proc_t *procs, size_t nprocs);

/* Whether the data of @nspace, whose view is @view (NULL: it has none), are at hand.  Maps the
 * node's store if that has to be read.  Not between sx_grace_enter and sx_grace_exit. */
bool sx_at_hand(const char *nspace, const struct sx_view *view);

/* As sx_view_fetch; a store that is mapped because of a list is marked so. */
pmix_status_t sx_at_hand_fetch(const char *nspace, struct sx_view **ret_view);

/* A list of this process has been made, or a call that takes this process out of one begins: mark
 * the mapped namespaces of the list's members.  Not between sx_grace_enter and sx_grace_exit. */
void sx_at_hand_joined(void);

/* The `finish` of calls that take this process out of a list: unmap the stores of namespaces with
 * which no list is left.  Return: true, always. */
bool sx_at_hand_parted(struct sx_op *op);

#endif

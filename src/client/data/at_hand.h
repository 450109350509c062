/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* at_hand.h - the other namespaces whose data a completed call has brought to this process.
 *
 *     UNKNOWN --connect, construct, collecting fence--> AT HAND
 *     AT HAND --the last disconnect, destruct or leave--> UNKNOWN
 *
 * Their stores lie on this node and are mapped when a Get first wants them, with PMIX_OPTIONAL
 * too.  A connect or a construct is known by its list in the node's store.  A fence or a mere
 * exchange leaves no list: it marks the view of each namespace. */
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

/* A call that takes this process out of a list begins.  The second is the `finish` of its kind:
 * with PMIX_SUCCESS, stores that no list brings any more are unmapped.  Return: true, always. */
void sx_at_hand_part(void);
bool sx_at_hand_parted(struct sx_op *op);

#endif

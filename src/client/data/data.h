/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* data.h - Put, Commit, Get: what other chapters need of them.
 *
 *     Put:  private store, and values not committed yet --Commit--> the lane --> the server
 *     Get:  private store, then the mapped stores --not there--> the server is asked
 *
 * Stores as this process has them mapped, and the named lists in them, are in view.h; readers of
 * them and the unmapping in epoch.h.  lookup.h, one question for a value, serves this folder
 * alone. */
#ifndef SX_CLIENT_DATA_DATA_H
#define SX_CLIENT_DATA_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "client/link/link.h"
#include "client/link/op.h"
#include "shmem/store.h"

/* ---- names of connected namespaces ----------------------------------------------------------- */

/* The name of a connected namespace where a call names a namespace.
 *
 *     {name, rank}                 the member of that rank, as if it had been named itself
 *     {name, PMIX_RANK_WILDCARD}   the connected namespace: what follows from its list of members
 *
 * A namespace that the process has mapped is not a connected one, so callers do not ask for it
 * here. */

struct sx_wanted; /* shmem/wanted.h */

/* The number of ranks of the list @name; 0 when no list has that name. */
uint32_t sx_alias_size(const char *name);

/* The process that {@name, @rank} is.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when there is no
 * such list or member (any more); as sx_members_open. */
pmix_status_t sx_alias_member(const char *name, uint32_t rank, pmix_proc_t *ret);

/* Whether @proc names this process, perhaps among others, by such a list. */
bool sx_alias_holds_self(const pmix_proc_t *proc);

/* A key that describes the connected namespace @name, or names one of its members: the keys of
 * docs/support.  *ret (uninitialised) owns its content.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND for any other key; PMIX_ERR_OUT_OF_RESOURCE; as sx_members_open. */
pmix_status_t sx_alias_find(const char *name, const struct sx_wanted *wanted, pmix_value_t *ret);

/* ---- data at hand ---------------------------------------------------------------------------- */

/* The other namespaces whose data a completed call has brought to this process.
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

/* ---- names of clusters ----------------------------------------------------------------------- */

/* "cluster:namespace" with the name of our own cluster is the namespace alone.
 * Take the name of our cluster (PMIX_CLUSTER_ID of our job) off the namespaces of @procs, which are
 * valid.  Return: @procs if none has it; or a copy, which the caller frees as *ret_copy; NULL when
 * memory is out. */
const pmix_proc_t *sx_cluster_strip(const pmix_proc_t *procs, size_t nprocs,
                                    pmix_proc_t **ret_copy);

/* ---- the name of this node ------------------------------------------------------------------- */

/* The name of this node, in any role of this process: the host's (PMIX_HOSTNAME), else the
 * machine's own.  A longer name is cut. */
void sx_hostname(char *ret, size_t size);

/* ---- Gets under way -------------------------------------------------------------------------- */

/* Back-pressure: Gets beyond the server's limit for one client wait here.
 *
 *     non-blocking   sent --answered--> the next in the queue is sent
 *                      \--no place--> QUEUED --a place is free, or its deadline--> its task runs
 *     blocking       waits for a place in its own thread
 *
 * Some places are for blocking Gets alone, so that a blocking call does not wait behind thousands
 * of others.  All under the process's lock unless it says otherwise. */

#define SX_GATE_RESERVED 64u /* places for blocking Gets */

/* Take a place, or queue until the task of @op is posted: @op has a place then, or the status
 * PMIX_ERR_TIMEOUT because its deadline passed first.  Without the lock, on the thread that runs
 * tasks.  Return: true when it has a place, which the caller gives back. */
bool sx_gate_enter(struct sx_op *op);

/* Wait for a place, without the lock.  Return: PMIX_SUCCESS, and then the place must be given back;
 * as sx_wait_until. */
pmix_status_t sx_gate_wait(uint64_t deadline_ns);

/* Give the place back: the next Get in the queue receives it. */
void sx_gate_leave_locked(void);
/* The same without the lock. */
void sx_gate_leave(void);

/* End queued Gets whose deadline has passed. */
extern const struct sx_intake sx_gate_intake;

/* ---- values that were handed out ------------------------------------------------------------- */

/* Values that the caller received as pointers; the library owns them until PMIx_Finalize.
 *
 * A Get with PMIX_GET_POINTER_VALUES gives memory that its caller must not free.  Strings and byte
 * objects lie in the store itself.  Values that have to be built in memory are kept here.  The list
 * grows with every such Get.  Where that matters, combine the directive with
 * PMIX_GET_STATIC_VALUES. */

/* Return: a zeroed value of the library, NULL when memory is out.  Any thread. */
pmix_value_t *sx_keep_value(void);

/* Take over the content of @value.  The caller continues to use it.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE, and @value is destructed. */
pmix_status_t sx_keep_content(pmix_value_t *value);

/* Free everything. */
void sx_keep_deinit(void);

/* ---- puts ------------------------------------------------------------------------------------ */

/* Append a value as one message {u64 length, struct sx_lane_put, key, body}.  *ret_cell and
 * *ret_body, which points into @puts until the next append, are what was encoded.  Return:
 * PMIX_SUCCESS; as sx_flat_size; PMIX_ERR_OUT_OF_RESOURCE (nothing appended). */
pmix_status_t sx_puts_append(struct sx_puts *puts, pmix_scope_t scope, const char *key,
                             size_t key_len, const pmix_value_t *value, struct sx_cell *ret_cell,
                             const void **ret_body);
void sx_puts_deinit(struct sx_puts *puts);

/* There is a server now: the puts of this process for others are for the next commit.  data_lock is
 * held.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_puts_gather_locked(struct sx_process *p);

/* ---- singletons ------------------------------------------------------------------------------ */

/* A process that no launcher started: a job of its own, with one rank and no server. */

/* Name the process @name, or (an empty one) "singleton.HOST.PID", rank 0, and store the data of
 * such a job: its sizes, ranks and host.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_singleton_open(struct sx_process *p, const pmix_proc_t *name);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* engine.h - what the engine's own files share: how an open operation is found, goes on, and ends.
 *
 *     arrival.c               a client joins an operation, or opens one
 *     collective_lifecycle.c  clients and namespaces come and go
 *     failed_kept.c           failed operations that some members have not called yet
 *     collective.c            one operation: opened, with the host, ended
 *
 * Each uses those below it.  Loop thread. */
#ifndef SX_SERVER_COLLECTIVE_ENGINE_H
#define SX_SERVER_COLLECTIVE_ENGINE_H

#include "server/collective/collective.h"

/* ---- an operation: collective.c -------------------------------------------------------------- */

/* Return: the signature, which refers to @procs and @id. */
struct sx_op_signature sx_collective_signature(const struct sx_kind *kind,
                                               const struct sx_alias_list *procs, const char *id,
                                               uint64_t space);
/* Return: the oldest operation with the signature of @of, in the same table as @of. */
struct sx_collective *sx_collective_oldest_like(struct sx_collective *of);
/* Return: the oldest operation, from @oldest (or NULL) on, that @client has not joined yet. */
struct sx_collective *sx_collective_joinable(struct sx_collective *oldest,
                                             struct sx_client *client);

/* Make an operation, whose signature has @hash, behind those of @oldest (NULL: there is none).  It
 * takes the processes out of @arrival.  The caller sets its engine. */
pmix_status_t sx_collective_new(struct sx_server *server, uint64_t hash,
                                struct sx_collective *oldest, struct sx_arrival *arrival,
                                struct sx_collective **ret);
/* Free @collective, which is in no table of open operations, unless the server ends. */
void sx_collective_free(struct sx_collective *collective);
/* Remove @collective from its table, and free it. */
void sx_collective_close(struct sx_collective *collective);
/* Take @collective out of the list of all, and move each walk that would visit it next past it. */
void sx_collective_unlink(struct sx_collective *collective);

/* Return: how the operation ends when a member leaves that has @arrived, or has not. */
struct sx_member_ends sx_collective_ends(const struct sx_collective *collective, bool arrived);
/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED, logged once, for members on other nodes that the
 * host does not reach. */
pmix_status_t sx_collective_reach(const struct sx_collective *collective);

/* Check whether all members are here, and go on if so.  Return: true when the operation has
 * ended. */
bool sx_collective_try(struct sx_collective *collective);
/* Release all members that have arrived with @status. */
void sx_collective_release(struct sx_collective *collective, pmix_status_t status);
/* Release all members that have arrived with @status, an error.  Return: true when members on other
 * nodes would wait for those here: the host gets the failure, in its turn, as if all here had
 * called.  If no caller here is left, the next call of a survivor fails for the others. */
bool sx_collective_fail(struct sx_collective *collective, pmix_status_t status);
/* End @collective, and free it unless the host has it or gets its failure.  In that case the next
 * operation of its kind and signature waits for the host's answer. */
void sx_collective_end(struct sx_collective *collective, pmix_status_t status);
/* The host is done with @collective: end it, and hand the next operation of its signature to the
 * host. */
void sx_collective_leave_host(struct sx_collective *collective, pmix_status_t status);

/* A walk over all open operations, any of which may end meanwhile: the end of one may end others.
 * Such a walk is in the server's list until it is over. */
struct sx_collective_walk {
    struct sx_list *next;
    struct sx_collective_walk *outer;
};
void sx_collective_walk_begin(struct sx_server *server, struct sx_collective_walk *walk);
/* Return: the next operation; NULL: there are no more. */
struct sx_collective *sx_collective_walk_next(const struct sx_server *server,
                                              struct sx_collective_walk *walk);
void sx_collective_walk_end(struct sx_server *server, const struct sx_collective_walk *walk);

/* ---- failed operations: failed_kept.c -------------------------------------------------------- */

/* End @collective with @status because @member is missing.  If it was named by a list that has lost
 * the member, a later call would find nothing wrong.  That call would be matched with the next
 * calls of the members that are released now.  So the failed operation is kept until the others
 * have called. */
void sx_failed_break(struct sx_collective *collective, struct sx_member *member,
                     pmix_status_t status);
/* @collective, in which @members.gone are missing, fails as soon as its first member has joined. */
void sx_failed_open(struct sx_collective *collective);
/* @client, which has not called @collective, a failure that is kept, has got its status. */
void sx_failed_call(struct sx_collective *collective, struct sx_client *client);
/* @client does not call any more.  The failed operation is kept while others are awaited. */
void sx_failed_leave(struct sx_collective *collective, struct sx_client *client);
/* The list by which @collective was named has ended while the host has the failure: no call is for
 * it any more. */
void sx_failed_forget(struct sx_collective *collective);
/* The other nodes have the failure of @collective. */
void sx_failed_passed(struct sx_collective *collective);
/* Return: the failed operation of @meeting whose status @client must get before it joins @next
 * (NULL: a new one); NULL: none. */
struct sx_collective *sx_failed_find(struct sx_server *server,
                                     const struct sx_op_signature *meeting, uint64_t hash,
                                     struct sx_client *client, const struct sx_collective *next);

/* ---- clients and namespaces: collective_lifecycle.c ------------------------------------------ */

/* For operations that arrivals open. */
extern const struct sx_collective_engine sx_collective_engine;

#endif

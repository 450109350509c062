/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect.h - the rows of connect and disconnect: connected namespaces, and how these change.
 *
 *     all have called connect --> a connected namespace --all have called disconnect--> gone
 *                                   | ^                                                  ^
 *                                   \-/ a member ends: there is a gap   no member here is left
 *
 * A connected namespace is a membership (server/model/membership.h), whose members have the ranks 0
 * and up, ordered by their namespaces and ranks.  A disconnect is identified by that namespace, in
 * whichever way its callers name it. */
#ifndef SX_SERVER_COLLECTIVE_CONNECT_H
#define SX_SERVER_COLLECTIVE_CONNECT_H

#include "server/collective/collective_kind.h"

/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND for a rank that its job cannot have: some hosts end
 * their job when they are asked for such a rank. */
pmix_status_t sx_connect_aim(struct sx_server *server, struct sx_client *client,
                             struct sx_arrival *arrival);
/* The same check when a namespace that the connect has waited for has been registered. */
pmix_status_t sx_connect_nspace_added(struct sx_collective *collective);
void sx_connect_arrived(struct sx_collective *collective, struct sx_client *client,
                        uint8_t connect);
/* Make a name that no other server makes. */
void sx_connect_name(struct sx_server *server, char ret[PMIX_MAX_NSLEN + 1]);
/* Make the namespace: of the members of this node, or with the members on which the servers have
 * agreed.  Return: PMIX_SUCCESS; as sx_memberships_add. */
pmix_status_t sx_connect_conclude(struct sx_collective *collective, uint64_t *ret_subject);

/* Find the namespace that @client means: by its name, or by the processes and the id of its
 * connect.  Of several, it is the oldest that @client has not called for.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND for a namespace that does not exist; PMIX_ERR_INVALID_OPERATION for processes
 * that are not connected, or when @client has called already; PMIX_ERR_NOT_A_MEMBER when @client is
 * not a member. */
pmix_status_t sx_disconnect_aim(struct sx_server *server, struct sx_client *client,
                                struct sx_arrival *arrival);
void sx_disconnect_arrived(struct sx_collective *collective, struct sx_client *client,
                           uint8_t connect);
pmix_status_t sx_disconnect_conclude(struct sx_collective *collective, uint64_t *ret_subject);

/* A fence of several jobs succeeds.  If its members are all those of a connected namespace, they no
 * longer depend on each other.  MPI libraries separate by such a fence (MPI_Comm_disconnect), and
 * stay connected.  Return: PMIX_SUCCESS. */
pmix_status_t sx_connect_fenced(struct sx_collective *collective, uint64_t *ret_subject);

/* @client has finalized or was removed by the host: remove it from all connected namespaces.  The
 * other members get an event, unless @client was allowed to end.  The rows of their operations
 * decide how these continue. */
void sx_connect_client_gone(struct sx_server *server, struct sx_client *client);
/* The same for a @client that has died.  The watcher (sx_connect_watch) is called first. */
void sx_connect_client_lost(struct sx_server *server, struct sx_client *client);
/* Have @fn called, on the loop thread, when a process has died on which processes of @nspace,
 * another job, depend.  They depend on it when they are connected with it, and have not separated
 * from it.  There is one such function.  Any thread.  Return: PMIX_SUCCESS; PMIX_ERR_INIT without a
 * server. */
pmix_status_t sx_connect_watch(void (*fn)(const pmix_proc_t *lost, const char *nspace));
/* The remaining members get an event if a process of that job has ended without a disconnect. */
void sx_connect_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
/* The server ends. */
void sx_connects_deinit(struct sx_server *server);

#endif

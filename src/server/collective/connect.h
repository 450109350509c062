/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect.h - the rows of connect and disconnect: what they make, and what becomes of it.
 *
 *     all have called connect --> a connected namespace --all have called disconnect--> gone
 *                                   | ^                                                  ^
 *                                   \-/ a member ends: there is a gap   no member here is left
 *
 * A connected namespace is a membership (server/model/membership.h), whose members have the ranks 0
 * and up by their namespaces and ranks.  A disconnect is known by that namespace, in whichever way
 * its callers name it. */
#ifndef SX_SERVER_COLLECTIVE_CONNECT_H
#define SX_SERVER_COLLECTIVE_CONNECT_H

#include "server/collective/collective_kind.h"

/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND for a rank that its job cannot have: some hosts end
 * their job when they are asked for one. */
pmix_status_t sx_connect_aim(struct sx_server *server, struct sx_client *client,
                             struct sx_arrival *arrival);
/* The same when a namespace has been registered that it has waited for. */
pmix_status_t sx_connect_nspace_added(struct sx_collective *collective);
void sx_connect_arrived(struct sx_collective *collective, struct sx_client *client,
                        uint8_t connect);
/* A name that no other server gives. */
void sx_connect_name(struct sx_server *server, char ret[PMIX_MAX_NSLEN + 1]);
/* Makes the namespace: this node's members', or the one on which the servers have agreed.  Return:
 * PMIX_SUCCESS; as sx_memberships_add. */
pmix_status_t sx_connect_conclude(struct sx_collective *collective, uint64_t *ret_subject);

/* Find the namespace that @client means: by its name, or by the processes and the id of its
 * connect.  Of several it is the oldest that @client has not called for.  Return: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND for a namespace that nobody knows; PMIX_ERR_INVALID_OPERATION for processes
 * that are not connected, or when @client has called already; PMIX_ERR_BAD_PARAM when it is none of
 * them. */
pmix_status_t sx_disconnect_aim(struct sx_server *server, struct sx_client *client,
                                struct sx_arrival *arrival);
void sx_disconnect_arrived(struct sx_collective *collective, struct sx_client *client,
                           uint8_t connect);
pmix_status_t sx_disconnect_conclude(struct sx_collective *collective, uint64_t *ret_subject);

/* A fence of several jobs ends well.  Where its members are all of a connected namespace, they do
 * not depend on each other any more: MPI libraries part by such a fence (MPI_Comm_disconnect), and
 * stay connected.  Return: PMIX_SUCCESS. */
pmix_status_t sx_connect_fenced(struct sx_collective *collective, uint64_t *ret_subject);

/* It has finalized or was taken away: it is a member of nothing any more.  The other members hear
 * of it, unless it might go; what they do together says what becomes of that. */
void sx_connect_client_gone(struct sx_server *server, struct sx_client *client);
/* The same; it has died.  Who watches hears of it first. */
void sx_connect_client_lost(struct sx_server *server, struct sx_client *client);
/* Have @fn called, on the loop thread, when a process has died on which processes of @nspace,
 * another job, depend: they are connected with it, and have not parted from it.  There is one such
 * function.  Any thread.  Return: PMIX_SUCCESS; PMIX_ERR_INIT without a server. */
pmix_status_t sx_connect_watch(void (*fn)(const pmix_proc_t *lost, const char *nspace));
/* The members that are left hear of it if one of that job has ended without a disconnect. */
void sx_connect_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);
/* The server ends. */
void sx_connects_deinit(struct sx_server *server);

#endif

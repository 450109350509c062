/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite.h - groups by invitation: PMIx_Group_invite and PMIx_Group_join.
 *
 *     INVITE --the host has registered all, and they get INVITED--> OPEN
 *     OPEN --all have answered--> a group of those who have accepted
 *      |--the same inviter invites more, or again--> OPEN
 *      |--nobody accepts-------> INVITE_DECLINED or INVITE_FAILED
 *      |--the inviter says so--> CONSTRUCT_ABORT
 *      |--a caller's time limit--> TIMEOUT
 *      |--the inviter ends, and a guest leads--> OPEN
 *      \--the inviter ends-----> LEADER_FAILED
 *
 * The inviter and the guests that have accepted wait for the end, which is the same for all of
 * them.  The others receive events.  The invited receive INVITED.  The inviter receives
 * INVITE_ACCEPTED, INVITE_DECLINED and INVITE_FAILED (a guest has ended).  At the end the members
 * receive CONTEXT_ID_ASSIGNED and CONSTRUCT_COMPLETE, or the guests receive LEADER_FAILED or
 * CONSTRUCT_ABORT.  The states of guests are in group/invitation.h.  All are processes of this
 * node. */
#ifndef SX_SERVER_GROUP_INVITE_H
#define SX_SERVER_GROUP_INVITE_H

#include <stdbool.h>
#include <stdint.h>

struct sx_client;
struct sx_event_block;
struct sx_frame;
struct sx_group_said;
struct sx_invitation;
struct sx_nspace;
struct sx_server;

/* GROUP_INVITE, GROUP_JOIN.  Return: false for a breach of protocol. */
bool sx_invite_on_invite(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                         uint64_t now_ns);
bool sx_invite_on_join(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

/* @client answers with @said: @invitation may be gone afterwards.  An answer to a question that
 * @client was not asked is ignored. */
void sx_invite_hear(struct sx_server *server, struct sx_invitation *invitation,
                    struct sx_client *client, const struct sx_group_said *said);

/* As struct sx_family requires: ends the invitation of @client to the group that @block names. */
void sx_invite_aborted(struct sx_server *server, struct sx_client *client,
                       const struct sx_event_block *block);

/* As struct sx_family requires: invitations that wait for the host to register processes of this
 * node are checked again, and may begin or fail. */
void sx_invite_client_added(struct sx_server *server, struct sx_client *client);
void sx_invite_nspace_gone(struct sx_server *server, struct sx_nspace *nspace);

/* The host takes @name: an invitation to a group of that name ends with PMIX_ERR_EXISTS. */
void sx_invite_name_claimed(struct sx_server *server, const char *name);

/* struct sx_family's events_missed: questions that @client has lost are sent to it again. */
void sx_invite_missed(struct sx_server *server, struct sx_client *client, uint64_t first,
                      uint64_t next);

/* @client ends: it no longer invites, and is no longer a guest. */
void sx_invite_client_gone(struct sx_server *server, struct sx_client *client);

void sx_invites_stop(struct sx_server *server);
void sx_invites_deinit(struct sx_server *server);

#endif

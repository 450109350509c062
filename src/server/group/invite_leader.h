/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite_leader.h - the inviter has ended: its guests choose the next one (leader_failover.h).
 *
 * The guests that have accepted are asked, and may answer.  Nothing else is decided until then. */
#ifndef SX_SERVER_GROUP_INVITE_LEADER_H
#define SX_SERVER_GROUP_INVITE_LEADER_H

struct sx_client;
struct sx_group_said;
struct sx_invitation;
struct sx_server;

/* The inviter is lost: seek the next one.  The invitation ends when no guest can answer. */
void sx_invite_lead_seek(struct sx_server *server, struct sx_invitation *invitation);
/* The guest @client is lost, whether a leader is sought or not. */
void sx_invite_lead_forget(struct sx_invitation *invitation, const struct sx_client *client);
/* A leader is sought, and @client answers with @said: @invitation may be gone afterwards. */
void sx_invite_lead_hear(struct sx_invitation *invitation, struct sx_client *client,
                         const struct sx_group_said *said);

#endif

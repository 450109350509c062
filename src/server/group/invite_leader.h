/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite_leader.h - the inviter has ended: its guests say who invites from then on
 * (leader_failover.h).
 *
 * Those who have accepted are asked, and may answer.  Nothing else is decided until then. */
#ifndef SX_SERVER_GROUP_INVITE_LEADER_H
#define SX_SERVER_GROUP_INVITE_LEADER_H

struct sx_client;
struct sx_group_said;
struct sx_invitation;
struct sx_server;

/* Its inviter is lost.  The invitation ends when nobody can answer. */
void sx_invite_lead_seek(struct sx_server *server, struct sx_invitation *invitation);
/* Its guest @client is lost, while a leader is sought or not. */
void sx_invite_lead_forget(struct sx_invitation *invitation, const struct sx_client *client);
/* A leader is sought, and @client says @said: @invitation may be gone then. */
void sx_invite_lead_hear(struct sx_invitation *invitation, struct sx_client *client,
                         const struct sx_group_said *said);

#endif

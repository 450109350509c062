/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_construct_leader.h - the members of a construct are those who say what becomes of it when
 * one of them ends (leader_failover.h).
 *
 * The member stays among the members as one that has not called, so nothing is complete.  Nobody is
 * asked where there is no leader and nobody has asked for PMIX_GROUP_NOTIFY_TERMINATION, nor while
 * the host is asked about all of them. */
#ifndef SX_SERVER_GROUP_GROUP_CONSTRUCT_LEADER_H
#define SX_SERVER_GROUP_GROUP_CONSTRUCT_LEADER_H

#include <stdint.h>

#include <pmix_common.h>

struct sx_arrival;
struct sx_client;
struct sx_collective;
struct sx_group_said;
struct sx_member;
struct sx_server;

/* @client, a member, calls.  Return: PMIX_SUCCESS; PMIX_ERR_EXISTS, told, when it wants to lead and
 * somebody else does (X11). */
pmix_status_t sx_group_construct_join(struct sx_collective *collective, struct sx_client *client,
                                      const struct sx_arrival *arrival);

/* struct sx_kind's. */
pmix_status_t sx_group_construct_lost(struct sx_collective *collective, struct sx_member *member,
                                      pmix_status_t end);

/* @client says @said: the construct may be gone then. */
void sx_group_construct_hear(struct sx_collective *collective, struct sx_client *client,
                             const struct sx_group_said *said);

/* struct sx_family's events_missed: @client is asked again what it has lost. */
void sx_group_construct_missed(struct sx_server *server, struct sx_client *client, uint64_t first,
                               uint64_t next);

#endif

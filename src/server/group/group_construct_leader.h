/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_construct_leader.h - the members of a construct decide how it continues when one of them
 * ends (leader_failover.h).
 *
 * The member that ended stays in the list as one that has not called, so the construct is not
 * complete.  Members are not asked while the host has the request for all of them.  Nor are they
 * asked when there is no leader and no caller has given PMIX_GROUP_NOTIFY_TERMINATION. */
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

/* @client, a member, calls.  Return: PMIX_SUCCESS; PMIX_ERR_EXISTS, logged, when @client wants to
 * lead and another member leads already (X11). */
pmix_status_t sx_group_construct_join(struct sx_collective *collective, struct sx_client *client,
                                      const struct sx_arrival *arrival);

/* As struct sx_kind requires. */
pmix_status_t sx_group_construct_lost(struct sx_collective *collective, struct sx_member *member,
                                      pmix_status_t end);

/* @client answers with @said: the construct may be gone afterwards. */
void sx_group_construct_hear(struct sx_collective *collective, struct sx_client *client,
                             const struct sx_group_said *said);

/* struct sx_family's events_missed: questions that @client has lost are sent to it again. */
void sx_group_construct_missed(struct sx_server *server, struct sx_client *client, uint64_t first,
                               uint64_t next);

#endif

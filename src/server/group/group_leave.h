/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_leave.h - members that leave a group, or end without having left it (group_end.h).
 *
 *     member --leaves: the others get PMIX_GROUP_LEFT-----------------------------\
 *       |                                                                          > a gap
 *       \--ends: PMIX_GROUP_MEMBER_FAILED, if the group has events for it---------/
 *
 * The group ends with its last member here. */
#ifndef SX_SERVER_GROUP_GROUP_LEAVE_H
#define SX_SERVER_GROUP_GROUP_LEAVE_H

#include "control/channel.h"
#include "server/model/event_block.h"
#include "server/model/state.h"

/* GROUP_LEAVE.  The reply is sent after the event to the others is published: PMIX_SUCCESS;
 * PMIX_ERR_NOT_FOUND when there is no such group; PMIX_ERR_NOT_A_MEMBER when @client is not a
 * member; PMIX_ERR_OUT_OF_RESOURCE, and then @client still is one.  Return: true, it is no
 * breach. */
bool sx_group_on_leave(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns);

/* A member has left or ended on another node, whose server has sent this event. */
void sx_group_event_relayed(struct sx_server *server, const struct sx_event_block *block);

#endif

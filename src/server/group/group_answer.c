/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_answer.c - find the group that an answer is about. */
#include "server/group/group_answer.h"

#include "control/message.h"
#include "server/collective/collective_kind.h"
#include "server/group/group.h"
#include "server/group/group_construct_leader.h"
#include "server/group/invitation.h"
#include "server/group/invite.h"

bool sx_group_on_said(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns)
{
    const struct sx_group_said *const said = frame->opened.head;
    struct sx_collective *const building = sx_group_being_built(server, said->group);
    struct sx_invitation *const invitation = sx_invitation_find(server, said->group);

    (void)now_ns;
    if (said->word > SX_GROUP_ABORTS) {
        return false;
    }
    if (building != NULL && building->plan != NULL) {
        sx_group_construct_hear(building, client, said);
    } else if (invitation != NULL) {
        sx_invite_hear(server, invitation, client, said);
    }
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_end.c - events to the other members when a member ends. */
#include "server/group/group_end.h"

#include <stdio.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "server/collective/member_left.h"
#include "server/event/event.h"

uint8_t sx_group_pardons(const struct sx_membership_entry *group)
{
    return (group->published.head.flags & SX_MEMBERSHIP_GOES_ON) != 0
               ? SX_PARDON_BEFORE | SX_PARDON_AFTER
               : 0;
}

static void member_gone(struct sx_server *server, struct sx_membership_entry *group,
                        const struct sx_leaver *leaver)
{
    char name[PMIX_MAX_NSLEN + 1];
    const struct sx_event_note note = { .key = PMIX_GROUP_ID, .text = name };
    const bool has_called = sx_membership_is_waited_for(server, group, leaver->client,
                                                        SX_COLLECTIVE_GROUP_DESTRUCT);
    const struct sx_member_gone gone = {
        .name = name,
        .pardons = sx_group_pardons(group),
        .code = has_called ? PMIX_SUCCESS : PMIX_GROUP_MEMBER_FAILED,
        .is_quiet = (group->published.head.flags & SX_MEMBERSHIP_NOTIFY) == 0,
        .note = &note,
    };

    snprintf(name, sizeof(name), "%s", sx_membership_name(&group->published));
    sx_membership_member_gone(server, group, leaver, &gone);
}

void sx_group_client_gone(struct sx_server *server, struct sx_client *client)
{
    sx_membership_each_of(server, client, SX_MEMBERSHIP_GROUP, member_gone);
}

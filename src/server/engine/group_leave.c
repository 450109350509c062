/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_leave.c - take a member out, and tell those who stay. */
#include "server/engine/group_leave.h"

#include <stdio.h>

#include "base/options.h"
#include "server/engine/collective.h"
#include "server/engine/event_made.h"
#include "server/engine/group.h"
#include "server/engine/membership_end.h"
#include "server/port/reply.h"

#define PROCS_PER_UNIT 4u /* to copy, and to be told: share.h */

static uint8_t pardons_of(const struct sx_membership_entry *group)
{
    return (group->published.head.flags & SX_MEMBERSHIP_GOES_ON) != 0
               ? SX_PARDON_BEFORE | SX_PARDON_AFTER
               : 0;
}

/* Return: PMIX_SUCCESS when *ret is the group of which @client is a member. */
static pmix_status_t group_find(const struct sx_server *server, const struct sx_client *client,
                                const char *name, struct sx_membership_entry **ret)
{
    struct sx_membership_entry *const entry = sx_memberships_find(server, name);

    if (entry == NULL || entry->published.head.kind != SX_MEMBERSHIP_GROUP) {
        return PMIX_ERR_NOT_FOUND;
    }
    *ret = entry;
    return sx_membership_has(entry, client) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

/* The host may end the job inside the event, and so @client. */
static pmix_status_t leave(struct sx_server *server, struct sx_client *client, const char *name,
                           struct sx_membership_entry *group)
{
    const pmix_proc_t self = sx_nspace_proc(client->nspace, client->rank);
    const struct sx_event_note note = { .key = PMIX_GROUP_ID, .text = name };
    const uint8_t pardons = pardons_of(group);
    struct sx_proc_list left = { .all = NULL };

    sx_share_charge(server, client, sx_membership_size(&group->published) / PROCS_PER_UNIT);
    const pmix_status_t rc = sx_memberships_leave(server, group, &self);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (!sx_membership_left(server, group, &left)) {
        sx_group_end(server, group);
    }
    sx_event_to(server, PMIX_GROUP_LEFT, client, left.all, left.count, &note, 1);
    sx_collective_client_withdrew(server, client, pardons);
    sx_proc_list_clear(&left);
    return PMIX_SUCCESS;
}

bool sx_group_on_leave(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns)
{
    const struct sx_group_leave *const request = frame->opened.head;
    struct sx_membership_entry *group;
    pmix_status_t rc = group_find(server, client, request->group, &group);

    (void)now_ns;
    if (rc == PMIX_SUCCESS) {
        rc = leave(server, client, request->group, group);
    }
    sx_reply(server, client, frame->header.id, rc, -1);
    return true;
}

/* ---- ends ----------------------------------------------------------------------------------- */

static void member_gone(struct sx_server *server, struct sx_membership_entry *group,
                        struct sx_client *client)
{
    char name[SX_MEMBERSHIP_NAME_MAX + 1]; /* what the group has of it changes */
    const struct sx_event_note note = { .key = PMIX_GROUP_ID, .text = name };
    const struct sx_member_gone gone = {
        .pardons = pardons_of(group),
        .code = (group->published.head.flags & SX_MEMBERSHIP_NOTIFY) != 0 ? PMIX_GROUP_MEMBER_FAILED
                                                                          : PMIX_SUCCESS,
        .note = &note,
    };

    snprintf(name, sizeof(name), "%s", sx_membership_name(&group->published));
    sx_membership_member_gone(server, group, client, &gone);
}

void sx_group_client_gone(struct sx_server *server, struct sx_client *client)
{
    sx_membership_each_of(server, client, SX_MEMBERSHIP_GROUP, member_gone);
}

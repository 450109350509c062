/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_leave.c - remove a member, and send an event to those who stay. */
#include "server/group/group_leave.h"

#include <stdio.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "server/collective/collective.h"
#include "server/collective/member_left.h"
#include "server/event/event.h"
#include "server/group/group.h"
#include "server/group/group_end.h"
#include "server/port/reply.h"

#define PROCS_PER_UNIT 4u /* to copy the list and to send the event (share.h) */

/* Return: PMIX_SUCCESS when *ret is the group of which @client is a member. */
static pmix_status_t group_find(const struct sx_server *server, const struct sx_client *client,
                                const char *name, struct sx_membership_entry **ret)
{
    struct sx_membership_entry *const entry = sx_memberships_find(server, name);

    if (entry == NULL || entry->published.head.kind != SX_MEMBERSHIP_GROUP) {
        return PMIX_ERR_NOT_FOUND;
    }
    *ret = entry;
    return sx_membership_has(entry, client) ? PMIX_SUCCESS : PMIX_ERR_NOT_A_MEMBER;
}

/* The host may end the job inside the event, and @client with it. */
static pmix_status_t leave(struct sx_server *server, struct sx_client *client, const char *name,
                           struct sx_membership_entry *group)
{
    const pmix_proc_t self = sx_nspace_proc(client->nspace, client->rank);
    const struct sx_event_note note = { .key = PMIX_GROUP_ID, .text = name };
    const uint8_t pardons = sx_group_pardons(group);
    struct sx_proc_list left = { .all = NULL };

    sx_share_charge(server, client, sx_membership_size(&group->published) / PROCS_PER_UNIT);
    const pmix_status_t rc = sx_membership_leave(server, group, &self, &left);

    if (rc == PMIX_SUCCESS) {
        sx_event_to_list(server, PMIX_GROUP_LEFT, client, &self, name, &left, &note);
        sx_collective_client_withdrew(server, client, pardons);
    }
    sx_proc_list_clear(&left);
    return rc;
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

/* ---- ends on other nodes --------------------------------------------------------------------- */

/* Return: the group that @block is about; NULL: there is none. */
static struct sx_membership_entry *group_meant(struct sx_server *server,
                                               const struct sx_event_block *block)
{
    char name[PMIX_MAX_NSLEN + 1];
    struct sx_membership_entry *const entry = sx_group_event_name(block, name)
                                                  ? sx_memberships_find(server, name)
                                                  : NULL;

    return entry != NULL && entry->published.head.kind == SX_MEMBERSHIP_GROUP ? entry : NULL;
}

static void member_elsewhere_gone(struct sx_server *server, struct sx_membership_entry *group,
                                  const pmix_proc_t *member, bool died)
{
    const uint8_t pardons = sx_group_pardons(group);
    struct sx_proc_list left = { .all = NULL };
    char name[PMIX_MAX_NSLEN + 1];

    snprintf(name, sizeof(name), "%s", sx_membership_name(&group->published));
    if (sx_membership_leave(server, group, member, &left) == PMIX_SUCCESS) {
        sx_collective_member_elsewhere_gone(server, name, died, pardons);
    }
    sx_proc_list_clear(&left);
}

void sx_group_event_relayed(struct sx_server *server, const struct sx_event_block *block)
{
    const pmix_status_t code = ((const struct sx_event *)(const void *)block->bytes)->code;
    pmix_proc_t source;

    if (code != PMIX_GROUP_LEFT && code != PMIX_GROUP_MEMBER_FAILED) {
        return;
    }
    struct sx_membership_entry *const group = group_meant(server, block);

    sx_event_block_source(block, &source);
    const struct sx_nspace *const nspace = sx_nspace_find(server, source.nspace);
    const bool is_here = nspace != NULL && sx_client_find(nspace, source.rank) != NULL;

    /* for members of this node, this server has sent the event */
    if (group != NULL && !is_here) {
        member_elsewhere_gone(server, group, &source, code == PMIX_GROUP_MEMBER_FAILED);
    }
}

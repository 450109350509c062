/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_leave.c - take a member out, and tell those who stay. */
#include "server/engine/group_leave.h"

#include <stdio.h>
#include <string.h>

#include <pmix.h>

#include "base/options.h"
#include "server/engine/collective.h"
#include "server/engine/event_made.h"
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
    const pmix_status_t rc = sx_membership_leave(server, group, &self, &left);

    if (rc == PMIX_SUCCESS) {
        sx_event_to_list(server, PMIX_GROUP_LEFT, client, name, &left, &note);
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

/* ---- ends ----------------------------------------------------------------------------------- */

static void member_gone(struct sx_server *server, struct sx_membership_entry *group,
                        struct sx_client *client)
{
    char name[PMIX_MAX_NSLEN + 1];
    const struct sx_event_note note = { .key = PMIX_GROUP_ID, .text = name };
    const bool is_told = (group->published.head.flags & SX_MEMBERSHIP_NOTIFY) != 0 &&
                         !sx_membership_is_waited_for(server, group, client,
                                                      SX_COLLECTIVE_GROUP_DESTRUCT);
    const struct sx_member_gone gone = {
        .name = name,
        .pardons = pardons_of(group),
        .code = is_told ? PMIX_GROUP_MEMBER_FAILED : PMIX_SUCCESS,
        .note = &note,
    };

    snprintf(name, sizeof(name), "%s", sx_membership_name(&group->published));
    sx_membership_member_gone(server, group, client, &gone);
}

void sx_group_client_gone(struct sx_server *server, struct sx_client *client)
{
    sx_membership_each_of(server, client, SX_MEMBERSHIP_GROUP, member_gone);
}

/* ---- ends on other nodes --------------------------------------------------------------------- */

/* Return: the group that @block is about, NULL when there is none. */
static struct sx_membership_entry *group_meant(struct sx_server *server,
                                               const struct sx_event_block *block)
{
    struct sx_membership_entry *entry = NULL;
    pmix_info_t *info;
    size_t ninfo;

    if (sx_event_block_infos(block, &info, &ninfo) != PMIX_SUCCESS) {
        return NULL;
    }
    for (size_t i = 0; i < ninfo && entry == NULL; i++) {
        if (strcmp(info[i].key, PMIX_GROUP_ID) == 0 && info[i].value.type == PMIX_STRING &&
            info[i].value.data.string != NULL) {
            entry = sx_memberships_find(server, info[i].value.data.string);
        }
    }
    PMIX_INFO_FREE(info, ninfo);
    return entry != NULL && entry->published.head.kind == SX_MEMBERSHIP_GROUP ? entry : NULL;
}

void sx_group_event_relayed(struct sx_server *server, const struct sx_event_block *block)
{
    const pmix_status_t code = ((const struct sx_event *)(const void *)block->bytes)->code;
    struct sx_proc_list left = { .all = NULL };
    pmix_proc_t source;

    if (code != PMIX_GROUP_LEFT && code != PMIX_GROUP_MEMBER_FAILED) {
        return;
    }
    struct sx_membership_entry *const group = group_meant(server, block);

    sx_event_block_source(block, &source);
    const struct sx_nspace *const nspace = sx_nspace_find(server, source.nspace);
    const bool is_here = nspace != NULL && sx_client_find(nspace, source.rank) != NULL;

    /* Of those here this server has said it itself. */
    if (group != NULL && !is_here) {
        (void)sx_membership_leave(server, group, &source, &left);
        sx_proc_list_clear(&left);
    }
}

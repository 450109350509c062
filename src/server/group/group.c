/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group.c - groups as memberships of a kind of their own, and their context ids. */
#include "server/group/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/status.h"
#include "server/collective/collective.h"
#include "server/event/event.h"
#include "server/group/group_construct.h"
#include "server/group/invitation.h"
#include "server/model/event_log.h"
#include "server/model/nspace.h"
#include "server/port/port.h"

#define CONTEXT_ORIGIN_DIGITS \
    8 /* digits of the server's random origin: the id's upper half, without its sign */
#define CONTEXT_COUNT_BITS 32

uint64_t sx_group_context_id(struct sx_server *server)
{
    char digits[CONTEXT_ORIGIN_DIGITS + 1] = { 0 };

    memcpy(digits, server->relay_origin, CONTEXT_ORIGIN_DIGITS);
    const uint64_t origin = strtoull(digits, NULL, 16) & INT32_MAX;

    return (origin << CONTEXT_COUNT_BITS) + ++server->group.context_last;
}

pmix_status_t sx_group_make(struct sx_server *server, const struct sx_group_options *options,
                            struct sx_membership_entry **ret)
{
    struct sx_membership_options membership = {
        .name = options->name,
        .kind = SX_MEMBERSHIP_GROUP,
        .flags = (options->notify ? SX_MEMBERSHIP_NOTIFY : 0) |
                 (options->goes_on ? SX_MEMBERSHIP_GOES_ON : 0) |
                 (options->wants_context ? SX_MEMBERSHIP_CONTEXT : 0),
        .procs = options->procs,
        .proc_count = options->proc_count,
    };

    if (options->wants_context) {
        membership.context_id = options->context_id != 0 ? options->context_id
                                                         : sx_group_context_id(server);
    }
    return sx_memberships_add(server, &membership, ret);
}

void sx_group_end(struct sx_server *server, struct sx_membership_entry *group)
{
    sx_membership_end(server, group);
}

/* The oldest construct of the next space.  Return: NULL at the end. */
static struct sx_collective *space_next(const struct sx_server *server, const char *name,
                                        const struct sx_collective *oldest)
{
    const struct sx_op_signature meeting = { .kind = SX_COLLECTIVE_GROUP_CONSTRUCT, .id = name };

    return sx_op_signature_next(server, &meeting, sx_op_signature_hash(server, &meeting), oldest);
}

static bool has_called(const struct sx_collective *construct, uid_t uid)
{
    return construct->plan != NULL && sx_users_have(&construct->plan->users, uid);
}

struct sx_collective *sx_group_construct_next(const struct sx_server *server, const char *name,
                                              const struct sx_collective *open)
{
    struct sx_collective *oldest = NULL, *found = NULL;
    bool is_behind = open == NULL;

    while (found == NULL && (oldest = space_next(server, name, oldest)) != NULL) {
        struct sx_collective *const one = sx_collective_open_of(oldest);

        found = is_behind ? one : NULL;
        is_behind |= one != NULL && one == open;
    }
    return found;
}

struct sx_collective *sx_group_being_built(const struct sx_server *server, uid_t uid,
                                           const char *name)
{
    struct sx_collective *oldest = NULL, *open = NULL;

    while ((oldest = space_next(server, name, oldest)) != NULL) {
        open = sx_collective_open_of(oldest);
        if (open != NULL && has_called(open, uid)) {
            return open;
        }
    }
    return NULL;
}

uint64_t sx_group_construct_space(struct sx_server *server, uid_t uid, const char *name)
{
    struct sx_collective *oldest = NULL;
    bool is_first = true;

    while ((oldest = space_next(server, name, oldest)) != NULL) {
        if (has_called(oldest, uid) && sx_collective_open_of(oldest) == NULL) {
            return oldest->space; /* behind the one that the host has */
        }
        is_first = false;
    }
    return is_first ? 0 : ++server->group.space_last;
}

bool sx_group_event_name(const struct sx_event_block *block, char *ret)
{
    bool found = false;
    pmix_info_t *info;
    size_t ninfo;

    if (sx_event_block_infos(block, &info, &ninfo) != PMIX_SUCCESS) {
        return false;
    }
    for (size_t i = 0; i < ninfo && !found; i++) {
        found = strcmp(info[i].key, PMIX_GROUP_ID) == 0 && info[i].value.type == PMIX_STRING &&
                info[i].value.data.string != NULL &&
                strlen(info[i].value.data.string) <= PMIX_MAX_NSLEN;
        if (found) {
            memcpy(ret, info[i].value.data.string, strlen(info[i].value.data.string) + 1);
        }
    }
    PMIX_INFO_FREE(info, ninfo);
    return found;
}

pmix_status_t sx_group_name_judge(struct sx_server *server, uid_t uid, const char *name)
{
    const pmix_status_t rc = sx_claim_by_group(server, uid, name);

    if (rc == PMIX_SUCCESS && sx_invitation_find_of(server, uid, name) != NULL) {
        return SX_RAISE(PMIX_ERR_EXISTS, "somebody invites to a group %s already", name);
    }
    if (rc == PMIX_SUCCESS && sx_group_being_built(server, uid, name) != NULL) {
        return SX_RAISE(PMIX_ERR_EXISTS, "a group %s is being built already", name);
    }
    return rc;
}

void sx_group_name_claimed(struct sx_server *server, const char *name)
{
    struct sx_membership_entry *list;
    struct sx_collective *construct = NULL;

    while ((list = sx_memberships_named(server, name, NULL)) != NULL) {
        sx_log(SX_LOG_WARN,
               "the processes that have connected, or formed a group, as %s have so no more: the "
               "host registers a namespace of that name",
               name);
        sx_membership_end(server, list);
    }
    (void)sx_memberships_store_name_free(server, name);
    while ((construct = sx_group_construct_next(server, name, construct)) != NULL) {
        sx_collective_end_soon(construct, PMIX_ERR_EXISTS);
    }
}

/* ---- members that end ------------------------------------------------------------------------ */

/* Events to the other members when a member ends. */

uint8_t sx_group_pardons(const struct sx_membership_entry *group)
{
    return (group->published.head.flags & SX_MEMBERSHIP_GOES_ON) != 0
               ? SX_PARDON_BEFORE | SX_PARDON_AFTER
               : 0;
}

void sx_group_member_gone(struct sx_server *server, struct sx_membership_entry *group,
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
    sx_membership_each_of(server, client, SX_MEMBERSHIP_GROUP, sx_group_member_gone);
}

/* ---- members that leave ---------------------------------------------------------------------- */

/* Remove a member, and send an event to those who stay. */

#define PROCS_PER_UNIT 4u /* to copy the list and to send the event (share.h) */

/* Return: PMIX_SUCCESS when *ret is the group of which @client is a member. */
static pmix_status_t group_find(const struct sx_server *server, const struct sx_client *client,
                                const char *name, struct sx_membership_entry **ret)
{
    struct sx_membership_entry *const entry = sx_memberships_find_of(server, client->uid, name);

    if (entry == NULL || entry->published.head.kind != SX_MEMBERSHIP_GROUP) {
        return PMIX_ERR_NOT_FOUND;
    }
    *ret = entry;
    return sx_membership_has(entry, client) ? PMIX_SUCCESS : PMIX_ERR_NOT_A_MEMBER;
}

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

/* Several users may have groups of one name.  But no process is in two of them, so the member says
 * which one is meant.  Return: the group that @block is about; NULL: there is none. */
static struct sx_membership_entry *
group_meant(struct sx_server *server, const struct sx_event_block *block, const pmix_proc_t *member)
{
    char name[PMIX_MAX_NSLEN + 1];
    struct sx_membership_entry *const entry = sx_group_event_name(block, name)
                                                  ? sx_memberships_find_with(server, name, member)
                                                  : NULL;

    return entry != NULL && entry->published.head.kind == SX_MEMBERSHIP_GROUP ? entry : NULL;
}

static void member_elsewhere_gone(struct sx_server *server, struct sx_membership_entry *group,
                                  const pmix_proc_t *member, bool died)
{
    const uint8_t pardons = sx_group_pardons(group);
    struct sx_proc_list left = { .all = NULL };

    sx_collective_list_mark(server, group, died, pardons);
    if (sx_membership_leave(server, group, member, &left) == PMIX_SUCCESS) {
        sx_collective_member_elsewhere_gone(server, died, pardons);
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
    sx_event_block_source(block, &source);
    struct sx_membership_entry *const group = group_meant(server, block, &source);
    const struct sx_nspace *const nspace = sx_nspace_find(server, source.nspace);
    const bool is_here = nspace != NULL && sx_client_find(nspace, source.rank) != NULL;

    /* for members of this node, this server has sent the event */
    if (group != NULL && !is_here) {
        member_elsewhere_gone(server, group, &source, code == PMIX_GROUP_MEMBER_FAILED);
    }
}

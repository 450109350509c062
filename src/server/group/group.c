/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group.c - groups as memberships of a kind of their own, and their context ids. */
#include "server/group/group.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/status.h"
#include "server/collective/member_left.h"
#include "server/collective/op_signature.h"
#include "server/group/invitation.h"
#include "server/model/claim.h"
#include "server/model/event_block.h"

#define CONTEXT_ORIGIN_DIGITS \
    8 /* digits of the server's random origin: the id's upper half, without its sign */
#define CONTEXT_COUNT_BITS 32

uint64_t sx_group_context_id(struct sx_server *server)
{
    char digits[CONTEXT_ORIGIN_DIGITS + 1] = { 0 };

    memcpy(digits, server->relay_origin, CONTEXT_ORIGIN_DIGITS);
    const uint64_t origin = strtoull(digits, NULL, 16) & INT32_MAX;

    return (origin << CONTEXT_COUNT_BITS) + ++server->context_last;
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

static bool is_open(struct sx_generation *generation, void *arg)
{
    (void)arg;
    return !SX_CONTAINER(generation, struct sx_collective, generation)->is_over;
}

/* A construct that is over may stay while the host has it, and is then the oldest. */
struct sx_collective *sx_group_being_built(const struct sx_server *server, const char *name)
{
    const struct sx_op_signature meeting = { .kind = SX_COLLECTIVE_GROUP_CONSTRUCT, .id = name };
    struct sx_collective *const oldest = sx_op_signature_oldest(server, &meeting,
                                                                sx_op_signature_hash(server,
                                                                                     &meeting));
    struct sx_generation *const open = oldest != NULL
                                           ? sx_generation_first(&oldest->generation, is_open, NULL)
                                           : NULL;

    return open != NULL ? SX_CONTAINER(open, struct sx_collective, generation) : NULL;
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

pmix_status_t sx_group_name_judge(struct sx_server *server, const char *name)
{
    const pmix_status_t rc = sx_claim_by_group(server, name);

    if (rc == PMIX_SUCCESS && sx_invitation_find(server, name) != NULL) {
        return SX_RAISE(PMIX_ERR_EXISTS, "somebody invites to a group %s already", name);
    }
    if (rc == PMIX_SUCCESS && sx_group_being_built(server, name) != NULL) {
        return SX_RAISE(PMIX_ERR_EXISTS, "a group %s is being built already", name);
    }
    return rc;
}

void sx_group_name_claimed(struct sx_server *server, const char *name)
{
    struct sx_membership_entry *const list = sx_memberships_find(server, name);
    struct sx_collective *const construct = sx_group_being_built(server, name);

    if (list != NULL) {
        sx_log(SX_LOG_WARN,
               "the processes that have connected, or formed a group, as %s have so no more: the "
               "host registers a namespace of that name",
               name);
        sx_membership_end(server, list);
    }
    if (construct != NULL) {
        sx_collective_end_soon(construct, PMIX_ERR_EXISTS);
    }
}

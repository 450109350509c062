/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_construct_leader.c - members as builders of a group, and the events that a verdict
 * causes. */
#include "server/group/group_construct_leader.h"

#include <stdio.h>

#include "base/status.h"
#include "server/collective/arrival.h"
#include "server/collective/collective_kind.h"
#include "server/event/event.h"
#include "server/group/group_plan.h"

static void *member_next(void *owner, void *at, struct sx_group_builder *ret)
{
    const struct sx_members *const members = &((struct sx_collective *)owner)->members;
    struct sx_member *const member = at == NULL ? members->all : (struct sx_member *)at + 1;

    if (member == members->all + members->count) {
        return NULL;
    }
    *ret = (struct sx_group_builder){ .client = member->client,
                                      .has_called = member->arrived,
                                      .hears = member->hears };
    return member;
}

/* The host may end the job inside an event, so events are sent last. */
static void act(void *owner, const struct sx_group_verdict *verdict)
{
    struct sx_collective *const collective = owner;
    struct sx_server *const server = collective->members.server;
    char name[PMIX_MAX_NSLEN + 1];
    struct sx_proc_list to = { .all = NULL };

    snprintf(name, sizeof(name), "%s", collective->id);
    sx_group_lead_hearers(&collective->plan->lead, PMIX_GROUP_MEMBERSHIP_UPDATE, verdict->lost,
                          &to);
    if (verdict->is_over) {
        collective->engine->stop(collective, verdict->status);
    } else {
        collective->engine->go_on(collective, verdict->lost);
    }
    if (verdict->is_choice) {
        sx_group_lead_selected(server, name, verdict, &to);
    }
    if (verdict->lost != NULL) {
        const struct sx_event_note update[] = {
            { .key = PMIX_GROUP_ID, .text = name },
            { .key = PMIX_GROUP_MEMBERSHIP, .procs = to.all, .count = to.count },
        };

        sx_event_of_proc(server, PMIX_GROUP_MEMBERSHIP_UPDATE, &verdict->proc, &to, update,
                         SX_COUNT(update));
    }
    sx_proc_list_clear(&to);
}

static const struct sx_group_building building = { .next = member_next, .decide = act };

pmix_status_t sx_group_construct_join(struct sx_collective *collective, struct sx_client *client,
                                      const struct sx_arrival *arrival)
{
    struct sx_group_lead *const lead = &collective->plan->lead;

    if (lead->building == NULL) {
        sx_group_lead_init(lead, &building, collective, collective->members.server, collective->id);
    }
    if ((arrival->options.group & SX_GROUP_LEADER) != 0) {
        if (sx_members_find(&collective->members, lead->leader) != NULL) {
            return SX_RAISE(PMIX_ERR_EXISTS, "%s.%u leads the group %s already",
                            lead->leader->nspace->name, lead->leader->rank, collective->id);
        }
        lead->leader = client;
    }
    sx_members_find(&collective->members, client)->hears = arrival->hears;
    return PMIX_SUCCESS;
}

pmix_status_t sx_group_construct_lost(struct sx_collective *collective, struct sx_member *member,
                                      pmix_status_t end)
{
    struct sx_group_lead *const lead = &collective->plan->lead;

    if (collective->with_host) { /* all have called, and the host has received all of them */
        return end;
    }
    if (lead->leader == NULL && (collective->group & SX_GROUP_NOTIFY) == 0 && lead->count == 0) {
        return end;
    }
    const pmix_status_t rc = sx_group_lead_lose(lead, member->client, end);

    if (rc == PMIX_SUCCESS) {
        sx_members_withdraw(&collective->members, member);
    }
    return rc;
}

void sx_group_construct_hear(struct sx_collective *collective, struct sx_client *client,
                             const struct sx_group_said *said)
{
    const struct sx_group_verdict verdict = sx_group_lead_hear(&collective->plan->lead, client,
                                                               said);

    if (verdict.is_over || verdict.lost != NULL) {
        act(collective, &verdict);
    }
}

void sx_group_construct_missed(struct sx_server *server, struct sx_client *client, uint64_t first,
                               uint64_t next)
{
    SX_LIST_EACH(it, &server->collectives) {
        struct sx_collective *const collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (collective->plan != NULL) {
            sx_group_lead_missed(&collective->plan->lead, client, first, next);
        }
    }
}

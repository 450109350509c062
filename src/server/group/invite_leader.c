/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite_leader.c - guests as builders of a group, and the effects of their verdict. */
#include "server/group/invite_leader.h"

#include <stdlib.h>

#include <pmix.h>

#include "server/group/invitation.h"
#include "server/group/invite_end.h"
#include "server/group/leader_failover.h"

/* Builders are the guests that have accepted, and those that may still do so. */
static void *guest_next(void *owner, void *at, struct sx_group_builder *ret)
{
    struct sx_list *const guests = &((struct sx_invitation *)owner)->guests;
    struct sx_list *link = at != NULL ? at : guests;

    while ((link = link->next) != guests) {
        const struct sx_guest *const guest = SX_LIST_ENTRY(link, struct sx_guest, link);
        const bool has_accepted = guest->state == SX_GUEST_ACCEPTED;

        if (guest->client->nspace != NULL && (has_accepted || guest->state == SX_GUEST_ASKED)) {
            *ret = (struct sx_group_builder){ .client = guest->client,
                                              .has_called = has_accepted,
                                              .hears = guest->hears };
            return link;
        }
    }
    return NULL;
}

/* Send the new inviter the questions that the old one has not answered. */
static void ask_again(struct sx_server *server, struct sx_invitation *invitation)
{
    struct sx_list open = SX_LIST_INIT(open);
    struct sx_list *node;

    while ((node = sx_list_pop(&invitation->asked)) != NULL) {
        sx_list_append(&open, node);
    }
    while ((node = sx_list_pop(&open)) != NULL) {
        sx_invite_ask(server, SX_LIST_ENTRY(node, struct sx_guest, asked));
    }
}

static void follow(struct sx_server *server, struct sx_invitation *invitation,
                   struct sx_client *leader)
{
    struct sx_guest *const guest = sx_invitation_guest(server, invitation, leader);

    sx_guest_settle(guest);
    sx_invite_lead_end(invitation);
    invitation->hears = guest->hears;
    if (!sx_invitation_lead(invitation, leader)) {
        sx_invite_end(server, invitation, PMIX_ERR_OUT_OF_RESOURCE);
        return;
    }
    ask_again(server, invitation);
    sx_invite_judge(server, invitation);
}

static void act(void *owner, const struct sx_group_verdict *verdict)
{
    struct sx_invitation *const invitation = owner;
    const struct sx_group_lead *const lead = invitation->lead;
    struct sx_server *const server = lead->server;
    struct sx_proc_list to = { .all = NULL };

    sx_group_lead_hearers(lead, PMIX_GROUP_LEADER_SELECTED, verdict->lost, &to);
    if (verdict->is_choice) {
        sx_group_lead_selected(server, invitation->name, verdict, &to);
    }
    if (verdict->is_over) {
        sx_invite_end(server, invitation, verdict->status);
    } else {
        follow(server, invitation, lead->leader);
    }
    sx_proc_list_clear(&to);
}

void sx_invite_lead_seek(struct sx_server *server, struct sx_invitation *invitation)
{
    static const struct sx_group_building building = { .next = guest_next, .decide = act };
    struct sx_group_lead *const lead = calloc(1, sizeof(*lead));

    if (lead != NULL) {
        sx_group_lead_init(lead, &building, invitation, server, invitation->name);
        lead->leader = invitation->inviter;
        if (sx_group_lead_lose(lead, invitation->inviter, PMIX_GROUP_LEADER_FAILED) ==
            PMIX_SUCCESS) {
            invitation->lead = lead;
            return;
        }
        sx_group_lead_clear(lead);
        free(lead);
    }
    sx_invite_end(server, invitation, PMIX_GROUP_LEADER_FAILED);
}

void sx_invite_lead_forget(struct sx_invitation *invitation, const struct sx_client *client)
{
    if (invitation->lead != NULL) {
        sx_group_lead_forget(invitation->lead, client);
    }
}

void sx_invite_lead_hear(struct sx_invitation *invitation, struct sx_client *client,
                         const struct sx_group_said *said)
{
    struct sx_server *const server = invitation->lead->server;
    const struct sx_guest *const guest = sx_invitation_guest(server, invitation, client);

    if (guest == NULL || guest->state != SX_GUEST_ACCEPTED) {
        return; /* a guest that has not accepted has no vote */
    }
    const struct sx_group_verdict verdict = sx_group_lead_hear(invitation->lead, client, said);

    if (verdict.is_over || verdict.lost != NULL) {
        act(invitation, &verdict);
    }
}

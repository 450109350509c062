/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invitation.c - a list of guests, found by name, by client, and by both. */
#include "server/group/invitation.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <pmix.h>

#include "base/status.h"

static uint64_t name_hash(const struct sx_server *server, const char *name)
{
    return XXH3_64bits_withSeed(name, strlen(name), server->seed);
}

static uint64_t guest_hash(const struct sx_server *server, const struct sx_invitation *invitation,
                           const struct sx_client *client)
{
    const uint64_t words[2] = { (uint64_t)(uintptr_t)invitation, (uint64_t)(uintptr_t)client };

    return XXH3_64bits_withSeed(words, sizeof(words), server->seed);
}

/* ---- invitations ----------------------------------------------------------------------------- */

struct sx_invitation *sx_invitation_new(struct sx_server *server, const char *name,
                                        struct sx_client *inviter)
{
    struct sx_invitation *const invitation = calloc(1, sizeof(*invitation));

    if (invitation == NULL ||
        !sx_proc_list_add(&invitation->leaders, inviter->nspace->name, inviter->rank) ||
        !sx_table_add(&server->invitations, &invitation->node, name_hash(server, name))) {
        if (invitation != NULL) {
            sx_proc_list_clear(&invitation->leaders);
        }
        free(invitation);
        return NULL;
    }
    sx_list_init(&invitation->guests);
    sx_list_init(&invitation->calls);
    sx_list_init(&invitation->asked);
    invitation->inviter = sx_client_retain(inviter);
    memcpy(invitation->name, name, strlen(name) + 1);
    return invitation;
}

bool sx_invitation_lead(struct sx_invitation *invitation, struct sx_client *client)
{
    struct sx_client *const old = invitation->inviter;

    invitation->inviter = sx_client_retain(client);
    sx_client_release(old);
    return sx_proc_list_add(&invitation->leaders, client->nspace->name, client->rank);
}

void sx_invitation_close(struct sx_server *server, struct sx_invitation *invitation)
{
    sx_table_remove(&server->invitations, &invitation->node);
    SX_LIST_EACH(it, &invitation->guests) {
        struct sx_guest *const guest = SX_LIST_ENTRY(it, struct sx_guest, link);

        sx_table_remove(&server->guests, &guest->node);
        sx_list_remove(&guest->of_client);
    }
}

static void gifts_clear(struct sx_guest *guest)
{
    if (guest->gifts != NULL) {
        PMIX_INFO_FREE(guest->gifts, guest->gift_count);
    }
}

void sx_invitation_free(struct sx_invitation *invitation)
{
    struct sx_list *node;

    sx_assert(sx_list_empty(&invitation->calls) && invitation->lead == NULL);
    while ((node = sx_list_pop(&invitation->guests)) != NULL) {
        struct sx_guest *const guest = SX_LIST_ENTRY(node, struct sx_guest, link);

        sx_client_release(guest->client);
        gifts_clear(guest);
        free(guest);
    }
    sx_client_release(invitation->inviter);
    sx_proc_list_clear(&invitation->leaders);
    free(invitation);
}

struct sx_invitation *sx_invitation_find(const struct sx_server *server, const char *name)
{
    struct sx_table_node *node = sx_table_first(&server->invitations, name_hash(server, name));

    while (node != NULL &&
           strcmp(SX_CONTAINER(node, struct sx_invitation, node)->name, name) != 0) {
        node = sx_table_next(&server->invitations, node);
    }
    return node == NULL ? NULL : SX_CONTAINER(node, struct sx_invitation, node);
}

/* ---- guests ---------------------------------------------------------------------------------- */

struct sx_guest *sx_invitation_guest(const struct sx_server *server,
                                     const struct sx_invitation *invitation,
                                     const struct sx_client *client)
{
    struct sx_table_node *node = sx_table_first(&server->guests,
                                                guest_hash(server, invitation, client));

    for (; node != NULL; node = sx_table_next(&server->guests, node)) {
        struct sx_guest *const guest = SX_CONTAINER(node, struct sx_guest, node);

        if (guest->invitation == invitation && guest->client == client) {
            return guest;
        }
    }
    return NULL;
}

static void guest_become(struct sx_guest *guest, enum sx_guest_state state)
{
    guest->invitation->counts[guest->state]--;
    guest->invitation->counts[state]++;
    guest->state = state;
}

static bool guest_add(struct sx_server *server, struct sx_invitation *invitation,
                      struct sx_client *client)
{
    struct sx_guest *const guest = calloc(1, sizeof(*guest));

    if (guest == NULL ||
        !sx_table_add(&server->guests, &guest->node, guest_hash(server, invitation, client))) {
        free(guest);
        return false;
    }
    sx_list_init(&guest->asked);
    guest->invitation = invitation;
    guest->client = sx_client_retain(client);
    guest->state = client == invitation->inviter ? SX_GUEST_ACCEPTED : SX_GUEST_ASKED;
    guest->is_new = client != invitation->inviter;
    invitation->counts[guest->state]++;
    sx_list_append(&invitation->guests, &guest->link);
    sx_list_append(&client->guests, &guest->of_client);
    return true;
}

bool sx_invitation_ask(struct sx_server *server, struct sx_invitation *invitation,
                       struct sx_client *client)
{
    struct sx_guest *const guest = sx_invitation_guest(server, invitation, client);

    if (guest == NULL) {
        return guest_add(server, invitation, client);
    }
    if (guest->state == SX_GUEST_DECLINED || guest->state == SX_GUEST_LOST) {
        guest_become(guest, SX_GUEST_ASKED);
        guest->is_new = true;
        sx_list_remove(&guest->of_client);
        sx_list_append(&client->guests, &guest->of_client);
    }
    return true;
}

void sx_guest_answer(struct sx_guest *guest, bool accepts)
{
    sx_assert(guest->state == SX_GUEST_ASKED);
    guest_become(guest, accepts ? SX_GUEST_ACCEPTED : SX_GUEST_DECLINED);
}

bool sx_guest_lose(struct sx_guest *guest)
{
    const bool matters = guest->state == SX_GUEST_ASKED || guest->state == SX_GUEST_ACCEPTED;

    sx_list_remove(&guest->of_client);
    if (matters) {
        gifts_clear(guest);
        guest_become(guest, SX_GUEST_LOST);
    }
    return matters;
}

void sx_guest_settle(struct sx_guest *guest)
{
    guest->invitation->awaited -= guest->is_awaited;
    guest->is_awaited = false;
    sx_list_remove(&guest->asked);
}

void sx_guest_ask(struct sx_guest *guest, uint64_t question, bool awaited)
{
    sx_guest_settle(guest);
    guest->question = question;
    guest->is_awaited = awaited;
    guest->invitation->awaited += awaited;
    sx_list_append(&guest->invitation->asked, &guest->asked);
}

struct sx_guest *sx_invitation_asked(const struct sx_invitation *invitation, uint64_t question,
                                     size_t *ret_looks)
{
    *ret_looks = 0;
    SX_LIST_EACH(it, &invitation->asked) {
        struct sx_guest *const guest = SX_LIST_ENTRY(it, struct sx_guest, asked);

        ++*ret_looks;
        if (guest->question == question) {
            return guest;
        }
    }
    return NULL;
}

pmix_status_t sx_invitation_verdict(const struct sx_invitation *invitation)
{
    const size_t *const counts = invitation->counts;

    if (counts[SX_GUEST_ASKED] > 0 || invitation->awaited > 0) {
        return PMIX_ERR_WOULD_BLOCK;
    }
    if (counts[SX_GUEST_ACCEPTED] > 1) {
        return PMIX_SUCCESS;
    }
    return counts[SX_GUEST_DECLINED] > 0 ? PMIX_GROUP_INVITE_DECLINED : PMIX_GROUP_INVITE_FAILED;
}

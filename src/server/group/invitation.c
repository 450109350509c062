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
#include "base/value/value.h"
#include "server/group/group_construct.h"
#include "server/model/membership.h"

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

    if (invitation == NULL || !sx_users_add(&invitation->users, inviter->uid) ||
        !sx_proc_list_add(&invitation->leaders, inviter->nspace->name, inviter->rank) ||
        !sx_table_add(&server->group.invitations, &invitation->node, name_hash(server, name))) {
        if (invitation != NULL) {
            sx_proc_list_clear(&invitation->leaders);
            sx_users_clear(&invitation->users);
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
    sx_table_remove(&server->group.invitations, &invitation->node);
    SX_LIST_EACH(it, &invitation->guests) {
        struct sx_guest *const guest = SX_LIST_ENTRY(it, struct sx_guest, link);

        sx_table_remove(&server->group.guests, &guest->node);
        sx_guest_unlink(guest);
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

        sx_list_remove(&guest->asked);
        sx_client_release(guest->client);
        gifts_clear(guest);
        free(guest);
    }
    sx_client_release(invitation->inviter);
    sx_proc_list_clear(&invitation->leaders);
    sx_users_clear(&invitation->users);
    free(invitation);
}

struct sx_invitation *sx_invitation_next(const struct sx_server *server, const char *name,
                                         const struct sx_invitation *invitation)
{
    const struct sx_table *const all = &server->group.invitations;
    struct sx_table_node *node = invitation == NULL ? sx_table_first(all, name_hash(server, name))
                                                    : sx_table_next(all, &invitation->node);

    while (node != NULL &&
           strcmp(SX_CONTAINER(node, struct sx_invitation, node)->name, name) != 0) {
        node = sx_table_next(all, node);
    }
    return node == NULL ? NULL : SX_CONTAINER(node, struct sx_invitation, node);
}

struct sx_invitation *sx_invitation_find_of(const struct sx_server *server, uid_t uid,
                                            const char *name)
{
    struct sx_invitation *invitation = NULL;

    while ((invitation = sx_invitation_next(server, name, invitation)) != NULL &&
           !sx_users_have(&invitation->users, uid)) {
    }
    return invitation;
}

/* ---- guests ---------------------------------------------------------------------------------- */

struct sx_guest *sx_invitation_guest(const struct sx_server *server,
                                     const struct sx_invitation *invitation,
                                     const struct sx_client *client)
{
    struct sx_table_node *node = sx_table_first(&server->group.guests,
                                                guest_hash(server, invitation, client));

    for (; node != NULL; node = sx_table_next(&server->group.guests, node)) {
        struct sx_guest *const guest = SX_CONTAINER(node, struct sx_guest, node);

        if (guest->invitation == invitation && guest->client == client) {
            (void)sx_guest_look(guest);
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

/* @guest is one of the process that lives. */
static void guest_link(struct sx_guest *guest)
{
    struct sx_client *const client = guest->client;

    sx_guest_unlink(guest);
    guest->process = client->guest_process;
    client->guest_count++;
    sx_list_append(&client->guests, &guest->of_client);
}

static bool guest_add(struct sx_server *server, struct sx_invitation *invitation,
                      struct sx_client *client)
{
    struct sx_guest *const guest = calloc(1, sizeof(*guest));

    if (guest == NULL || !sx_table_add(&server->group.guests, &guest->node,
                                       guest_hash(server, invitation, client))) {
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
    sx_list_init(&guest->of_client);
    guest_link(guest);
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
        guest_link(guest);
    }
    return true;
}

void sx_guest_answer(struct sx_guest *guest, bool accepts)
{
    sx_assert(guest->state == SX_GUEST_ASKED);
    guest_become(guest, accepts ? SX_GUEST_ACCEPTED : SX_GUEST_DECLINED);
}

void sx_guest_unlink(struct sx_guest *guest)
{
    struct sx_client *const client = guest->client;

    if (!sx_list_empty(&guest->of_client)) {
        *(guest->process == client->guest_process ? &client->guest_count
                                                  : &client->guests_lost) -= 1;
        sx_list_remove(&guest->of_client);
    }
    guest->is_lost = false;
}

bool sx_guest_lose(struct sx_guest *guest)
{
    const bool matters = guest->state == SX_GUEST_ASKED || guest->state == SX_GUEST_ACCEPTED;

    sx_guest_unlink(guest);
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

void sx_guest_ask_later(struct sx_guest *guest)
{
    sx_guest_settle(guest);
    guest->is_awaited = true;
    guest->invitation->awaited++;
}

void sx_guests_end(struct sx_server *server, struct sx_client *client)
{
    client->guests_lost += client->guest_count;
    client->guest_count = 0;
    client->guest_process++;
    sx_list_splice(&server->group.lost, &client->guests);
}

bool sx_guest_look(struct sx_guest *guest)
{
    struct sx_list *const next = guest->of_client.next;

    if (guest->process == guest->client->guest_process || guest->is_lost ||
        sx_list_empty(&guest->of_client)) {
        return false;
    }
    guest->is_lost = sx_guest_lose(guest) || guest->invitation->inviter == guest->client;
    if (guest->is_lost) {
        sx_guest_ask_later(guest);
        guest->client->guests_lost++;
        sx_list_append(next, &guest->of_client); /* where it was */
    }
    return guest->is_lost;
}

bool sx_invitation_look(struct sx_invitation *invitation)
{
    bool is_news = false;

    SX_LIST_EACH(it, &invitation->guests) {
        is_news |= sx_guest_look(SX_LIST_ENTRY(it, struct sx_guest, link));
    }
    return is_news;
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

/* ---- requests -------------------------------------------------------------------------------- */

/* Read an invitation or its answer, and check that all processes it names are
 * here. */

#define GUESTS_PER_UNIT 2u /* to find, to store, to send to them (share.h) */

/* ---- gifts ----------------------------------------------------------------------------------- */

pmix_status_t sx_invite_gifts_read(struct sx_invite_gifts *ret, const struct sx_opened *body,
                                   unsigned index, enum sx_function function)
{
    *ret = (struct sx_invite_gifts){ .ninfo = 0 };
    const pmix_status_t rc = sx_body_infos(body, index, &ret->info, &ret->ninfo);

    ret->bytes = body->parts[index].size + ret->ninfo * sizeof(*ret->info);
    return rc == PMIX_SUCCESS ? sx_options_read(function, ret->info, ret->ninfo, &ret->options)
                              : rc;
}

bool sx_invite_gifts_take(struct sx_guest *guest, const struct sx_invite_gifts *gifts)
{
    return sx_group_gift_take(&gifts->options, &guest->gifts, &guest->gift_count) == PMIX_SUCCESS;
}

void sx_invite_gifts_clear(struct sx_invite_gifts *gifts)
{
    if (gifts->info != NULL) {
        PMIX_INFO_FREE(gifts->info, gifts->ninfo);
    }
}

/* ---- processes that an invitation names ------------------------------------------------------ */

static pmix_status_t judge_one(struct sx_server *server, const pmix_proc_t *proc)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, proc->nspace);
    const bool is_here = nspace != NULL && sx_client_find(nspace, proc->rank) != NULL;

    if (is_here) {
        return PMIX_SUCCESS;
    }
    if (nspace == NULL || proc->rank >= nspace->job_size) {
        return SX_RAISE(PMIX_ERR_NOT_FOUND, "%s.%u cannot be invited: there is no such process",
                        proc->nspace, proc->rank);
    }
    if (sx_client_may_come(nspace, proc->rank)) {
        return PMIX_ERR_WOULD_BLOCK;
    }
    return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                    "%s.%u cannot be invited: it is on another node; PMIx_Group_construct leads "
                    "there",
                    proc->nspace, proc->rank);
}

struct adding {
    struct sx_server *server;
    struct sx_proc_list *procs;
};

static pmix_status_t add(void *arg, const pmix_proc_t *proc)
{
    const struct adding *const adding = arg;
    const pmix_status_t rc = judge_one(adding->server, proc);

    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_WOULD_BLOCK) {
        return rc;
    }
    if (adding->procs->count == SX_PROCS_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "one call invites at most %u processes: invite the others in another one",
                        SX_PROCS_MAX);
    }
    return sx_proc_list_add(adding->procs, proc->nspace, proc->rank) ? PMIX_SUCCESS
                                                                     : PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t procs_judge(const struct sx_invite_named *named,
                                 const struct sx_client *client)
{
    const pmix_proc_t self = sx_nspace_proc(client->nspace, client->rank);

    for (size_t i = 0; i < named->procs.count; i++) {
        if (sx_proc_order(&named->procs.all[i], &self) != 0) {
            return PMIX_SUCCESS;
        }
    }
    return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s.%u invites nobody else to the group %s", self.nspace,
                    self.rank, named->head.group);
}

pmix_status_t sx_invite_named_read(struct sx_invite_named *ret, struct sx_server *server,
                                   struct sx_client *client, const struct sx_opened *body)
{
    const struct sx_opened_part *const part = &body->parts[SX_INVITE_PROCS];
    pmix_proc_t *procs = NULL;

    *ret = (struct sx_invite_named){ .registered = 0 };
    memcpy(&ret->head, body->head, sizeof(ret->head));
    struct adding adding = { .server = server, .procs = &ret->procs };
    pmix_status_t rc = sx_part_procs(part, &procs);

    for (size_t i = 0; i < part->count && rc == PMIX_SUCCESS; i++) {
        rc = sx_alias_each_one(server, client->uid, &procs[i], add, &adding);
    }
    free(procs);
    sx_share_charge(server, client, ret->procs.count / GUESTS_PER_UNIT);
    if (rc == PMIX_SUCCESS) {
        rc = sx_invite_gifts_read(&ret->gifts, body, SX_INVITE_INFOS, SX_OF_GROUP_INVITE);
    }
    return rc == PMIX_SUCCESS ? procs_judge(ret, client) : rc;
}

pmix_status_t sx_invite_named_judge(struct sx_invite_named *named, struct sx_server *server)
{
    pmix_status_t rc = PMIX_SUCCESS;

    while (named->registered < named->procs.count && rc == PMIX_SUCCESS) {
        rc = judge_one(server, &named->procs.all[named->registered]);
        named->registered += rc == PMIX_SUCCESS;
    }
    return rc;
}

void sx_invite_named_clear(struct sx_invite_named *named)
{
    sx_proc_list_clear(&named->procs);
    sx_invite_gifts_clear(&named->gifts);
}

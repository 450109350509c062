/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite.c - answers of guests and inviters, the events that they cause, and their effect. */
#include "server/group/group.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/value/value.h"
#include "server/group/invitation.h"
#include "server/group/leader_failover.h"
#include "server/model/membership.h"
#include "server/model/proc_list.h"
#include "server/port/port.h"

#define LOOKS_PER_UNIT 200u

static bool is_gone(const struct sx_client *client)
{
    return client->nspace == NULL || client->state == SX_CLIENT_DEAD || client->left ||
           client->departed;
}

/* ---- guests that are lost -------------------------------------------------------------------- */

#define LOSSES_STEP 1000u /* guests that are lost, in one turn */

/* Its loss is acted on now, and the inviter asked; the verdict is the caller's. */
static void loss_ask(struct sx_server *server, struct sx_guest *guest)
{
    sx_guest_unlink(guest);
    sx_guest_settle(guest);
    if (guest->invitation->inviter != guest->client) {
        sx_invite_lead_forget(guest->invitation, guest->client);
        sx_invite_ask(server, guest);
    }
}

/* @guest is in server.lost, and leaves it.  The invitation may be gone afterwards. */
static void loss_act(struct sx_server *server, struct sx_guest *guest)
{
    struct sx_invitation *const invitation = guest->invitation;

    (void)sx_guest_look(guest);
    if (!guest->is_lost) {
        return;
    }
    loss_ask(server, guest);
    if (invitation->inviter == guest->client) {
        sx_invite_lead_seek(server, invitation);
    } else {
        sx_invite_judge(server, invitation);
    }
}

bool sx_invite_losses_act(struct sx_server *server, size_t *left)
{
    struct sx_list *const lost = &server->group.lost;

    for (; *left > 0 && !sx_list_empty(lost); --*left) {
        loss_act(server, SX_LIST_ENTRY(lost->next, struct sx_guest, of_client));
    }
    return sx_list_empty(lost);
}

/* ---- questions that are lost ----------------------------------------------------------------- */

#define ASKS_STEP 256u /* questions that are asked again, in one turn */

bool sx_invite_asks_again(struct sx_server *server, size_t *left)
{
    struct sx_list *const missed = &server->group.missed;

    for (; *left > 0 && !sx_list_empty(missed); --*left) {
        struct sx_guest *const guest = SX_LIST_ENTRY(missed->next, struct sx_guest, asked);

        sx_list_remove(&guest->asked);
        sx_invite_ask(server, guest);
        sx_invite_judge(server, guest->invitation);
    }
    return sx_list_empty(missed);
}

void sx_invites_init(struct sx_server *server)
{
    sx_list_init(&server->group.missed);
    sx_steps_init(&server->group.asks, server, sx_invite_asks_again, ASKS_STEP);
    sx_list_init(&server->group.lost);
    sx_steps_init(&server->group.losses, server, sx_invite_losses_act, LOSSES_STEP);
}

/* ---- invite ---------------------------------------------------------------------------------- */

/* The inviter is first, unless it has listed itself at another place. */
static bool names(const struct sx_invite_named *named, const struct sx_client *client)
{
    const pmix_proc_t self = sx_nspace_proc(client->nspace, client->rank);
    size_t i = 0;

    while (i < named->procs.count && sx_proc_order(&named->procs.all[i], &self) != 0) {
        i++;
    }
    return i < named->procs.count;
}

/* Return: false when memory is out. */
static bool guests_ask(struct sx_server *server, struct sx_invitation *invitation,
                       const struct sx_invite_named *named)
{
    bool ok = names(named, invitation->inviter) ||
              sx_invitation_ask(server, invitation, invitation->inviter);

    for (size_t i = 0; i < named->procs.count && ok; i++) {
        const pmix_proc_t *const proc = &named->procs.all[i];
        struct sx_client *const client = sx_client_find(sx_nspace_find(server, proc->nspace),
                                                        proc->rank);
        struct sx_guest *const guest = sx_invitation_guest(server, invitation, client);

        if (guest != NULL && guest->is_lost) {
            loss_ask(server, guest); /* of the process before */
        }
        ok = sx_invitation_ask(server, invitation, client);
    }
    return ok;
}

/* Some of the new guests may have ended before they were invited. */
static void guests_look(struct sx_server *server, struct sx_invitation *invitation)
{
    SX_LIST_EACH(it, &invitation->guests) {
        struct sx_guest *const guest = SX_LIST_ENTRY(it, struct sx_guest, link);

        if (guest->is_new && is_gone(guest->client) && sx_guest_lose(guest)) {
            sx_invite_ask(server, guest);
        }
    }
}

/* Find the open invitation of @client's user to @name, or make one.  Return: PMIX_ERR_EXISTS,
 * logged, when it is another process's; as sx_group_name_judge. */
static pmix_status_t obtain(struct sx_server *server, struct sx_client *client, const char *name,
                            struct sx_invitation **ret)
{
    struct sx_invitation *invitation = sx_invitation_find_of(server, client->uid, name);
    pmix_status_t rc = PMIX_SUCCESS;

    if (invitation != NULL && invitation->inviter == client) {
        struct sx_guest *const self = sx_invitation_guest(server, invitation, client);

        if (self != NULL && self->is_lost) { /* the process before has invited */
            loss_act(server, self);
            invitation = sx_invitation_find_of(server, client->uid, name);
        }
    }
    if (invitation == NULL || invitation->inviter != client || invitation->lead != NULL) {
        rc = sx_group_name_judge(server, client->uid, name);
    }
    if (rc == PMIX_SUCCESS && invitation == NULL) {
        invitation = sx_invitation_new(server, name, client);
    }
    *ret = invitation;
    return rc == PMIX_SUCCESS && invitation == NULL ? PMIX_ERR_OUT_OF_RESOURCE : rc;
}

/* If the inviter can answer no question, do not wait for its answers. */
static void receives(struct sx_invitation *invitation, uint8_t what)
{
    invitation->receives = what;
    if (what != 0) {
        return;
    }
    SX_LIST_EACH(it, &invitation->asked) {
        sx_guest_settle(SX_LIST_ENTRY(it, struct sx_guest, asked));
    }
}

static void invite(struct sx_server *server, struct sx_invitation *invitation,
                   const struct sx_invite_named *named)
{
    if (!guests_ask(server, invitation, named) ||
        !sx_invite_gifts_take(sx_invitation_guest(server, invitation, invitation->inviter),
                              &named->gifts)) {
        sx_invite_end(server, invitation, PMIX_ERR_OUT_OF_RESOURCE);
        return;
    }
    guests_look(server, invitation);
    sx_invite_notify(server, invitation);
    sx_invite_judge(server, invitation);
}

/* Begin @call; the host has registered all processes that it names. */
static void call_begin(struct sx_server *server, struct sx_invite_call *call)
{
    struct sx_invite_named named = call->named;
    struct sx_invitation *invitation;

    call->named = (struct sx_invite_named){ .registered = 0 };
    const pmix_status_t rc = obtain(server, call->pending.client, named.head.group, &invitation);

    if (rc == PMIX_SUCCESS) {
        invitation->group |= (uint8_t)named.head.flags;
        receives(invitation, (uint8_t)named.head.receives);
        sx_invite_call_join(call, invitation);
        invite(server, invitation, &named);
    } else {
        sx_pending_answer(&call->pending, rc);
    }
    sx_invite_named_clear(&named);
}

/* Begin @call now, or once the host has registered more processes. */
static void call_look(struct sx_server *server, struct sx_invite_call *call)
{
    const pmix_status_t rc = sx_invite_named_judge(&call->named, server);

    if (rc == PMIX_SUCCESS) {
        call_begin(server, call);
    } else if (rc == PMIX_ERR_WOULD_BLOCK) {
        sx_list_append(&server->group.invite_early, &call->link);
    } else {
        sx_pending_answer(&call->pending, rc);
    }
}

bool sx_invite_on_invite(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                         uint64_t now_ns)
{
    struct sx_invite_named named;
    struct sx_invite_call *call;
    pmix_status_t rc = sx_invite_named_read(&named, server, client, &frame->opened);
    const bool is_breach = rc == PMIX_ERR_UNPACK_FAILURE;

    if (rc == PMIX_SUCCESS) {
        rc = sx_invite_call_begin(server, client, frame->header.id,
                                  sizeof(struct sx_invitation) +
                                      named.procs.count * sizeof(struct sx_guest) +
                                      named.gifts.bytes,
                                  &call);
    }
    if (rc == PMIX_SUCCESS) {
        call->named = named;
        sx_invite_call_limit(call, named.head.timeout_ns, now_ns);
        call_look(server, call);
        return true;
    }
    if (!is_breach) {
        sx_reply(server, client, frame->header.id, rc, -1);
    }
    sx_invite_named_clear(&named);
    return !is_breach;
}

void sx_invite_client_added(struct sx_server *server, struct sx_client *client)
{
    struct sx_list ready;
    struct sx_list *node;

    (void)client;
    sx_list_init(&ready);
    SX_LIST_EACH(it, &server->group.invite_early) {
        struct sx_invite_call *const call = SX_LIST_ENTRY(it, struct sx_invite_call, link);

        if (sx_invite_named_judge(&call->named, server) != PMIX_ERR_WOULD_BLOCK) {
            sx_list_remove(it);
            sx_list_append(&ready, it);
        }
    }
    while ((node = sx_list_pop(&ready)) != NULL) {
        struct sx_invite_call *const call = SX_LIST_ENTRY(node, struct sx_invite_call, link);

        call->named.registered = 0; /* the host may have removed some meanwhile */
        call_look(server, call);
    }
}

void sx_invite_name_claimed(struct sx_server *server, const char *name)
{
    struct sx_invitation *invitation;

    while ((invitation = sx_invitation_next(server, name, NULL)) != NULL) {
        sx_invite_end(server, invitation, PMIX_ERR_EXISTS);
    }
}

/* ---- join ------------------------------------------------------------------------------------ */

/* The process that invited the guest may have ended meanwhile. */
static bool has_led(const struct sx_invitation *invitation, const pmix_proc_t *proc)
{
    const struct sx_proc_list *const leaders = &invitation->leaders;
    size_t i = 0;

    while (i < leaders->count && sx_proc_order(&leaders->all[i], proc) != 0) {
        i++;
    }
    return i < leaders->count;
}

/* @leader: NULL when the guest names none.  Return: as guest_find, without a line in the log. */
static pmix_status_t guest_judge(const struct sx_guest *guest, const pmix_proc_t *leader)
{
    if (guest->state != SX_GUEST_ASKED) {
        return PMIX_ERR_INVALID_OPERATION;
    }
    return leader == NULL || has_led(guest->invitation, leader) ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

/* Several users may invite @client to groups of one name.  It names the inviter, or means that of
 * its own user.  Return: the status of the best one; PMIX_ERR_NOT_FOUND when it is not invited. */
static pmix_status_t guest_choose(struct sx_server *server, const struct sx_client *client,
                                  const char *group, const pmix_proc_t *leader,
                                  struct sx_guest **ret)
{
    const struct sx_invitation *invitation = NULL;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    *ret = NULL;
    while ((invitation = sx_invitation_next(server, group, invitation)) != NULL) {
        struct sx_guest *const guest = sx_invitation_guest(server, invitation, client);
        const pmix_status_t status = guest != NULL ? guest_judge(guest, leader)
                                                   : PMIX_ERR_NOT_FOUND;
        const bool is_better = rc != PMIX_SUCCESS || sx_users_have(&invitation->users, client->uid);

        if (guest != NULL && (*ret == NULL || (status == PMIX_SUCCESS && is_better))) {
            *ret = guest;
            rc = status;
        }
    }
    return rc;
}

/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when @client is not invited; PMIX_ERR_BAD_PARAM, logged,
 * when @client names an inviter that did not invite it; PMIX_ERR_INVALID_OPERATION when it has
 * answered. */
static pmix_status_t guest_find(struct sx_server *server, const struct sx_client *client,
                                const struct sx_group_join *join, struct sx_guest **ret)
{
    const bool has_leader = join->leader_nspace[0] != '\0';
    pmix_proc_t leader = { .rank = join->leader_rank };
    pmix_proc_t real;

    memcpy(leader.nspace, join->leader_nspace, strlen(join->leader_nspace));
    if (!has_leader || sx_alias_one(server, client->uid, &leader, &real) != PMIX_SUCCESS) {
        real = leader; /* of a member that has left: no inviter has this name */
    }
    const pmix_status_t rc = guest_choose(server, client, join->group, has_leader ? &real : NULL,
                                          ret);

    if (rc != PMIX_ERR_BAD_PARAM) {
        return rc;
    }
    const pmix_proc_t *const inviter = sx_invitation_leader((*ret)->invitation);

    return SX_RAISE(rc, "%s.%u is invited to the group %s by %s.%u, not %s.%u",
                    client->nspace->name, client->rank, join->group, inviter->nspace, inviter->rank,
                    leader.nspace, leader.rank);
}

/* Act on the answer of @guest. */
static void answered(struct sx_server *server, struct sx_guest *guest)
{
    sx_invite_ask(server, guest);
    sx_invite_judge(server, guest->invitation);
}

/* The name of the group is that of the guest's user as well from now on.  Return: as
 * sx_group_name_judge; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t name_take(struct sx_server *server, struct sx_guest *guest)
{
    struct sx_users *const users = &guest->invitation->users;
    const uid_t uid = guest->client->uid;
    const pmix_status_t rc = sx_users_have(users, uid)
                                 ? PMIX_SUCCESS
                                 : sx_group_name_judge(server, uid, guest->invitation->name);

    return rc == PMIX_SUCCESS && !sx_users_add(users, uid) ? PMIX_ERR_OUT_OF_RESOURCE : rc;
}

static pmix_status_t accept(struct sx_server *server, struct sx_guest *guest,
                            const struct sx_frame *frame, const struct sx_invite_gifts *gifts,
                            uint64_t now_ns)
{
    const struct sx_group_join *const join = frame->opened.head;
    struct sx_invite_call *call;
    pmix_status_t rc = name_take(server, guest);

    if (rc == PMIX_SUCCESS) {
        rc = sx_invite_call_begin(server, guest->client, frame->header.id, gifts->bytes, &call);
    }
    if (rc == PMIX_SUCCESS && !sx_invite_gifts_take(guest, gifts)) {
        sx_pending_answer(&call->pending, PMIX_ERR_OUT_OF_RESOURCE);
    } else if (rc == PMIX_SUCCESS) {
        guest->receives = (uint8_t)join->receives;
        sx_guest_answer(guest, true);
        sx_invite_call_limit(call, join->timeout_ns, now_ns);
        sx_invite_call_join(call, guest->invitation);
        answered(server, guest);
    }
    return rc;
}

static void decline(struct sx_server *server, struct sx_guest *guest, uint32_t id)
{
    sx_guest_answer(guest, false);
    sx_reply(server, guest->client, id, PMIX_SUCCESS, -1);
    answered(server, guest);
}

bool sx_invite_on_join(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns)
{
    const struct sx_group_join *const join = frame->opened.head;
    struct sx_guest *guest;
    struct sx_invite_gifts gifts;
    pmix_status_t rc = sx_invite_gifts_read(&gifts, &frame->opened, SX_JOIN_INFOS,
                                            SX_OF_GROUP_JOIN);
    const bool is_breach = rc == PMIX_ERR_UNPACK_FAILURE;

    if (rc == PMIX_SUCCESS) {
        rc = guest_find(server, client, join, &guest);
    }
    if (rc == PMIX_SUCCESS && join->accepts != 0) {
        rc = accept(server, guest, frame, &gifts, now_ns);
    } else if (rc == PMIX_SUCCESS) {
        decline(server, guest, frame->header.id);
    }
    if (rc != PMIX_SUCCESS && !is_breach) {
        sx_reply(server, client, frame->header.id, rc, -1);
    }
    sx_invite_gifts_clear(&gifts);
    return !is_breach;
}

/* ---- answers of the inviter ------------------------------------------------------------------ */

void sx_invite_receive(struct sx_server *server, struct sx_invitation *invitation,
                       struct sx_client *client, const struct sx_group_said *said)
{
    struct sx_guest *guest = NULL;
    size_t looks = 0;

    if (invitation->lead != NULL) {
        sx_invite_lead_receive(invitation, client, said);
        return;
    }
    if (client == invitation->inviter) {
        guest = sx_invitation_asked(invitation, said->question, &looks);
        sx_share_charge(server, client, looks / LOOKS_PER_UNIT);
    }
    if (guest != NULL && said->word == SX_GROUP_ABORTS) {
        sx_invite_end(server, invitation, PMIX_GROUP_CONSTRUCT_ABORT);
    } else if (guest != NULL) {
        sx_guest_settle(guest);
        sx_invite_judge(server, invitation);
    }
}

/* Add the guests whose questions were in these events to the inviter.  Return: what that costs. */
static uint64_t missed_list(const struct sx_invitation *invitation, uint64_t first, uint64_t next,
                            struct sx_list *ret)
{
    uint64_t looks = 0;

    SX_LIST_EACH(it, &invitation->asked) {
        const uint64_t notified = SX_LIST_ENTRY(it, struct sx_guest, asked)->notified;

        if (notified >= first && notified < next) {
            sx_list_remove(it);
            sx_list_append(ret, it);
            looks += LOOKS_PER_UNIT; /* to ask again */
        }
        looks++;
    }
    return looks;
}

void sx_invite_missed(struct sx_server *server, struct sx_client *client, uint64_t first,
                      uint64_t next)
{
    struct sx_list *const missed = &server->group.missed;
    uint64_t looks = 0;

    SX_LIST_EACH(it, &client->guests) {
        struct sx_invitation *const invitation =
            SX_LIST_ENTRY(it, struct sx_guest, of_client)->invitation;

        if (invitation->lead != NULL) {
            sx_group_lead_missed(invitation->lead, client, first, next);
        } else if (invitation->inviter == client) {
            looks += missed_list(invitation, first, next, missed);
        }
        looks++;
    }
    sx_share_charge(server, client, looks / LOOKS_PER_UNIT);
    if (!sx_list_empty(missed)) {
        sx_steps_go(&server->group.asks);
    }
}

void sx_invite_aborted(struct sx_server *server, struct sx_client *client,
                       const struct sx_event_block *block)
{
    char name[PMIX_MAX_NSLEN + 1];
    struct sx_invitation *const invitation = sx_group_event_name(block, name)
                                                 ? sx_invitation_find_of(server, client->uid, name)
                                                 : NULL;

    if (invitation != NULL && invitation->inviter == client && invitation->lead == NULL) {
        sx_invite_abort(server, invitation, block);
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

/* Nothing is decided about an invitation before its losses are acted on, in steps. */
void sx_invite_client_gone(struct sx_server *server, struct sx_client *client)
{
    sx_guests_end(server, client);
    sx_steps_go(&server->group.losses);
}

/* Events about the losses name the process, which has its name still. */
static void losses_end(struct sx_server *server, const struct sx_nspace *nspace,
                       const struct sx_client *client)
{
    struct sx_list of_it = SX_LIST_INIT(of_it);

    SX_LIST_EACH(it, &server->group.lost) {
        const struct sx_client *const lost = SX_LIST_ENTRY(it, struct sx_guest, of_client)->client;

        if (lost->nspace == nspace && (client == NULL || lost == client)) {
            sx_list_remove(it);
            sx_list_append(&of_it, it);
        }
    }
    while (!sx_list_empty(&of_it)) {
        loss_act(server, SX_LIST_ENTRY(of_it.next, struct sx_guest, of_client));
    }
}

void sx_invite_client_removed(struct sx_server *server, struct sx_client *client)
{
    if (client->guests_lost > 0) {
        losses_end(server, client->nspace, client);
    }
}

void sx_invite_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    SX_LIST_EACH(it, &server->group.invite_early) {
        struct sx_invite_call *const call = SX_LIST_ENTRY(it, struct sx_invite_call, link);
        const struct sx_invite_named *const named = &call->named;

        if (strcmp(named->procs.all[named->registered].nspace, nspace->name) == 0) {
            sx_pending_answer(&call->pending, PMIX_ERR_NOT_FOUND);
        }
    }
    losses_end(server, nspace, NULL);
}

/* No process is left to send events to. */
static void guests_stop(struct sx_server *server, struct sx_list *guests)
{
    while (!sx_list_empty(guests)) {
        struct sx_invitation *const invitation =
            SX_LIST_ENTRY(guests->next, struct sx_guest, of_client)->invitation;

        sx_invitation_close(server, invitation); /* this guest leaves the list, too */
        sx_invite_calls_answer(invitation, PMIX_ERR_LOST_CONNECTION, 0);
        sx_invite_lead_end(invitation);
        sx_invitation_free(invitation);
    }
}

void sx_invites_stop(struct sx_server *server)
{
    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *const nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        for (size_t i = 0; i < nspace->client_count; i++) {
            guests_stop(server, &nspace->by_rank[i]->guests);
        }
    }
    guests_stop(server, &server->group.lost);
}

void sx_invites_deinit(struct sx_server *server)
{
    sx_table_deinit(&server->group.invitations);
    sx_table_deinit(&server->group.guests);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite.c - what guests and inviters say, whom it is told, and what comes of it. */
#include "server/engine/invite.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bodies.h"
#include "base/clock.h"
#include "base/options.h"
#include "base/status.h"
#include "base/value.h"
#include "server/engine/event_made.h"
#include "server/engine/group.h"
#include "server/engine/group_gift.h"
#include "server/model/alias.h"
#include "server/model/invitation.h"
#include "server/model/membership.h"
#include "server/model/proc_list.h"
#include "server/port/pending.h"
#include "server/port/reply.h"

#define GUESTS_PER_UNIT 2u /* to find, to keep, to tell: share.h */
#define LOOKS_PER_UNIT 200u

/* One who waits for the end. */
struct call {
    struct sx_pending pending;
    struct sx_list link; /* invitation.calls */
    struct sx_invitation *invitation;
    uint64_t subject; /* of the group that there is then */
};

/* ---- events ---------------------------------------------------------------------------------- */

static bool is_gone(const struct sx_client *client)
{
    return client->nspace == NULL || client->state == SX_CLIENT_DEAD || client->left ||
           client->departed;
}

/* The inviter hears what @guest has done, or become, and may say something to that. */
static void inviter_ask(struct sx_server *server, struct sx_guest *guest)
{
    static const struct {
        pmix_status_t code;
        uint8_t hears;
    } news[SX_GUEST_STATES] = {
        [SX_GUEST_ACCEPTED] = { PMIX_GROUP_INVITE_ACCEPTED, SX_HEARS_ACCEPTED },
        [SX_GUEST_DECLINED] = { PMIX_GROUP_INVITE_DECLINED, SX_HEARS_DECLINED },
        [SX_GUEST_LOST] = { PMIX_GROUP_INVITE_FAILED, SX_HEARS_LOST },
    };
    const struct sx_invitation *const invitation = guest->invitation;
    const struct sx_client *const inviter = invitation->inviter;
    const struct sx_event_note notes[] = {
        { .key = PMIX_GROUP_ID, .text = invitation->name },
        { .key = SX_GROUP_QUESTION, .number = ++server->question_last },
    };

    if (inviter->nspace != NULL && guest->client->nspace != NULL) {
        const pmix_proc_t to = sx_nspace_proc(inviter->nspace, inviter->rank);

        sx_guest_ask(guest, server->question_last,
                     (invitation->hears & news[guest->state].hears) != 0);
        sx_event_to(server, news[guest->state].code, guest->client, &to, 1, notes, SX_COUNT(notes));
    }
}

/* Which guests: in one of some states, and more about them. */
#define GUESTS(state) (1u << (state))
#define GUESTS_NEW 0x100u    /* those who have not heard of it */
#define GUESTS_OTHERS 0x200u /* all but the inviter */

static bool is_one_of(const struct sx_guest *guest, unsigned which)
{
    return guest->client->nspace != NULL && (which & GUESTS(guest->state)) != 0 &&
           ((which & GUESTS_NEW) == 0 || guest->is_new) &&
           ((which & GUESTS_OTHERS) == 0 || guest->client != guest->invitation->inviter);
}

/* In their order.  Return: false, told, when memory is out. */
static bool guests_list(const struct sx_invitation *invitation, unsigned which,
                        struct sx_proc_list *ret)
{
    bool ok = true;

    *ret = (struct sx_proc_list){ .all = NULL };
    SX_LIST_EACH(it, &invitation->guests) {
        const struct sx_guest *const guest = SX_LIST_ENTRY(it, struct sx_guest, link);

        if (ok && is_one_of(guest, which)) {
            ok = sx_proc_list_add(ret, guest->client->nspace->name, guest->client->rank);
        }
    }
    if (!ok) {
        sx_log(SX_LOG_ERROR, "guests of the group %s are not told: memory is short",
               invitation->name);
        sx_proc_list_clear(ret);
    }
    return ok;
}

/* What the inviter has done, or become, concerns @to. */
static void guests_tell(struct sx_server *server, const struct sx_invitation *invitation,
                        pmix_status_t code, const struct sx_proc_list *to,
                        const struct sx_event_note notes[], size_t count)
{
    if (invitation->inviter->nspace != NULL) {
        sx_event_to(server, code, invitation->inviter, to->all, to->count, notes, count);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

static pmix_status_t group_make(struct sx_server *server, const struct sx_invitation *invitation,
                                const struct sx_proc_list *members,
                                struct sx_membership_entry **ret)
{
    const struct sx_group_options options = {
        .name = invitation->name,
        .notify = (invitation->group & SX_GROUP_NOTIFY) != 0,
        .goes_on = (invitation->group & SX_GROUP_FT) != 0,
        .wants_context = (invitation->group & SX_GROUP_CONTEXT) != 0,
        .procs = members->all,
        .proc_count = members->count,
    };

    return sx_group_make(server, &options, ret);
}

/* All who wait get the same answer. */
static void calls_answer(struct sx_invitation *invitation, pmix_status_t status, uint64_t subject)
{
    struct sx_list *node;

    while ((node = sx_list_pop(&invitation->calls)) != NULL) {
        struct call *const call = SX_LIST_ENTRY(node, struct call, link);

        call->subject = subject;
        sx_pending_answer(&call->pending, status);
    }
}

static void made_tell(struct sx_server *server, const struct sx_invitation *invitation,
                      uint64_t context_id, const struct sx_proc_list *members)
{
    const struct sx_event_note assigned[] = {
        { .key = PMIX_GROUP_ID, .text = invitation->name },
        { .key = PMIX_GROUP_CONTEXT_ID, .number = context_id },
    };
    const struct sx_event_note complete[] = {
        { .key = PMIX_GROUP_ID, .text = invitation->name },
        { .key = PMIX_GROUP_MEMBERSHIP, .procs = members->all, .count = members->count },
    };

    if (context_id != 0) {
        guests_tell(server, invitation, PMIX_GROUP_CONTEXT_ID_ASSIGNED, members, assigned,
                    SX_COUNT(assigned));
    }
    guests_tell(server, invitation, PMIX_GROUP_CONSTRUCT_COMPLETE, members, complete,
                SX_COUNT(complete));
}

/* What the members give to each other. */
static pmix_status_t gifts_give(struct sx_server *server, const struct sx_invitation *invitation,
                                uint64_t context_id)
{
    pmix_status_t rc = PMIX_SUCCESS;

    SX_LIST_EACH(it, &invitation->guests) {
        const struct sx_guest *const guest = SX_LIST_ENTRY(it, struct sx_guest, link);

        if (rc == PMIX_SUCCESS && is_one_of(guest, GUESTS(SX_GUEST_ACCEPTED))) {
            const pmix_proc_t proc = sx_nspace_proc(guest->client->nspace, guest->client->rank);

            rc = sx_group_gift_give(server, &proc, guest->gifts, guest->gift_count, context_id);
        }
    }
    return rc;
}

/* Return: as sx_group_make and sx_group_gift_give. */
static pmix_status_t make(struct sx_server *server, struct sx_invitation *invitation)
{
    struct sx_membership_entry *group;
    struct sx_proc_list members;
    pmix_status_t rc = PMIX_ERR_OUT_OF_RESOURCE;

    if (guests_list(invitation, GUESTS(SX_GUEST_ACCEPTED), &members)) {
        rc = group_make(server, invitation, &members, &group);
    }
    const uint64_t context_id = rc == PMIX_SUCCESS ? group->published.head.context_id : 0;

    if (rc == PMIX_SUCCESS) {
        rc = gifts_give(server, invitation, context_id);
        if (rc != PMIX_SUCCESS) {
            sx_group_end(server, group);
        }
    }
    if (rc == PMIX_SUCCESS) {
        calls_answer(invitation, PMIX_SUCCESS, group->published.head.subject);
        made_tell(server, invitation, context_id, &members);
    }
    sx_proc_list_clear(&members);
    return rc;
}

/* Those who wait, and those who might still answer, hear that there will be no group. */
static void fail(struct sx_server *server, struct sx_invitation *invitation, pmix_status_t status)
{
    const struct sx_event_note note = { .key = PMIX_GROUP_ID, .text = invitation->name };
    const pmix_status_t code = status == PMIX_GROUP_LEADER_FAILED ? status
                                                                  : PMIX_GROUP_CONSTRUCT_ABORT;
    struct sx_proc_list to;

    calls_answer(invitation, status, 0);
    if (guests_list(invitation, GUESTS(SX_GUEST_ASKED) | GUESTS(SX_GUEST_ACCEPTED) | GUESTS_OTHERS,
                    &to)) {
        guests_tell(server, invitation, code, &to, &note, 1);
    }
    sx_proc_list_clear(&to);
}

/* @invitation is gone then, and its name is the group's, or free. */
static void end(struct sx_server *server, struct sx_invitation *invitation, pmix_status_t status)
{
    sx_invitation_close(server, invitation); /* what follows may end clients */
    if (status == PMIX_SUCCESS) {
        status = make(server, invitation);
    }
    if (status != PMIX_SUCCESS) {
        fail(server, invitation, status);
    }
    sx_invitation_free(invitation);
}

/* End it, if it has come to its end. */
static void judge(struct sx_server *server, struct sx_invitation *invitation)
{
    const pmix_status_t rc = sx_invitation_verdict(invitation);

    if (rc != PMIX_ERR_WOULD_BLOCK) {
        end(server, invitation, rc);
    }
}

/* ---- those who wait -------------------------------------------------------------------------- */

static void call_closed(struct sx_pending *pending)
{
    sx_list_remove(&SX_CONTAINER(pending, struct call, pending)->link);
}

static void call_send(struct sx_pending *pending)
{
    const struct call *const call = SX_CONTAINER(pending, struct call, pending);

    sx_reply_body(pending->server, pending->client, pending->id, pending->status, &call->subject,
                  sizeof(call->subject));
}

static void call_timed_out(void *arg, uint64_t now_ns)
{
    const struct call *const call = SX_CONTAINER((struct sx_pending *)arg, struct call, pending);

    (void)now_ns;
    end(call->pending.server, call->invitation, PMIX_ERR_TIMEOUT);
}

static const struct sx_pending_kind call_kind = { .quota = SX_PENDING_INVITE,
                                                  .closed = call_closed,
                                                  .send = call_send };

/* Request @id of @client waits, and keeps @bytes.  Return: PMIX_SUCCESS, and call_join comes next;
 * as sx_pending_begin. */
static pmix_status_t call_begin(struct sx_server *server, struct sx_client *client, uint32_t id,
                                size_t bytes, struct call **ret)
{
    struct call *const call = calloc(1, sizeof(*call));

    if (call == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_list_init(&call->link);
    call->pending.bytes = bytes;
    const pmix_status_t rc = sx_pending_begin(server, client, id, &call_kind, &call->pending);

    if (rc == PMIX_SUCCESS) {
        *ret = call;
    } else {
        free(call);
    }
    return rc;
}

static void call_join(struct call *call, struct sx_invitation *invitation, uint64_t timeout_ns,
                      uint64_t now_ns)
{
    call->invitation = invitation;
    sx_list_append(&invitation->calls, &call->link);
    if (timeout_ns != 0) {
        sx_pending_limit(&call->pending, call_timed_out, sx_deadline_ns(now_ns, timeout_ns));
    }
}

/* ---- what a caller gives --------------------------------------------------------------------- */

struct gifts {
    pmix_info_t *info;
    size_t ninfo;
    struct sx_collective_options options; /* which they are */
    size_t bytes;
};

/* Return: PMIX_SUCCESS; PMIX_ERR_UNPACK_FAILURE for a breach of protocol; as sx_options_read. */
static pmix_status_t gifts_read(struct gifts *ret, const struct sx_opened *body, unsigned index,
                                enum sx_function function)
{
    *ret = (struct gifts){ .ninfo = 0 };
    const pmix_status_t rc = sx_body_infos(body, index, &ret->info, &ret->ninfo);

    ret->bytes = body->parts[index].size + ret->ninfo * sizeof(*ret->info);
    return rc == PMIX_SUCCESS ? sx_options_read(function, ret->info, ret->ninfo, &ret->options)
                              : rc;
}

/* Return: false when memory is out. */
static bool gives(struct sx_guest *guest, const struct gifts *gifts)
{
    return sx_group_gift_take(&gifts->options, &guest->gifts, &guest->gift_count) == PMIX_SUCCESS;
}

static void gifts_clear(struct gifts *gifts)
{
    if (gifts->info != NULL) {
        PMIX_INFO_FREE(gifts->info, gifts->ninfo);
    }
}

/* ---- invite ---------------------------------------------------------------------------------- */

/* Whom an invitation means, and what its sender gives. */
struct named {
    struct sx_server *server;
    struct sx_proc_list procs;
    struct gifts gifts;
};

static pmix_status_t named_add(void *arg, const pmix_proc_t *proc)
{
    struct named *const named = arg;
    const struct sx_nspace *const nspace = sx_nspace_find(named->server, proc->nspace);

    if (nspace == NULL ||
        (proc->rank >= nspace->job_size && sx_client_find(nspace, proc->rank) == NULL)) {
        return SX_RAISE(PMIX_ERR_NOT_FOUND, "%s.%u cannot be invited: there is no such process",
                        proc->nspace, proc->rank);
    }
    if (sx_client_find(nspace, proc->rank) == NULL) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "%s.%u cannot be invited: it is on another node; PMIx_Group_construct "
                        "leads there",
                        proc->nspace, proc->rank);
    }
    if (named->procs.count == SX_PROCS_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "one call invites at most %u processes: invite the others in another one",
                        SX_PROCS_MAX);
    }
    return sx_proc_list_add(&named->procs, proc->nspace, proc->rank) ? PMIX_SUCCESS
                                                                     : PMIX_ERR_OUT_OF_RESOURCE;
}

static pmix_status_t named_read(struct named *named, struct sx_client *client,
                                const struct sx_opened *body)
{
    const struct sx_opened_part *const part = &body->parts[SX_INVITE_PROCS];
    pmix_proc_t *procs = NULL;
    pmix_status_t rc = sx_part_procs(part, &procs);

    for (size_t i = 0; i < part->count && rc == PMIX_SUCCESS; i++) {
        rc = sx_alias_each_one(named->server, &procs[i], named_add, named);
    }
    free(procs);
    sx_share_charge(named->server, client, named->procs.count / GUESTS_PER_UNIT);
    return rc == PMIX_SUCCESS ? gifts_read(&named->gifts, body, SX_INVITE_INFOS, SX_OF_GROUP_INVITE)
                              : rc;
}

static void named_clear(struct named *named)
{
    sx_proc_list_clear(&named->procs);
    gifts_clear(&named->gifts);
}

/* It is in front, unless it has given itself another place. */
static bool names(const struct named *named, const struct sx_client *client)
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
                       const struct named *named)
{
    bool ok = names(named, invitation->inviter) ||
              sx_invitation_ask(server, invitation, invitation->inviter);

    for (size_t i = 0; i < named->procs.count && ok; i++) {
        const pmix_proc_t *const proc = &named->procs.all[i];

        ok = sx_invitation_ask(server, invitation,
                               sx_client_find(sx_nspace_find(server, proc->nspace), proc->rank));
    }
    return ok;
}

/* Some of the new guests may have ended long ago. */
static void guests_look(struct sx_server *server, struct sx_invitation *invitation)
{
    SX_LIST_EACH(it, &invitation->guests) {
        struct sx_guest *const guest = SX_LIST_ENTRY(it, struct sx_guest, link);

        if (guest->is_new && is_gone(guest->client) && sx_guest_lose(guest)) {
            inviter_ask(server, guest);
        }
    }
}

static void guests_invite(struct sx_server *server, struct sx_invitation *invitation)
{
    const struct sx_event_note note = { .key = PMIX_GROUP_ID, .text = invitation->name };
    struct sx_proc_list to;

    if (guests_list(invitation, GUESTS(SX_GUEST_ASKED) | GUESTS_NEW, &to)) {
        guests_tell(server, invitation, PMIX_GROUP_INVITED, &to, &note, 1);
    }
    sx_proc_list_clear(&to);
    SX_LIST_EACH(it, &invitation->guests) {
        SX_LIST_ENTRY(it, struct sx_guest, link)->is_new = false;
    }
}

/* The open invitation to @name, or a new one.  Return: PMIX_ERR_EXISTS, told, when it is another
 * process's; as sx_group_name_judge. */
static pmix_status_t obtain(struct sx_server *server, struct sx_client *client, const char *name,
                            struct sx_invitation **ret)
{
    struct sx_invitation *invitation = sx_invitation_find(server, name);
    pmix_status_t rc = PMIX_SUCCESS;

    if (invitation == NULL || invitation->inviter != client) {
        rc = sx_group_name_judge(server, name);
    }
    if (rc == PMIX_SUCCESS && invitation == NULL) {
        invitation = sx_invitation_new(server, name, client);
    }
    *ret = invitation;
    return rc == PMIX_SUCCESS && invitation == NULL ? PMIX_ERR_OUT_OF_RESOURCE : rc;
}

/* One that can answer nothing is not waited for, either. */
static void hears(struct sx_invitation *invitation, uint8_t what)
{
    invitation->hears = what;
    if (what != 0) {
        return;
    }
    SX_LIST_EACH(it, &invitation->asked) {
        sx_guest_settle(SX_LIST_ENTRY(it, struct sx_guest, asked));
    }
}

static void invite(struct sx_server *server, struct sx_invitation *invitation,
                   const struct named *named)
{
    if (!guests_ask(server, invitation, named) ||
        !gives(sx_invitation_guest(server, invitation, invitation->inviter), &named->gifts)) {
        end(server, invitation, PMIX_ERR_OUT_OF_RESOURCE);
        return;
    }
    guests_look(server, invitation);
    guests_invite(server, invitation);
    judge(server, invitation);
}

static pmix_status_t invite_judge(const struct named *named, const struct sx_client *client,
                                  const char *name)
{
    const pmix_proc_t self = sx_nspace_proc(client->nspace, client->rank);

    for (size_t i = 0; i < named->procs.count; i++) {
        if (sx_proc_order(&named->procs.all[i], &self) != 0) {
            return PMIX_SUCCESS;
        }
    }
    return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s.%u invites nobody else to the group %s", self.nspace,
                    self.rank, name);
}

bool sx_invite_on_invite(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                         uint64_t now_ns)
{
    const struct sx_group_invite *const head = frame->opened.head;
    struct named named = { .server = server };
    struct sx_invitation *invitation;
    struct call *call = NULL;

    pmix_status_t rc = named_read(&named, client, &frame->opened);
    const bool is_breach = rc == PMIX_ERR_UNPACK_FAILURE;

    if (rc == PMIX_SUCCESS) {
        rc = invite_judge(&named, client, head->group);
    }
    if (rc == PMIX_SUCCESS) {
        rc = call_begin(server, client, frame->header.id,
                        sizeof(*invitation) + named.procs.count * sizeof(struct sx_guest) +
                            named.gifts.bytes,
                        &call);
    }
    if (rc == PMIX_SUCCESS) {
        rc = obtain(server, client, head->group, &invitation);
    }
    if (rc == PMIX_SUCCESS) {
        invitation->group |= (uint8_t)head->flags;
        hears(invitation, (uint8_t)head->hears);
        call_join(call, invitation, head->timeout_ns, now_ns);
        invite(server, invitation, &named);
    } else if (call != NULL) {
        sx_pending_answer(&call->pending, rc);
    } else if (!is_breach) {
        sx_reply(server, client, frame->header.id, rc, -1);
    }
    named_clear(&named);
    return !is_breach;
}

/* ---- join ------------------------------------------------------------------------------------ */

/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_FOUND when @client is not invited; PMIX_ERR_BAD_PARAM, told,
 * when another one than it says has invited it; PMIX_ERR_INVALID_OPERATION when it has answered. */
static pmix_status_t guest_find(struct sx_server *server, const struct sx_client *client,
                                const struct sx_group_join *join, struct sx_guest **ret)
{
    const struct sx_invitation *const invitation = sx_invitation_find(server, join->group);
    pmix_proc_t leader = { .rank = join->leader_rank };
    pmix_proc_t real;

    *ret = invitation != NULL ? sx_invitation_guest(server, invitation, client) : NULL;
    if (*ret == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    if ((*ret)->state != SX_GUEST_ASKED) {
        return PMIX_ERR_INVALID_OPERATION;
    }
    if (join->leader_nspace[0] == '\0') {
        return PMIX_SUCCESS;
    }
    memcpy(leader.nspace, join->leader_nspace, strlen(join->leader_nspace));
    const struct sx_client *const inviter = invitation->inviter;
    const pmix_status_t rc = sx_alias_one(server, &leader, &real);

    return rc == PMIX_SUCCESS && strcmp(real.nspace, inviter->nspace->name) == 0 &&
                   real.rank == inviter->rank
               ? PMIX_SUCCESS
               : SX_RAISE(PMIX_ERR_BAD_PARAM,
                          "%s.%u is invited to the group %s by %s.%u, not %s.%u",
                          client->nspace->name, client->rank, join->group, inviter->nspace->name,
                          inviter->rank, leader.nspace, leader.rank);
}

/* @guest has answered. */
static void answered(struct sx_server *server, struct sx_guest *guest)
{
    inviter_ask(server, guest);
    judge(server, guest->invitation);
}

static pmix_status_t accept(struct sx_server *server, struct sx_guest *guest,
                            const struct sx_frame *frame, const struct gifts *gifts,
                            uint64_t now_ns)
{
    const struct sx_group_join *const join = frame->opened.head;
    struct call *call;
    pmix_status_t rc = call_begin(server, guest->client, frame->header.id, gifts->bytes, &call);

    if (rc == PMIX_SUCCESS && !gives(guest, gifts)) {
        sx_pending_answer(&call->pending, PMIX_ERR_OUT_OF_RESOURCE);
    } else if (rc == PMIX_SUCCESS) {
        sx_guest_answer(guest, true);
        call_join(call, guest->invitation, join->timeout_ns, now_ns);
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
    struct gifts gifts;
    pmix_status_t rc = gifts_read(&gifts, &frame->opened, SX_JOIN_INFOS, SX_OF_GROUP_JOIN);
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
    gifts_clear(&gifts);
    return !is_breach;
}

/* ---- what the inviter says to that ----------------------------------------------------------- */

void sx_invite_hear(struct sx_server *server, struct sx_invitation *invitation,
                    struct sx_client *client, const struct sx_group_said *said)
{
    struct sx_guest *guest = NULL;
    size_t looks = 0;

    if (client == invitation->inviter) {
        guest = sx_invitation_asked(invitation, said->question, &looks);
        sx_share_charge(server, client, looks / LOOKS_PER_UNIT);
    }
    if (guest != NULL && said->word == SX_GROUP_ABORTS) {
        end(server, invitation, PMIX_GROUP_CONSTRUCT_ABORT);
    } else if (guest != NULL) {
        sx_guest_settle(guest);
        judge(server, invitation);
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

void sx_invite_client_gone(struct sx_server *server, struct sx_client *client)
{
    struct sx_list *node;

    while ((node = sx_list_pop(&client->guests)) != NULL) {
        struct sx_guest *const guest = SX_LIST_ENTRY(node, struct sx_guest, of_client);
        struct sx_invitation *const invitation = guest->invitation;

        if (invitation->inviter == client) {
            end(server, invitation, PMIX_GROUP_LEADER_FAILED);
        } else if (sx_guest_lose(guest)) {
            inviter_ask(server, guest);
            judge(server, invitation);
        }
    }
}

/* Nobody is left to be told. */
static void client_stop(struct sx_server *server, struct sx_client *client)
{
    struct sx_list *node;

    while ((node = sx_list_pop(&client->guests)) != NULL) {
        struct sx_invitation *const invitation =
            SX_LIST_ENTRY(node, struct sx_guest, of_client)->invitation;

        sx_invitation_close(server, invitation);
        calls_answer(invitation, PMIX_ERR_LOST_CONNECTION, 0);
        sx_invitation_free(invitation);
    }
}

void sx_invites_stop(struct sx_server *server)
{
    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *const nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        for (size_t i = 0; i < nspace->client_count; i++) {
            client_stop(server, nspace->by_rank[i]);
        }
    }
}

void sx_invites_deinit(struct sx_server *server)
{
    sx_table_deinit(&server->invitations);
    sx_table_deinit(&server->guests);
}

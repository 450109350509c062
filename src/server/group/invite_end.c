/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* invite_end.c - events to the inviter and to the guests, and the end when all have answered. */
#include "server/group/invitation.h"

#include <stdlib.h>

#include <pmix.h>

#include "base/clock.h"
#include "base/message/payloads.h"
#include "base/status.h"
#include "base/value/flat.h"
#include "server/event/event.h"
#include "server/group/group_construct.h"
#include "server/model/membership.h"
#include "server/model/proc_list.h"
#include "server/port/port.h"

/* ---- events ---------------------------------------------------------------------------------- */

/* Send the inviter an event about the change of @guest; the inviter may answer it.  Nothing is
 * asked, or awaited, about one that is invited again, or whose job has gone. */
void sx_invite_ask(struct sx_server *server, struct sx_guest *guest)
{
    static const struct {
        pmix_status_t code;
        uint8_t receives;
    } news[SX_GUEST_STATES] = {
        [SX_GUEST_ACCEPTED] = { PMIX_GROUP_INVITE_ACCEPTED, SX_RECEIVES_ACCEPTED },
        [SX_GUEST_DECLINED] = { PMIX_GROUP_INVITE_DECLINED, SX_RECEIVES_DECLINED },
        [SX_GUEST_LOST] = { PMIX_GROUP_INVITE_FAILED, SX_RECEIVES_LOST },
    };
    const struct sx_invitation *const invitation = guest->invitation;
    const struct sx_client *const inviter = invitation->inviter;
    const struct sx_event_note notes[] = {
        { .key = PMIX_GROUP_ID, .text = invitation->name },
        { .key = SX_GROUP_QUESTION, .number = ++server->group.question_last },
    };

    if (invitation->lead != NULL) {
        sx_guest_ask(guest, server->group.question_last, false);
    } else if (guest->state == SX_GUEST_ASKED || inviter->nspace == NULL ||
               guest->client->nspace == NULL) {
        sx_guest_settle(guest);
    } else {
        const pmix_proc_t to = sx_nspace_proc(inviter->nspace, inviter->rank);

        sx_guest_ask(guest, server->group.question_last,
                     (invitation->receives & news[guest->state].receives) != 0);
        guest->notified = inviter->home->events.newest + 1;
        sx_event_to(server, news[guest->state].code, guest->client, &to, 1, notes, SX_COUNT(notes));
    }
}

/* A set of guests: those in some states, with further conditions. */
#define GUESTS(state) (1u << (state))
#define GUESTS_NEW 0x100u    /* those without an event yet */
#define GUESTS_OTHERS 0x200u /* all but the inviter */

static bool is_one_of(const struct sx_guest *guest, unsigned which)
{
    return guest->client->nspace != NULL && (which & GUESTS(guest->state)) != 0 &&
           ((which & GUESTS_NEW) == 0 || guest->is_new) &&
           ((which & GUESTS_OTHERS) == 0 || guest->client != guest->invitation->inviter);
}

/* List the guests in their order.  Return: false, logged, when memory is out. */
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

/* Send @to an event about the inviter. */
static void guests_notify(struct sx_server *server, const struct sx_invitation *invitation,
                          pmix_status_t code, const struct sx_proc_list *to,
                          const struct sx_event_note notes[], size_t count)
{
    sx_event_of_proc(server, code, sx_invitation_leader(invitation), to, notes, count);
}

void sx_invite_notify(struct sx_server *server, struct sx_invitation *invitation)
{
    const struct sx_event_note note = { .key = PMIX_GROUP_ID, .text = invitation->name };
    struct sx_proc_list to;

    if (guests_list(invitation, GUESTS(SX_GUEST_ASKED) | GUESTS_NEW, &to)) {
        guests_notify(server, invitation, PMIX_GROUP_INVITED, &to, &note, 1);
    }
    sx_proc_list_clear(&to);
    SX_LIST_EACH(it, &invitation->guests) {
        SX_LIST_ENTRY(it, struct sx_guest, link)->is_new = false;
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

void sx_invite_calls_answer(struct sx_invitation *invitation, pmix_status_t status,
                            uint64_t subject)
{
    struct sx_list *node;

    while ((node = sx_list_pop(&invitation->calls)) != NULL) {
        struct sx_invite_call *const call = SX_LIST_ENTRY(node, struct sx_invite_call, link);

        call->subject = subject;
        sx_pending_answer(&call->pending, status);
    }
}

#define ENDPOINTS_BYTES_MAX (UINT64_C(1) << 20) /* in the event; the others can still be got */

/* The endpoint data that members give: for each a PMIX_PROCID, and the info as it was given. */
struct endpoints {
    pmix_info_t *all; /* NULL: none; all pointers are borrowed */
    pmix_proc_t *procs;
    size_t count, capacity;
    uint64_t bytes;
};

static bool endpoints_reserve(const struct sx_invitation *invitation, struct endpoints *ret)
{
    SX_LIST_EACH(it, &invitation->guests) {
        ret->capacity += SX_LIST_ENTRY(it, struct sx_guest, link)->gift_count;
    }
    if (ret->capacity > 0) {
        ret->all = calloc(2 * ret->capacity, sizeof(*ret->all));
        ret->procs = calloc(ret->capacity, sizeof(*ret->procs));
    }
    return ret->capacity == 0 || (ret->all != NULL && ret->procs != NULL);
}

static void endpoint_add(struct endpoints *ret, const struct sx_guest *guest,
                         const pmix_info_t *gift)
{
    pmix_proc_t *const proc = &ret->procs[ret->count / 2];
    pmix_info_t *const info = &ret->all[ret->count];
    size_t size = 0;

    if (!PMIx_Check_key(gift->key, PMIX_GROUP_ENDPT_DATA) ||
        sx_flat_size(&gift->value, &size) != PMIX_SUCCESS ||
        ret->bytes + size > ENDPOINTS_BYTES_MAX) {
        return;
    }
    *proc = sx_nspace_proc(guest->client->nspace, guest->client->rank);
    PMIx_Load_key(info[0].key, PMIX_PROCID);
    info[0].value = (pmix_value_t){ .type = PMIX_PROC, .data.proc = proc };
    info[1] = *gift;
    ret->count += 2;
    ret->bytes += size;
}

/* List as many as fit into memory and the event. */
static struct endpoints endpoints_list(const struct sx_invitation *invitation)
{
    struct endpoints ret = { .count = 0 };
    const bool has_room = endpoints_reserve(invitation, &ret);

    SX_LIST_EACH(it, &invitation->guests) {
        const struct sx_guest *const guest = SX_LIST_ENTRY(it, struct sx_guest, link);

        for (size_t i = 0;
             has_room && is_one_of(guest, GUESTS(SX_GUEST_ACCEPTED)) && i < guest->gift_count;
             i++) {
            endpoint_add(&ret, guest, &guest->gifts[i]);
        }
    }
    return ret;
}

static void made_notify(struct sx_server *server, const struct sx_invitation *invitation,
                        uint64_t context_id, const struct sx_proc_list *members)
{
    struct endpoints endpoints = endpoints_list(invitation);
    struct sx_event_note notes[SX_EVENT_NOTES_MAX] = {
        { .key = PMIX_GROUP_ID, .text = invitation->name },
        { .key = PMIX_GROUP_CONTEXT_ID, .number = context_id },
    };
    size_t count = 1;

    if (context_id != 0) {
        count = 2;
        guests_notify(server, invitation, PMIX_GROUP_CONTEXT_ID_ASSIGNED, members, notes, count);
    }
    notes[count++] = (struct sx_event_note){ .key = PMIX_GROUP_MEMBERSHIP,
                                             .procs = members->all,
                                             .count = members->count };
    if (endpoints.count > 0) {
        notes[count++] = (struct sx_event_note){ .infos = endpoints.all,
                                                 .info_count = endpoints.count };
    }
    guests_notify(server, invitation, PMIX_GROUP_CONSTRUCT_COMPLETE, members, notes, count);
    free(endpoints.all);
    free(endpoints.procs);
}

/* Publish the data that the members give to each other. */
static pmix_status_t gifts_give(struct sx_server *server, const struct sx_invitation *invitation,
                                const struct sx_membership_head *group)
{
    pmix_status_t rc = PMIX_SUCCESS;

    SX_LIST_EACH(it, &invitation->guests) {
        const struct sx_guest *const guest = SX_LIST_ENTRY(it, struct sx_guest, link);

        if (rc == PMIX_SUCCESS && is_one_of(guest, GUESTS(SX_GUEST_ACCEPTED))) {
            const pmix_proc_t proc = sx_nspace_proc(guest->client->nspace, guest->client->rank);

            rc = sx_group_gift_give(server, &proc, guest->gifts, guest->gift_count, group);
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
        rc = gifts_give(server, invitation, &group->published.head);
        if (rc != PMIX_SUCCESS) {
            sx_group_end(server, group);
        }
    }
    if (rc == PMIX_SUCCESS) {
        sx_invite_calls_answer(invitation, PMIX_SUCCESS, group->published.head.subject);
        made_notify(server, invitation, context_id, &members);
    }
    sx_proc_list_clear(&members);
    return rc;
}

/* Drop the processes from @to that @block, an event of the inviter, has reached. */
static void reached_drop(struct sx_server *server, const struct sx_event_block *block,
                         struct sx_proc_list *to)
{
    size_t kept = 0;

    for (size_t i = 0; i < to->count; i++) {
        const pmix_proc_t *const proc = &to->all[i];
        const struct sx_nspace *const nspace = sx_nspace_find(server, proc->nspace);

        if (nspace == NULL || !sx_event_concerns(block, nspace) ||
            !sx_event_block_aims_at(block, proc->nspace, proc->rank)) {
            to->all[kept++] = *proc;
        }
    }
    to->count = kept;
}

/* End the waiting calls, and send an event to the guests that have accepted or might still answer.
 * @block: the event that has reached some of them already; NULL: there was none. */
static void fail(struct sx_server *server, struct sx_invitation *invitation, pmix_status_t status,
                 const struct sx_event_block *block)
{
    const struct sx_event_note note = { .key = PMIX_GROUP_ID, .text = invitation->name };
    const pmix_status_t code = status == PMIX_GROUP_LEADER_FAILED ? status
                                                                  : PMIX_GROUP_CONSTRUCT_ABORT;
    struct sx_proc_list to;

    sx_invite_calls_answer(invitation, status, 0);
    if (invitation->lead != NULL && status == PMIX_GROUP_LEADER_FAILED) {
        return; /* the guests have received that event */
    }
    if (guests_list(invitation, GUESTS(SX_GUEST_ASKED) | GUESTS(SX_GUEST_ACCEPTED) | GUESTS_OTHERS,
                    &to)) {
        if (block != NULL) {
            reached_drop(server, block, &to);
        }
        guests_notify(server, invitation, code, &to, &note, 1);
    }
    sx_proc_list_clear(&to);
}

void sx_invite_lead_end(struct sx_invitation *invitation)
{
    if (invitation->lead != NULL) {
        sx_group_lead_clear(invitation->lead);
        free(invitation->lead);
        invitation->lead = NULL;
    }
}

static void finish(struct sx_server *server, struct sx_invitation *invitation, pmix_status_t status,
                   const struct sx_event_block *block)
{
    (void)sx_invitation_look(invitation);
    sx_invitation_close(server, invitation); /* the steps below may end clients */
    if (status == PMIX_SUCCESS) {
        status = make(server, invitation);
    }
    if (status != PMIX_SUCCESS) {
        fail(server, invitation, status, block);
    }
    sx_invite_lead_end(invitation);
    sx_invitation_free(invitation);
}

void sx_invite_end(struct sx_server *server, struct sx_invitation *invitation, pmix_status_t status)
{
    finish(server, invitation, status, NULL);
}

void sx_invite_abort(struct sx_server *server, struct sx_invitation *invitation,
                     const struct sx_event_block *block)
{
    finish(server, invitation, PMIX_GROUP_CONSTRUCT_ABORT, block);
}

void sx_invite_judge(struct sx_server *server, struct sx_invitation *invitation)
{
    const pmix_status_t rc = invitation->lead == NULL ? sx_invitation_verdict(invitation)
                                                      : PMIX_ERR_WOULD_BLOCK;

    if (rc != PMIX_ERR_WOULD_BLOCK && !sx_invitation_look(invitation)) {
        sx_invite_end(server, invitation, rc);
    }
}

/* ---- calls that wait ------------------------------------------------------------------------- */

static void call_closed(struct sx_pending *pending)
{
    sx_list_remove(&SX_CONTAINER(pending, struct sx_invite_call, pending)->link);
}

static void call_send(struct sx_pending *pending)
{
    const struct sx_invite_call *const call = SX_CONTAINER(pending, struct sx_invite_call, pending);

    sx_reply_body(pending->server, pending->client, pending->id, pending->status, &call->subject,
                  sizeof(call->subject));
}

static void call_timed_out(void *arg, uint64_t now_ns)
{
    const struct sx_invite_call *const call = SX_CONTAINER((struct sx_pending *)arg,
                                                           struct sx_invite_call, pending);

    (void)now_ns;
    if (call->invitation == NULL) {
        sx_pending_answer(arg, PMIX_ERR_TIMEOUT);
    } else {
        sx_invite_end(call->pending.server, call->invitation, PMIX_ERR_TIMEOUT);
    }
}

static void call_free(struct sx_pending *pending)
{
    struct sx_invite_call *const call = SX_CONTAINER(pending, struct sx_invite_call, pending);

    sx_invite_named_clear(&call->named);
    free(call);
}

static const struct sx_pending_kind call_kind = {
    .quota = SX_PENDING_INVITE,
    .closed = call_closed,
    .send = call_send,
    .free = call_free,
    .stays = true,
};

pmix_status_t sx_invite_call_begin(struct sx_server *server, struct sx_client *client, uint32_t id,
                                   size_t bytes, struct sx_invite_call **ret)
{
    struct sx_invite_call *const call = calloc(1, sizeof(*call));

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

void sx_invite_call_limit(struct sx_invite_call *call, uint64_t timeout_ns, uint64_t now_ns)
{
    if (timeout_ns != 0) {
        sx_pending_limit(&call->pending, call_timed_out, sx_deadline_ns(now_ns, timeout_ns));
    }
}

void sx_invite_call_join(struct sx_invite_call *call, struct sx_invitation *invitation)
{
    call->invitation = invitation;
    sx_list_append(&invitation->calls, &call->link);
}

/* ---- the inviter ends ------------------------------------------------------------------------ */

/* Guests as builders of a group, and the effects of their verdict. */

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
                                              .receives = guest->receives };
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
    invitation->receives = guest->receives;
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

    (void)sx_invitation_look(invitation);
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

void sx_invite_lead_receive(struct sx_invitation *invitation, struct sx_client *client,
                            const struct sx_group_said *said)
{
    struct sx_server *const server = invitation->lead->server;
    const struct sx_guest *const guest = sx_invitation_guest(server, invitation, client);

    if (guest == NULL || guest->state != SX_GUEST_ACCEPTED) {
        return; /* a guest that has not accepted has no vote */
    }
    const struct sx_group_verdict verdict = sx_group_lead_receive(invitation->lead, client, said);

    if (verdict.is_over || verdict.lost != NULL) {
        act(invitation, &verdict);
    }
}

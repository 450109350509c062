/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_construct.c - find the members that a caller means, and end the call when all have
 * called. */
#include "server/group/group_construct.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/status.h"
#include "base/value/value.h"
#include "control/message.h"
#include "server/collective/collective.h"
#include "server/event/event.h"
#include "server/group/invitation.h"
#include "server/group/leader_failover.h"

#define NAMED_MAX (2 * SX_PROCS_MAX) /* each as often as it is: read in one turn */
#define PROCS_PER_UNIT 4u            /* to find, copy and sort them (share.h) */
#define NAMED_PER_UNIT 64u           /* of which each may have been named before */

/* ---- members that a caller means ------------------------------------------------------------- */

struct order {
    struct sx_server *server;
    struct sx_proc_set set; /* has the list */
    size_t named;           /* each as often as it was */
};

static pmix_status_t order_refuse(const char *what, unsigned most)
{
    return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s at most %u processes: make several groups", what, most);
}

/* A wildcard of a job that is not registered yet stays in the list until
 * sx_group_construct_nspace_added. */
static pmix_status_t order_add(void *arg, const pmix_proc_t *proc)
{
    struct order *const order = arg;

    if (proc->rank == PMIX_RANK_WILDCARD && sx_nspace_find(order->server, proc->nspace) == NULL &&
        sx_name_has_ended(order->server, proc->nspace)) {
        return SX_RAISE(PMIX_ERR_NOT_FOUND, "%s, named for a group, has ended", proc->nspace);
    }
    if (order->named++ == NAMED_MAX) {
        return order_refuse("a list of members stands for", NAMED_MAX);
    }
    if (sx_proc_set_has(&order->set, proc->nspace, proc->rank)) {
        return PMIX_SUCCESS;
    }
    if (order->set.list->count == SX_PROCS_MAX) { /* no message between servers has more */
        return order_refuse("a group has", SX_PROCS_MAX);
    }
    return sx_proc_set_add(&order->set, proc->nspace, proc->rank) ? PMIX_SUCCESS
                                                                  : PMIX_ERR_OUT_OF_RESOURCE;
}

/* Keep the first of each process. */
static void order_thin(struct sx_proc_list *order, const bool *repeated)
{
    size_t kept = 0;

    for (size_t i = 0; i < order->count; i++) {
        if (!repeated[i]) {
            order->all[kept++] = order->all[i];
        }
    }
    order->count = kept;
}

/* Return: how many from @written on are single processes by their own names: these are members. */
static size_t singles_count(const struct sx_server *server, uid_t uid, const pmix_proc_t *written,
                            size_t count)
{
    size_t i = 0;

    while (i < count && written[i].rank != PMIX_RANK_WILDCARD &&
           ((i > 0 && strcmp(written[i - 1].nspace, written[i].nspace) == 0) ||
            sx_alias_members(server, uid, written[i].nspace) == NULL)) {
        i++;
    }
    return i;
}

/* Return: how many members the list may have, for their memory. */
static size_t members_most(const struct sx_server *server, uid_t uid, const pmix_proc_t *written,
                           size_t count)
{
    size_t most = count;

    for (size_t i = 0; i < count && most < SX_PROCS_MAX; i++) {
        const struct sx_membership *const alias = written[i].rank == PMIX_RANK_WILDCARD
                                                      ? sx_alias_members(server, uid,
                                                                         written[i].nspace)
                                                      : NULL;

        most += alias != NULL ? sx_membership_size(alias) : 0;
    }
    return most < SX_PROCS_MAX ? most : SX_PROCS_MAX;
}

/* Read the members into @order, each once, as a process of user @uid has written them.  @payer,
 * NULL: nobody, is charged for what they name. */
static pmix_status_t order_read(struct sx_server *server, struct sx_client *payer, uid_t uid,
                                const pmix_proc_t *written, size_t count,
                                struct sx_proc_list *order)
{
    struct order reading = { .server = server };
    const size_t most = members_most(server, uid, written, count);
    pmix_status_t rc = sx_proc_list_reserve(order, most) &&
                               sx_proc_set_init(&reading.set, order, SX_PROCS_MAX, server->seed)
                           ? PMIX_SUCCESS
                           : PMIX_ERR_OUT_OF_RESOURCE;

    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        const size_t end = i + singles_count(server, uid, &written[i], count - i);

        for (; i < end && rc == PMIX_SUCCESS; i++) {
            rc = order_add(&reading, &written[i]);
        }
        if (i < count && rc == PMIX_SUCCESS) {
            rc = sx_alias_each_one(server, uid, &written[i], order_add, &reading);
        }
    }
    sx_proc_set_deinit(&reading.set);
    if (payer != NULL) {
        sx_share_charge(server, payer, reading.named / NAMED_PER_UNIT);
    }
    return rc;
}

/* Sort @sorted, a copy of @order, and thin both. */
static pmix_status_t order_sort(struct sx_proc_list *order, struct sx_proc_list *sorted)
{
    bool *repeated;

    if (!sx_proc_list_sort_marking(sorted, &repeated)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (repeated != NULL) {
        order_thin(order, repeated);
    }
    free(repeated);
    return PMIX_SUCCESS;
}

/* If the members are all processes of one job, name them by its wildcard: some hosts (Slurm)
 * complete no fence of anything else.  This is not done for several jobs, because another node may
 * not have the size of one of them. */
static void signature_shorten(struct sx_server *server, struct sx_arrival *arrival)
{
    pmix_proc_t *const procs = arrival->procs;
    const size_t count = arrival->proc_count;
    const struct sx_nspace *const nspace = count > 0 ? sx_nspace_find(server, procs[0].nspace)
                                                     : NULL;

    if (nspace != NULL && nspace->job_size == count && procs[count - 1].rank == count - 1 &&
        strcmp(procs[count - 1].nspace, nspace->name) == 0) {
        procs[0].rank = PMIX_RANK_WILDCARD;
        arrival->proc_count = 1;
    }
}

#define LIST_STEPS 3u

/* Read a list of members in so many steps, since each takes long: into @listed, as a process of
 * user @uid has @written it, and into @sorted.  @payer: NULL, or who is charged. */
static pmix_status_t list_step(struct sx_server *server, struct sx_client *payer, uid_t uid,
                               unsigned step, const pmix_proc_t *written, size_t count,
                               struct sx_proc_list *listed, struct sx_proc_list *sorted)
{
    switch (step) {
    case 0:
        return order_read(server, payer, uid, written, count, listed);
    case 1:
        return sx_proc_list_append(sorted, listed->all, listed->count) ? PMIX_SUCCESS
                                                                       : PMIX_ERR_OUT_OF_RESOURCE;
    default:
        return order_sort(listed, sorted);
    }
}

static void written_note(struct sx_server *server, struct sx_arrival *arrival)
{
    arrival->written = sx_procs_digest(arrival->procs, arrival->proc_count, server->seed);
    arrival->written_count = arrival->proc_count;
}

/* Processes by their own names alone are the members: they are not copied. */
static bool written_is_list(const struct sx_server *server, struct sx_arrival *arrival)
{
    if (singles_count(server, arrival->client->uid, arrival->procs, arrival->proc_count) <
        arrival->proc_count) {
        return false;
    }
    arrival->listed = (struct sx_proc_list){ .all = arrival->procs,
                                             .count = arrival->proc_count,
                                             .capacity = arrival->proc_count };
    arrival->procs = NULL;
    return true;
}

/* A namespace of the list may have been registered meanwhile.  Return: PMIX_ERR_WOULD_BLOCK: the
 * list may have its wildcard, and is to be read again; else whether the list holds. */
static pmix_status_t list_look(struct sx_server *server, struct sx_arrival *arrival)
{
    if (arrival->registrations == server->collective.registrations) {
        return PMIX_SUCCESS;
    }
    if (arrival->procs != NULL) {
        return PMIX_ERR_WOULD_BLOCK;
    }
    arrival->registrations = server->collective.registrations;
    return sx_ranks_judge(server, arrival->kind, arrival->listed.all, arrival->listed.count);
}

pmix_status_t sx_group_construct_prepare(struct sx_server *server, struct sx_arrival *arrival)
{
    pmix_status_t rc;

    if (arrival->prepared == LIST_STEPS) {
        rc = list_look(server, arrival);
        if (rc != PMIX_ERR_WOULD_BLOCK) {
            return rc;
        }
        sx_proc_list_clear(&arrival->listed);
        sx_proc_list_clear(&arrival->sorted);
        arrival->prepared = 0;
    }
    const unsigned step = arrival->prepared++;

    if (step == 0) {
        rc = sx_ranks_aim(server, arrival->client, arrival);
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
        arrival->registrations = server->collective.registrations;
        written_note(server, arrival);
        if (written_is_list(server, arrival)) {
            return PMIX_ERR_WOULD_BLOCK;
        }
    }
    rc = list_step(server, arrival->client, arrival->client->uid, step, arrival->procs,
                   arrival->proc_count, &arrival->listed, &arrival->sorted);
    return rc == PMIX_SUCCESS ? PMIX_ERR_WOULD_BLOCK : rc;
}

/* Most callers write what the first one wrote, so that list is read once.  @open: NULL for the
 * first. */
static pmix_status_t members_take(struct sx_server *server, struct sx_client *client,
                                  const struct sx_collective *open, struct sx_arrival *arrival)
{
    pmix_status_t rc;

    if (arrival->prepared == 0) {
        written_note(server, arrival);
    }
    if (open != NULL && sx_group_plan_knows(open->plan, arrival)) {
        free(arrival->procs);
        arrival->procs = NULL;
        arrival->proc_count = 0;
        return PMIX_SUCCESS;
    }
    do {
        rc = sx_group_construct_prepare(server, arrival);
        if (rc == PMIX_ERR_WOULD_BLOCK && arrival->may_wait &&
            arrival->listed.count > SX_ARRIVE_AT_ONCE_MAX) {
            return rc; /* the rest takes turns of its own */
        }
    } while (rc == PMIX_ERR_WOULD_BLOCK);

    struct sx_proc_list *const order = &arrival->listed, *const sorted = &arrival->sorted;

    sx_share_charge(server, client, (arrival->written_count + order->count) / PROCS_PER_UNIT);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    free(arrival->procs);
    arrival->procs = sorted->all;
    arrival->proc_count = sorted->count;
    arrival->order = order->all;
    arrival->order_count = order->count;
    arrival->bytes += (order->count + sorted->count) * sizeof(*order->all);
    *order = *sorted = (struct sx_proc_list){ .all = NULL };
    return PMIX_SUCCESS;
}

/* Others may be building the group (@open), waiting for @client or, in a bootstrap, for any
 * process. */
static pmix_status_t name_judge(struct sx_server *server, struct sx_client *client,
                                const struct sx_collective *open, const struct sx_arrival *arrival)
{
    const struct sx_member *const member = open != NULL ? sx_members_find(&open->members, client)
                                                        : NULL;
    const bool may_join = member != NULL ? !member->arrived
                                         : open != NULL && sx_group_bootstrap_both(open, arrival);

    return may_join ? PMIX_SUCCESS : sx_group_name_judge(server, client->uid, arrival->options.id);
}

/* Return: whether @arrival names the same members, or is the first call of the construct. */
static bool means_the_same(const struct sx_members *members, const struct sx_arrival *arrival)
{
    return arrival->procs == NULL || (members->proc_count == arrival->proc_count &&
                                      memcmp(members->procs, arrival->procs,
                                             members->proc_count * sizeof(*members->procs)) == 0);
}

/* @open is compared with what a caller has written.  Return: as its kind's nspace_added. */
static pmix_status_t is_read(struct sx_collective *open)
{
    return sx_list_empty(&open->unread) ? PMIX_SUCCESS : sx_collective_nspaces_read(open);
}

/* Return: the construct of another user that waits for @client, with the members of @arrival; NULL:
 * there is none.  With other members, it is not what @client means. */
static struct sx_collective *others_find(struct sx_server *server, struct sx_client *client,
                                         const struct sx_arrival *arrival)
{
    struct sx_collective *open = NULL;
    bool fits = false;

    while (!fits && !arrival->options.leaders.given &&
           (open = sx_group_construct_next(server, arrival->options.id, open)) != NULL) {
        const struct sx_member *const member = sx_members_find(&open->members, client);

        fits = member != NULL && !member->arrived && !open->plan->is_bootstrap &&
               is_read(open) == PMIX_SUCCESS && means_the_same(&open->members, arrival);
    }
    return fits ? open : NULL;
}

pmix_status_t sx_group_construct_aim(struct sx_server *server, struct sx_client *client,
                                     struct sx_arrival *arrival)
{
    const char *const name = arrival->options.id;
    struct sx_collective *open = name != NULL ? sx_group_being_built(server, client->uid, name)
                                              : NULL;
    pmix_status_t rc = name != NULL ? name_judge(server, client, open, arrival)
                                    : PMIX_ERR_BAD_PARAM;

    if ((arrival->options.group & (SX_GROUP_OPTIONAL | SX_GROUP_FT)) != 0) {
        arrival->options.pardons |= SX_PARDON_BEFORE | SX_PARDON_AFTER;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_group_bootstrap_read(server, client, arrival);
    }
    if (rc == PMIX_SUCCESS && open != NULL) {
        rc = is_read(open);
    }
    if (rc == PMIX_SUCCESS) {
        rc = members_take(server, client, open, arrival);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (!arrival->options.leaders.given) {
        signature_shorten(server, arrival);
    }
    open = open != NULL ? open : others_find(server, client, arrival);
    arrival->space = open != NULL ? open->space
                                  : sx_group_construct_space(server, client->uid, name);
    return open != NULL && sx_group_bootstrap_both(open, arrival)
               ? sx_group_bootstrap_expect(open, arrival)
               : rc;
}

pmix_status_t sx_group_construct_takes(struct sx_collective *collective, struct sx_client *client,
                                       struct sx_arrival *arrival)
{
    if (!arrival->options.leaders.given && !means_the_same(&collective->members, arrival)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "%s.%u names other members of the group %s than those who came before",
                        client->nspace->name, client->rank, collective->id);
    }
    pmix_status_t rc = sx_group_bootstrap_take(collective, arrival);

    if (rc == PMIX_SUCCESS && !sx_users_add(&collective->plan->users, client->uid)) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_group_plan_take(collective->plan, client, arrival);
    }
    return rc == PMIX_SUCCESS ? sx_group_construct_join(collective, client, arrival) : rc;
}

/* The last step: the list that was read counts from now on. */
static void reread_end(struct sx_collective *collective)
{
    struct sx_group_plan *const plan = collective->plan;

    free(plan->order);
    plan->order = plan->reread.listed.all;
    plan->order_count = plan->reread.listed.count;
    sx_members_rename(&collective->members, &plan->reread.sorted);
    plan->reread.listed = plan->reread.sorted = (struct sx_proc_list){ .all = NULL };
    plan->reread.done = 0;
}

pmix_status_t sx_group_construct_nspace_added(struct sx_collective *collective)
{
    struct sx_server *const server = collective->members.server;
    struct sx_group_plan *const plan = collective->plan;
    pmix_status_t rc;

    if (plan->is_bootstrap) {
        return PMIX_SUCCESS;
    }
    if (plan->reread.done == LIST_STEPS) {
        if (plan->reread.registrations == server->collective.registrations) {
            reread_end(collective);
            return PMIX_SUCCESS;
        }
        sx_group_plan_reread_restart(plan);
    }
    if (plan->reread.done == 0) {
        rc = sx_ranks_judge(server, collective->kind->number, plan->order, plan->order_count);
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
        plan->reread.registrations = server->collective.registrations;
    }
    rc = list_step(server, NULL, collective->members.uid, plan->reread.done++, plan->order,
                   plan->order_count, &plan->reread.listed, &plan->reread.sorted);
    if (rc != PMIX_SUCCESS) {
        sx_group_plan_reread_restart(plan);
        return rc;
    }
    return PMIX_ERR_WOULD_BLOCK;
}

/* ---- all have called ------------------------------------------------------------------------- */

/* Over several nodes, each server has sent the list of processes that have called on its node. */
static bool has_come(const struct sx_collective *collective, const pmix_proc_t *proc)
{
    const struct sx_agreed *const agreed = &collective->agreed;
    const struct sx_members *const members = &collective->members;

    if (agreed->members.count > 0) {
        return sx_alias_made_has(&agreed->members, proc->nspace, proc->rank);
    }
    const struct sx_nspace *const nspace = sx_nspace_find(members->server, proc->nspace);
    struct sx_client *const client = nspace != NULL ? sx_client_find(nspace, proc->rank) : NULL;

    return client != NULL && sx_members_find(members, client) != NULL;
}

static bool is_incomplete(const struct sx_collective *collective)
{
    return collective->agreed.members.count > 0
               ? collective->agreed.members.count < collective->plan->order_count
               : collective->members.incomplete;
}

/* The construct continues without processes that have ended: they do not become members. */
static pmix_status_t order_complete(const struct sx_collective *collective)
{
    struct sx_group_plan *const plan = collective->plan;
    struct sx_proc_list left = { .all = NULL };
    bool added = true;

    for (size_t i = 0; i < plan->order_count && added; i++) {
        const pmix_proc_t *const proc = &plan->order[i];

        if (has_come(collective, proc)) {
            added = sx_proc_list_add(&left, proc->nspace, proc->rank);
        }
    }
    if (!added) {
        sx_proc_list_clear(&left);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    free(plan->order);
    plan->order = left.all;
    plan->order_count = left.count;
    return PMIX_SUCCESS;
}

static pmix_status_t group_make(struct sx_collective *collective, uint64_t *ret_subject)
{
    struct sx_server *const server = collective->members.server;
    const struct sx_group_plan *const plan = collective->plan;
    const struct sx_group_options options = {
        .name = collective->id,
        .notify = (collective->group & SX_GROUP_NOTIFY) != 0,
        .goes_on = (collective->group & SX_GROUP_FT) != 0,
        .wants_context = (collective->group & SX_GROUP_CONTEXT) != 0,
        .context_id = plan->context_id,
        .procs = plan->order,
        .proc_count = plan->order_count,
    };
    struct sx_membership_entry *group;
    pmix_status_t rc = sx_group_make(server, &options, &group);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_group_plan_give(server, plan, &group->published.head);
    if (rc == PMIX_SUCCESS) {
        *ret_subject = group->published.head.subject;
        sx_membership_ended_leave(*ret_subject, &collective->members, sx_group_member_gone);
    } else {
        sx_group_end(server, group);
    }
    return rc;
}

pmix_status_t sx_group_construct_conclude(struct sx_collective *collective, uint64_t *ret_subject)
{
    pmix_status_t rc = sx_group_bootstrap_settle(collective);
    const bool incomplete = rc == PMIX_SUCCESS && is_incomplete(collective);

    if (rc == PMIX_SUCCESS && incomplete) {
        rc = order_complete(collective);
    }
    if (rc == PMIX_SUCCESS) {
        rc = group_make(collective, ret_subject);
    }
    return rc == PMIX_SUCCESS && incomplete && (collective->group & SX_GROUP_OPTIONAL) != 0
               ? PMIX_ERR_PARTIAL_SUCCESS
               : rc;
}

/* ---- destruct -------------------------------------------------------------------------------- */

static struct sx_membership_entry *group_find(const struct sx_server *server, uid_t uid,
                                              const char *name)
{
    struct sx_membership_entry *const entry = sx_memberships_find_of(server, uid, name);

    return entry != NULL && entry->published.head.kind == SX_MEMBERSHIP_GROUP ? entry : NULL;
}

pmix_status_t sx_group_destruct_aim(struct sx_server *server, struct sx_client *client,
                                    struct sx_arrival *arrival)
{
    const struct sx_membership_entry *const group = group_find(server, client->uid,
                                                               arrival->procs[0].nspace);

    if (group == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    if (!sx_membership_has(group, client)) {
        return PMIX_ERR_NOT_A_MEMBER;
    }
    if (sx_membership_is_waited_for(server, group, client, SX_COLLECTIVE_GROUP_DESTRUCT)) {
        return PMIX_ERR_INVALID_OPERATION;
    }
    arrival->procs[0].rank = PMIX_RANK_WILDCARD;
    arrival->proc_count = 1;
    if ((group->published.head.flags & SX_MEMBERSHIP_NOTIFY) != 0) {
        arrival->options.pardons |= SX_PARDON_BEFORE; /* the others get an event instead */
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_group_destruct_conclude(struct sx_collective *collective, uint64_t *ret_subject)
{
    struct sx_server *const server = collective->members.server;
    struct sx_membership_entry *const group = group_find(server, collective->members.uid,
                                                         collective->members.procs[0].nspace);

    (void)ret_subject;
    if (group != NULL) {
        sx_group_end(server, group);
    }
    return PMIX_SUCCESS;
}

/* ---- a member ends --------------------------------------------------------------------------- */

/* Members as builders of a group, and the events that a verdict
 * causes. */

static void *member_next(void *owner, void *at, struct sx_group_builder *ret)
{
    const struct sx_members *const members = &((struct sx_collective *)owner)->members;
    struct sx_member *const member = at == NULL ? members->all : (struct sx_member *)at + 1;

    if (member == members->all + members->count) {
        return NULL;
    }
    *ret = (struct sx_group_builder){ .client = member->client,
                                      .has_called = member->arrived,
                                      .receives = member->receives };
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
    sx_members_find(&collective->members, client)->receives = arrival->receives;
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

void sx_group_construct_receive(struct sx_collective *collective, struct sx_client *client,
                                const struct sx_group_said *said)
{
    const struct sx_group_verdict verdict = sx_group_lead_receive(&collective->plan->lead, client,
                                                                  said);

    if (verdict.is_over || verdict.lost != NULL) {
        act(collective, &verdict);
    }
}

void sx_group_construct_missed(struct sx_server *server, struct sx_client *client, uint64_t first,
                               uint64_t next)
{
    uint64_t looks = 0;

    SX_LIST_EACH(it, &client->operations) {
        const struct sx_member *const member = SX_LIST_ENTRY(it, struct sx_member, of_client);
        struct sx_collective *const collective = sx_collective_of(member);

        if (collective->plan != NULL) {
            sx_group_lead_missed(&collective->plan->lead, client, first, next);
        }
        looks++;
    }
    sx_share_charge(server, client, looks / NAMED_PER_UNIT);
}

/* ---- answers --------------------------------------------------------------------------------- */

bool sx_group_on_said(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns)
{
    const struct sx_group_said *const said = frame->opened.head;
    struct sx_collective *const construct = sx_group_being_built(server, client->uid, said->group);
    struct sx_invitation *const invitation = sx_invitation_find_of(server, client->uid,
                                                                   said->group);

    (void)now_ns;
    if (said->word > SX_GROUP_ABORTS) {
        return false;
    }
    if (construct != NULL && construct->plan != NULL) {
        sx_group_construct_receive(construct, client, said);
    } else if (invitation != NULL) {
        sx_invite_receive(server, invitation, client, said);
    }
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_bootstrap.c - the signature grows with each process that calls. */
#include "server/group/group_construct.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "server/collective/collective.h"
#include "server/model/proc_list.h"

/* ---- processes that a caller names ----------------------------------------------------------- */

static bool leads(const struct sx_arrival *arrival)
{
    return arrival->options.leaders.given && arrival->options.leaders.number > 0;
}

static bool is_alone(const struct sx_client *client, const struct sx_arrival *arrival)
{
    return arrival->proc_count == 1 && arrival->procs[0].rank == client->rank &&
           strcmp(arrival->procs[0].nspace, client->nspace->name) == 0;
}

/* @proc is added to the group @name.  Return: PMIX_SUCCESS; PMIX_ERR_NO_PERMISSIONS, logged. */
static pmix_status_t user_judge(struct sx_server *server, const struct sx_client *client,
                                const pmix_proc_t *proc, const char *name)
{
    const struct sx_nspace *const nspace = sx_nspace_find(server, proc->nspace);
    const struct sx_client *const added = nspace != NULL ? sx_client_find(nspace, proc->rank)
                                                         : NULL;

    return added == NULL || added->uid == client->uid
               ? PMIX_SUCCESS
               : SX_RAISE(PMIX_ERR_NO_PERMISSIONS,
                          "%s.%u of user %u adds %s.%u of user %u to the group %s: let all its "
                          "members call with the list of all of them, without \"%s\"",
                          client->nspace->name, client->rank, (unsigned)client->uid, proc->nspace,
                          proc->rank, (unsigned)added->uid, name, PMIX_GROUP_BOOTSTRAP);
}

pmix_status_t sx_group_bootstrap_read(struct sx_server *server, struct sx_client *client,
                                      struct sx_arrival *arrival)
{
    const struct sx_some_procs *const added = &arrival->options.added;
    struct sx_proc_list who = { .all = NULL };

    if (added->count > 0 && !leads(arrival)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "%s adds members to %s without \"%s\"",
                        client->nspace->name, arrival->options.id, PMIX_GROUP_BOOTSTRAP);
    }
    if (!arrival->options.leaders.given || arrival->is_bootstrap_read) {
        return PMIX_SUCCESS;
    }
    if (!is_alone(client, arrival)) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "%s.%u lists others in a bootstrap of %s: those are for \"%s\"",
                        client->nspace->name, client->rank, arrival->options.id,
                        PMIX_GROUP_ADD_MEMBERS);
    }
    bool ok = sx_proc_list_add(&who, client->nspace->name, client->rank);

    for (size_t i = 0; i < added->count && ok; i++) {
        const char *const nspace = added->all[i].nspace;

        ok = sx_proc_list_add(&who, nspace[0] != '\0' ? nspace : client->nspace->name,
                              added->all[i].rank);
    }
    pmix_status_t rc = ok ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;

    for (size_t i = 1; i < who.count && rc == PMIX_SUCCESS; i++) {
        rc = user_judge(server, client, &who.all[i], arrival->options.id);
    }
    if (rc != PMIX_SUCCESS) {
        sx_proc_list_clear(&who);
        return rc;
    }
    free(arrival->procs);
    arrival->procs = who.all;
    arrival->proc_count = who.count;
    arrival->is_bootstrap_read = true;
    return PMIX_SUCCESS;
}

/* ---- leaders --------------------------------------------------------------------------------- */

static pmix_status_t leader_judge(const struct sx_group_plan *plan,
                                  const struct sx_arrival *arrival)
{
    const uint32_t leaders = arrival->options.leaders.number;

    return plan->leaders == 0 || (plan->leaders == leaders && plan->leaders_come < leaders)
               ? PMIX_SUCCESS
               : SX_RAISE(PMIX_ERR_BAD_PARAM,
                          "one of %u leaders for the group %s, where %u of %u have come", leaders,
                          arrival->options.id, plan->leaders_come, plan->leaders);
}

static pmix_status_t leader_take(struct sx_group_plan *plan, const struct sx_arrival *arrival)
{
    if (!sx_proc_list_append(&plan->named, arrival->order, arrival->order_count)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    plan->leaders = arrival->options.leaders.number;
    plan->leaders_come++;
    return PMIX_SUCCESS;
}

/* ---- later callers --------------------------------------------------------------------------- */

/* Return: as sx_group_bootstrap_expect. */
static pmix_status_t is_there(struct sx_collective *open, const pmix_proc_t *proc,
                              struct sx_client **ret)
{
    const struct sx_nspace *const nspace = sx_nspace_find(open->members.server, proc->nspace);
    struct sx_client *const client = nspace != NULL ? sx_client_find(nspace, proc->rank) : NULL;

    if (client == NULL) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "%s.%u, added to the group %s, is no process of this node", proc->nspace,
                        proc->rank, open->id);
    }
    const pmix_status_t end = sx_member_end(&open->kind->before, client);

    if (end != PMIX_SUCCESS) {
        sx_collective_end_soon(open, end);
    }
    *ret = client;
    return end;
}

bool sx_group_bootstrap_both(const struct sx_collective *open, const struct sx_arrival *arrival)
{
    return open->plan->is_bootstrap && arrival->options.leaders.given;
}

pmix_status_t sx_group_bootstrap_expect(struct sx_collective *open,
                                        const struct sx_arrival *arrival)
{
    struct sx_members *const members = &open->members;
    struct sx_proc_list all = { .all = NULL };
    pmix_status_t rc = leads(arrival) ? leader_judge(open->plan, arrival) : PMIX_SUCCESS;
    struct sx_client *client = NULL;

    for (size_t i = 0; i < arrival->proc_count && rc == PMIX_SUCCESS; i++) {
        rc = is_there(open, &arrival->procs[i], &client);
    }
    if (rc == PMIX_SUCCESS && !(sx_proc_list_append(&all, members->procs, members->proc_count) &&
                                sx_proc_list_append(&all, arrival->procs, arrival->proc_count))) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc != PMIX_SUCCESS) {
        sx_proc_list_clear(&all);
        return rc;
    }
    sx_proc_list_sort(&all);
    sx_members_rename(members, &all);
    for (size_t i = 0; i < arrival->proc_count && rc == PMIX_SUCCESS; i++) {
        rc = is_there(open, &arrival->procs[i], &client);
        rc = rc == PMIX_SUCCESS ? sx_members_expect(members, client) : rc;
    }
    sx_shown_changed(members->server, &open->shown);
    return rc;
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Processes of another node would wait for a construct that no host has received: its processes are
 * unknown until all have called. */
static pmix_status_t are_here(const struct sx_collective *collective)
{
    return sx_members_absent(&collective->members).elsewhere
               ? SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                          "a leader adds processes of other nodes to the group %s: let all its "
                          "members call with the list of all of them, without \"%s\"",
                          collective->id, PMIX_GROUP_BOOTSTRAP)
               : PMIX_SUCCESS;
}

pmix_status_t sx_group_bootstrap_take(struct sx_collective *collective,
                                      const struct sx_arrival *arrival)
{
    const bool is_bootstrap = arrival->options.leaders.given;

    if (collective->plan == NULL) {
        collective->plan = calloc(1, sizeof(*collective->plan));
        if (collective->plan == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        collective->plan->is_bootstrap = is_bootstrap;
    }
    if (collective->plan->is_bootstrap != is_bootstrap) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "the members of the group %s have to be listed by all, or by none of them",
                        collective->id);
    }
    const pmix_status_t rc = is_bootstrap ? are_here(collective) : PMIX_SUCCESS;

    return rc == PMIX_SUCCESS && leads(arrival) ? leader_take(collective->plan, arrival) : rc;
}

bool sx_group_bootstrap_awaits(const struct sx_collective *collective)
{
    const struct sx_group_plan *const plan = collective->plan;

    return plan->is_bootstrap && (plan->leaders == 0 || plan->leaders_come < plan->leaders);
}

pmix_status_t sx_group_bootstrap_settle(struct sx_collective *collective)
{
    struct sx_group_plan *const plan = collective->plan;

    if (!plan->is_bootstrap) {
        return PMIX_SUCCESS;
    }
    sx_proc_list_sort(&plan->named);
    if (plan->named.count != collective->members.proc_count) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "%zu processes have come to the group %s, but its leaders name %zu",
                        collective->members.proc_count, collective->id, plan->named.count);
    }
    free(plan->order);
    plan->order = plan->named.all;
    plan->order_count = plan->named.count;
    plan->named = (struct sx_proc_list){ .all = NULL };
    return sx_group_plan_arrange(plan->order, plan->order_count, plan->final.all,
                                 plan->final.count);
}

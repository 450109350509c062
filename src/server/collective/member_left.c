/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* member_left.c - operations are found by the names in their signatures. */
#include "server/collective/engine.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/clock.h"
#include "server/collective/connect_nodes.h"
#include "server/event/event.h"
#include "server/port/port.h"

static void list_has_ended(struct sx_collective *collective, void *arg)
{
    (void)arg;
    if (!collective->is_over || collective->is_owed ||
        (collective->is_failed && !collective->with_host)) {
        collective->by_list = true;
        sx_collective_end_soon(collective, PMIX_ERR_NOT_FOUND);
    } else if (collective->is_failed) {
        sx_failed_forget(collective);
    }
}

void sx_membership_end(struct sx_server *server, struct sx_membership_entry *entry)
{
    const char *const name = sx_membership_name(&entry->published);

    sx_collectives_of_list(server, entry, list_has_ended, NULL);
    sx_connect_nodes_end(server, name);
    if (entry->published.head.kind == SX_MEMBERSHIP_CONNECTED) {
        sx_table_remove(&server->collective.connects, &entry->written);
    }
    sx_memberships_remove(server, entry);
}

/* Return: whether the end of @client, which is about to leave the list, fails @collective.  The
 * host gets that failure with the processes with which the members have called, as on the other
 * nodes.  Kinds that the servers agree on are known by their list, or end with the event. */
static bool is_failed_by(const struct sx_collective *collective, struct sx_client *client)
{
    const struct sx_member *const member = sx_members_find(&collective->members, client);
    const struct sx_member_ends ends = sx_collective_ends(collective, member->arrived);
    const pmix_status_t end = sx_member_end(&ends, client);

    return !collective->kind->commits && !collective->is_over && !collective->with_host &&
           end != PMIX_SUCCESS && end != PMIX_ERR_PARTIAL_SUCCESS;
}

struct departure {
    struct sx_client *client;
    uint8_t pardons;
};

static void client_leaves_list(struct sx_collective *collective, void *arg)
{
    const struct departure *const departure = arg;

    if (sx_members_find(&collective->members, departure->client) != NULL) {
        collective->is_bound = true;
        collective->pardons |= departure->pardons;
        collective->is_kept |= is_failed_by(collective, departure->client);
    }
}

bool sx_membership_is_waited_for(const struct sx_server *server,
                                 const struct sx_membership_entry *entry, struct sx_client *client,
                                 enum sx_collective_kind kind)
{
    pmix_proc_t all;

    PMIx_Load_procid(&all, sx_membership_name(&entry->published), PMIX_RANK_WILDCARD);
    const struct sx_op_signature meeting = { .kind = kind,
                                             .procs = { .all = &all, .count = 1 },
                                             .space = entry->space };
    const struct sx_collective *const open = sx_collective_open_of(
        sx_op_signature_oldest(server, &meeting, sx_op_signature_hash(server, &meeting)));
    const struct sx_member *const member = open != NULL ? sx_members_find(&open->members, client)
                                                        : NULL;

    return member != NULL && member->arrived;
}

bool sx_membership_left(struct sx_server *server, const struct sx_membership_entry *entry,
                        struct sx_proc_list *ret)
{
    const uint32_t size = sx_membership_size(&entry->published);
    bool here = false;
    pmix_proc_t proc;

    for (uint32_t rank = 0; rank < size; rank++) {
        if (sx_membership_member(&entry->published, rank, &proc) == PMIX_SUCCESS) {
            const struct sx_nspace *const nspace = sx_nspace_find(server, proc.nspace);
            const struct sx_client *const client = nspace != NULL
                                                       ? sx_client_find(nspace, proc.rank)
                                                       : NULL;

            here |= client != NULL && client->state == SX_CLIENT_CONNECTED;
            (void)sx_proc_list_add(ret, proc.nspace, proc.rank);
        }
    }
    return here;
}

/* Operations that the host does not have yet will be sent to it with the processes that their list
 * has now: all nodes do so. */
static void list_has_changed(struct sx_collective *collective, void *arg)
{
    (void)arg;
    if (!collective->is_over && !collective->with_host && !collective->is_kept) {
        const pmix_status_t rc = sx_members_mean_anew(&collective->members);

        if (rc != PMIX_SUCCESS) {
            collective->by_list = true;
            sx_collective_end_soon(collective, rc);
        }
    }
}

pmix_status_t sx_membership_leave(struct sx_server *server, struct sx_membership_entry *entry,
                                  const pmix_proc_t *proc, struct sx_proc_list *left)
{
    const pmix_status_t rc = sx_memberships_leave(server, entry, proc);

    if (rc == PMIX_SUCCESS && !sx_membership_left(server, entry, left)) {
        sx_membership_end(server, entry);
    } else if (rc == PMIX_SUCCESS) {
        sx_collectives_of_list(server, entry, list_has_changed, NULL);
    }
    return rc;
}

/* Return: whether one of @procs is on another node. */
static bool is_elsewhere(struct sx_server *server, const struct sx_proc_list *procs)
{
    for (size_t i = 0; i < procs->count; i++) {
        const struct sx_nspace *const nspace = sx_nspace_find(server, procs->all[i].nspace);

        if (nspace == NULL || sx_client_find(nspace, procs->all[i].rank) == NULL) {
            return true;
        }
    }
    return false;
}

void sx_membership_member_gone(struct sx_server *server, struct sx_membership_entry *entry,
                               const struct sx_leaver *leaver, const struct sx_member_gone *gone)
{
    struct departure departure = { .client = leaver->client, .pardons = gone->pardons };
    struct sx_client *const known = leaver->client->nspace != NULL ? leaver->client : NULL;
    struct sx_proc_list left = { .all = NULL };

    sx_collectives_of_list(server, entry, client_leaves_list, &departure);
    if (sx_membership_leave(server, entry, &leaver->proc, &left) != PMIX_SUCCESS) {
        sx_membership_end(server, entry); /* memory is out: better no list than a wrong one */
    } else if (gone->code != PMIX_SUCCESS && !gone->is_quiet) {
        sx_event_to_list(server, gone->code, known, &leaver->proc, gone->name, &left, gone->note);
    } else if (gone->code != PMIX_SUCCESS && is_elsewhere(server, &left)) {
        sx_event_to_servers(server, gone->code, known, &leaver->proc, gone->note);
    }
    sx_proc_list_clear(&left);
}

bool sx_membership_has(const struct sx_membership_entry *entry, const struct sx_client *client)
{
    return client->nspace != NULL && sx_membership_rank(&entry->published, client->nspace->name,
                                                        client->rank) != PMIX_RANK_INVALID;
}

/* ---- members of many lists ------------------------------------------------------------------ */

/* Move the links of lists of @kind to @busy whose names are in an operation of @client. */
static void busy_take(struct sx_server *server, const struct sx_leaver *leaver,
                      enum sx_membership_kind kind, const struct sx_collective *collective,
                      struct sx_list *busy)
{
    const struct sx_members *const members = &collective->members;

    for (size_t i = 0; i < members->proc_count; i++) {
        const char *const name = members->procs[i].nspace;
        const struct sx_membership_entry *const entry =
            i == 0 || strcmp(members->procs[i - 1].nspace, name) != 0
                ? sx_memberships_find_of(server, members->uid, name)
                : NULL;
        const uint32_t rank = entry != NULL && entry->published.head.kind == kind
                                  ? sx_membership_rank(&entry->published, leaver->proc.nspace,
                                                       leaver->proc.rank)
                                  : PMIX_RANK_INVALID;

        if (rank < (entry != NULL ? entry->belongings.count : 0) &&
            sx_belonging_at(&entry->belongings, rank)->link.next != NULL) {
            sx_list_remove(&sx_belonging_at(&entry->belongings, rank)->link);
            sx_list_append(busy, &sx_belonging_at(&entry->belongings, rank)->link);
        }
    }
}

static void busy_find(struct sx_server *server, const struct sx_leaver *leaver,
                      enum sx_membership_kind kind, struct sx_list *busy)
{
    sx_list_init(busy);
    SX_LIST_EACH(it, &leaver->client->operations) {
        const struct sx_member *const member = SX_LIST_ENTRY(it, struct sx_member, of_client);

        busy_take(server, leaver, kind, sx_collective_of(member), busy);
    }
}

/* The client that leaves is charged for leaving @entry; once it is gone, the owner of the list
 * is. */
static void leaving_charge(struct sx_server *server, const struct sx_membership_entry *entry,
                           const struct sx_leaver *leaver)
{
    struct sx_client *const client = leaver->client;
    const uint64_t units = 1 + sx_membership_size(&entry->published) / SX_MEMBERS_PER_UNIT;

    if (sx_client_is_here(client)) {
        sx_share_charge(server, client, units);
    } else {
        sx_memberships_charge_owner(server, entry, units);
    }
}

/* Leave up to @max of @lists, fewer when they are long.  Return: whether none is left. */
static bool lists_leave(struct sx_server *server, const struct sx_leaver *leaver,
                        struct sx_list *lists, size_t max)
{
    size_t member_count = 0, count = 0;

    while (!sx_list_empty(lists) && count++ < max &&
           (member_count < SX_LEAVE_MEMBERS_MAX || max > SX_LEAVE_MAX)) {
        struct sx_membership_entry *const entry =
            SX_LIST_ENTRY(lists->next, struct sx_belonging, link)->entry;

        member_count += sx_membership_size(&entry->published);
        leaving_charge(server, entry, leaver);
        leaver->fn(server, entry, leaver);
    }
    return sx_list_empty(lists);
}

static void leaver_free(struct sx_leaver *leaver)
{
    while (sx_list_pop(&leaver->lists) != NULL) {
    }
    sx_list_remove(&leaver->link);
    sx_client_release(leaver->client);
    free(leaver);
}

static void leavers_step(void *arg, uint64_t now_ns);

/* Return: false when the loop has stopped. */
static bool leavers_post(struct sx_server *server)
{
    struct sx_collective_state *const all = &server->collective;

    if (!all->leave_posted) {
        all->leave = (struct sx_loop_post){ .fn = leavers_step, .arg = server };
        all->leave_posted = sx_loop_post(server->loop, &all->leave) == PMIX_SUCCESS;
    }
    return all->leave_posted;
}

static void leavers_step(void *arg, uint64_t now_ns)
{
    struct sx_server *const server = arg;
    struct sx_collective_state *const all = &server->collective;

    (void)now_ns;
    all->leave_posted = false;
    if (sx_list_empty(&all->leavers)) {
        return;
    }
    struct sx_leaver *const leaver = SX_LIST_ENTRY(all->leavers.next, struct sx_leaver, link);

    if (lists_leave(server, leaver, &leaver->lists, SX_LEAVE_MAX)) {
        leaver_free(leaver);
    }
    if (!sx_list_empty(&all->leavers)) {
        (void)leavers_post(server);
    }
}

/* Leave the rest of @lists in later turns.  Return: false when this is not possible. */
static bool rest_keep(struct sx_server *server, const struct sx_leaver *leaver,
                      struct sx_list *lists)
{
    struct sx_leaver *const rest = malloc(sizeof(*rest));

    if (rest == NULL || !leavers_post(server)) {
        free(rest);
        return false;
    }
    *rest = *leaver;
    sx_client_retain(rest->client);
    sx_list_init(&rest->lists);
    sx_list_splice(&rest->lists, lists);
    sx_list_append(&server->collective.leavers, &rest->link);
    return true;
}

void sx_membership_each_of(struct sx_server *server, struct sx_client *client,
                           enum sx_membership_kind kind, sx_leaver_fn fn)
{
    struct sx_list *const lists = &client->belongings[kind];
    struct sx_list busy;

    if (sx_list_empty(lists)) {
        return;
    }
    const struct sx_leaver leaver = { .proc = sx_nspace_proc(client->nspace, client->rank),
                                      .client = client,
                                      .fn = fn };

    busy_find(server, &leaver, kind, &busy);
    (void)lists_leave(server, &leaver, &busy, SIZE_MAX);
    if (!lists_leave(server, &leaver, lists, SX_LEAVE_MAX) && !rest_keep(server, &leaver, lists)) {
        (void)lists_leave(server, &leaver, lists, SIZE_MAX);
    }
}

void sx_membership_ended_leave(uint64_t subject, const struct sx_members *members, sx_leaver_fn fn)
{
    struct sx_membership_entry *entry;

    for (size_t i = 0;
         i < members->count && (entry = sx_memberships_of(members->server, subject)) != NULL; i++) {
        const struct sx_member *const member = &members->all[i];
        struct sx_client *const client = member->client;

        if (sx_membership_has(entry, client) &&
            (sx_member_is_replaced(member) ||
             sx_member_end(&sx_nobody_may_go, client) != PMIX_SUCCESS)) {
            fn(members->server, entry,
               &(struct sx_leaver){ .proc = sx_nspace_proc(client->nspace, client->rank),
                                    .client = client,
                                    .fn = fn });
        }
    }
}

bool sx_membership_is_leaving(const struct sx_server *server, const struct sx_client *client)
{
    SX_LIST_EACH(it, &server->collective.leavers) {
        if (SX_LIST_ENTRY(it, struct sx_leaver, link)->client == client) {
            return true;
        }
    }
    return false;
}

void sx_membership_leavers_deinit(struct sx_server *server)
{
    struct sx_list *const all = &server->collective.leavers;

    while (!sx_list_empty(all)) {
        leaver_free(SX_LIST_ENTRY(all->next, struct sx_leaver, link));
    }
}

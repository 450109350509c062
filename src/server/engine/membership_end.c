/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership_end.c - operations are found by the names in their signatures. */
#include "server/engine/membership_end.h"

#include <string.h>

#include <pmix.h>

#include "base/clock.h"
#include "server/engine/event_made.h"
#include "server/engine/meeting.h"
#include "server/engine/span.h"

void sx_membership_end(struct sx_server *server, struct sx_membership_entry *entry)
{
    const char *const name = sx_membership_name(&entry->published);

    SX_LIST_EACH(it, &server->collectives) {
        struct sx_collective *const collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if ((!collective->is_over || collective->is_owed) &&
            sx_members_have_name(&collective->members, name)) {
            sx_collective_end_soon(collective, PMIX_ERR_NOT_FOUND);
        }
    }
    sx_span_end(server, name);
    if (entry->published.head.kind == SX_MEMBERSHIP_CONNECTED) {
        sx_table_remove(&server->connects, &entry->written);
    }
    sx_memberships_remove(server, entry);
}

static void collectives_tell(struct sx_server *server, const struct sx_membership_entry *entry,
                             struct sx_client *client, uint8_t pardons)
{
    SX_LIST_EACH(it, &server->collectives) {
        struct sx_collective *const collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (sx_members_have_name(&collective->members, sx_membership_name(&entry->published)) &&
            sx_members_find(&collective->members, client) != NULL) {
            collective->is_bound = true;
            collective->pardons |= pardons;
        }
    }
}

bool sx_membership_is_waited_for(const struct sx_server *server,
                                 const struct sx_membership_entry *entry, struct sx_client *client,
                                 enum sx_collective_kind kind)
{
    pmix_proc_t all;

    PMIx_Load_procid(&all, sx_membership_name(&entry->published), PMIX_RANK_WILDCARD);
    const struct sx_meeting meeting = { .kind = kind, .procs = &all, .proc_count = 1 };
    const struct sx_collective *const open = sx_meeting_oldest(server, &meeting,
                                                               sx_meeting_hash(server, &meeting));
    const struct sx_member *const member = open != NULL ? sx_members_find(&open->members, client)
                                                        : NULL;

    return member != NULL && member->arrived && !open->is_over;
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

/* What the host does not have yet is asked of it with the processes that @list has now: so it is on
 * all nodes. */
static void collectives_mean_anew(struct sx_server *server, const char *list)
{
    SX_LIST_EACH(it, &server->collectives) {
        struct sx_collective *const collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (sx_members_have_name(&collective->members, list) && !collective->is_over &&
            !collective->with_host) {
            const pmix_status_t rc = sx_members_mean_anew(&collective->members);

            if (rc != PMIX_SUCCESS) {
                sx_collective_end_soon(collective, rc);
            }
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
        collectives_mean_anew(server, sx_membership_name(&entry->published));
    }
    return rc;
}

/* Whether one of @procs is on another node. */
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
                               struct sx_client *client, const struct sx_member_gone *gone)
{
    const pmix_proc_t self = sx_nspace_proc(client->nspace, client->rank);
    struct sx_proc_list left = { .all = NULL };

    collectives_tell(server, entry, client, gone->pardons);
    if (sx_membership_leave(server, entry, &self, &left) != PMIX_SUCCESS) {
        sx_membership_end(server, entry); /* memory is out: better none than a wrong one */
    } else if (gone->code != PMIX_SUCCESS && !gone->is_quiet) {
        sx_event_to_list(server, gone->code, client, gone->name, &left, gone->note);
    } else if (gone->code != PMIX_SUCCESS && is_elsewhere(server, &left)) {
        sx_event_to_servers(server, gone->code, client, gone->note);
    }
    sx_proc_list_clear(&left);
}

bool sx_membership_has(const struct sx_membership_entry *entry, const struct sx_client *client)
{
    return client->nspace != NULL && sx_membership_rank(&entry->published, client->nspace->name,
                                                        client->rank) != PMIX_RANK_INVALID;
}

/* Return: NULL when there is none. */
static struct sx_membership_entry *first_of(const struct sx_client *client,
                                            enum sx_membership_kind kind)
{
    const struct sx_list *const all = &client->belongings[kind];

    return sx_list_empty(all) ? NULL : SX_LIST_ENTRY(all->next, struct sx_belonging, link)->entry;
}

void sx_membership_each_of(struct sx_server *server, struct sx_client *client,
                           enum sx_membership_kind kind,
                           void (*fn)(struct sx_server *server, struct sx_membership_entry *entry,
                                      struct sx_client *client))
{
    struct sx_membership_entry *entry;

    while ((entry = first_of(client, kind)) != NULL) {
        fn(server, entry, client);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* belonging.c - hang links at clients, take them off, and go through those of one client. */
#include "server/model/membership.h"

#include <stdlib.h>

#include "base/util.h"
#include "server/model/state.h"

#define LISTS_PER_UNIT 8u /* lists searched for a member: share.h */

bool sx_belongings_new(struct sx_belongings *ret, size_t count)
{
    *ret = (struct sx_belongings){ .count = count };
    if (count > SX_BELONGINGS_FEW) {
        ret->many = calloc(count, sizeof(*ret->many));
    }
    return ret->many != NULL || count <= SX_BELONGINGS_FEW;
}

/* Return: NULL when @rank of @entry is not a client here. */
static struct sx_client *client_of(struct sx_server *server,
                                   const struct sx_membership_entry *entry, uint32_t rank)
{
    pmix_proc_t proc;
    const struct sx_nspace *const nspace = sx_membership_member(&entry->published, rank, &proc) ==
                                                   PMIX_SUCCESS
                                               ? sx_nspace_find(server, proc.nspace)
                                               : NULL;

    return nspace != NULL ? sx_client_find(nspace, proc.rank) : NULL;
}

void sx_belongings_hang(struct sx_server *server, struct sx_membership_entry *entry)
{
    for (uint32_t rank = 0; rank < entry->belongings.count; rank++) {
        struct sx_belonging *const belonging = sx_belonging_at(&entry->belongings, rank);
        struct sx_client *const client = client_of(server, entry, rank);

        belonging->entry = entry;
        if (client != NULL) {
            sx_list_append(&client->belongings[entry->published.head.kind], &belonging->link);
        }
    }
}

void sx_belongings_leave(struct sx_belongings *belongings, uint32_t rank)
{
    struct sx_list *const link = rank < belongings->count ? &sx_belonging_at(belongings, rank)->link
                                                          : NULL;

    if (link != NULL && link->next != NULL) {
        sx_list_remove(link);
    }
}

void sx_belongings_clear(struct sx_belongings *belongings)
{
    for (uint32_t rank = 0; rank < belongings->count; rank++) {
        sx_belongings_leave(belongings, rank);
    }
    free(belongings->many);
    *belongings = (struct sx_belongings){ .count = 0 };
}

/* ---- the lists of a client ------------------------------------------------------------------- */

bool sx_memberships_join(struct sx_server *server, struct sx_client *client, const char *nspace)
{
    static const enum sx_membership_kind kinds[] = { SX_MEMBERSHIP_CONNECTED, SX_MEMBERSHIP_GROUP };
    bool joined = false;
    size_t walked = 0;

    for (size_t i = 0; i < SX_COUNT(kinds); i++) {
        struct sx_list *const all = &client->belongings[kinds[i]];

        for (struct sx_list *it = all->next; it != all && !joined; it = it->next, walked++) {
            const struct sx_belonging *const belonging = SX_LIST_ENTRY(it, struct sx_belonging,
                                                                       link);

            joined = sx_membership_count_of(&belonging->entry->published, nspace) > 0;
        }
    }
    sx_share_charge(server, client, walked / LISTS_PER_UNIT);
    return joined;
}

/* All namespaces that have members in @entry are marked. */
static size_t entry_mark(struct sx_server *server, const struct sx_membership_entry *entry,
                         uint64_t mark)
{
    struct sx_membership_part part;
    uint32_t index = 0;

    while (sx_membership_part(&entry->published, index, &part)) {
        struct sx_nspace *const nspace = part.count > 0 ? sx_nspace_find(server, part.nspace)
                                                        : NULL;

        if (nspace != NULL) {
            nspace->joined_mark = mark;
        }
        index++;
    }
    return index;
}

uint64_t sx_memberships_mark(struct sx_server *server, struct sx_client *client)
{
    const uint64_t mark = ++server->memberships.mark_last;
    size_t walked = 0;

    SX_LIST_EACH(it, &client->belongings[SX_MEMBERSHIP_CONNECTED]) {
        walked += entry_mark(server, SX_LIST_ENTRY(it, struct sx_belonging, link)->entry, mark);
    }
    SX_LIST_EACH(it, &client->belongings[SX_MEMBERSHIP_GROUP]) {
        walked += entry_mark(server, SX_LIST_ENTRY(it, struct sx_belonging, link)->entry, mark);
    }
    sx_share_charge(server, client, walked / LISTS_PER_UNIT);
    return mark;
}

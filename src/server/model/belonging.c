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

static void hang(struct sx_membership_entry *entry, struct sx_client *client)
{
    const uint32_t rank = sx_membership_rank(&entry->published, client->nspace->name, client->rank);

    if (rank != PMIX_RANK_INVALID) {
        struct sx_belonging *const belonging = sx_belonging_at(&entry->belongings, rank);

        belonging->entry = entry;
        sx_list_append(&client->belongings[entry->published.head.kind], &belonging->link);
    }
}

/* A part of a list is walked by its members, or by the clients of its namespace, whichever are
 * fewer. */
static void part_hang(struct sx_membership_entry *entry, const struct sx_nspace *nspace,
                      const struct sx_membership_part *part)
{
    struct sx_client *client;

    for (size_t i = 0; part->count > nspace->client_count && i < nspace->client_count; i++) {
        hang(entry, nspace->by_rank[i]);
    }
    for (uint32_t i = 0; part->count <= nspace->client_count && i < part->count; i++) {
        client = sx_client_find(nspace,
                                sx_membership_sorted_rank(&entry->published, part->first + i));
        if (client != NULL) {
            hang(entry, client);
        }
    }
}

void sx_belongings_hang(struct sx_server *server, struct sx_membership_entry *entry)
{
    struct sx_membership_part part;

    if (entry->belongings.count == 0) {
        return;
    }
    for (uint32_t index = 0; sx_membership_part(&entry->published, index, &part); index++) {
        const struct sx_nspace *const nspace = part.count > 0 ? sx_nspace_find(server, part.nspace)
                                                              : NULL;

        if (nspace != NULL) {
            part_hang(entry, nspace, &part);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* members_release.c - release the local members of a collective operation at its end
 * (members.h). */
#include <stdlib.h>

#include "server/collective/members.h"
#include "server/port/wake.h"

static int entries_order(const void *a, const void *b)
{
    const struct sx_record_done_entry *left = a;
    const struct sx_record_done_entry *right = b;

    return left->slot < right->slot ? -1 : left->slot > right->slot;
}

/* Entries usually are in order, because clients connect in the order of their registration. */
static bool entries_are_in_order(const struct sx_record_done_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (entries[i - 1].slot > entries[i].slot) {
            return false;
        }
    }
    return true;
}

/* Publish the status in @done; this function sets the count in it. */
static void entries_publish(struct sx_nspace *nspace, struct sx_record_done done,
                            struct sx_record_done_entry *entries, size_t count)
{
    if (!entries_are_in_order(entries, count)) {
        qsort(entries, count, sizeof(*entries), entries_order);
    }
    while (count > 0) {
        const size_t part = count < SX_RECORD_DONE_ENTRIES ? count : SX_RECORD_DONE_ENTRIES;
        const struct iovec iov[2] = {
            { .iov_base = &done, .iov_len = sizeof(done) },
            { .iov_base = entries, .iov_len = part * sizeof(*entries) },
        };

        done.count = (uint32_t)part;
        sx_ring_publish(&nspace->ring, SX_RECORD_DONE, SX_CLASS_COLLECTIVE, iov, 2, NULL);
        entries += part;
        count -= part;
    }
}

/* Release the members with home @nspace that have arrived and are still connected. */
static void nspace_release(struct sx_members *members, struct sx_nspace *nspace,
                           struct sx_record_done done, struct sx_record_done_entry *entries)
{
    struct sx_server *server = members->server;
    size_t count = 0;

    for (size_t i = 0; i < members->count; i++) {
        const struct sx_member *member = &members->all[i];

        if (member->arrived && member->client->home == nspace &&
            member->client->state == SX_CLIENT_CONNECTED) {
            entries[count++] = (struct sx_record_done_entry){ .slot = member->client->slot,
                                                              .op = member->op };
            sx_results_keep(&member->client->results,
                            (struct sx_result){ member->op, done.status, done.subject });
        }
    }
    if (count == 0) {
        return;
    }
    const size_t told = count;

    entries_publish(nspace, done, entries, count);
    if (2 * told >= nspace->reader_count) {
        sx_ring_wake(&nspace->ring, 1u << SX_CLASS_COLLECTIVE, (uint32_t)nspace->reader_count,
                     server->bitset_sleepers > 0);
        sx_wake_all(server, nspace, 1u << SX_CLASS_COLLECTIVE);
        return;
    }
    for (size_t i = 0; i < members->count; i++) {
        const struct sx_member *member = &members->all[i];

        if (member->arrived && member->client->home == nspace &&
            member->client->state == SX_CLIENT_CONNECTED) {
            sx_wake_client(server, member->client);
        }
    }
}

void sx_members_release(struct sx_members *members, pmix_status_t status, uint64_t subject)
{
    const struct sx_record_done done = { .status = status, .subject = subject };
    struct sx_record_done_entry *entries = malloc((members->count + 1) * sizeof(*entries));

    if (entries == NULL) { /* without a list, release each by itself, so that none hangs */
        struct sx_record_done_entry one;

        for (size_t i = 0; i < members->count; i++) {
            struct sx_members single = *members;

            single.all = &members->all[i];
            single.count = 1;
            if (single.all->client->home != NULL) {
                nspace_release(&single, single.all->client->home, done, &one);
            }
        }
        return;
    }
    SX_LIST_EACH(it, &members->server->registry.nspaces) {
        struct sx_nspace *nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        if (nspace->has_store) {
            nspace_release(members, nspace, done, entries);
        }
    }
    free(entries);
}

void sx_members_refuse(struct sx_client *client, uint32_t op, pmix_status_t status)
{
    struct sx_record_done_entry entry = { .slot = client->slot, .op = op };

    sx_results_keep(&client->results, (struct sx_result){ .op = op, .status = status });
    entries_publish(client->home, (struct sx_record_done){ .status = status }, &entry, 1);
    sx_wake_client(sx_server_get(), client);
}

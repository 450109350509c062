/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* members.c - gathered when the first one arrives, completed as the host registers more. */
#include "server/port/members.h"

#include <stdlib.h>
#include <string.h>

#include "server/port/pending.h"

/* It waits in this operation no more. */
static void member_release(struct sx_member *member)
{
    if (member->arrived) {
        sx_pending_uncount(member->client, SX_PENDING_ARRIVAL, member->bytes);
    }
    sx_client_release(member->client);
}

void sx_members_clear(struct sx_members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        member_release(&members->all[i]);
    }
    free(members->all);
    sx_alias_list_clear(&members->real);
    free(members->procs);
}

bool sx_members_have_name(const struct sx_members *members, const char *name)
{
    size_t i = 0;

    while (i < members->proc_count && strcmp(members->procs[i].nspace, name) != 0) {
        i++;
    }
    return i < members->proc_count;
}

pmix_status_t sx_members_mean_anew(struct sx_members *members)
{
    struct sx_alias_list real;
    const pmix_status_t rc = sx_alias_list(members->server, NULL, members->procs,
                                           members->proc_count, &real);

    if (rc == PMIX_SUCCESS) {
        sx_alias_list_clear(&members->real);
        members->real = real;
    }
    return rc;
}

static int members_order(const void *a, const void *b)
{
    const uintptr_t left = (uintptr_t)((const struct sx_member *)a)->client;
    const uintptr_t right = (uintptr_t)((const struct sx_member *)b)->client;

    return left < right ? -1 : left > right;
}

struct sx_member *sx_members_find(const struct sx_members *members, struct sx_client *client)
{
    const struct sx_member key = { .client = client };

    if (members->count == 0) { /* and no array to search */
        return NULL;
    }
    return bsearch(&key, members->all, members->count, sizeof(key), members_order);
}

static bool member_add(struct sx_members *members, struct sx_client *client)
{
    if (members->count == members->capacity) {
        const size_t larger = members->capacity == 0 ? 16 : 2 * members->capacity;
        struct sx_member *grown = realloc(members->all, larger * sizeof(*grown));

        if (grown == NULL) {
            return false;
        }
        members->all = grown;
        members->capacity = larger;
    }
    members->all[members->count++] = (struct sx_member){ .client = sx_client_retain(client) };
    return true;
}

pmix_status_t sx_member_end(const struct sx_member_ends *ends, const struct sx_client *client)
{
    if (client->departed) {
        return ends->departed;
    }
    if (client->state == SX_CLIENT_DEAD) {
        return ends->died;
    }
    return client->left ? ends->left : PMIX_SUCCESS;
}

/* Add the local processes that @proc names. */
static pmix_status_t members_of(struct sx_members *members, const struct sx_nspace *nspace,
                                const pmix_proc_t *proc, const struct sx_member_ends *ends)
{
    struct sx_client *one = sx_client_find(nspace, proc->rank);
    const bool all = proc->rank == PMIX_RANK_WILDCARD;
    const size_t count = all ? nspace->client_count : one != NULL;

    for (size_t i = 0; i < count; i++) {
        struct sx_client *client = all ? nspace->by_rank[i] : one;
        const pmix_status_t end = sx_member_end(ends, client);

        if (end == PMIX_ERR_PARTIAL_SUCCESS) {
            members->incomplete = true;
            continue;
        }
        if (end != PMIX_SUCCESS) {
            return end;
        }
        if (!member_add(members, client)) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    return PMIX_SUCCESS;
}

/* Each once, by its address: as it is, more often than not. */
static bool members_are_in_order(const struct sx_members *members)
{
    for (size_t i = 1; i < members->count; i++) {
        if (members_order(&members->all[i - 1], &members->all[i]) >= 0) {
            return false;
        }
    }
    return true;
}

pmix_status_t sx_members_gather(struct sx_members *members, const struct sx_member_ends *ends)
{
    pmix_status_t rc = sx_alias_list(members->server, members->opener, members->procs,
                                     members->proc_count, &members->real);

    members->opener = NULL;
    for (size_t i = 0; rc == PMIX_SUCCESS && i < members->real.count; i++) {
        const pmix_proc_t *proc = &members->real.all[i];
        struct sx_nspace *nspace = sx_nspace_find(members->server, proc->nspace);

        if (nspace == NULL && members->admits_unknown) {
            members->has_unknown = true;
            continue;
        }
        rc = nspace != NULL ? members_of(members, nspace, proc, ends) : PMIX_ERR_NOT_FOUND;
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (members_are_in_order(members)) {
        return PMIX_SUCCESS;
    }
    qsort(members->all, members->count, sizeof(*members->all), members_order);
    for (size_t i = 1; i < members->count; i++) { /* a wildcard and a rank: once */
        if (members->all[i].client == members->all[i - 1].client) {
            sx_client_release(members->all[i].client);
            memmove(&members->all[i], &members->all[i + 1],
                    (members->count - i - 1) * sizeof(members->all[0]));
            members->count--;
            i--;
        }
    }
    return PMIX_SUCCESS;
}

void sx_members_arrive(struct sx_members *members, struct sx_member *member, uint32_t op,
                       size_t bytes)
{
    member->arrived = true;
    member->op = op;
    member->bytes = bytes + (members->real.is_made ? members->real.count : 0) * sizeof(pmix_proc_t);
    members->arrived_count++;
    sx_pending_count(member->client, SX_PENDING_ARRIVAL, member->bytes);
}

void sx_members_withdraw(struct sx_members *members, struct sx_member *member)
{
    if (member->arrived) {
        sx_pending_uncount(member->client, SX_PENDING_ARRIVAL, member->bytes);
        member->arrived = false;
        members->arrived_count--;
    }
}

void sx_members_leave(struct sx_members *members, struct sx_member *member)
{
    const size_t behind = (size_t)(members->all + members->count - (member + 1));

    members->arrived_count -= member->arrived;
    member_release(member);
    memmove(member, member + 1, behind * sizeof(*member));
    members->count--;
    members->incomplete = true;
}

struct sx_absent sx_members_absent(const struct sx_members *members)
{
    struct sx_absent absent = { .elsewhere = members->has_unknown };

    for (size_t i = 0; i < members->real.count; i++) {
        const pmix_proc_t *proc = &members->real.all[i];
        const struct sx_nspace *nspace = sx_nspace_find(members->server, proc->nspace);

        if (nspace == NULL) { /* deregistered meanwhile: its members are dead and were counted */
            continue;
        }
        const size_t expected = nspace->local_count > nspace->client_count
                                    ? nspace->local_count - nspace->client_count
                                    : 0;

        if (proc->rank == PMIX_RANK_WILDCARD) {
            absent.announced += expected;
            absent.elsewhere |= nspace->job_size > nspace->client_count + expected;
        } else if (sx_client_find(nspace, proc->rank) == NULL) {
            absent.announced += expected > 0;
            absent.elsewhere |= expected == 0;
        }
    }
    return absent;
}

bool sx_members_somebody_waits(const struct sx_members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        if (members->all[i].arrived && members->all[i].client->state == SX_CLIENT_CONNECTED) {
            return true;
        }
    }
    return false;
}

bool sx_members_name(const struct sx_members *members, const struct sx_client *client)
{
    size_t i = 0;

    while (i < members->proc_count &&
           !sx_alias_means(members->server, &members->procs[i], client)) {
        i++;
    }
    return i < members->proc_count;
}

pmix_status_t sx_members_expect(struct sx_members *members, struct sx_client *client)
{
    if (sx_members_find(members, client) != NULL || !sx_members_name(members, client)) {
        return PMIX_SUCCESS;
    }
    if (!member_add(members, client)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    qsort(members->all, members->count, sizeof(*members->all), members_order);
    return PMIX_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* members.c - members are gathered at the first arrival, and completed as the host registers
 * more. */
#include "server/collective/operation.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/status.h"
#include "base/value/value.h"
#include "server/collective/collective.h"
#include "server/port/port.h"

const struct sx_member_ends sx_nobody_may_go = {
    .died = PMIX_ERR_LOST_CONNECTION,
    .left = PMIX_ERR_PROC_TERM_WO_SYNC,
    .departed = PMIX_ERR_PROC_TERM_WO_SYNC,
    .withdrew = PMIX_ERR_PROC_TERM_WO_SYNC,
};

/* @member waits in this operation no more. */
static void member_release(struct sx_member *member)
{
    if (member->arrived) {
        sx_pending_uncount(member->client, SX_PENDING_ARRIVAL, member->bytes);
    }
    if (member->of_client.next != NULL) {
        sx_list_remove(&member->of_client);
    }
    if (member->is_unlooked) {
        sx_collective_of(member)->unlooked--;
    }
    sx_client_release(member->client);
}

/* Hang the members at their clients. */
static void members_hang(struct sx_members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        struct sx_member *const member = &members->all[i];

        member->members = members;
        sx_list_append(&member->client->operations, &member->of_client);
    }
}

/* The members from @first on have moved: their neighbours, which are in other operations, point to
 * where they were. */
static void links_mend(struct sx_member *first, const struct sx_member *end)
{
    for (struct sx_member *member = first; member < end; member++) {
        if (member->of_client.next != NULL) {
            member->of_client.prev->next = member->of_client.next->prev = &member->of_client;
        }
    }
}

static void names_clear(struct sx_members *members)
{
    for (size_t i = 0; i < members->named_count; i++) {
        sx_table_remove(&members->server->collective.named, &members->named[i].node);
    }
    free(members->named);
    members->named = NULL;
    members->named_count = 0;
}

/* Return: whether the name at @i is another than the one before. */
static bool is_new_name(const struct sx_members *members, size_t i)
{
    return i == 0 || strcmp(members->procs[i - 1].nspace, members->procs[i].nspace) != 0;
}

/* Add the signature to the table of names.  Return: false when memory is out. */
static bool names_add(struct sx_members *members)
{
    struct sx_server *const server = members->server;
    size_t count = 0;
    bool is_added = true;

    for (size_t i = 0; i < members->proc_count; i++) {
        count += is_new_name(members, i);
    }
    members->named = calloc(count + 1, sizeof(*members->named));
    is_added = members->named != NULL;
    for (size_t i = 0; i < members->proc_count && is_added; i++) {
        struct sx_named *const named = &members->named[members->named_count];

        if (is_new_name(members, i)) {
            named->members = members;
            is_added = sx_table_add(&server->collective.named, &named->node,
                                    sx_nspace_hash(server, members->procs[i].nspace));
            members->named_count += is_added;
        }
    }
    return is_added;
}

void sx_members_clear(struct sx_members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        member_release(&members->all[i]);
    }
    free(members->all);
    names_clear(members);
    sx_alias_list_clear(&members->real);
    free(members->procs);
}

/* Return: how many of the sorted processes are of @nspace, or of names before it. */
static size_t end_of(const pmix_proc_t *procs, size_t count, const char *nspace)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (strcmp(procs[mid].nspace, nspace) <= 0) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

static bool have_name(const struct sx_members *members, const char *name)
{
    const size_t end = end_of(members->procs, members->proc_count, name);

    return end > 0 && strcmp(members->procs[end - 1].nspace, name) == 0;
}

/* Return: whether the signature has @name, and that means @entry. */
static bool mean_by(const struct sx_members *members, const struct sx_membership_entry *entry,
                    const char *name)
{
    return have_name(members, name) &&
           sx_memberships_find_of(members->server, members->uid, name) == entry;
}

static void each_of_name(struct sx_server *server, const struct sx_membership_entry *entry,
                         const char *name, sx_of_list_fn fn, void *arg)
{
    const struct sx_table *const all = &server->collective.named;
    struct sx_table_node *node = sx_table_first(all, sx_nspace_hash(server, name));

    while (node != NULL) {
        struct sx_members *const members = SX_CONTAINER(node, struct sx_named, node)->members;

        node = sx_table_next(all, node);
        if (mean_by(members, entry, name)) {
            fn(SX_CONTAINER(members, struct sx_collective, members), arg);
        }
    }
}

void sx_collectives_of_list(struct sx_server *server, const struct sx_membership_entry *entry,
                            sx_of_list_fn fn, void *arg)
{
    if (server->collective.named.count > 0) {
        each_of_name(server, entry, sx_membership_name(&entry->published), fn, arg);
        if (entry->alias != NULL) {
            each_of_name(server, entry, entry->alias, fn, arg);
        }
    }
}

void sx_collectives_of_nspace(struct sx_server *server, const char *name, sx_of_list_fn fn,
                              void *arg)
{
    const struct sx_table *const all = &server->collective.named;
    struct sx_table_node *node = all->count > 0 ? sx_table_first(all, sx_nspace_hash(server, name))
                                                : NULL;

    while (node != NULL) {
        struct sx_members *const members = SX_CONTAINER(node, struct sx_named, node)->members;

        node = sx_table_next(all, node);
        if (have_name(members, name)) {
            fn(SX_CONTAINER(members, struct sx_collective, members), arg);
        }
    }
}

static bool have_several_names(const struct sx_members *members)
{
    return members->proc_count > 0 &&
           strcmp(members->procs[0].nspace, members->procs[members->proc_count - 1].nspace) != 0;
}

void sx_members_rename(struct sx_members *members, struct sx_proc_list *procs)
{
    names_clear(members);
    free(members->procs);
    members->procs = procs->all;
    members->proc_count = procs->count;
    members->real = (struct sx_alias_list){ .all = procs->all, .count = procs->count };
    if (have_several_names(members) && !names_add(members)) {
        names_clear(members); /* then it is found by a walk */
    }
}

pmix_status_t sx_members_mean_anew(struct sx_members *members)
{
    struct sx_alias_list real;
    const pmix_status_t rc = sx_alias_list(members->server, NULL, members->uid, members->procs,
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

    if (members->count == 0) { /* there is no array to search */
        return NULL;
    }
    return bsearch(&key, members->all, members->count, sizeof(key), members_order);
}

static bool member_add(struct sx_members *members, struct sx_client *client)
{
    if (!SX_ARRAY_RESERVE(members->all, members->count, members->capacity, 16)) {
        return false;
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

/* Add the local processes that @rank means. */
static pmix_status_t members_of(struct sx_members *members, struct sx_client_run *run,
                                uint32_t rank, const struct sx_member_ends *ends)
{
    const struct sx_nspace *const nspace = run->nspace;
    const bool all = rank == PMIX_RANK_WILDCARD;
    struct sx_client *const one = all ? NULL : sx_client_run_find(run, rank);
    const size_t count = all ? nspace->client_count : one != NULL;

    for (size_t i = 0; i < count; i++) {
        struct sx_client *client = all ? nspace->by_rank[i] : one;
        const pmix_status_t end = sx_member_end(ends, client);

        if (end == PMIX_ERR_PARTIAL_SUCCESS) {
            members->incomplete = true;
            continue;
        }
        if (end != PMIX_SUCCESS) { /* the others are gathered, too */
            members->gone = members->gone == PMIX_SUCCESS ? end : members->gone;
            continue;
        }
        if (!member_add(members, client)) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    return PMIX_SUCCESS;
}

/* Return: whether the members are sorted by address without duplicates, as they usually are. */
static bool members_are_in_order(const struct sx_members *members)
{
    for (size_t i = 1; i < members->count; i++) {
        if (members_order(&members->all[i - 1], &members->all[i]) >= 0) {
            return false;
        }
    }
    return true;
}

/* Sort the members, and drop duplicates: a wildcard and a rank may both name a process. */
static void members_sort(struct sx_members *members)
{
    size_t kept = 0;

    if (members_are_in_order(members)) {
        return;
    }
    qsort(members->all, members->count, sizeof(*members->all), members_order);
    for (size_t i = 0; i < members->count; i++) {
        if (kept > 0 && members->all[i].client == members->all[kept - 1].client) {
            sx_client_release(members->all[i].client);
        } else {
            members->all[kept++] = members->all[i];
        }
    }
    members->count = kept;
}

/* Return: whether the host has registered the processes of @nspace that @rank means, one or all. */
static bool is_known(const struct sx_nspace *nspace, uint32_t rank)
{
    return nspace->registered || sx_client_find(nspace, rank) != NULL ||
           (nspace->client_count > 0 && nspace->by_rank[0]->is_tool);
}

/* Return: whether the process at @walk, of @nspace (NULL: the server has none of its name), waits
 * for a registration. */
static bool is_unknown(const struct sx_members *members, const struct sx_nspace *nspace,
                       const struct sx_alias_walk *walk)
{
    if (nspace != NULL) {
        return members->awaits_unknown && !is_known(nspace, walk->rank);
    }
    return members->admits_unknown ||
           (members->awaits_unknown && !sx_name_has_ended(members->server, walk->nspace));
}

pmix_status_t sx_members_gather(struct sx_members *members, const struct sx_member_ends *ends)
{
    pmix_status_t rc = members->real.made != NULL
                           ? PMIX_SUCCESS
                           : sx_alias_list(members->server, members->opener, members->uid,
                                           members->procs, members->proc_count, &members->real);
    struct sx_alias_walk walk = { .list = &members->real };
    struct sx_client_run run = { .nspace = NULL };

    members->opener = NULL;
    while (rc == PMIX_SUCCESS && sx_alias_next(&walk)) {
        if (walk.is_new) {
            run = (struct sx_client_run){ .nspace = sx_nspace_find(members->server, walk.nspace) };
        }
        if (run.nspace != NULL) {
            members->has_unknown |= is_unknown(members, run.nspace, &walk);
            rc = members_of(members, &run, walk.rank, ends);
        } else if (walk.is_new) {
            const bool waits = is_unknown(members, NULL, &walk);

            members->has_unknown |= waits;
            rc = waits ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
        }
    }
    if (rc == PMIX_SUCCESS) {
        members_sort(members);
        members_hang(members);
        rc = (members->real.made != NULL || members->has_unknown || have_several_names(members)) &&
                     !names_add(members)
                 ? PMIX_ERR_OUT_OF_RESOURCE
                 : members->gone;
    }
    return rc;
}

bool sx_members_mean_nspace(const struct sx_members *members, const char *nspace)
{
    return sx_alias_list_names(&members->real, nspace);
}

/* Return: whether another namespace is still to be registered. */
static bool others_are_unknown(const struct sx_members *members)
{
    struct sx_alias_walk walk = { .list = &members->real };
    const struct sx_nspace *nspace = NULL;
    bool unknown = false;

    while (!unknown && sx_alias_next(&walk)) {
        if (walk.is_new) {
            nspace = sx_nspace_find(members->server, walk.nspace);
        }
        unknown = (walk.is_new || nspace != NULL) && is_unknown(members, nspace, &walk);
    }
    return unknown;
}

bool sx_members_await(const struct sx_members *members, const struct sx_nspace *nspace)
{
    return members->has_unknown && sx_members_mean_nspace(members, nspace->name);
}

bool sx_members_miss(const struct sx_members *members, const struct sx_nspace *nspace)
{
    const uint32_t most = nspace->job_size > nspace->local_count ? nspace->job_size
                                                                 : nspace->local_count;
    struct sx_alias_walk walk = { .list = &members->real };
    bool is_its = false, misses = false;

    if (!nspace->registered && !members->has_unknown) { /* of tools, say */
        return false;
    }
    while (!misses && sx_alias_next(&walk)) {
        is_its = walk.is_new ? strcmp(walk.nspace, nspace->name) == 0 : is_its;
        misses = is_its && (walk.rank == PMIX_RANK_WILDCARD
                                ? !nspace->registered || nspace->client_count < most
                                : sx_client_find(nspace, walk.rank) == NULL);
    }
    return misses;
}

void sx_members_look_again(struct sx_members *members)
{
    members->has_unknown = others_are_unknown(members);
}

void sx_members_arrive(struct sx_members *members, struct sx_member *member, uint32_t op,
                       size_t bytes)
{
    member->arrived = true;
    member->op = op;
    member->process = member->client->process;
    member->bytes = bytes +
                    (members->real.made != NULL ? members->real.count : 0) * sizeof(pmix_proc_t);
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
    links_mend(member, members->all + members->count);
    members->incomplete = true;
}

struct sx_absent sx_members_absent(const struct sx_members *members)
{
    struct sx_absent absent = { .elsewhere = members->has_unknown && members->admits_unknown,
                                .unknown = members->has_unknown && !members->admits_unknown };
    struct sx_alias_walk walk = { .list = &members->real };
    struct sx_client_run run = { .nspace = NULL };

    while (sx_alias_next(&walk)) {
        if (walk.is_new) {
            run = (struct sx_client_run){ .nspace = sx_nspace_find(members->server, walk.nspace) };
        }
        const struct sx_nspace *const nspace = run.nspace;

        if (nspace == NULL ||
            (nspace->is_ending && sx_name_has_ended(members->server, nspace->name))) {
            continue; /* deregistered meanwhile: its members are dead and were counted */
        }
        const size_t expected = nspace->local_count > nspace->client_count
                                    ? nspace->local_count - nspace->client_count
                                    : 0;

        size_t count, here;

        if (walk.is_new && !members->has_unknown &&
            sx_alias_skip(&walk, nspace->by_rank, nspace->client_count, &count, &here)) {
            absent.announced += expected > 0 ? count - here : 0;
            absent.elsewhere |= expected == 0 && count > here;
        } else if (walk.rank == PMIX_RANK_WILDCARD) {
            absent.announced += expected;
            absent.elsewhere |= nspace->job_size > nspace->client_count + expected;
        } else if (members->has_unknown && !is_known(nspace, walk.rank)) {
            continue; /* the registration will give its node */
        } else if (sx_client_run_find(&run, walk.rank) == NULL) {
            absent.announced += expected > 0;
            absent.elsewhere |= expected == 0;
        }
    }
    return absent;
}

/* Return: whether the process that has called is still connected. */
static bool waits(const struct sx_member *member)
{
    return member->arrived && member->client->state == SX_CLIENT_CONNECTED &&
           !sx_member_is_replaced(member);
}

bool sx_members_somebody_waits(const struct sx_members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        if (waits(&members->all[i])) {
            return true;
        }
    }
    return false;
}

/* Return: whether one of the processes, which have one name, has @rank. */
static bool has_rank(const pmix_proc_t *procs, size_t count, uint32_t rank)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (procs[mid].rank < rank) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low < count && procs[low].rank == rank;
}

/* The signature is sorted: each name is searched once, and the rank among those of its name. */
bool sx_members_name(const struct sx_members *members, const struct sx_client *client)
{
    const pmix_proc_t *const procs = members->procs;
    size_t end;

    for (size_t i = 0; i < members->proc_count; i = end) {
        const uint32_t rank = sx_alias_rank(members->server, members->uid, procs[i].nspace, client);
        const pmix_proc_t *const last = &procs[members->proc_count - 1];

        end = strcmp(procs[i].nspace, last->nspace) == 0
                  ? members->proc_count
                  : i + end_of(&procs[i], members->proc_count - i, procs[i].nspace);
        if (rank != PMIX_RANK_INVALID && (has_rank(&procs[i], end - i, rank) ||
                                          has_rank(&procs[i], end - i, PMIX_RANK_WILDCARD))) {
            return true;
        }
    }
    return false;
}

static bool has_proc(const struct sx_alias_list *list, const pmix_proc_t *proc)
{
    return list->made != NULL ? sx_alias_made_has(list, proc->nspace, proc->rank)
                              : list->count > 0 && bsearch(proc, list->all, list->count,
                                                           sizeof(*proc), sx_proc_order) != NULL;
}

bool sx_members_mean(const struct sx_members *members, const struct sx_client *client)
{
    pmix_proc_t proc = sx_nspace_proc(client->nspace, client->rank);

    if (has_proc(&members->real, &proc)) {
        return true;
    }
    proc.rank = PMIX_RANK_WILDCARD;
    return has_proc(&members->real, &proc);
}

pmix_status_t sx_members_expect(struct sx_members *members, struct sx_client *client)
{
    if (sx_members_find(members, client) != NULL || !sx_members_mean(members, client)) {
        return PMIX_SUCCESS;
    }
    if (!member_add(members, client)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    members->all[members->count - 1].members = members;
    qsort(members->all, members->count, sizeof(*members->all), members_order);
    links_mend(members->all, members->all + members->count);
    sx_list_append(&client->operations, &sx_members_find(members, client)->of_client);
    return PMIX_SUCCESS;
}

pmix_status_t sx_members_catch_up(struct sx_members *members)
{
    struct sx_alias_walk walk = { .list = &members->real };
    pmix_status_t rc = PMIX_SUCCESS;

    while (rc == PMIX_SUCCESS && sx_alias_next(&walk)) {
        const struct sx_nspace *const nspace = walk.is_new
                                                   ? sx_nspace_find(members->server, walk.nspace)
                                                   : NULL;
        const size_t count = nspace != NULL ? nspace->client_count : 0;

        if (walk.is_new && nspace == NULL && sx_name_has_ended(members->server, walk.nspace)) {
            rc = PMIX_ERR_NOT_FOUND;
        }
        for (size_t n = 0; n < count && rc == PMIX_SUCCESS; n++) {
            rc = sx_members_expect(members, nspace->by_rank[n]);
        }
    }
    sx_members_look_again(members);
    return rc;
}

/* ---- ranks that a job cannot have ------------------------------------------------------------ */

/* Return: whether the rank of @proc is above the last one of @nspace, a job that is registered;
 * NULL: none of its name is. */
static bool is_beyond(const struct sx_nspace *nspace, const pmix_proc_t *proc)
{
    return nspace != NULL && nspace->job_size > 0 && proc->rank >= nspace->job_size &&
           sx_client_find(nspace, proc->rank) == NULL;
}

pmix_status_t sx_ranks_judge(struct sx_server *server, enum sx_collective_kind kind,
                             const pmix_proc_t *procs, size_t count)
{
    struct sx_nspace_run run = { .server = server };

    for (size_t i = 0; i < count; i++) {
        if (procs[i].rank == PMIX_RANK_WILDCARD) {
            continue;
        }
        (void)sx_nspace_run_next(&run, procs[i].nspace);
        if (is_beyond(run.nspace, &procs[i])) {
            return SX_RAISE(PMIX_ERR_NOT_FOUND, "a %s names rank %u of %s, whose last rank is %u",
                            sx_collective_name(kind), procs[i].rank, procs[i].nspace,
                            run.nspace->job_size - 1);
        }
    }
    return PMIX_SUCCESS;
}

pmix_status_t sx_ranks_aim(struct sx_server *server, struct sx_client *client,
                           struct sx_arrival *arrival)
{
    (void)client;
    return sx_ranks_judge(server, arrival->kind, arrival->procs, arrival->proc_count);
}

pmix_status_t sx_ranks_nspace_added(struct sx_collective *collective)
{
    const struct sx_members *const members = &collective->members;

    return sx_ranks_judge(members->server, collective->kind->number, members->procs,
                          members->proc_count);
}

/* ---- their release at the end ---------------------------------------------------------------- */

/* Release the local members of a collective operation at its end
 * (members.h). */

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

/* Release the processes with home @nspace that have called and are still connected. */
static void nspace_release(struct sx_members *members, struct sx_nspace *nspace,
                           struct sx_record_done done, struct sx_record_done_entry *entries)
{
    struct sx_server *server = members->server;
    size_t count = 0;

    for (size_t i = 0; i < members->count; i++) {
        const struct sx_member *member = &members->all[i];

        if (member->client->home == nspace && waits(member)) {
            entries[count++] = (struct sx_record_done_entry){ .slot = member->client->slot,
                                                              .op = member->op };
            sx_results_keep(&member->client->results,
                            (struct sx_result){ member->op, done.status, done.subject });
        }
    }
    if (count == 0) {
        return;
    }
    const size_t notified = count;

    entries_publish(nspace, done, entries, count);
    if (2 * notified >= nspace->reader_count) {
        sx_ring_wake(&nspace->ring, 1u << SX_CLASS_COLLECTIVE, (uint32_t)nspace->reader_count,
                     server->bitset_sleepers > 0);
        sx_wake_all(server, nspace, 1u << SX_CLASS_COLLECTIVE);
        return;
    }
    for (size_t i = 0; i < members->count; i++) {
        const struct sx_member *member = &members->all[i];

        if (member->client->home == nspace && waits(member)) {
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership.c - the lists by name and by row, and the store that shows them. */
#include "server/model/membership.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/util.h"
#include "server/model/state.h"

#define SLOTS_FIRST 16u
#define COPIES 2u /* of a record: here and in the store */

/* ---- the rows -------------------------------------------------------------------------------- */

/* Return: false when memory is out. */
static bool slots_reserve(struct sx_memberships *all)
{
    if (all->free_first != 0 || all->slot_count < all->slot_capacity) {
        return true;
    }
    const uint32_t capacity = all->slot_capacity == 0 ? SLOTS_FIRST : 2 * all->slot_capacity;
    struct sx_membership_slot *const grown = realloc(all->slots, capacity * sizeof(*grown));

    if (grown == NULL) {
        return false;
    }
    all->slots = grown;
    all->slot_capacity = capacity;
    return true;
}

/* Give @entry a row, which slots_reserve has found.  Return: its number. */
static uint32_t slot_take(struct sx_memberships *all, struct sx_membership_entry *entry)
{
    const uint32_t row = all->free_first != 0 ? all->free_first - 1 : all->slot_count++;

    if (all->free_first != 0) {
        all->free_first = all->slots[row].free_next;
    }
    all->slots[row] = (struct sx_membership_slot){ .entry = entry };
    return row;
}

static void slot_give_back(struct sx_memberships *all, uint32_t row)
{
    all->slots[row] = (struct sx_membership_slot){ .free_next = all->free_first };
    all->free_first = row + 1;
}

/* ---- the lists ------------------------------------------------------------------------------- */

void sx_memberships_init(struct sx_memberships *all, uint64_t seed)
{
    *all = (struct sx_memberships){ .slots = NULL };
    sx_list_init(&all->views);
    sx_quota_init(&all->quota, "connected namespaces, groups and process sets", SX_MEMBERSHIPS_MAX,
                  SX_MEMBERSHIPS_BYTES_MAX, seed);
}

/* Return: the bytes that a list of @members with a record of @record_size takes. */
static uint64_t bytes_of(size_t record_size, size_t members, size_t notified_count)
{
    return sizeof(struct sx_membership_entry) + COPIES * (uint64_t)record_size +
           members * sizeof(struct sx_belonging) + notified_count * sizeof(pmix_proc_t);
}

void sx_unsaid_free(struct sx_unsaid *unsaid)
{
    sx_list_remove(&unsaid->link);
    sx_list_remove(&unsaid->of_job);
    free(unsaid);
}

static void unsaid_clear(struct sx_membership_entry *entry)
{
    while (!sx_list_empty(&entry->unsaid)) {
        sx_unsaid_free(SX_LIST_ENTRY(entry->unsaid.next, struct sx_unsaid, link));
    }
}

static void entry_free(struct sx_membership_entry *entry)
{
    if (entry != NULL) {
        sx_belongings_clear(&entry->belongings);
        unsaid_clear(entry);
        free(entry->record);
        free(entry->alias);
        free(entry->id);
        sx_proc_list_clear(&entry->notified);
        sx_users_clear(&entry->users);
        sx_list_remove(&entry->owned);
        free(entry);
    }
}

void sx_memberships_deinit(struct sx_server *server)
{
    struct sx_memberships *const all = &server->memberships;

    sx_memberships_shown_deinit(server);
    for (uint32_t row = 0; row < all->slot_count; row++) {
        entry_free(all->slots[row].entry);
    }
    free(all->slots);
    sx_table_deinit(&all->names);
    sx_table_deinit(&all->sets);
    sx_quota_deinit(&all->quota);
    if (all->has_store) {
        sx_store_destroy(&all->store);
    }
    *all = (struct sx_memberships){ .slots = NULL };
    sx_list_init(&all->views);
}

struct sx_membership_entry *sx_memberships_next(const struct sx_server *server,
                                                const struct sx_membership_entry *entry)
{
    const struct sx_memberships *const all = &server->memberships;

    for (uint32_t row = entry != NULL ? sx_membership_row(entry->published.head.subject) + 1 : 0;
         row < all->slot_count; row++) {
        if (all->slots[row].entry != NULL) {
            return all->slots[row].entry;
        }
    }
    return NULL;
}

static struct sx_table *table_of(struct sx_memberships *all, uint32_t kind)
{
    return kind == SX_MEMBERSHIP_PSET ? &all->sets : &all->names;
}

/* Show @record, and own it, as the newest generation of @entry. */
static pmix_status_t entry_show(struct sx_memberships *all, struct sx_membership_entry *entry,
                                void *record, size_t size)
{
    struct sx_membership next;
    pmix_status_t rc = sx_membership_open(record, size, &next);

    if (rc == PMIX_SUCCESS) {
        rc = sx_memberships_publish(all, entry, &next);
    }
    if (rc != PMIX_SUCCESS) {
        free(record);
        return rc;
    }
    free(entry->record);
    entry->record = NULL;
    if (size <= sizeof(entry->small_record)) {
        next.bytes = memcpy(entry->small_record, record, size);
        free(record);
    } else {
        entry->record = record;
    }
    entry->published = next;
    all->has_news = true;
    return PMIX_SUCCESS;
}

/* Return: how many members a list is made of, with its gaps. */
static size_t count_of(const struct sx_membership_options *options)
{
    return options->made != NULL ? options->made->count : options->proc_count;
}

/* Return: the first client in a list that was made; NULL: there is none. */
static const struct sx_client *made_client(struct sx_server *server,
                                           const struct sx_alias_made *made)
{
    const struct sx_client *found = NULL;

    for (size_t p = 0; p < made->part_count && found == NULL; p++) {
        const struct sx_membership_part *const part = &made->parts[p];
        struct sx_client_run run = { .nspace = sx_nspace_find(server, part->nspace) };

        for (uint32_t i = 0; run.nspace != NULL && i < part->count && found == NULL; i++) {
            found = sx_client_run_find(&run, made->ranks[part->first + i]);
        }
    }
    return found;
}

/* Return: the same of processes. */
static const struct sx_client *named_client(struct sx_server *server,
                                            const struct sx_membership_options *options)
{
    struct sx_nspace_run run = { .server = server };
    const struct sx_client *found = NULL;

    for (size_t i = 0; i < options->proc_count && found == NULL; i++) {
        (void)sx_nspace_run_next(&run, options->procs[i].nspace);
        found = run.nspace != NULL ? sx_client_find(run.nspace, options->procs[i].rank) : NULL;
    }
    return found;
}

/* Return: the owner of the list: the named one, or else, of a list that is not a set, the first
 * member here; NULL: the host. */
static const struct sx_quota_owner *owner_find(struct sx_server *server,
                                               const struct sx_membership_options *options,
                                               struct sx_quota_owner *room)
{
    if (options->owner != NULL || options->kind == SX_MEMBERSHIP_PSET) {
        return options->owner;
    }
    const struct sx_client *const client = options->made != NULL
                                               ? made_client(server, options->made->made)
                                               : named_client(server, options);

    if (client == NULL) {
        return NULL;
    }
    *room = sx_quota_owner_of(client);
    return room;
}

/* Encode the members of @options; @head has all else. */
static pmix_status_t members_encode(const struct sx_membership_head *head,
                                    const struct sx_membership_options *options, void **ret,
                                    size_t *ret_size)
{
    const struct sx_alias_made *const made = options->made != NULL ? options->made->made : NULL;
    const pmix_status_t rc = made != NULL
                                 ? sx_membership_encode_sorted(head, options->name, made->parts,
                                                               made->part_count, made->ranks, ret,
                                                               ret_size)
                                 : sx_membership_encode(head, options->name, options->procs,
                                                        options->proc_count, ret, ret_size);

    return rc == PMIX_SUCCESS
               ? rc
               : SX_RAISE(rc, "the %zu members of %s", count_of(options), options->name);
}

/* Count @entry, for @owner, or as one that takes @bytes now. */
static pmix_status_t entry_count(struct sx_memberships *all, struct sx_membership_entry *entry,
                                 const struct sx_quota_owner *owner, uint64_t bytes)
{
    return entry->quota.is_taken ? sx_quota_resize(&all->quota, &entry->quota, bytes)
                                 : sx_quota_take(&all->quota, owner, false, bytes, &entry->quota);
}

/* Encode, count and show; @head has all but the members. */
static pmix_status_t entry_update(struct sx_memberships *all, struct sx_membership_entry *entry,
                                  const struct sx_membership_head *head,
                                  const struct sx_membership_options *options,
                                  const struct sx_quota_owner *owner)
{
    const struct sx_quota_row before = entry->quota;
    void *record;
    size_t size;
    pmix_status_t rc = members_encode(head, options, &record, &size);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = entry_count(all, entry, owner, bytes_of(size, count_of(options), options->notified_count));
    if (rc != PMIX_SUCCESS) {
        free(record);
        return rc;
    }
    rc = entry_show(all, entry, record, size);
    if (rc != PMIX_SUCCESS && before.is_taken) {
        (void)sx_quota_resize(&all->quota, &entry->quota, before.bytes);
    }
    return rc;
}

/* Return: how many links a list of @members has: none for a set, which no member leaves. */
static size_t links_of(uint32_t kind, size_t members)
{
    return kind == SX_MEMBERSHIP_PSET ? 0 : members;
}

/* Room for one more: nothing that follows needs memory but its record. */
static pmix_status_t entry_new(struct sx_memberships *all,
                               const struct sx_membership_options *options,
                               struct sx_membership_entry **ret)
{
    struct sx_membership_entry *const entry = calloc(1, sizeof(*entry));

    if (entry == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_list_init(&entry->owned);
    sx_list_init(&entry->unsaid);
    if (options->id != NULL) {
        entry->id = strdup(options->id);
    }
    if ((options->id != NULL && entry->id == NULL) ||
        !sx_belongings_new(&entry->belongings, links_of(options->kind, count_of(options))) ||
        !slots_reserve(all)) {
        entry_free(entry);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *ret = entry;
    return PMIX_SUCCESS;
}

pmix_status_t sx_memberships_add(struct sx_server *server,
                                 const struct sx_membership_options *options,
                                 struct sx_membership_entry **ret)
{
    struct sx_memberships *const all = &server->memberships;
    struct sx_membership_entry *entry = NULL;
    struct sx_quota_owner owner;
    const enum sx_realm realm = sx_membership_realm(options->kind);
    pmix_status_t rc = sx_memberships_open(server);

    if (rc == PMIX_SUCCESS) {
        rc = entry_new(all, options, &entry);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_memberships_new_judge(server, options, &entry->users);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_memberships_alias_make(server, entry, options);
    }
    if (rc != PMIX_SUCCESS) {
        entry_free(entry);
        return rc;
    }
    const uint32_t row = slot_take(all, entry);
    const struct sx_membership_head head = {
        .subject = ++all->serial << SX_MEMBERSHIP_ROW_BITS | row,
        .kind = options->kind,
        .flags = options->flags,
        .generation = 1,
        .context_id = options->context_id,
        .since_ns = sx_now_ns(),
    };

    entry->space = options->kind == SX_MEMBERSHIP_GROUP &&
                           sx_memberships_named(server, options->name, NULL) != NULL
                       ? head.subject
                       : 0;
    rc = entry_update(all, entry, &head, options, owner_find(server, options, &owner));
    if (rc == PMIX_SUCCESS) {
        rc = sx_membership_enter(&all->store, realm, head.subject,
                                 sx_memberships_store_name(entry));
    }
    if (rc == PMIX_SUCCESS && !sx_table_add(table_of(all, options->kind), &entry->node,
                                            sx_memberships_name_hash(server, options->name))) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc != PMIX_SUCCESS) {
        sx_membership_withdraw(&all->store, realm, head.subject,
                               entry->alias != NULL ? entry->alias : options->name);
        slot_give_back(all, row);
        sx_quota_give_back(&all->quota, &entry->quota);
        entry_free(entry);
        return rc;
    }
    all->kind_counts[options->kind]++;
    all->spaced_count += entry->space != 0;
    sx_belongings_hang(server, entry);
    sx_memberships_shown_update(server, entry);
    *ret = entry;
    return PMIX_SUCCESS;
}

pmix_status_t sx_memberships_change(struct sx_server *server, struct sx_membership_entry *entry,
                                    const pmix_proc_t *procs, size_t proc_count)
{
    const struct sx_membership_options options = { .name = sx_membership_name(&entry->published),
                                                   .procs = procs,
                                                   .proc_count = proc_count,
                                                   .notified_count = entry->notified.count };
    struct sx_membership_head head = entry->published.head;
    struct sx_belongings next;

    if (!sx_belongings_new(&next, links_of(head.kind, proc_count))) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    head.generation++;
    const pmix_status_t rc = entry_update(&server->memberships, entry, &head, &options, NULL);

    if (rc != PMIX_SUCCESS) {
        sx_belongings_clear(&next);
        return rc;
    }
    sx_belongings_clear(&entry->belongings);
    entry->belongings = next;
    sx_belongings_hang(server, entry);
    sx_memberships_shown_update(server, entry);
    return PMIX_SUCCESS;
}

pmix_status_t sx_memberships_leave(struct sx_server *server, struct sx_membership_entry *entry,
                                   const pmix_proc_t *proc)
{
    const struct sx_membership *const now = &entry->published;
    const uint32_t place = sx_membership_rank(now, proc->nspace, proc->rank);

    if (place == PMIX_RANK_INVALID) {
        return PMIX_ERR_NOT_FOUND;
    }
    struct sx_membership_head *const record = malloc(now->size_bytes);

    if (record == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(record, now->bytes, now->size_bytes);
    record->generation++;
    sx_membership_strike(record, place);
    const pmix_status_t rc = entry_show(&server->memberships, entry, record, now->size_bytes);

    if (rc == PMIX_SUCCESS) {
        sx_belongings_leave(&entry->belongings, place);
        sx_memberships_shown_update(server, entry);
    }
    return rc;
}

bool sx_memberships_hold_both(struct sx_server *server, const pmix_proc_t *proc, const char *nspace)
{
    const struct sx_membership_entry *entry = NULL;
    bool held = false;

    while (!held && (entry = sx_memberships_next(server, entry)) != NULL) {
        held = entry->published.head.kind != SX_MEMBERSHIP_PSET &&
               sx_membership_rank(&entry->published, proc->nspace, proc->rank) !=
                   PMIX_RANK_INVALID &&
               sx_membership_count_of(&entry->published, nspace) > 0;
    }
    return held;
}

/* Return: NULL when no process of its owner's user is here. */
static struct sx_client *payer_find(struct sx_server *server,
                                    const struct sx_membership_entry *entry, uid_t uid)
{
    const pmix_proc_t *const proc = &entry->quota.process->proc;
    const struct sx_nspace *const nspace = sx_nspace_find(server, proc->nspace);
    struct sx_client *client = nspace != NULL ? sx_client_find(nspace, proc->rank) : NULL;

    if (client != NULL && client->uid == uid && sx_client_is_here(client)) {
        return client;
    }
    client = NULL;
    for (size_t i = 0; i < server->live_count && client == NULL; i++) {
        client = server->live[i]->uid == uid ? server->live[i] : NULL;
    }
    return client;
}

void sx_memberships_charge_owner(struct sx_server *server, const struct sx_membership_entry *entry,
                                 uint64_t units)
{
    uid_t uid;
    struct sx_client *const payer = sx_quota_uid(&entry->quota, &uid)
                                        ? payer_find(server, entry, uid)
                                        : NULL;

    if (payer != NULL) {
        sx_share_charge(server, payer, units);
    }
}

void sx_memberships_remove(struct sx_server *server, struct sx_membership_entry *entry)
{
    struct sx_memberships *const all = &server->memberships;
    const uint64_t subject = entry->published.head.subject;
    const uint32_t kind = entry->published.head.kind;

    if (kind != SX_MEMBERSHIP_PSET) {
        sx_name_ended(server, sx_membership_name(&entry->published));
    }
    sx_memberships_shown_remove(server, entry);
    sx_membership_withdraw(&all->store, sx_membership_realm(kind), subject,
                           sx_memberships_store_name(entry));
    sx_table_remove(table_of(all, kind), &entry->node);
    all->kind_counts[kind]--;
    all->spaced_count -= entry->space != 0;
    slot_give_back(all, sx_membership_row(subject));
    sx_quota_give_back(&all->quota, &entry->quota);
    entry_free(entry);
    all->has_news = true;
}

void sx_memberships_notify(struct sx_server *server)
{
    if (server->memberships.has_news) {
        server->memberships.has_news = false;
        sx_door_ring(&server->board.header->lists, SX_BELL_ALL, (uint32_t)server->live_count);
    }
}

pmix_proc_t *sx_memberships_procs(const struct sx_membership_entry *entry)
{
    const uint32_t count = sx_membership_size(&entry->published);
    pmix_proc_t *const procs = calloc((size_t)count + 1, sizeof(*procs));

    for (uint32_t rank = 0; procs != NULL && rank < count; rank++) {
        if (sx_membership_member(&entry->published, rank, &procs[rank]) != PMIX_SUCCESS) {
            procs[rank].rank = PMIX_RANK_INVALID;
        }
    }
    return procs;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* membership_name.c - the names of lists, for each user, and in the node's store. */
#include "server/model/membership.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/status.h"
#include "server/model/nspace.h"
#include "server/model/state.h"

#define ALIASES_MAX 16u /* aliases that are tried */

uint64_t sx_memberships_name_hash(const struct sx_server *server, const char *name)
{
    return XXH3_64bits_withSeed(name, strlen(name), server->seed);
}

/* ---- users ----------------------------------------------------------------------------------- */

bool sx_memberships_see_all(uid_t uid)
{
    return uid == 0 || uid == geteuid();
}

/* Root, and the server's own user, read one store: for names they are one user. */
static uid_t user_of(uid_t uid)
{
    return sx_memberships_see_all(uid) ? 0 : uid;
}

bool sx_users_have(const struct sx_users *users, uid_t uid)
{
    const uid_t user = user_of(uid);
    size_t i = 1;

    if (users->count == 0 || users->first == user) {
        return users->count > 0;
    }
    while (i < users->count && users->others[i - 1] != user) {
        i++;
    }
    return i < users->count;
}

bool sx_users_add(struct sx_users *users, uid_t uid)
{
    if (sx_users_have(users, uid)) {
        return true;
    }
    if (users->count == 0) {
        users->first = user_of(uid);
    } else if (SX_ARRAY_RESERVE(users->others, users->count - 1, users->other_capacity, 1)) {
        users->others[users->count - 1] = user_of(uid);
    } else {
        return false;
    }
    users->count++;
    return true;
}

void sx_users_clear(struct sx_users *users)
{
    free(users->others);
    *users = (struct sx_users){ .count = 0 };
}

struct sx_membership_entry *sx_memberships_of(const struct sx_server *server, uint64_t subject)
{
    const struct sx_memberships *const all = &server->memberships;
    const uint32_t row = sx_membership_row(subject);
    struct sx_membership_entry *const entry = row < all->slot_count ? all->slots[row].entry : NULL;

    return entry != NULL && entry->published.head.subject == subject ? entry : NULL;
}

/* ---- names of groups and connected namespaces ------------------------------------------------ */

static struct sx_membership_entry *entry_of(struct sx_table_node *node)
{
    return node == NULL ? NULL : SX_CONTAINER(node, struct sx_membership_entry, node);
}

/* The next list of @name behind @node, in no order.  Return: NULL at the end. */
static struct sx_membership_entry *same_name(const struct sx_table *names,
                                             struct sx_table_node *node, const char *name)
{
    while (node != NULL && strcmp(sx_membership_name(&entry_of(node)->published), name) != 0) {
        node = sx_table_next(names, node);
    }
    return entry_of(node);
}

struct sx_membership_entry *sx_memberships_named(const struct sx_server *server, const char *name,
                                                 const struct sx_membership_entry *entry)
{
    const struct sx_table *const names = &server->memberships.names;

    if (names->count == 0) {
        return NULL;
    }
    return same_name(names,
                     entry != NULL ? sx_table_next(names, &entry->node)
                                   : sx_table_first(names, sx_memberships_name_hash(server, name)),
                     name);
}

/* Return: the list of @name that user @uid has. */
static struct sx_membership_entry *own_find(const struct sx_server *server, uid_t uid,
                                            const char *name)
{
    struct sx_membership_entry *entry = NULL;

    while ((entry = sx_memberships_named(server, name, entry)) != NULL &&
           entry->published.head.kind != SX_MEMBERSHIP_CONNECTED &&
           !sx_users_have(&entry->users, uid)) {
    }
    return entry;
}

/* Return: the list that is called so in the node's store. */
static struct sx_membership_entry *stored_find(const struct sx_server *server, const char *name)
{
    const struct sx_memberships *const all = &server->memberships;
    struct sx_membership found;

    return all->has_store && sx_membership_find(&all->store.view, SX_REALM_MEMBERS, name,
                                                strlen(name), &found) == PMIX_SUCCESS
               ? sx_memberships_of(server, found.head.subject)
               : NULL;
}

struct sx_membership_entry *sx_memberships_find_of(const struct sx_server *server, uid_t uid,
                                                   const char *name)
{
    struct sx_membership_entry *const own = own_find(server, uid, name);

    return own == NULL && user_of(uid) == 0 && server->memberships.names.count > 0
               ? stored_find(server, name)
               : own;
}

struct sx_membership_entry *sx_memberships_find(const struct sx_server *server, const char *name)
{
    return sx_memberships_find_of(server, SX_NAMES_OF_HOST, name);
}

struct sx_membership_entry *sx_memberships_find_with(const struct sx_server *server,
                                                     const char *name, const pmix_proc_t *member)
{
    struct sx_membership_entry *entry = NULL;

    while ((entry = sx_memberships_named(server, name, entry)) != NULL &&
           sx_membership_rank(&entry->published, member->nspace, member->rank) ==
               PMIX_RANK_INVALID) {
    }
    return entry;
}

/* ---- names of sets --------------------------------------------------------------------------- */

/* The owner of the set that is searched. */
enum whose { OF_ANYBODY, OF_HOST, OF_USER };

static struct sx_membership_entry *set_find(const struct sx_server *server, const char *name,
                                            enum whose whose, uid_t uid)
{
    const struct sx_table *const sets = &server->memberships.sets;
    struct sx_table_node *it = sets->count > 0
                                   ? sx_table_first(sets, sx_memberships_name_hash(server, name))
                                   : NULL;

    for (; it != NULL; it = sx_table_next(sets, it)) {
        struct sx_membership_entry *const entry = entry_of(it);
        uid_t owner = 0;
        const bool has_owner = sx_quota_uid(&entry->quota, &owner) && owner != 0;

        if (strcmp(sx_membership_name(&entry->published), name) == 0 &&
            (whose == OF_ANYBODY || (whose == OF_HOST && !has_owner) ||
             (whose == OF_USER && has_owner && owner == uid))) {
            return entry;
        }
    }
    return NULL;
}

struct sx_membership_entry *sx_memberships_find_set(const struct sx_server *server,
                                                    const char *name)
{
    struct sx_membership_entry *const entry = set_find(server, name, OF_HOST, 0);

    return entry != NULL ? entry : set_find(server, name, OF_ANYBODY, 0);
}

struct sx_membership_entry *sx_memberships_find_set_of(const struct sx_server *server, uid_t uid,
                                                       const char *name)
{
    struct sx_membership_entry *const entry = set_find(server, name, OF_HOST, 0);

    return entry != NULL ? entry : set_find(server, name, OF_USER, uid);
}

/* ---- a new list ------------------------------------------------------------------------------ */

static pmix_status_t length_judge(const char *name, size_t max)
{
    const size_t len = strnlen(name, max + 1);

    return len > 0 && len <= max && strcmp(name, SX_MEMBERSHIP_ROWS) != 0
               ? PMIX_SUCCESS
               : SX_RAISE(PMIX_ERR_BAD_PARAM,
                          "the name \"%.64s\": one of 1 to %zu bytes and not \"%s\" is needed",
                          name, max, SX_MEMBERSHIP_ROWS);
}

static pmix_status_t taken(const char *name)
{
    return SX_RAISE(PMIX_ERR_EXISTS, "the name %s is a namespace's or a group's already", name);
}

pmix_status_t sx_memberships_name_judge(struct sx_server *server, uid_t uid, const char *name)
{
    const pmix_status_t rc = length_judge(name, PMIX_MAX_NSLEN);

    return rc == PMIX_SUCCESS &&
                   (sx_nspace_find(server, name) != NULL || own_find(server, uid, name) != NULL)
               ? taken(name)
               : rc;
}

/* The users of a group are those of its members.  A member that is not here has the user of its
 * job, as far as that is known.  It called on its own node, where a name that is taken is
 * refused: here it only gets no second list of the name. */
static pmix_status_t users_find(struct sx_server *server,
                                const struct sx_membership_options *options, struct sx_users *ret)
{
    struct sx_nspace_run run = { .server = server };
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < options->proc_count && rc == PMIX_SUCCESS; i++) {
        (void)sx_nspace_run_next(&run, options->procs[i].nspace);
        const struct sx_nspace *const nspace = run.nspace;

        if (nspace == NULL) {
            continue;
        }
        const struct sx_client *const here = sx_client_find(nspace, options->procs[i].rank);
        const uid_t uid = here != NULL               ? here->uid
                          : nspace->client_count > 0 ? nspace->by_rank[0]->uid
                                                     : nspace->uid;
        const bool is_new = !sx_users_have(ret, uid);
        const bool is_taken = is_new && own_find(server, uid, options->name) != NULL;

        if (is_taken && here != NULL) {
            rc = taken(options->name);
        } else if (is_new && !is_taken && !sx_users_add(ret, uid)) {
            rc = PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    return rc;
}

/* A set of @owner (NULL: the host's) is to have @name: sets of the same name are no obstacle,
 * unless the host, root or the same user owns them. */
static pmix_status_t set_judge(struct sx_server *server, const char *name,
                               const struct sx_quota_owner *owner)
{
    const pmix_status_t rc = length_judge(name, SX_MEMBERSHIP_NAME_MAX);
    const uid_t uid = owner != NULL ? owner->uid : 0;

    return rc == PMIX_SUCCESS && sx_memberships_find_set_of(server, uid, name) != NULL
               ? SX_RAISE(PMIX_EXISTS, "there is a process set %s already", name)
               : rc;
}

pmix_status_t sx_memberships_new_judge(struct sx_server *server,
                                       const struct sx_membership_options *options,
                                       struct sx_users *ret)
{
    if (options->kind == SX_MEMBERSHIP_PSET) {
        return set_judge(server, options->name, options->owner);
    }
    const pmix_status_t rc = length_judge(options->name, PMIX_MAX_NSLEN);

    if (rc == PMIX_SUCCESS && (sx_nspace_find(server, options->name) != NULL ||
                               (options->kind == SX_MEMBERSHIP_CONNECTED &&
                                sx_memberships_named(server, options->name, NULL) != NULL))) {
        return taken(options->name);
    }
    return rc == PMIX_SUCCESS && options->kind == SX_MEMBERSHIP_GROUP
               ? users_find(server, options, ret)
               : rc;
}

/* ---- names in the node's store --------------------------------------------------------------- */

/* Return: whether a new list may be called @alias in the node's store. */
static bool is_free(struct sx_server *server, enum sx_realm realm, const char *alias)
{
    struct sx_membership other;

    return sx_membership_find(&server->memberships.store.view, realm, alias, strlen(alias),
                              &other) == PMIX_ERR_NOT_FOUND &&
           (realm == SX_REALM_SETS || sx_nspace_find(server, alias) == NULL);
}

/* Write a free alias of @name, of a list of user @uid, to @ret: NAME@UID, or another one.  The last
 * one that is tried cannot be foreseen, so no user keeps it from others.  A long name of a group is
 * cut.  Return: PMIX_SUCCESS; PMIX_EXISTS, logged. */
static pmix_status_t alias_find(struct sx_server *server, uint32_t kind, const char *name,
                                unsigned uid, char ret[SX_MEMBERSHIP_NAME_MAX + 1])
{
    const enum sx_realm realm = sx_membership_realm(kind);
    const size_t max = sx_membership_name_max(kind);
    const uint64_t serial = server->memberships.serial;
    bool found = false;

    for (unsigned i = 1; i <= ALIASES_MAX + 1 && !found; i++) {
        char suffix[64];
        const uint64_t number = i <= ALIASES_MAX
                                    ? i
                                    : XXH3_64bits_withSeed(&serial, sizeof(serial), server->seed);

        snprintf(suffix, sizeof(suffix), i == 1 ? "@%u" : "@%u.%" PRIu64, uid, number);
        const size_t room = max - strlen(suffix);

        if (kind == SX_MEMBERSHIP_PSET && (strlen(name) > room || i > ALIASES_MAX)) {
            break;
        }
        snprintf(ret, SX_MEMBERSHIP_NAME_MAX + 1, "%.*s%s", (int)room, name, suffix);
        found = is_free(server, realm, ret);
    }
    return found ? PMIX_SUCCESS
                 : SX_RAISE(PMIX_EXISTS,
                            "\"%.64s\" is another user's, too: take another, short name", name);
}

static unsigned owner_of(const struct sx_membership_entry *entry)
{
    return entry->users.count > 0 ? (unsigned)entry->users.first : 0;
}

const char *sx_memberships_store_name(const struct sx_membership_entry *entry)
{
    return entry->alias != NULL ? entry->alias : sx_membership_name(&entry->published);
}

pmix_status_t sx_memberships_publish(struct sx_memberships *all,
                                     const struct sx_membership_entry *entry,
                                     const struct sx_membership *list)
{
    const uint32_t count = sx_membership_size(list);
    void *record = NULL;
    size_t size = 0;

    if (entry->alias == NULL) {
        return sx_membership_publish(&all->store, list->bytes, list->size_bytes);
    }
    pmix_proc_t *const procs = calloc(count + 1, sizeof(*procs));
    pmix_status_t rc = procs != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;

    for (uint32_t rank = 0; rc == PMIX_SUCCESS && rank < count; rank++) {
        if (sx_membership_member(list, rank, &procs[rank]) != PMIX_SUCCESS) {
            PMIx_Load_procid(&procs[rank], "", PMIX_RANK_INVALID);
        }
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_membership_encode(&list->head, entry->alias, procs, count, &record, &size);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_membership_publish(&all->store, record, size);
    }
    free(record);
    free(procs);
    return rc;
}

/* Call @entry, a group, @alias in the node's store. */
static pmix_status_t rename_in_store(struct sx_memberships *all, struct sx_membership_entry *entry,
                                     const char *alias)
{
    char *const before = entry->alias;

    entry->alias = strdup(alias);
    const pmix_status_t rc = entry->alias == NULL
                                 ? PMIX_ERR_OUT_OF_RESOURCE
                                 : sx_memberships_publish(all, entry, &entry->published);

    if (rc != PMIX_SUCCESS) {
        free(entry->alias);
        entry->alias = before;
        return rc;
    }
    (void)sx_membership_enter(&all->store, SX_REALM_MEMBERS, entry->published.head.subject, alias);
    (void)sx_store_unset(&all->store, SX_REALM_MEMBERS, SX_ROW_JOB,
                         before != NULL ? before : sx_membership_name(&entry->published));
    free(before);
    all->has_news = true;
    return PMIX_SUCCESS;
}

pmix_status_t sx_memberships_store_name_free(struct sx_server *server, const char *name)
{
    struct sx_membership_entry *const entry = stored_find(server, name);
    char alias[SX_MEMBERSHIP_NAME_MAX + 1];

    if (entry == NULL) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = alias_find(server, SX_MEMBERSHIP_GROUP,
                                        sx_membership_name(&entry->published), owner_of(entry),
                                        alias);

    return rc == PMIX_SUCCESS ? rename_in_store(&server->memberships, entry, alias) : rc;
}

/* Root's processes, and the host's, find their groups under their own names. */
static bool needs_own_name(const struct sx_membership_entry *entry, uint32_t kind)
{
    return kind == SX_MEMBERSHIP_CONNECTED ||
           (kind == SX_MEMBERSHIP_GROUP && sx_users_have(&entry->users, 0));
}

pmix_status_t sx_memberships_alias_make(struct sx_server *server, struct sx_membership_entry *entry,
                                        const struct sx_membership_options *options)
{
    const enum sx_realm realm = sx_membership_realm(options->kind);
    const unsigned uid = options->kind != SX_MEMBERSHIP_PSET ? owner_of(entry)
                         : options->owner != NULL            ? (unsigned)options->owner->uid
                                                             : 0;
    char alias[SX_MEMBERSHIP_NAME_MAX + 1];

    if (needs_own_name(entry, options->kind)) {
        return sx_memberships_store_name_free(server, options->name);
    }
    if (is_free(server, realm, options->name)) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = alias_find(server, options->kind, options->name, uid, alias);

    if (rc == PMIX_SUCCESS) {
        entry->alias = strdup(alias);
    }
    return rc == PMIX_SUCCESS && entry->alias == NULL ? PMIX_ERR_OUT_OF_RESOURCE : rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process_sets.c - process sets: lists of the node's store, which the host and its clients define.
 *
 *     define --> a list of the processes that it matches so far; an event
 *     a namespace is registered --> sets that name all of it get its processes;
 *         it belongs to another user --> a client's set loses its processes
 *     the host deletes it, or the client that has defined it leaves --> an event; no list
 *
 * A client may name processes of jobs to come.  Their user is set when the first of them is
 * registered, or with the namespace, if it has no process here.  The set is checked then, and again
 * when a process of another user is added.  Sets of the host, and of root, contain all that they
 * name.
 *
 * A user's set is for its own processes: other users may have one of that name, and get no event
 * about it.  Sets of the host, and of root, are for all.  They take the name from users' sets,
 * which are deleted.
 *
 * No other process leaves a set, and a rank in it stays the same.  The Standard has no call by
 * which a client deletes a set, so its sets are deleted when it leaves.  GONE_MAX are deleted at
 * once, and as many in each turn, fewer when they are long.  A tool defines a set for others to
 * use, and ends: its set is deleted with the job of its first process.  All of it happens on the
 * loop thread.  Bounded with the other lists (server/model/membership.h). */
#include "server/job/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/value/value.h"
#include "server/event/event.h"
#include "server/model/membership.h"

#define GONE_MAX 32u           /* sets of clients that have left, in one turn ... */
#define GONE_MEMBERS_MAX 4096u /* ... until they have had this many members in all */
#define PROCS_PER_UNIT 4u      /* to copy, to put in a record and to publish: share.h */
#define KEPT_MAX 1024u         /* sets of one owner that name all of a job ... */
#define KEPT_NAMES_MAX 8192u   /* ... and the processes and jobs that they name, or one set more */
#define KEPT_PER_UNIT 32u      /* of these, to be counted */

/* ---- the users of processes ------------------------------------------------------------------ */

/* The users of a namespace's processes, as far as they are set. */
struct whose {
    bool is_open;  /* not set yet: the first of them is still to be registered here */
    bool is_mixed; /* they are of several users */
    uid_t uid;
};

static struct whose whose_are(const struct sx_nspace *nspace)
{
    struct whose whose = { .is_open = nspace->client_count == 0 && nspace->local_count > 0,
                           .uid = nspace->client_count > 0 ? nspace->by_rank[0]->uid
                                                           : nspace->uid };

    for (size_t i = 0; i < nspace->client_count && !whose.is_mixed; i++) {
        whose.is_mixed = nspace->by_rank[i]->uid != whose.uid;
    }
    return whose;
}

/* Whether sets of @owner (NULL: of the host, or root) may have them. */
static bool may_have(const uid_t *owner, const struct whose *whose)
{
    return owner == NULL || (!whose->is_open && !whose->is_mixed && whose->uid == *owner);
}

/* Return: @ret, the only user whose processes may be in @entry; NULL: processes of any user may. */
static const uid_t *owner_of(const struct sx_membership_entry *entry, uid_t *ret)
{
    return sx_quota_uid(&entry->quota, ret) && *ret != 0 ? ret : NULL;
}

/* ---- the members ----------------------------------------------------------------------------- */

/* Add to @list the processes of @nspace (NULL: it is not registered) that @proc matches. */
static bool meant_add(const struct sx_nspace *nspace, const pmix_proc_t *proc,
                      struct sx_proc_list *list)
{
    bool added = true;

    if (proc->rank != PMIX_RANK_WILDCARD) {
        return sx_proc_list_add(list, proc->nspace, proc->rank);
    }
    for (uint32_t rank = 0; added && nspace != NULL && rank < nspace->job_size; rank++) {
        added = sx_proc_list_add(list, nspace->name, rank);
    }
    return added;
}

/* Add to @ret the processes named in the sorted list that a set of @owner may have.  The result is
 * sorted, without duplicates.  Return: false when memory is out. */
static bool meant_list(struct sx_server *server, const uid_t *owner,
                       const struct sx_proc_list *notified, struct sx_proc_list *ret)
{
    const struct sx_nspace *nspace = NULL;
    bool added = true, may = true;

    for (size_t i = 0; added && i < notified->count; i++) {
        const pmix_proc_t *const proc = &notified->all[i];

        if (i == 0 || strcmp(notified->all[i - 1].nspace, proc->nspace) != 0) {
            nspace = sx_nspace_find(server, proc->nspace);
            may = true;
            if (nspace != NULL && owner != NULL) {
                const struct whose whose = whose_are(nspace);

                may = may_have(owner, &whose);
            }
        }
        added = !may || meant_add(nspace, proc, ret);
    }
    sx_proc_list_sort(ret);
    return added;
}

/* Whether a set of @owner has exactly the processes that are named. */
static bool are_as_stated(struct sx_server *server, const uid_t *owner,
                          const struct sx_proc_list *notified)
{
    bool are = true;

    for (size_t i = 0; are && i < notified->count; i++) {
        const char *const name = notified->all[i].nspace;
        const struct sx_nspace *const nspace = owner != NULL && (i == 0 ||
                                                                 strcmp(notified->all[i - 1].nspace,
                                                                        name) != 0)
                                                   ? sx_nspace_find(server, name)
                                                   : NULL;

        are = notified->all[i].rank != PMIX_RANK_WILDCARD;
        if (are && nspace != NULL) {
            const struct whose whose = whose_are(nspace);

            are = may_have(owner, &whose);
        }
    }
    return are;
}

/* Add the members of @now to @ret, in their places.  A gap replaces a missing member, or one of
 * @without.  Return: false when memory is out. */
static bool members_copy(const struct sx_membership *now, const char *without,
                         struct sx_proc_list *ret)
{
    const uint32_t size = sx_membership_size(now);
    bool added = true;

    for (uint32_t i = 0; added && i < size; i++) {
        pmix_proc_t proc;
        const bool is_there = sx_membership_member(now, i, &proc) == PMIX_SUCCESS &&
                              strcmp(proc.nspace, without) != 0;

        added = is_there ? sx_proc_list_add(ret, proc.nspace, proc.rank)
                         : sx_proc_list_add(ret, "", PMIX_RANK_INVALID);
    }
    return added;
}

/* Remove all processes of @nspace from the set.  If the change cannot be written, remove the
 * set. */
static void set_strike(struct sx_server *server, struct sx_membership_entry *entry,
                       const char *nspace)
{
    struct sx_proc_list next = { .all = NULL };
    const bool copied = members_copy(&entry->published, nspace, &next);
    const pmix_status_t rc = copied ? sx_memberships_change(server, entry, next.all, next.count)
                                    : PMIX_ERR_OUT_OF_RESOURCE;

    sx_proc_list_clear(&next);
    if (rc != PMIX_SUCCESS) {
        sx_memberships_remove(server, entry);
    }
}

/* Keep the current members in their places, and append the processes that now match as well. */
static pmix_status_t set_complete(struct sx_server *server, struct sx_membership_entry *entry)
{
    const struct sx_membership *const now = &entry->published;
    struct sx_proc_list meant = { .all = NULL }, next = { .all = NULL };
    const uint32_t size = sx_membership_size(now);
    uid_t uid;
    bool added = meant_list(server, owner_of(entry, &uid), &entry->notified, &meant) &&
                 members_copy(now, "", &next);
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; added && i < meant.count; i++) {
        const pmix_proc_t *const one = &meant.all[i];

        added = sx_membership_rank(now, one->nspace, one->rank) != PMIX_RANK_INVALID ||
                sx_proc_list_add(&next, one->nspace, one->rank);
    }
    if (!added) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    } else if (next.count > size) {
        rc = sx_memberships_change(server, entry, next.all, next.count);
    }
    sx_proc_list_clear(&meant);
    sx_proc_list_clear(&next);
    return rc;
}

static bool means_all_of(const struct sx_proc_list *notified, const char *nspace)
{
    size_t i = 0;

    while (i < notified->count &&
           (notified->all[i].rank != PMIX_RANK_WILDCARD ||
            (nspace != NULL && strcmp(notified->all[i].nspace, nspace) != 0))) {
        i++;
    }
    return i < notified->count;
}

/* A client's set does not keep a namespace or process from being registered, so an error is not
 * returned. */
static void clients_set_judge(struct sx_server *server, struct sx_membership_entry *entry,
                              const struct sx_nspace *nspace, const struct whose *whose)
{
    uid_t uid;

    if (may_have(owner_of(entry, &uid), whose)) {
        if (means_all_of(&entry->notified, nspace->name)) {
            (void)set_complete(server, entry);
        }
    } else if (!whose->is_open && sx_membership_count_of(&entry->published, nspace->name) > 0) {
        set_strike(server, entry, nspace->name);
    }
}

static bool is_clients_set(const struct sx_membership_entry *entry)
{
    return entry->published.head.kind == SX_MEMBERSHIP_PSET && entry->quota.process != NULL;
}

pmix_status_t sx_pset_nspace_added(struct sx_server *server, struct sx_nspace *nspace)
{
    struct sx_membership_entry *entry = sx_memberships_next(server, NULL), *next;
    const struct whose whose = whose_are(nspace);
    pmix_status_t rc = PMIX_SUCCESS;

    for (; entry != NULL && rc == PMIX_SUCCESS; entry = next) {
        next = sx_memberships_next(server, entry);
        if (is_clients_set(entry)) {
            clients_set_judge(server, entry, nspace, &whose);
        } else if (means_all_of(&entry->notified, nspace->name)) {
            rc = set_complete(server, entry);
        }
    }
    return rc;
}

void sx_pset_client_added(struct sx_server *server, struct sx_client *client)
{
    const struct sx_nspace *const nspace = client->nspace;
    struct sx_membership_entry *entry = NULL, *next;
    const struct whose whose = whose_are(nspace);

    if (client->is_tool || !nspace->registered || (nspace->client_count > 1 && !whose.is_mixed)) {
        return; /* the namespace's users have not changed */
    }
    for (entry = sx_memberships_next(server, NULL); entry != NULL; entry = next) {
        next = sx_memberships_next(server, entry);
        if (is_clients_set(entry)) {
            clients_set_judge(server, entry, nspace, &whose);
        }
    }
}

/* ---- definitions ---------------------------------------------------------------------------- */

static pmix_status_t set_add(struct sx_server *server, const struct sx_pset_definition *definition,
                             const struct sx_proc_list *meant, struct sx_membership_entry **ret)
{
    const struct sx_client *const client = definition->client;
    const struct sx_quota_owner owner = client != NULL ? sx_quota_owner_of(client)
                                                       : (struct sx_quota_owner){ .uid = 0 };
    const bool is_kept = means_all_of(&definition->notified, NULL);
    const struct sx_membership_options options = {
        .name = definition->name,
        .kind = SX_MEMBERSHIP_PSET,
        .procs = meant->all,
        .proc_count = meant->count,
        .owner = client != NULL ? &owner : NULL,
        .notified_count = is_kept ? definition->notified.count : 0,
    };

    return sx_memberships_add(server, &options, ret);
}

/* Return: the list whose owner the set is deleted with. */
static struct sx_list *sets_of(struct sx_server *server,
                               const struct sx_pset_definition *definition)
{
    struct sx_nspace *const job = definition->client->is_tool
                                      ? sx_nspace_find(server, definition->notified.all[0].nspace)
                                      : NULL;

    return job != NULL ? &job->tool_sets : &definition->client->sets;
}

/* Each must name a process or job: "nspace", and a rank or all of them. */
static bool procs_are_good(const pmix_proc_t procs[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (procs[i].nspace[0] == '\0' ||
            sx_name_len(procs[i].nspace, sizeof(procs[i].nspace)) >= sizeof(procs[i].nspace) ||
            (procs[i].rank >= SX_STORE_ROW_MAX && procs[i].rank != PMIX_RANK_WILDCARD)) {
            return false;
        }
    }
    return true;
}

static bool name_is_good(const char *name)
{
    const size_t len = name != NULL ? sx_name_len(name, SX_MEMBERSHIP_NAME_MAX + 1) : 0;

    return len > 0 && len <= SX_MEMBERSHIP_NAME_MAX;
}

/* Copy the members.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t definition_read(struct sx_pset_definition *definition)
{
    const size_t count = definition->count;

    if (!name_is_good(definition->name) || definition->members == NULL || count == 0 ||
        count > SX_PSET_MEMBERS_MAX || !procs_are_good(definition->members, count)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (strchr(definition->name, ',') != NULL) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "a process set with the name \"%s\": a comma separates the names that "
                        "PMIX_QUERY_PSET_NAMES returns; use another letter",
                        definition->name);
    }
    return sx_proc_list_append(&definition->notified, definition->members, count)
               ? PMIX_SUCCESS
               : PMIX_ERR_OUT_OF_RESOURCE;
}

/* Publish the deletion, and remove the set. */
static pmix_status_t set_delete(struct sx_server *server, struct sx_membership_entry *entry)
{
    pmix_proc_t *const members = sx_memberships_procs(entry);
    const bool is_notified = entry->notified.count > 0;
    uid_t uid;

    if (members == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_event_pset(server, false, sx_membership_name(&entry->published), owner_of(entry, &uid),
                  is_notified ? entry->notified.all : members,
                  is_notified ? entry->notified.count : sx_membership_size(&entry->published));
    free(members);
    sx_memberships_remove(server, entry);
    return PMIX_SUCCESS;
}

/* Sets of other users are deleted if the host, or root, gives a set their name. */
static void name_take(struct sx_server *server, const char *name)
{
    struct sx_membership_entry *entry;

    while ((entry = sx_memberships_find_set(server, name)) != NULL &&
           !sx_membership_is_hosts(entry)) {
        if (set_delete(server, entry) != PMIX_SUCCESS) {
            sx_memberships_remove(server, entry); /* memory is out: no event */
        }
    }
}

/* A registration looks at all names of a set that names all of a job, and may make it anew, in one
 * turn.  Such sets are the first of their owner's.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE,
 * logged. */
static pmix_status_t kept_judge(struct sx_server *server, struct sx_pset_definition *definition)
{
    const struct sx_client *const client = definition->client;
    size_t count = 0, names = 0;

    SX_LIST_EACH(it, sets_of(server, definition)) {
        const size_t its = SX_LIST_ENTRY(it, struct sx_membership_entry, owned)->notified.count;

        if (its == 0 || count == KEPT_MAX || names >= KEPT_NAMES_MAX) {
            break;
        }
        count++;
        names += its;
    }
    sx_share_charge(server, definition->client, count / KEPT_PER_UNIT);
    return count < KEPT_MAX && names < KEPT_NAMES_MAX
               ? PMIX_SUCCESS
               : SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                          "%s.%u has defined %zu process sets that name all of a job, with %zu "
                          "names, and may have no more above %u, or %u: let others define some, or "
                          "name ranks",
                          client->nspace->name, client->rank, count, names, KEPT_MAX,
                          KEPT_NAMES_MAX);
}

/* Create the list.  Return: as sx_memberships_add. */
static pmix_status_t definition_add(struct sx_server *server, struct sx_pset_definition *definition)
{
    struct sx_proc_list meant = { .all = NULL };
    struct sx_membership_entry *entry;
    const bool is_kept = means_all_of(&definition->notified, NULL);
    const uid_t *const owner = definition->client != NULL && definition->client->uid != 0
                                   ? &definition->client->uid
                                   : NULL;
    pmix_status_t rc = definition->client != NULL && is_kept ? kept_judge(server, definition)
                                                             : PMIX_SUCCESS;

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = PMIX_ERR_OUT_OF_RESOURCE;
    if (owner == NULL) {
        name_take(server, definition->name);
    }
    if (are_as_stated(server, owner, &definition->notified)) { /* they are used without a copy */
        rc = set_add(server, definition, &definition->notified, &entry);
    } else if (meant_list(server, owner, &definition->notified, &meant)) {
        rc = set_add(server, definition, &meant, &entry);
    }
    if (definition->client != NULL) {
        sx_share_charge(server, definition->client, meant.count / PROCS_PER_UNIT);
    }
    sx_proc_list_clear(&meant);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    definition->subject = entry->published.head.subject;
    if (definition->client != NULL) {
        struct sx_list *const all = sets_of(server, definition);

        sx_list_append(is_kept ? all->next : all, &entry->owned);
    }
    if (is_kept) {
        entry->notified = definition->notified;
        definition->notified = (struct sx_proc_list){ .all = NULL };
    }
    return PMIX_SUCCESS;
}

/* Publish the event of the definition, unless the set has been deleted meanwhile. */
static void definition_notify(struct sx_server *server, const struct sx_pset_definition *definition)
{
    const struct sx_membership_entry *const entry = sx_memberships_of(server, definition->subject);

    if (entry != NULL) {
        const struct sx_proc_list *const notified = entry->notified.count > 0
                                                        ? &entry->notified
                                                        : &definition->notified;

        uid_t uid;

        sx_event_pset(server, true, definition->name, owner_of(entry, &uid), notified->all,
                      notified->count);
    }
}

pmix_status_t sx_pset_define_step(struct sx_server *server, struct sx_pset_definition *definition)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (definition->client != NULL) {
        sx_share_charge(server, definition->client, definition->count / PROCS_PER_UNIT);
    }
    switch (definition->done++) {
    case 0:
        rc = definition_read(definition);
        break;
    case 1:
        sx_proc_list_sort(&definition->notified);
        break;
    case 2:
        rc = definition_add(server, definition);
        break;
    default:
        definition_notify(server, definition);
        return PMIX_SUCCESS;
    }
    return rc == PMIX_SUCCESS ? PMIX_ERR_WOULD_BLOCK : rc;
}

static pmix_status_t pset_define(struct sx_server *server, void *arg)
{
    pmix_status_t rc;

    do {
        rc = sx_pset_define_step(server, arg);
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    sx_pset_definition_clear(arg);
    return rc;
}

pmix_status_t sx_pset_define(struct sx_server *server, struct sx_client *client,
                             const pmix_proc_t members[], size_t count, const char *name)
{
    struct sx_pset_definition definition = {
        .client = client, .name = name, .members = members, .count = count
    };

    return pset_define(server, &definition);
}

void sx_pset_definition_clear(struct sx_pset_definition *definition)
{
    sx_proc_list_clear(&definition->notified);
}

pmix_status_t PMIx_server_define_process_set(const pmix_proc_t *members, size_t nmembers,
                                             const char *pset_name)
{
    struct sx_pset_definition definition = { .name = pset_name,
                                             .members = members,
                                             .count = nmembers };

    return sx_server_get() == NULL ? PMIX_ERR_INIT
                                   : sx_server_call(sx_server_get(), pset_define, &definition);
}

/* ---- deletions ------------------------------------------------------------------------------ */

static void ownerless_remove(void *arg, uint64_t now_ns)
{
    struct sx_server *const server = arg;
    struct sx_psets *const psets = &server->job.psets;
    struct sx_list *it;
    size_t count = 0, members = 0;

    (void)now_ns;
    psets->posted = false;
    while (count++ < GONE_MAX && members < GONE_MEMBERS_MAX &&
           (it = sx_list_pop(&psets->ownerless)) != NULL) {
        struct sx_membership_entry *const entry = SX_LIST_ENTRY(it, struct sx_membership_entry,
                                                                owned);

        const size_t size = sx_membership_size(&entry->published) + entry->notified.count;

        members += size;
        sx_memberships_charge_owner(server, entry, 1 + size / SX_MEMBERS_PER_UNIT);
        if (set_delete(server, entry) != PMIX_SUCCESS) {
            sx_memberships_remove(server, entry); /* memory is out: no event */
        }
    }
    if (!sx_list_empty(&psets->ownerless) && !psets->posted) {
        psets->posted = sx_loop_post(server->loop, &psets->post) == PMIX_SUCCESS;
    }
}

void sx_psets_init(struct sx_server *server)
{
    sx_list_init(&server->job.psets.ownerless);
    server->job.psets.post = (struct sx_loop_post){ .fn = ownerless_remove, .arg = server };
}

static void sets_go(struct sx_server *server, struct sx_list *sets)
{
    if (!sx_list_empty(sets)) {
        sx_list_splice(&server->job.psets.ownerless, sets);
        if (!server->job.psets.posted) {
            ownerless_remove(server, 0);
        }
    }
}

void sx_pset_client_gone(struct sx_server *server, struct sx_client *client)
{
    sets_go(server, &client->sets);
}

void sx_pset_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    sets_go(server, &nspace->tool_sets);
}

static pmix_status_t pset_delete(struct sx_server *server, void *arg)
{
    struct sx_membership_entry *const entry = sx_memberships_find_set(server, arg);

    if (entry == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    return set_delete(server, entry);
}

pmix_status_t PMIx_server_delete_process_set(char *pset_name)
{
    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    return name_is_good(pset_name) ? sx_server_call(sx_server_get(), pset_delete, pset_name)
                                   : PMIX_ERR_BAD_PARAM;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect.c - names and ranks of connected namespaces, and their ends. */
#include "server/collective/collective.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "base/value/value.h"
#include "server/collective/connect_nodes.h"
#include "server/event/event.h"
#include "server/model/membership.h"
#include "server/model/proc_list.h"
#include "server/model/share.h"

/* ---- lists of processes --------------------------------------------------------------------- */

static pmix_proc_t proc_of(const char *nspace, uint32_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, nspace, rank);
    return proc;
}

/* Add the processes of @rank, one or the wildcard, that are not on this node. */
static bool procs_add_elsewhere(struct sx_proc_list *procs, const struct sx_nspace *nspace,
                                uint32_t rank)
{
    const bool all = rank == PMIX_RANK_WILDCARD;
    const uint32_t end = all ? nspace->job_size : rank + 1;
    bool ok = true;

    for (uint32_t one = all ? 0 : rank; one < end && ok; one++) {
        ok = sx_client_find(nspace, one) != NULL || sx_proc_list_add(procs, nspace->name, one);
    }
    return ok;
}

enum who { EVERYBODY, THE_OTHERS, THE_MISSING };

/* List the participants in order: all, all but @client, or those that have not arrived.  Return:
 * false when memory is out. */
static bool procs_of(const struct sx_collective *collective, enum who who,
                     const struct sx_client *client, struct sx_proc_list *ret)
{
    const struct sx_members *const members = &collective->members;
    bool ok = true;

    *ret = (struct sx_proc_list){ .all = NULL };
    for (size_t i = 0; i < members->count && ok; i++) {
        const struct sx_client *const member = members->all[i].client;

        if (member->nspace != NULL && (who == EVERYBODY || member != client) &&
            (who != THE_MISSING || !members->all[i].arrived)) {
            ok = sx_proc_list_add(ret, member->nspace->name, member->rank);
        }
    }
    struct sx_alias_walk walk = { .list = &members->real }; /* which may not be named yet */
    const struct sx_nspace *nspace = NULL;

    while (ok && sx_alias_next(&walk)) {
        if (walk.is_new) {
            nspace = sx_nspace_find(members->server, walk.nspace);
        }
        if (nspace != NULL && nspace->registered) {
            ok = procs_add_elsewhere(ret, nspace, walk.rank);
        } else if (who != EVERYBODY) { /* their number is not known yet */
            ok = sx_proc_list_add(ret, walk.nspace, walk.rank);
        }
    }
    if (!ok) {
        sx_proc_list_clear(ret);
    }
    sx_proc_list_sort(ret);
    return ok;
}

/* ---- connect -------------------------------------------------------------------------------- */

/* Send the missing processes an event with the processes and the id that they have to give. */
static void ask_for_the_others(const struct sx_collective *collective, struct sx_client *client,
                               const struct sx_proc_list *to)
{
    const struct sx_event_note notes[] = {
        { .key = SHMIX_CONNECT_PROCS,
          .procs = collective->members.procs,
          .count = collective->members.proc_count },
        { .key = PMIX_CONNECT_ID, .text = collective->id },
    };

    sx_event_to(collective->members.server, PMIX_CONNECT_REQUESTED, client, to->all, to->count,
                notes, collective->id != NULL ? 2 : 1);
}

void sx_connect_arrived(struct sx_collective *collective, struct sx_client *client, uint8_t connect)
{
    const uint8_t said = collective->connect | connect;
    struct sx_proc_list to;

    if ((said & SX_CONNECT_NOTIFIES) != 0 && procs_of(collective, THE_OTHERS, client, &to)) {
        sx_event_to(collective->members.server, PMIX_PROC_HAS_CONNECTED, client, to.all, to.count,
                    NULL, 0);
        sx_proc_list_clear(&to);
    }
    /* The event is sent once only. */
    if ((connect & ~collective->connect & SX_CONNECT_ASKS) != 0 &&
        procs_of(collective, THE_MISSING, client, &to)) {
        ask_for_the_others(collective, client, &to);
        sx_proc_list_clear(&to);
    }
}

/* Return: the hash of a connect as its callers wrote it, with which a disconnect finds it. */
static uint64_t written_hash(const struct sx_server *server, pmix_proc_t *procs, size_t proc_count,
                             const char *id)
{
    const struct sx_op_signature meeting = { .kind = SX_COLLECTIVE_CONNECT,
                                             .procs = { .all = procs, .count = proc_count },
                                             .id = id };

    return sx_op_signature_hash(server, &meeting);
}

/* Of @members, or of @made if it is not NULL. */
static pmix_status_t namespace_make(struct sx_collective *collective, const char *name,
                                    const struct sx_proc_list *members,
                                    const struct sx_alias_list *made,
                                    struct sx_membership_entry **ret)
{
    struct sx_server *const server = collective->members.server;
    const bool early = (collective->pardons & SX_PARDON_AFTER) != 0;
    const struct sx_membership_options options = {
        .name = name,
        .kind = SX_MEMBERSHIP_CONNECTED,
        .flags = early ? SX_MEMBERSHIP_EARLY_TERM : 0,
        .id = collective->id,
        .procs = members != NULL ? members->all : NULL,
        .proc_count = members != NULL ? members->count : 0,
        .made = made,
    };
    pmix_status_t rc = sx_memberships_add(server, &options, ret);

    if (rc == PMIX_SUCCESS &&
        !sx_table_add(&server->collective.connects, &(*ret)->written,
                      written_hash(server, collective->members.procs,
                                   collective->members.proc_count, collective->id))) {
        sx_memberships_remove(server, *ret);
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    return rc;
}

void sx_connect_name(struct sx_server *server, char ret[PMIX_MAX_NSLEN + 1])
{
    /* Each server has an origin of its own. */
    snprintf(ret, PMIX_MAX_NSLEN + 1, "connected-%" PRIu64 ".%s", ++server->collective.connect_last,
             server->relay_origin);
}

/* Conclude a connect whose members are all on this node. */
static pmix_status_t conclude_here(struct sx_collective *collective,
                                   struct sx_membership_entry **ret)
{
    char name[PMIX_MAX_NSLEN + 1];
    struct sx_proc_list members;

    if (!procs_of(collective, EVERYBODY, NULL, &members)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_connect_name(collective->members.server, name);
    const pmix_status_t rc = namespace_make(collective, name, &members, NULL, ret);

    sx_proc_list_clear(&members);
    return rc;
}

static void member_gone(struct sx_server *server, struct sx_membership_entry *entry,
                        const struct sx_leaver *leaver);

static void jobs_mark(const struct sx_members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        struct sx_nspace *const nspace = members->all[i].client->nspace;

        if (nspace != NULL) {
            nspace->was_connected = true;
        }
    }
}

pmix_status_t sx_connect_conclude(struct sx_collective *collective, uint64_t *ret_subject)
{
    const struct sx_agreed *const agreed = &collective->agreed;
    struct sx_membership_entry *entry = NULL;

    if ((collective->connect & SX_CONNECT_EXCHANGES) != 0) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = agreed->members.count == 0
                                 ? conclude_here(collective, &entry)
                                 : namespace_make(collective, agreed->name, NULL, &agreed->members,
                                                  &entry);

    if (rc == PMIX_SUCCESS) {
        *ret_subject = entry->published.head.subject;
        jobs_mark(&collective->members);
        sx_membership_ended_leave(*ret_subject, &collective->members, member_gone);
    } else {
        sx_connect_nodes_end(collective->members.server, agreed->name);
    }
    return rc;
}

/* ---- disconnect ----------------------------------------------------------------------------- */

static const char *name_of(const struct sx_membership_entry *entry)
{
    return sx_membership_name(&entry->published);
}

/* Return: whether @client waits for the others to disconnect from @entry. */
static bool has_called(const struct sx_server *server, const struct sx_membership_entry *entry,
                       struct sx_client *client)
{
    return sx_membership_is_waited_for(server, entry, client, SX_COLLECTIVE_DISCONNECT);
}

#define LOOKS_PER_UNIT 4u /* for a namespace to disconnect: share.h */

/* Return: the oldest namespace that was connected as @arrival names it, and that @client has not
 * called to disconnect.  Those of one hash lie in the table from the oldest to the youngest. */
static struct sx_membership_entry *
entry_by_words(struct sx_server *server, struct sx_client *client, const struct sx_arrival *arrival)
{
    const char *const id = arrival->options.id;
    const uint64_t hash = written_hash(server, arrival->procs, arrival->proc_count, id);
    struct sx_table_node *it = sx_table_first(&server->collective.connects, hash);
    struct sx_membership_entry *found = NULL;
    uint64_t looks = 0;

    for (; it != NULL && found == NULL; it = sx_table_next(&server->collective.connects, it)) {
        struct sx_membership_entry *const entry = SX_CONTAINER(it, struct sx_membership_entry,
                                                               written);

        looks++;
        found = sx_membership_has(entry, client) && !has_called(server, entry, client) ? entry
                                                                                       : NULL;
    }
    sx_share_charge(server, client, looks / LOOKS_PER_UNIT);
    return found;
}

/* Return: the reason why there is no such namespace. */
static pmix_status_t words_judge(struct sx_server *server, const struct sx_client *client,
                                 const struct sx_arrival *arrival)
{
    bool holds_client = false;

    for (size_t i = 0; i < arrival->proc_count; i++) {
        const pmix_proc_t *const proc = &arrival->procs[i];

        if (sx_nspace_find(server, proc->nspace) == NULL &&
            sx_memberships_find_of(server, client->uid, proc->nspace) == NULL) {
            return PMIX_ERR_NOT_FOUND;
        }
        holds_client |= sx_alias_means(server, client->uid, proc, client);
    }
    return holds_client ? PMIX_ERR_INVALID_OPERATION : PMIX_ERR_NOT_A_MEMBER;
}

/* Find the namespace by its name, when that is all that @arrival gives.  Return: NULL when @arrival
 * gives something else. */
static struct sx_membership_entry *entry_by_name(const struct sx_server *server,
                                                 const struct sx_arrival *arrival)
{
    struct sx_membership_entry *const entry = arrival->proc_count == 1 &&
                                                      arrival->procs[0].rank == PMIX_RANK_WILDCARD
                                                  ? sx_memberships_find(server,
                                                                        arrival->procs[0].nspace)
                                                  : NULL;

    return entry != NULL && entry->published.head.kind == SX_MEMBERSHIP_CONNECTED ? entry : NULL;
}

pmix_status_t sx_disconnect_aim(struct sx_server *server, struct sx_client *client,
                                struct sx_arrival *arrival)
{
    const struct sx_membership_entry *entry = entry_by_name(server, arrival);

    if (entry != NULL && !sx_membership_has(entry, client)) {
        return PMIX_ERR_NOT_A_MEMBER;
    }
    if (entry != NULL && has_called(server, entry, client)) {
        return PMIX_ERR_INVALID_OPERATION;
    }
    if (entry == NULL) {
        entry = entry_by_words(server, client, arrival);
    }
    if (entry == NULL) {
        return words_judge(server, client, arrival);
    }
    arrival->procs[0] = proc_of(name_of(entry), PMIX_RANK_WILDCARD);
    arrival->proc_count = 1;
    arrival->options.id = NULL;
    if ((entry->published.head.flags & SX_MEMBERSHIP_EARLY_TERM) != 0) {
        arrival->options.pardons |= SX_PARDON_BEFORE;
    }
    return PMIX_SUCCESS;
}

void sx_disconnect_arrived(struct sx_collective *collective, struct sx_client *client,
                           uint8_t connect)
{
    struct sx_proc_list to;

    if ((connect & SX_CONNECT_NOTIFIES) != 0 && procs_of(collective, THE_OTHERS, client, &to)) {
        sx_event_to(collective->members.server, PMIX_PROC_HAS_DISCONNECTED, client, to.all,
                    to.count, NULL, 0);
        sx_proc_list_clear(&to);
    }
}

pmix_status_t sx_disconnect_conclude(struct sx_collective *collective, uint64_t *ret_subject)
{
    struct sx_server *const server = collective->members.server;
    struct sx_membership_entry *const entry =
        sx_memberships_find(server, collective->members.procs[0].nspace);

    (void)ret_subject;
    if (entry != NULL) {
        sx_membership_end(server, entry);
    }
    return PMIX_SUCCESS;
}

void sx_connects_deinit(struct sx_server *server)
{
    sx_table_deinit(&server->collective.connects);
    sx_membership_leavers_deinit(server);
}

/* ---- members that leave --------------------------------------------------------------------- */

/* Return: whether a member of the job @nspace has ended without a disconnect. */
static bool is_unsaid(const struct sx_membership_entry *entry, const char *nspace)
{
    SX_LIST_EACH(it, &entry->unsaid) {
        if (strcmp(SX_LIST_ENTRY(it, struct sx_unsaid, link)->nspace, nspace) == 0) {
            return true;
        }
    }
    return false;
}

/* @nspace: NULL: the job @name has ended.  When memory is out, no event is sent for the job. */
static void unsaid_add(struct sx_membership_entry *entry, struct sx_nspace *nspace,
                       const char *name)
{
    struct sx_unsaid *const unsaid = malloc(sizeof(*unsaid));

    if (unsaid == NULL) {
        return;
    }
    *unsaid = (struct sx_unsaid){ .entry = entry };
    PMIx_Load_nspace(unsaid->nspace, name);
    sx_list_append(&entry->unsaid, &unsaid->link);
    sx_list_init(&unsaid->of_job);
    if (nspace != NULL) {
        sx_list_append(&nspace->unsaid, &unsaid->of_job);
    }
}

static void job_gone(struct sx_server *server, const struct sx_membership_entry *entry,
                     const char *nspace)
{
    const pmix_proc_t there = proc_of(name_of(entry), PMIX_RANK_UNDEF);
    const pmix_proc_t job = proc_of(nspace, PMIX_RANK_WILDCARD);
    const struct sx_event_note note = { .key = SHMIX_CONNECTED, .procs = &there, .is_one = true };
    struct sx_proc_list left = { .all = NULL };

    (void)sx_membership_left(server, entry, &left);
    sx_event_of_proc(server, PMIX_ERR_JOB_TERM_WO_SYNC, &job, &left, &note, 1);
    sx_proc_list_clear(&left);
}

/* Return: the job of the member; NULL: it has ended, and another may have its name. */
static struct sx_nspace *job_of(struct sx_server *server, const struct sx_leaver *leaver)
{
    struct sx_nspace *const named = sx_nspace_find(server, leaver->proc.nspace);

    return named == leaver->client->nspace ? named : NULL;
}

/* The job of the member may end before the member has left all of its lists.  No later event would
 * be sent for the job then, so it is sent here. */
static void member_gone(struct sx_server *server, struct sx_membership_entry *entry,
                        const struct sx_leaver *leaver)
{
    const char *const job = leaver->proc.nspace;
    const uint32_t rank = sx_membership_rank(&entry->published, job, leaver->proc.rank);
    const pmix_proc_t there = proc_of(name_of(entry), rank);
    const bool early = (entry->published.head.flags & SX_MEMBERSHIP_EARLY_TERM) != 0;
    const bool may_go = early || has_called(server, entry, leaver->client);
    const struct sx_member_gone gone = {
        .name = there.nspace,
        .pardons = early ? SX_PARDON_BEFORE | SX_PARDON_AFTER : 0,
        .code = may_go ? PMIX_SUCCESS : PMIX_ERR_PROC_TERM_WO_SYNC,
        .note = &(struct sx_event_note){ .key = SHMIX_CONNECTED, .procs = &there, .is_one = true },
    };

    const bool is_first = !may_go && !is_unsaid(entry, job);
    struct sx_nspace *const nspace = is_first ? job_of(server, leaver) : NULL;

    if (is_first) {
        unsaid_add(entry, nspace, job);
    }
    sx_membership_member_gone(server, entry, leaver, &gone);
    if (is_first && nspace == NULL) {
        const struct sx_membership_entry *const rest = sx_memberships_find(server, there.nspace);

        if (rest != NULL) {
            job_gone(server, rest, job);
        }
    }
}

/* Call the watcher once for each other job. */
static void watcher_notify(struct sx_server *server, const struct sx_membership_entry *entry,
                           const pmix_proc_t *lost)
{
    struct sx_proc_list left = { .all = NULL };
    const char *last = lost->nspace;

    (void)sx_membership_left(server, entry, &left); /* in the order of their namespaces */
    for (size_t i = 0; i < left.count; i++) {
        if (strcmp(left.all[i].nspace, last) != 0 &&
            strcmp(left.all[i].nspace, lost->nspace) != 0) {
            server->collective.connect_lost(lost, left.all[i].nspace);
        }
        last = left.all[i].nspace;
    }
    sx_proc_list_clear(&left);
}

static void member_lost(struct sx_server *server, struct sx_membership_entry *entry,
                        const struct sx_leaver *leaver)
{
    const bool early = (entry->published.head.flags & SX_MEMBERSHIP_EARLY_TERM) != 0;

    if (server->collective.connect_lost != NULL && !entry->parted && !early &&
        !has_called(server, entry, leaver->client)) {
        watcher_notify(server, entry, &leaver->proc);
    }
    member_gone(server, entry, leaver);
}

size_t sx_connect_job_ends(struct sx_server *server, struct sx_nspace *nspace, size_t max)
{
    size_t visited = 0;

    while (visited < max && !sx_list_empty(&nspace->unsaid)) {
        struct sx_unsaid *const unsaid = SX_LIST_ENTRY(nspace->unsaid.next, struct sx_unsaid,
                                                       of_job);
        const struct sx_membership_entry *const entry = unsaid->entry;

        visited += 1 + sx_membership_size(&entry->published);
        sx_unsaid_free(unsaid); /* the job may be registered again */
        job_gone(server, entry, nspace->name);
    }
    return visited;
}

void sx_connect_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    (void)sx_connect_job_ends(server, nspace, SIZE_MAX);
}

void sx_connect_client_gone(struct sx_server *server, struct sx_client *client)
{
    sx_membership_each_of(server, client, SX_MEMBERSHIP_CONNECTED, member_gone);
}

void sx_connect_client_lost(struct sx_server *server, struct sx_client *client)
{
    sx_membership_each_of(server, client, SX_MEMBERSHIP_CONNECTED, member_lost);
}

static pmix_status_t watch(struct sx_server *server, void *arg)
{
    server->collective.connect_lost = *(void (**)(const pmix_proc_t *, const char *))arg;
    return PMIX_SUCCESS;
}

pmix_status_t sx_connect_watch(void (*fn)(const pmix_proc_t *lost, const char *nspace))
{
    struct sx_server *const server = sx_server_get();

    return server != NULL ? sx_server_call(server, watch, &fn) : PMIX_ERR_INIT;
}

/* ---- members that separate ------------------------------------------------------------------ */

/* Return: whether @members, which are here, are all of @entry. */
static bool are_all_of(struct sx_server *server, const struct sx_members *members,
                       const struct sx_membership_entry *entry)
{
    struct sx_proc_list left = { .all = NULL };
    bool all;

    if (sx_membership_size(&entry->published) < members->count) {
        return false;
    }
    (void)sx_membership_left(server, entry, &left);
    all = left.count == members->count;
    for (size_t i = 0; i < left.count && all; i++) {
        const struct sx_nspace *const nspace = sx_nspace_find(server, left.all[i].nspace);
        struct sx_client *const client = nspace != NULL ? sx_client_find(nspace, left.all[i].rank)
                                                        : NULL;

        all = client != NULL && sx_members_find(members, client) != NULL;
    }
    sx_proc_list_clear(&left);
    return all;
}

pmix_status_t sx_connect_fenced(struct sx_collective *collective, uint64_t *ret_subject)
{
    const struct sx_members *const members = &collective->members;
    struct sx_server *const server = members->server;

    (void)ret_subject;
    if (server->collective.connect_lost == NULL || members->count == 0 || members->proc_count < 2) {
        return PMIX_SUCCESS; /* no watcher needs it */
    }
    SX_LIST_EACH(it, &members->all[0].client->belongings[SX_MEMBERSHIP_CONNECTED]) {
        struct sx_membership_entry *const entry =
            SX_LIST_ENTRY(it, struct sx_belonging, link)->entry;

        if (!entry->parted) {
            entry->parted = are_all_of(server, members, entry);
        }
    }
    return PMIX_SUCCESS;
}

/* ---- members on other nodes ------------------------------------------------------------------ */

/* The entries of the host, and the name that this server proposes. */

bool sx_connects_host_always(const struct sx_collective *collective)
{
    const pmix_server_module_t *const module = &collective->members.server->module;

    return collective->kind->number == SX_COLLECTIVE_CONNECT ? module->connect != NULL
                                                             : module->disconnect != NULL;
}

pmix_status_t sx_connects_host_ask(struct sx_collective *collective, sx_answered_fn answered)
{
    const bool connects = collective->kind->number == SX_COLLECTIVE_CONNECT;
    const struct sx_agree_entry entry = { .kind = connects ? SX_UPCALL_CONNECT
                                                           : SX_UPCALL_DISCONNECT,
                                          .is_asked = sx_connects_host_always(collective) };

    return sx_agree_ask(collective, &entry, answered);
}

pmix_status_t sx_connect_contribute(struct sx_collective *collective, struct sx_blob *blob)
{
    char name[PMIX_MAX_NSLEN + 1];

    sx_connect_name(collective->members.server, name);
    return sx_agree_contribute(collective, name, NULL, blob);
}

bool sx_connect_host_answered(struct sx_collective *collective, const struct sx_host_answer *answer,
                              pmix_status_t *ret_status)
{
    if (sx_agree_goes_on(collective, answer, ret_status)) {
        return false;
    }
    if (*ret_status == PMIX_SUCCESS) {
        *ret_status = sx_agree_read(collective, answer, NULL);
    }
    return true;
}

/* Contribute nothing but the fact that all here have called. */
pmix_status_t sx_disconnect_contribute(struct sx_collective *collective, struct sx_blob *blob)
{
    (void)collective;
    return sx_blob_begin_as(blob, SX_BLOB_ROUND);
}

bool sx_disconnect_host_answered(struct sx_collective *collective,
                                 const struct sx_host_answer *answer, pmix_status_t *ret_status)
{
    return !sx_agree_goes_on(collective, answer, ret_status);
}

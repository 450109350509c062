/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective.c - gather the local members of an operation, then release them together.
 *
 * An arrival finds its operation by the hash of its signature, without a walk over other
 * operations.  A second arrival of the same client with the same signature belongs to the next
 * generation of the operation.  An operation that has ended, for example by its time limit, has
 * ended for all.  A member that calls later opens another, with a time limit of its own, and the
 * others' next call joins that (X21).  The members, and the release of those that wait, are in
 * members.h.  Memory: one struct, and one member entry per expected client.  A client's number of
 * operations, and the bytes that it sends for them, are limited (pending.c). */
#include "server/collective/engine.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/clock.h"
#include "base/status.h"
#include "server/data/data.h"
#include "server/model/proc_list.h"
#include "server/model/share.h"
#include "server/port/port.h"

/* ---- generations --------------------------------------------------------------------------- */

struct sx_op_signature sx_collective_signature(const struct sx_kind *kind,
                                               const struct sx_alias_list *procs, const char *id,
                                               uint64_t space)
{
    struct sx_op_signature meeting = { .kind = kind->number, .id = id, .space = space };

    if (!kind->known_by_id) {
        meeting.procs = *procs;
    }
    return meeting;
}

static struct sx_table *table_of(const struct sx_collective *collective)
{
    struct sx_server *const server = collective->members.server;

    return collective->is_owed ? &server->collective.owed : &server->collective.signatures;
}

struct sx_collective *sx_collective_oldest_like(struct sx_collective *of)
{
    const struct sx_alias_list written = sx_members_written(&of->members);
    const struct sx_op_signature meeting = sx_collective_signature(of->kind, &written, of->id,
                                                                   of->space);
    const uint64_t hash = of->generation.node.hash;

    if (sx_generation_is_oldest(&of->generation)) {
        return of;
    }
    return of->is_owed ? sx_op_signature_owed(of->members.server, &meeting, hash)
                       : sx_op_signature_oldest(of->members.server, &meeting, hash);
}

static bool is_behind(struct sx_generation *generation, void *arg)
{
    const uint64_t *const serial = arg;

    return SX_CONTAINER(generation, struct sx_collective, generation)->serial > *serial;
}

/* Return: the first operation after @oldest whose serial is above @serial. */
static struct sx_collective *collective_behind(struct sx_collective *oldest, uint64_t serial)
{
    struct sx_generation *const next = sx_generation_first(&oldest->generation, is_behind, &serial);

    return next == NULL ? NULL : SX_CONTAINER(next, struct sx_collective, generation);
}

/* Return: whether @collective waits for a namespace that will be registered.  The host was asked,
 * and has completed no more than the processes that are registered here, so it reaches no
 * others. */
static bool collective_awaits(const struct sx_collective *collective)
{
    return collective->members.has_unknown && collective->members.admits_unknown &&
           !collective->is_over;
}

/* The host has the operation, and may give it back for a namespace that it has registered
 * meanwhile: a process of that namespace is one of its members already. */
static bool may_join(struct sx_generation *generation, void *arg)
{
    struct sx_collective *const collective = SX_CONTAINER(generation, struct sx_collective,
                                                          generation);
    struct sx_members *const members = &collective->members;
    struct sx_member *member = sx_members_find(members, arg);

    if (member == NULL && collective->with_host && collective_awaits(collective)) {
        sx_share_charge(members->server, arg,
                        (members->proc_count + members->count) / SX_ARRIVE_PROCS_PER_UNIT);
        member = sx_members_expect(members, arg) == PMIX_SUCCESS ? sx_members_find(members, arg)
                                                                 : NULL;
    }
    return member != NULL && sx_collective_misses(collective, member);
}

struct sx_collective *sx_collective_joinable(struct sx_collective *oldest, struct sx_client *client)
{
    struct sx_generation *const found = oldest == NULL ? NULL
                                                       : sx_generation_first(&oldest->generation,
                                                                             may_join, client);

    return found == NULL ? NULL : SX_CONTAINER(found, struct sx_collective, generation);
}

/* ---- life ---------------------------------------------------------------------------------- */

void sx_collective_walk_begin(struct sx_server *server, struct sx_collective_walk *walk)
{
    *walk = (struct sx_collective_walk){ .next = server->collective.all.next,
                                         .outer = server->collective.walk };
    server->collective.walk = walk;
}

struct sx_collective *sx_collective_walk_next(const struct sx_server *server,
                                              struct sx_collective_walk *walk)
{
    struct sx_list *const it = walk->next;

    walk->next = it->next;
    return it != &server->collective.all ? SX_LIST_ENTRY(it, struct sx_collective, link) : NULL;
}

void sx_collective_walk_end(struct sx_server *server, const struct sx_collective_walk *walk)
{
    server->collective.walk = walk->outer;
}

void sx_collective_unlink(struct sx_collective *collective)
{
    struct sx_collective_walk *walk = collective->members.server->collective.walk;

    for (; walk != NULL; walk = walk->outer) {
        walk->next = walk->next == &collective->link ? collective->link.next : walk->next;
    }
    sx_list_remove(&collective->link);
}

void sx_collective_free(struct sx_collective *collective)
{
    struct sx_collective_state *const state = &collective->members.server->collective;

    state->open_count--;
    sx_quota_give_back(&state->quota, &collective->quota);
    sx_shown_remove(collective->members.server, &collective->shown);
    sx_timer_remove(&collective->deadline);
    sx_rounds_leave(collective);
    sx_asker_deinit(&collective->asker);
    sx_fence_pack_drop(collective);
    sx_incoming_drop(collective->incoming);
    sx_collective_unlink(collective);
    sx_list_remove(&collective->unread);
    sx_list_remove(&collective->naming);
    sx_list_remove(&collective->marked);
    if (!sx_list_empty(&collective->meant.link)) {
        sx_table_remove(&collective->members.server->collective.meant, &collective->meant);
    }
    sx_members_clear(&collective->members);
    sx_merged_infos_clear(&collective->wishes);
    sx_agreed_clear(&collective->agreed);
    if (collective->plan != NULL) {
        collective->kind->plan_free(collective->plan);
    }
    if (collective->ret_freed != NULL) {
        *collective->ret_freed = true;
    }
    free(collective->id);
    free(collective);
}

void sx_collective_close(struct sx_collective *collective)
{
    sx_generation_remove(table_of(collective), &sx_collective_oldest_like(collective)->generation,
                         &collective->generation);
    sx_collective_free(collective);
}

static void begun_log(const struct sx_collective *collective)
{
    if (sx_log_wants(SX_LOG_DEBUG)) {
        sx_log(SX_LOG_DEBUG, "%s %llu%s%s begins: %zu ranks here",
               sx_collective_name(collective->kind->number), (unsigned long long)collective->serial,
               collective->id == NULL ? "" : " of ", collective->id == NULL ? "" : collective->id,
               collective->members.count);
    }
}

/* Log fences at debug level: a run has many of them, and few operations of other kinds. */
static void ended_log(const struct sx_collective *collective, pmix_status_t status)
{
    const bool is_fence = collective->kind->number == SX_COLLECTIVE_FENCE;
    const enum sx_log_level level = is_fence ? SX_LOG_DEBUG : SX_LOG_INFO;

    if (sx_log_wants(level)) {
        sx_log(level, "%s %llu%s%s ends after %.3f ms: %zu of %zu ranks here, %s",
               sx_collective_name(collective->kind->number), (unsigned long long)collective->serial,
               collective->id == NULL ? "" : " of ", collective->id == NULL ? "" : collective->id,
               (double)(sx_now_ns() - collective->begun_ns) / 1e6,
               collective->members.arrived_count, collective->members.count,
               PMIx_Error_string(status));
    }
}

/* The members here have the error of an operation that the host has. */
static void host_cancel(struct sx_collective *collective)
{
    if (collective->is_over && collective->ended != PMIX_SUCCESS && collective->with_host &&
        collective->kind->host_cancel != NULL) {
        collective->kind->host_cancel(collective);
    }
}

void sx_collective_release(struct sx_collective *collective, pmix_status_t status)
{
    uint64_t subject = 0;

    if (status == PMIX_SUCCESS && collective->members.incomplete &&
        (collective->pardons & SX_PARDON_BEFORE) == 0) {
        status = collective->kind->incomplete;
    }
    if (!collective->is_over) {
        collective->is_over = true;
        sx_shown_changed(collective->members.server, &collective->shown);
        sx_timer_remove(&collective->deadline);
        if (status == PMIX_SUCCESS && collective->kind->conclude != NULL) {
            status = collective->kind->conclude(collective, &subject);
        }
        collective->ended = status;
        ended_log(collective, status);
        sx_members_release(&collective->members, status, subject);
        if (sx_list_empty(&collective->naming)) {
            host_cancel(collective);
        }
    }
}

static bool reaches_others(const struct sx_collective *collective)
{
    const struct sx_kind *const kind = collective->kind;

    return kind->host_reaches != NULL && kind->host_reaches(collective->members.server);
}

/* Return: whether the host ends one of the jobs here, and so on all nodes. */
static bool names_one_that_ends(const struct sx_collective *collective)
{
    struct sx_alias_walk walk = { .list = &collective->members.real };
    const struct sx_nspace *nspace;
    bool ends = false;

    while (!ends && sx_alias_next(&walk)) {
        nspace = walk.is_new ? sx_nspace_find(collective->members.server, walk.nspace) : NULL;
        ends = nspace != NULL && nspace->is_ending;
    }
    return ends;
}

static bool failure_is_refused(struct sx_collective *collective);
static pmix_status_t collective_ask_host(struct sx_collective *collective);

/* @collective has ended with an error for the members here.  Return: whether members on other nodes
 * would wait for them.  The bytes of a fence that the host has are there for the others, and a time
 * limit of the other kinds is that of its callers alone (X21). */
static bool leaves_others_waiting(const struct sx_collective *collective)
{
    const bool is_limit = collective->ended == PMIX_ERR_TIMEOUT;

    if (collective->by_list || !reaches_others(collective) ||
        (collective->kind->commits ? is_limit : collective->with_host)) {
        return false;
    }
    const struct sx_absent absent = sx_members_absent(&collective->members);

    return absent.elsewhere && !absent.unknown;
}

bool sx_collective_fail(struct sx_collective *collective, pmix_status_t status)
{
    const bool is_called = collective->with_host || sx_members_somebody_waits(&collective->members);

    sx_collective_release(collective, status);
    if (!is_called || !leaves_others_waiting(collective)) {
        return false;
    }
    collective->is_failed = true;
    if (!collective->with_host && failure_is_refused(collective)) {
        sx_collective_leave_host(collective, status); /* others may wait for their turn */
    }
    return true;
}

void sx_collective_end(struct sx_collective *collective, pmix_status_t status)
{
    if (!collective->is_over && status != PMIX_SUCCESS && sx_collective_fail(collective, status)) {
        return;
    }
    sx_collective_release(collective, status);
    if (!collective->with_host) {
        sx_collective_close(collective);
    }
}

static void deadline_passed(void *arg, uint64_t now_ns)
{
    struct sx_collective *const collective = arg;

    if (sx_round_part_commits(&collective->part) && !collective->is_late) {
        collective->is_late = true;
        sx_timer_add(collective->members.server->loop, &collective->deadline,
                     now_ns + SX_ROUNDS_GRACE_NS);
        return;
    }
    sx_collective_end(collective, collective->late);
}

/* A pardoned end is not an error: the operation continues without the member. */
static pmix_status_t pardon(pmix_status_t end)
{
    return end == PMIX_SUCCESS ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
}

struct sx_member_ends sx_collective_ends(const struct sx_collective *collective, bool arrived)
{
    const struct sx_member_ends ends = arrived                ? collective->kind->after
                                       : collective->is_bound ? sx_nobody_may_go
                                                              : collective->kind->before;

    if ((collective->pardons & (arrived ? SX_PARDON_AFTER : SX_PARDON_BEFORE)) == 0) {
        return ends;
    }
    return (struct sx_member_ends){ .died = pardon(ends.died),
                                    .left = pardon(ends.left),
                                    .departed = pardon(ends.departed),
                                    .withdrew = pardon(ends.withdrew) };
}

pmix_status_t sx_collective_reach(const struct sx_collective *collective)
{
    struct sx_host *const host = &collective->members.server->port.host;

    if (!sx_members_absent(&collective->members).elsewhere || reaches_others(collective)) {
        return PMIX_SUCCESS;
    }
    if (!host->unreachable_logged) {
        host->unreachable_logged = true;
        sx_log(SX_LOG_WARN,
               "a %s with processes of other nodes is not supported: the host has no fence_nb, and "
               "nothing else leads there",
               sx_collective_name(collective->kind->number));
    }
    return PMIX_ERR_NOT_SUPPORTED;
}

static bool asks_always(const struct sx_collective *collective)
{
    const struct sx_kind *const kind = collective->kind;

    return kind->host_always != NULL && kind->host_always(collective);
}

/* Index @collective by its real members too, for callers that name the same processes in another
 * way.  Return: false when memory is out. */
static bool meaning_add(struct sx_collective *collective)
{
    struct sx_server *const server = collective->members.server;
    const struct sx_alias_list *const real = &collective->members.real;
    const struct sx_op_signature meeting = sx_collective_signature(collective->kind, real,
                                                                   collective->id, 0);
    uint64_t hash = collective->meant.hash;

    if (!collective->kind->known_by_meaning || real->made == NULL) {
        return true;
    }
    if (hash == 0) { /* its first caller has not looked for others */
        hash = sx_op_signature_hash(server, &meeting);
    }
    return sx_table_add(&server->collective.meant, &collective->meant, hash);
}

/* Return: whether the operation names all processes of a job that is not registered here.  A kind
 * that needs them one by one waits for the registration. */
static bool has_open_wildcard(const struct sx_collective *collective)
{
    const struct sx_members *const members = &collective->members;
    bool found = false;

    for (size_t i = 0; collective->kind->known_by_id && i < members->proc_count && !found; i++) {
        found = members->procs[i].rank == PMIX_RANK_WILDCARD &&
                sx_nspace_find(members->server, members->procs[i].nspace) == NULL;
    }
    return found;
}

/* Find the members of @collective, and add it to the tables.  Return: PMIX_SUCCESS; an error when
 * it is not open. */
static pmix_status_t collective_open(struct sx_collective *collective, uint64_t hash,
                                     struct sx_collective *oldest)
{
    struct sx_server *const server = collective->members.server;

    collective->members.admits_unknown = collective->kind->admits_unknown &&
                                         reaches_others(collective) &&
                                         !has_open_wildcard(collective);
    collective->members.awaits_unknown = collective->kind->awaits_unknown;
    const struct sx_member_ends ends = sx_collective_ends(collective, false);
    pmix_status_t rc = sx_members_gather(&collective->members, &ends);

    if (rc == PMIX_SUCCESS) {
        rc = sx_collective_reach(collective);
    } else if (rc == collective->members.gone && collective->members.real.made == NULL &&
               leaves_others_waiting(collective)) {
        rc = PMIX_SUCCESS; /* it ends as soon as its first member has joined */
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return meaning_add(collective) && sx_generation_add(&server->collective.signatures,
                                                        oldest == NULL ? NULL : &oldest->generation,
                                                        &collective->generation, hash)
               ? PMIX_SUCCESS
               : PMIX_ERR_OUT_OF_RESOURCE;
}

/* Open operations have a bound: the beginning and the end of a job visit all of them. */
static pmix_status_t quota_take(struct sx_collective *collective, const struct sx_client *opener)
{
    struct sx_collective_state *const state = &collective->members.server->collective;
    const struct sx_quota_owner owner = sx_quota_owner_of(opener);

    if (state->open_count <= SX_COLLECTIVES_FREE) {
        return PMIX_SUCCESS;
    }
    if (state->quota.what == NULL) {
        sx_quota_init(&state->quota, "open collective operations", SX_COLLECTIVES_MAX,
                      SX_COLLECTIVES_BYTES_MAX, collective->members.server->seed);
    }
    return sx_quota_take(&state->quota, &owner, false,
                         sizeof(*collective) + collective->members.proc_count * sizeof(pmix_proc_t),
                         &collective->quota);
}

pmix_status_t sx_collective_new(struct sx_server *server, uint64_t hash,
                                struct sx_collective *oldest, struct sx_arrival *arrival,
                                struct sx_collective **ret)
{
    struct sx_collective *collective = calloc(1, sizeof(*collective));
    pmix_status_t rc = PMIX_SUCCESS;

    if (collective == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_list_init(&collective->link);
    sx_list_init(&collective->unread);
    sx_list_init(&collective->naming);
    sx_list_init(&collective->marked);
    sx_list_init(&collective->meant.link);
    collective->serial = ++server->collective.last;
    server->collective.open_count++;
    collective->begun_ns = server->turn.now_ns;
    sx_merged_infos_init(&collective->wishes);
    collective->members.server = server;
    sx_shown_add(server, &collective->shown);
    sx_asker_init(&collective->asker);
    collective->kind = sx_kind_of(server, arrival->kind);
    collective->deadline = (struct sx_timer){ .fn = deadline_passed, .arg = collective };
    collective->late = PMIX_ERR_TIMEOUT;
    collective->pardons = arrival->options.pardons;
    collective->members.procs = arrival->procs;
    collective->members.proc_count = arrival->proc_count;
    collective->members.opener = arrival->client;
    collective->members.uid = arrival->client->uid;
    collective->space = arrival->space;
    arrival->procs = NULL;
    if (arrival->real.made != NULL) {
        collective->members.real = arrival->real;
        collective->meant.hash = arrival->real_hash;
        arrival->real = (struct sx_alias_list){ .all = NULL };
    }
    if (arrival->options.id != NULL) {
        collective->id = strdup(arrival->options.id);
        rc = collective->id != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc == PMIX_SUCCESS) {
        rc = quota_take(collective, arrival->client);
    }
    if (rc == PMIX_SUCCESS) {
        rc = collective_open(collective, hash, oldest);
    }
    if (rc != PMIX_SUCCESS) {
        sx_collective_free(collective);
        return rc;
    }
    sx_list_append(&server->collective.all, &collective->link);
    begun_log(collective);
    *ret = collective;
    return PMIX_SUCCESS;
}

/* The other nodes have one of the failures that @collective stands for.  Return: whether the host
 * has the next one. */
static bool repeat_ask(struct sx_collective *collective)
{
    if (!collective->is_failed || collective->passed == collective->repeats ||
        names_one_that_ends(collective) || !sx_members_somebody_waits(&collective->members)) {
        return false;
    }
    sx_rounds_leave(collective);
    collective->passed++;
    return collective_ask_host(collective) == PMIX_SUCCESS;
}

/* ---- members elsewhere --------------------------------------------------------------------- */

void sx_collective_leave_host(struct sx_collective *collective, pmix_status_t status)
{
    uint64_t tried = collective->serial;
    struct sx_collective *next;

    sx_list_remove(&collective->naming);
    if (repeat_ask(collective)) {
        return;
    }
    collective->with_host = false;
    sx_collective_release(collective, status);
    sx_collective_unlink(collective); /* those that are tried do not find it */
    sx_rounds_leave(collective);
    do {
        next = collective_behind(collective, tried);
        tried = next != NULL ? next->serial : tried;
    } while (next != NULL && (!next->engine->look(next) || sx_collective_try(next)));
    if (collective->is_failed && !names_one_that_ends(collective)) {
        collective->engine->failed(collective);
    } else {
        sx_collective_close(collective);
    }
}

pmix_status_t sx_collective_nspaces_read(struct sx_collective *collective)
{
    const struct sx_kind *const kind = collective->kind;
    pmix_status_t rc;

    do {
        rc = kind->nspace_added != NULL ? kind->nspace_added(collective) : PMIX_SUCCESS;
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    return rc;
}

/* Take @collective back from the host until all of its namespaces are registered.  Some may have
 * been registered meanwhile, with clients that are gone again. */
static void collective_take_back(struct sx_collective *collective)
{
    collective->members.admits_unknown = false;
    collective->with_host = false;
    sx_rounds_leave(collective);
    sx_agreed_clear(&collective->agreed);
    sx_shown_changed(collective->members.server, &collective->shown);
    pmix_status_t rc = sx_members_catch_up(&collective->members);

    sx_list_remove(&collective->unread);
    if (rc == PMIX_SUCCESS) {
        rc = sx_collective_nspaces_read(collective);
    }
    if (rc != PMIX_SUCCESS) {
        sx_collective_end(collective, rc);
        return;
    }
    if (collective->engine->resume(collective) && !collective->is_over) {
        (void)sx_collective_try(collective);
    }
}

static void host_has_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    if (asker != NULL) { /* else the namespace is gone */
        struct sx_collective *const collective = SX_CONTAINER(asker, struct sx_collective, asker);

        pmix_status_t status;

        if ((collective->unlooked > 0 && !collective->engine->look(collective)) ||
            !collective->kind->host_answered(collective, answer, &status)) {
            return;
        }
        if (status == PMIX_ERR_WOULD_BLOCK && collective_awaits(collective)) {
            collective_take_back(collective);
        } else { /* PMIx has no status above success */
            sx_collective_leave_host(collective, status > PMIX_SUCCESS ? PMIX_ERROR : status);
        }
    }
}

/* The processes of @collective have their names, or cannot have them: @rc. */
static void naming_end(struct sx_collective *collective, pmix_status_t rc)
{
    sx_list_remove(&collective->naming);
    if (rc == PMIX_SUCCESS) {
        rc = collective->kind->host_ask(collective, host_has_answered);
    }
    if (rc == PMIX_SUCCESS) {
        host_cancel(collective); /* it has failed meanwhile */
    } else {
        host_has_answered(&collective->asker,
                          &(struct sx_host_answer){ .server = collective->members.server,
                                                    .status = rc });
    }
}

static bool namings_step(struct sx_server *server, size_t *left)
{
    struct sx_list *const all = &server->collective.namings;

    while (*left > 0 && !sx_list_empty(all)) {
        struct sx_collective *const collective = SX_LIST_ENTRY(all->next, struct sx_collective,
                                                               naming);
        const pmix_status_t rc = sx_alias_name(&collective->members.real, left);

        if (rc != PMIX_ERR_WOULD_BLOCK) {
            naming_end(collective, rc);
        }
    }
    return sx_list_empty(all);
}

/* The host needs the names of all processes: those of long lists are made in steps. */
static pmix_status_t host_ask(struct sx_collective *collective)
{
    struct sx_collective_state *const state = &collective->members.server->collective;
    struct sx_alias_list *const real = &collective->members.real;
    size_t left = SX_ALIAS_NAMED_PER_TURN;
    const pmix_status_t rc = real->made == NULL   ? PMIX_SUCCESS
                             : real->count > left ? PMIX_ERR_WOULD_BLOCK
                                                  : sx_alias_name(real, &left);

    if (rc == PMIX_SUCCESS) {
        return collective->kind->host_ask(collective, host_has_answered);
    }
    if (rc == PMIX_ERR_WOULD_BLOCK) {
        if (state->naming.server == NULL) {
            sx_list_init(&state->namings);
            sx_steps_init(&state->naming, collective->members.server, namings_step,
                          SX_ALIAS_NAMED_PER_TURN);
        }
        sx_list_append(&state->namings, &collective->naming);
        sx_steps_later(&state->naming);
    }
    return rc == PMIX_ERR_WOULD_BLOCK ? PMIX_SUCCESS : rc;
}

static pmix_status_t collective_ask_host(struct sx_collective *collective)
{
    const pmix_status_t rc = host_ask(collective);

    collective->with_host = rc == PMIX_SUCCESS;
    sx_shown_changed(collective->members.server, &collective->shown);
    return rc;
}

/* ---- members that are all here -------------------------------------------------------------- */

/* Return: whether the operation, which is older than @arg, goes first. */
static bool is_before(struct sx_generation *generation, void *arg)
{
    const struct sx_collective *const mine = arg;
    const struct sx_collective *const other = SX_CONTAINER(generation, struct sx_collective,
                                                           generation);

    return (other->with_host || (mine->is_failed && !other->is_over)) &&
           (mine->kind->commits ||
            sx_alias_lists_are_equal(&mine->members.real, &other->members.real));
}

/* Hosts distinguish operations by their processes, and have one of each set at a time.  If a list
 * has shrunk since, its processes are another set.  One that has failed may be younger than an open
 * one. */
static bool is_in_the_way(struct sx_collective *collective)
{
    struct sx_collective *const oldest = sx_collective_oldest_like(collective);

    if (!collective->is_failed &&
        (collective->members.real.made == NULL || collective->kind->commits)) {
        return oldest->with_host;
    }
    return sx_generation_any_older(&oldest->generation, &collective->generation, is_before,
                                   collective);
}

/* The host gets @collective, which has failed here, in its turn, as if it were complete.  Return:
 * whether it does not get it. */
static bool failure_is_refused(struct sx_collective *collective)
{
    if (collective->with_host || is_in_the_way(collective)) {
        return false;
    }
    collective->is_failed = !names_one_that_ends(collective) &&
                            collective_ask_host(collective) == PMIX_SUCCESS;
    return !collective->is_failed;
}

bool sx_collective_try(struct sx_collective *collective)
{
    if (collective->is_failed) {
        const bool is_refused = failure_is_refused(collective);

        if (is_refused) {
            sx_collective_close(collective);
        }
        return is_refused;
    }
    if (collective->unlooked > 0) {
        collective->is_ripe = true;
        return false;
    }
    if (collective->members.arrived_count < collective->members.count) {
        return false;
    }
    const struct sx_absent absent = sx_members_absent(&collective->members);

    if (absent.announced > 0 || absent.unknown ||
        (collective->kind->awaits_more != NULL && collective->kind->awaits_more(collective))) {
        return false;
    }
    const bool ask = absent.elsewhere || asks_always(collective);

    if (ask && (collective->with_host || is_in_the_way(collective))) {
        return false;
    }
    if (ask) {
        const pmix_status_t rc = collective_ask_host(collective);

        if (rc == PMIX_SUCCESS) {
            return false;
        }
        sx_collective_release(collective, rc); /* the host has refused it */
        sx_collective_close(collective);
        return true;
    }
    sx_collective_end(collective, PMIX_SUCCESS);
    return true;
}

void sx_collective_end_all(struct sx_server *server)
{
    while (sx_list_pop(&server->collective.ends) != NULL) {
    }
    SX_LIST_EACH(it, &server->collective.all) {
        sx_collective_close(SX_LIST_ENTRY(it, struct sx_collective, link));
    }
    sx_quota_deinit(&server->collective.quota);
    sx_table_deinit(&server->collective.signatures);
    sx_table_deinit(&server->collective.meant);
    sx_table_deinit(&server->collective.named);
    sx_table_deinit(&server->collective.owed);
    sx_table_deinit(&server->collective.rounds);
}

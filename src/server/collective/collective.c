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
#include "server/collective/collective.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/clock.h"
#include "base/status.h"
#include "server/model/proc_list.h"
#include "server/port/port.h"

/* ---- generations --------------------------------------------------------------------------- */

static struct sx_op_signature meeting_of(const struct sx_kind *kind, const pmix_proc_t *procs,
                                         size_t proc_count, const char *id)
{
    return (struct sx_op_signature){ .kind = kind->number,
                                     .procs = kind->known_by_id ? NULL : procs,
                                     .proc_count = kind->known_by_id ? 0 : proc_count,
                                     .id = id };
}

static struct sx_table *table_of(const struct sx_collective *collective)
{
    struct sx_server *const server = collective->members.server;

    return collective->is_owed ? &server->collective.owed : &server->collective.signatures;
}

/* Return: the oldest operation with the signature of @of, in the same table as @of. */
static struct sx_collective *collective_oldest_like(struct sx_collective *of)
{
    const struct sx_op_signature meeting = meeting_of(of->kind, of->members.procs,
                                                      of->members.proc_count, of->id);
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

static bool may_join(struct sx_generation *generation, void *arg)
{
    const struct sx_collective *collective = SX_CONTAINER(generation, struct sx_collective,
                                                          generation);
    const struct sx_member *member = sx_members_find(&collective->members, arg);

    return member != NULL && !member->arrived;
}

/* Return: the oldest operation, from @oldest on, that @client has not joined yet. */
static struct sx_collective *collective_find(struct sx_collective *oldest, struct sx_client *client)
{
    struct sx_generation *const found = oldest == NULL ? NULL
                                                       : sx_generation_first(&oldest->generation,
                                                                             may_join, client);

    return found == NULL ? NULL : SX_CONTAINER(found, struct sx_collective, generation);
}

/* ---- life ---------------------------------------------------------------------------------- */

/* A walk over all open operations, any of which may end meanwhile: the end of one may end others.
 * Such a walk is in the server's list until it is over. */
struct sx_collective_walk {
    struct sx_list *next;
    struct sx_collective_walk *outer;
};

static void walk_begin(struct sx_server *server, struct sx_collective_walk *walk)
{
    *walk = (struct sx_collective_walk){ .next = server->collective.all.next,
                                         .outer = server->collective.walk };
    server->collective.walk = walk;
}

/* Return: the next operation; NULL: there are no more. */
static struct sx_collective *walk_next(const struct sx_server *server,
                                       struct sx_collective_walk *walk)
{
    struct sx_list *const it = walk->next;

    walk->next = it->next;
    return it != &server->collective.all ? SX_LIST_ENTRY(it, struct sx_collective, link) : NULL;
}

static void walk_end(struct sx_server *server, const struct sx_collective_walk *walk)
{
    server->collective.walk = walk->outer;
}

/* Take @collective out of the list of all, and move each walk that would visit it next past it. */
static void collective_unlink(struct sx_collective *collective)
{
    struct sx_collective_walk *walk = collective->members.server->collective.walk;

    for (; walk != NULL; walk = walk->outer) {
        walk->next = walk->next == &collective->link ? collective->link.next : walk->next;
    }
    sx_list_remove(&collective->link);
}

/* Free @collective, which is in no table of open operations, unless the server ends. */
static void collective_free(struct sx_collective *collective)
{
    sx_shown_remove(collective->members.server, &collective->shown);
    sx_timer_remove(&collective->deadline);
    sx_rounds_leave(collective);
    sx_asker_deinit(&collective->asker);
    collective_unlink(collective);
    if (!sx_list_empty(&collective->meant.link)) {
        sx_table_remove(&collective->members.server->collective.meant, &collective->meant);
    }
    sx_members_clear(&collective->members);
    sx_merged_infos_clear(&collective->wishes);
    sx_agreed_clear(&collective->agreed);
    if (collective->plan != NULL) {
        collective->kind->plan_free(collective->plan);
    }
    free(collective->id);
    free(collective);
}

static void collective_close(struct sx_collective *collective)
{
    sx_generation_remove(table_of(collective), &collective_oldest_like(collective)->generation,
                         &collective->generation);
    collective_free(collective);
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

/* Release all members that have arrived with @status. */
static void collective_tell(struct sx_collective *collective, pmix_status_t status)
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
        if (status != PMIX_SUCCESS && collective->with_host &&
            collective->kind->host_cancel != NULL) {
            collective->kind->host_cancel(collective);
        }
    }
}

/* End @collective, and free it unless the host has it.  In that case the next operation of its kind
 * and signature waits for the host's answer. */
static void collective_end(struct sx_collective *collective, pmix_status_t status)
{
    collective_tell(collective, status);
    if (!collective->with_host) {
        collective_close(collective);
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
    collective_end(collective, collective->late);
}

/* A pardoned end is not an error: the operation continues without the member. */
static pmix_status_t pardon(pmix_status_t end)
{
    return end == PMIX_SUCCESS ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS;
}

/* Return: how the operation ends when a member leaves that has @arrived, or has not. */
static struct sx_member_ends ends_of(const struct sx_collective *collective, bool arrived)
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

static bool reaches_others(const struct sx_collective *collective)
{
    const struct sx_kind *const kind = collective->kind;

    return kind->host_reaches != NULL && kind->host_reaches(collective->members.server);
}

/* Return: PMIX_ERR_NOT_SUPPORTED, logged once. */
static pmix_status_t refuse_elsewhere(const struct sx_collective *collective)
{
    struct sx_host *const host = &collective->members.server->port.host;

    if (!host->unreachable_told) {
        host->unreachable_told = true;
        sx_log(SX_LOG_WARN,
               "a %s with processes of other nodes is not supported: the host has no fence_nb, and "
               "nothing else leads there",
               sx_collective_name(collective->kind->number));
    }
    return PMIX_ERR_NOT_SUPPORTED;
}

static bool hears_of_all(const struct sx_collective *collective)
{
    const struct sx_kind *const kind = collective->kind;

    return kind->host_hears != NULL && kind->host_hears(collective);
}

/* Index @collective by its real members too, for callers that name the same processes in another
 * way.  Return: false when memory is out. */
static bool meaning_add(struct sx_collective *collective)
{
    struct sx_server *const server = collective->members.server;
    const struct sx_alias_list *const real = &collective->members.real;
    const struct sx_op_signature meeting = meeting_of(collective->kind, real->all, real->count,
                                                      collective->id);

    return !collective->kind->known_by_meaning || !real->is_made ||
           sx_table_add(&server->collective.meant, &collective->meant,
                        sx_op_signature_hash(server, &meeting));
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
    const struct sx_member_ends ends = ends_of(collective, false);
    const pmix_status_t rc = sx_members_gather(&collective->members, &ends);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (sx_members_absent(&collective->members).elsewhere && !reaches_others(collective)) {
        return refuse_elsewhere(collective);
    }
    return meaning_add(collective) && sx_generation_add(&server->collective.signatures,
                                                        oldest == NULL ? NULL : &oldest->generation,
                                                        &collective->generation, hash)
               ? PMIX_SUCCESS
               : PMIX_ERR_OUT_OF_RESOURCE;
}

static const struct sx_collective_engine engine;

/* Make an operation, whose signature has @hash, behind those of @oldest (NULL: there is none).  It
 * takes the processes out of @arrival. */
static pmix_status_t collective_new(struct sx_server *server, uint64_t hash,
                                    struct sx_collective *oldest, struct sx_arrival *arrival,
                                    struct sx_collective **ret)
{
    struct sx_collective *collective = calloc(1, sizeof(*collective));
    pmix_status_t rc = PMIX_SUCCESS;

    if (collective == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_list_init(&collective->link);
    sx_list_init(&collective->meant.link);
    collective->serial = ++server->collective.last;
    collective->begun_ns = server->turn.now_ns;
    sx_merged_infos_init(&collective->wishes);
    collective->members.server = server;
    sx_shown_add(server, &collective->shown);
    sx_asker_init(&collective->asker);
    collective->engine = &engine;
    collective->kind = sx_kind_of(server, arrival->kind);
    collective->deadline = (struct sx_timer){ .fn = deadline_passed, .arg = collective };
    collective->late = PMIX_ERR_TIMEOUT;
    collective->pardons = arrival->options.pardons;
    collective->members.procs = arrival->procs;
    collective->members.proc_count = arrival->proc_count;
    collective->members.opener = arrival->client;
    arrival->procs = NULL;
    if (arrival->options.id != NULL) {
        collective->id = strdup(arrival->options.id);
        rc = collective->id != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc == PMIX_SUCCESS) {
        rc = collective_open(collective, hash, oldest);
    }
    if (rc != PMIX_SUCCESS) {
        collective_free(collective);
        return rc;
    }
    sx_list_append(&server->collective.all, &collective->link);
    begun_log(collective);
    *ret = collective;
    return PMIX_SUCCESS;
}

/* ---- members elsewhere --------------------------------------------------------------------- */

static bool collective_try(struct sx_collective *collective);

/* The host is done with @collective: end it, and hand the next operation of its signature to the
 * host. */
static void collective_leave_host(struct sx_collective *collective, pmix_status_t status)
{
    uint64_t tried = collective->serial;
    struct sx_collective *next;

    collective->with_host = false;
    collective_tell(collective, status);
    collective_unlink(collective); /* those that are tried do not find it */
    sx_rounds_leave(collective);
    do {
        next = collective_behind(collective, tried);
        tried = next != NULL ? next->serial : tried;
    } while (next != NULL && collective_try(next));
    collective_close(collective);
}

/* Return: whether @collective waits for a namespace that will be registered.  The host was asked,
 * and has completed no more than the processes that are registered here, so it reaches no
 * others. */
static bool collective_awaits(const struct sx_collective *collective)
{
    return collective->members.has_unknown && collective->members.admits_unknown &&
           !collective->is_over;
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

    if (rc == PMIX_SUCCESS && collective->kind->nspace_added != NULL) {
        rc = collective->kind->nspace_added(collective);
    }
    if (rc != PMIX_SUCCESS) {
        collective_end(collective, rc);
        return;
    }
    collective->engine->resume(collective);
    if (!collective->is_over) {
        (void)collective_try(collective);
    }
}

static void host_has_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    if (asker != NULL) { /* else the namespace is gone */
        struct sx_collective *const collective = SX_CONTAINER(asker, struct sx_collective, asker);

        pmix_status_t status;

        if (!collective->kind->host_said(collective, answer, &status)) {
            return;
        }
        if (status == PMIX_ERR_WOULD_BLOCK && collective_awaits(collective)) {
            collective_take_back(collective);
        } else {
            collective_leave_host(collective, status);
        }
    }
}

static pmix_status_t collective_ask_host(struct sx_collective *collective)
{
    const pmix_status_t rc = collective->kind->host_ask(collective, host_has_answered);

    collective->with_host = rc == PMIX_SUCCESS;
    sx_shown_changed(collective->members.server, &collective->shown);
    return rc;
}

/* ---- failed operations that some members have not called yet -------------------------------- */

/* Return: whether a member may still call. */
static bool is_awaited(const struct sx_collective *collective)
{
    const struct sx_members *const members = &collective->members;
    bool awaited = false;

    for (size_t i = 0; i < members->count && !awaited; i++) {
        const struct sx_member *const member = &members->all[i];

        awaited = !member->arrived &&
                  sx_member_end(&sx_nobody_may_go, member->client) == PMIX_SUCCESS;
    }
    return awaited;
}

/* Keep a failed operation: no call joins it, and each member that calls later gets its status. */
static void collective_owe(struct sx_collective *collective)
{
    struct sx_server *const server = collective->members.server;
    const uint64_t hash = collective->generation.node.hash;
    const struct sx_op_signature meeting = meeting_of(collective->kind, collective->members.procs,
                                                      collective->members.proc_count,
                                                      collective->id);
    struct sx_collective *const oldest = sx_op_signature_owed(server, &meeting, hash);

    sx_generation_remove(&server->collective.signatures,
                         &collective_oldest_like(collective)->generation, &collective->generation);
    collective->is_owed = sx_generation_add(&server->collective.owed,
                                            oldest == NULL ? NULL : &oldest->generation,
                                            &collective->generation, hash);
    if (!collective->is_owed) {
        collective_free(collective);
    }
}

/* End @collective with @status because @member is missing.  If it was named by a list that has lost
 * the member, a later call would find nothing wrong.  That call would be matched with the next
 * calls of the members that are released now.  So the failed operation is kept until the others
 * have called. */
static void collective_break(struct sx_collective *collective, struct sx_member *member,
                             pmix_status_t status)
{
    if (!collective->is_bound || collective->with_host) {
        collective_end(collective, status);
        return;
    }
    collective_tell(collective, status);
    if (!member->arrived) {
        sx_members_leave(&collective->members, member);
    }
    if (is_awaited(collective)) {
        collective_owe(collective);
    } else {
        collective_close(collective);
    }
}

/* @client does not call any more, or has got its status.  The failed operation is kept while others
 * are awaited.  It counts in the quotas of the members that have called. */
static void owed_leave(struct sx_collective *collective, struct sx_client *client)
{
    struct sx_member *const member = sx_members_find(&collective->members, client);

    if (member != NULL && !member->arrived) {
        sx_members_leave(&collective->members, member);
        sx_shown_changed(collective->members.server, &collective->shown);
    }
    if (!is_awaited(collective)) {
        collective_close(collective);
    }
}

/* Return: the failed operation of @meeting whose status @client must get before it joins @next
 * (NULL: a new one); NULL: none. */
static struct sx_collective *owed_find(struct sx_server *server,
                                       const struct sx_op_signature *meeting, uint64_t hash,
                                       struct sx_client *client, const struct sx_collective *next)
{
    struct sx_collective *const owed = server->collective.owed.count == 0
                                           ? NULL
                                           : collective_find(sx_op_signature_owed(server, meeting,
                                                                                  hash),
                                                             client);

    return owed != NULL && (next == NULL || owed->serial < next->serial) ? owed : NULL;
}

/* ---- arrivals ------------------------------------------------------------------------------ */

static bool host_has(struct sx_generation *generation, void *arg)
{
    const struct sx_collective *const mine = arg;
    const struct sx_collective *const other = SX_CONTAINER(generation, struct sx_collective,
                                                           generation);
    const struct sx_alias_list *const here = &mine->members.real, *const there =
                                                                      &other->members.real;

    return other->with_host && sx_procs_are_equal(here->all, here->count, there->all, there->count);
}

/* Hosts distinguish operations by their processes, and have one of each set at a time.  If a list
 * has shrunk since, its processes are another set. */
static bool is_in_the_way(struct sx_collective *collective)
{
    struct sx_collective *const oldest = collective_oldest_like(collective);

    return !collective->members.real.is_made || collective->kind->commits
               ? oldest->with_host
               : sx_generation_any_older(&oldest->generation, &collective->generation, host_has,
                                         collective);
}

/* Check whether all members are here, and go on if so.  Return: true when the operation has
 * ended. */
static bool collective_try(struct sx_collective *collective)
{
    if (collective->members.arrived_count < collective->members.count) {
        return false;
    }
    const struct sx_absent absent = sx_members_absent(&collective->members);

    if (absent.announced > 0 || absent.unknown ||
        (collective->kind->awaits_more != NULL && collective->kind->awaits_more(collective))) {
        return false;
    }
    const bool ask = absent.elsewhere || hears_of_all(collective);

    if (ask && (collective->with_host || is_in_the_way(collective))) {
        return false;
    }
    if (ask) {
        const pmix_status_t rc = collective_ask_host(collective);

        if (rc == PMIX_SUCCESS) {
            return false;
        }
        collective_end(collective, rc);
        return true;
    }
    collective_end(collective, PMIX_SUCCESS);
    return true;
}

/* The operation ends at the earliest of its members' time limits. */
static void deadline_set(struct sx_collective *collective, uint64_t timeout_ns)
{
    const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), timeout_ns);

    if (collective->deadline.source.loop == NULL ||
        deadline_ns < collective->deadline.deadline_ns) {
        sx_timer_remove(&collective->deadline);
        sx_timer_add(collective->members.server->loop, &collective->deadline, deadline_ns);
    }
}

/* Take what @client has sent, for the kind and for the host. */
static pmix_status_t take_in(struct sx_collective *collective, struct sx_client *client,
                             struct sx_arrival *arrival)
{
    const struct sx_kind *const kind = collective->kind;
    const pmix_status_t rc = kind->takes != NULL ? kind->takes(collective, client, arrival)
                                                 : PMIX_SUCCESS;

    return rc == PMIX_SUCCESS
               ? sx_merged_infos_add(&collective->wishes, arrival->info, arrival->ninfo,
                                     collective->members.server->seed)
               : rc;
}

/* Return: PMIX_SUCCESS when @client has joined.  Otherwise an operation that was made for this call
 * alone is freed. */
static pmix_status_t join(struct sx_collective *collective, struct sx_client *client,
                          struct sx_arrival *arrival)
{
    struct sx_member *const member = sx_members_find(&collective->members, client);
    pmix_status_t rc = PMIX_ERR_NOT_A_MEMBER; /* the list does not hold the caller */

    if (member != NULL) {
        rc = take_in(collective, client, arrival);
    }
    if (rc != PMIX_SUCCESS) {
        if (collective->members.arrived_count == 0) {
            collective_close(collective);
        }
        return rc;
    }
    sx_members_arrive(&collective->members, member, arrival->op, arrival->bytes);
    sx_shown_changed(collective->members.server, &collective->shown);
    if (collective->kind->arrived != NULL) {
        collective->kind->arrived(collective, client, arrival->options.connect);
    }
    collective->collect |= arrival->options.collect;
    collective->pardons |= arrival->options.pardons;
    collective->connect |= arrival->options.connect;
    collective->group |= arrival->options.group;
    if (!collective_try(collective) && arrival->options.timeout_ns != 0) {
        deadline_set(collective, arrival->options.timeout_ns);
    }
    return PMIX_SUCCESS;
}

/* Find an open operation over the processes of @arrival whose callers have named them in another
 * way.  Return: NULL when there is none. */
static const struct sx_collective *meant_find(struct sx_server *server, struct sx_client *client,
                                              const struct sx_kind *kind,
                                              const struct sx_arrival *arrival)
{
    struct sx_collective *found = NULL;
    struct sx_alias_list real;

    if (!kind->known_by_meaning || server->memberships.names.count == 0 ||
        sx_list_empty(&server->collective.all) ||
        sx_alias_list(server, client, arrival->procs, arrival->proc_count, &real) != PMIX_SUCCESS) {
        return NULL;
    }
    const struct sx_op_signature meeting = meeting_of(kind, real.all, real.count,
                                                      arrival->options.id);
    const uint64_t hash = sx_op_signature_hash(server, &meeting);

    if (real.is_made) {
        found = sx_op_signature_oldest(server, &meeting, hash);
    }
    if (found == NULL) {
        found = sx_op_signature_meant(server, &meeting, hash);
    }
    sx_alias_list_clear(&real);
    return found;
}

/* Make @arrival name its processes as @other does. */
static pmix_status_t words_take(struct sx_arrival *arrival, const struct sx_collective *other)
{
    const struct sx_members *const members = &other->members;
    struct sx_proc_list words = { .all = NULL };

    if (!sx_proc_list_append(&words, members->procs, members->proc_count)) {
        sx_proc_list_clear(&words);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    free(arrival->procs);
    arrival->procs = words.all;
    arrival->proc_count = words.count;
    return PMIX_SUCCESS;
}

/* @client joins the operation that its signature matches; if there is none, it opens one. */
static pmix_status_t take_part(struct sx_server *server, struct sx_client *client,
                               struct sx_arrival *arrival)
{
    const struct sx_kind *const kind = sx_kind_of(server, arrival->kind);
    pmix_status_t rc = kind == NULL ? PMIX_ERR_NOT_SUPPORTED
                                    : sx_options_read(kind->function, arrival->info, arrival->ninfo,
                                                      &arrival->options);

    if (rc == PMIX_SUCCESS) {
        rc = sx_pending_judge(server, client, SX_PENDING_ARRIVAL);
    }
    if (rc == PMIX_SUCCESS && kind->aim != NULL) {
        rc = kind->aim(server, client, arrival);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_op_signature meeting = meeting_of(kind, arrival->procs, arrival->proc_count,
                                                arrival->options.id);
    uint64_t hash = sx_op_signature_hash(server, &meeting);
    struct sx_collective *oldest = sx_op_signature_oldest(server, &meeting, hash);
    const struct sx_collective *const other = oldest == NULL
                                                  ? meant_find(server, client, kind, arrival)
                                                  : NULL;

    if (other != NULL) {
        rc = words_take(arrival, other);
        if (rc != PMIX_SUCCESS) {
            return rc;
        }
        meeting = meeting_of(kind, arrival->procs, arrival->proc_count, arrival->options.id);
        hash = other->generation.node.hash;
        oldest = sx_op_signature_oldest(server, &meeting, hash);
    }
    struct sx_collective *collective = collective_find(oldest, client);
    struct sx_collective *const owed = owed_find(server, &meeting, hash, client, collective);

    if (owed != NULL) {
        rc = owed->ended;
        owed_leave(owed, client);
        return rc;
    }
    if (collective == NULL) {
        rc = collective_new(server, hash, oldest, arrival, &collective);
    }
    return rc == PMIX_SUCCESS ? join(collective, client, arrival) : rc;
}

/* A client of this library sorts its processes, unless their order matters. */
static bool may_be_written_so(const struct sx_server *server, const struct sx_arrival *arrival)
{
    const struct sx_kind *const kind = sx_kind_of(server, arrival->kind);

    return arrival->in_order || (kind != NULL && kind->known_by_id);
}

pmix_status_t sx_arrival_take(struct sx_server *server, struct sx_arrival *arrival,
                              pmix_status_t rc)
{
    struct sx_client *const client = arrival->client;

    if (rc == PMIX_SUCCESS && !may_be_written_so(server, arrival)) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    if (rc == PMIX_ERR_BAD_PARAM) {
        sx_arrival_clear(arrival);
        return rc;
    }
    const uint32_t most = server->port.pending_max[SX_PENDING_ARRIVAL];

    if (rc == PMIX_SUCCESS &&
        !sx_results_reserve(&client->results, arrival->open < most ? arrival->open : most)) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc == PMIX_SUCCESS) {
        rc = take_part(server, client, arrival);
    }
    if (rc != PMIX_SUCCESS) {
        sx_members_refuse(client, arrival->op, rc);
    }
    sx_arrival_clear(arrival);
    return PMIX_SUCCESS;
}

pmix_status_t sx_collective_arrive(struct sx_server *server, struct sx_client *client,
                                   const struct sx_opened *body)
{
    struct sx_arrival arrival;
    const pmix_status_t rc = sx_arrival_read(&arrival, body);

    arrival.client = client;
    return sx_arrival_take(server, &arrival, rc);
}

/* ---- members that are registered late, members that leave ----------------------------------- */

void sx_collective_client_added(struct sx_server *server, struct sx_client *client)
{
    SX_LIST_EACH(it, &server->collective.all) {
        struct sx_collective *collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        sx_shown_changed(server, &collective->shown);
        if (!collective->with_host && !collective->is_over &&
            sx_members_expect(&collective->members, client) != PMIX_SUCCESS) {
            collective_end(collective, PMIX_ERR_OUT_OF_RESOURCE);
        }
    }
}

/* Continue an operation that may have waited for @nspace. */
static void nspace_added(struct sx_collective *collective, const struct sx_nspace *nspace)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (collective->with_host || collective->is_over ||
        !sx_members_nspace_added(&collective->members, nspace)) {
        return;
    }
    if (collective->kind->nspace_added != NULL) {
        rc = collective->kind->nspace_added(collective);
    }
    if (rc == PMIX_SUCCESS && sx_members_absent(&collective->members).elsewhere &&
        !reaches_others(collective)) {
        rc = refuse_elsewhere(collective);
    }
    sx_shown_changed(collective->members.server, &collective->shown);
    if (rc != PMIX_SUCCESS) {
        collective_end(collective, rc);
    } else {
        (void)collective_try(collective);
    }
}

void sx_collective_nspace_registered(struct sx_server *server, struct sx_nspace *nspace)
{
    struct sx_collective_walk walk;
    struct sx_collective *collective;

    sx_name_returns(server, nspace->name);
    walk_begin(server, &walk);
    while ((collective = walk_next(server, &walk)) != NULL) {
        nspace_added(collective, nspace);
    }
    walk_end(server, &walk);
}

void sx_collective_client_connected(struct sx_server *server, struct sx_client *client)
{
    SX_LIST_EACH(it, &server->collective.all) {
        struct sx_collective *collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (sx_shown_has_row(&collective->shown) &&
            sx_members_find(&collective->members, client) != NULL) {
            sx_shown_changed(server, &collective->shown);
        }
    }
}

/* @member may have gone; @end is what this means for the operation. */
static void member_ends(struct sx_collective *collective, struct sx_member *member,
                        pmix_status_t end)
{
    const struct sx_client *const client = member->client;
    const bool had_arrived = member->arrived;
    /* After a mere PMIx_Finalize, another process may take the place of this one. */
    const bool for_good = client->departed || client->state == SX_CLIENT_DEAD;
    bool others_say = false;

    sx_shown_changed(collective->members.server, &collective->shown);
    if (end != PMIX_SUCCESS && end != PMIX_ERR_PARTIAL_SUCCESS && collective->kind->lost != NULL) {
        end = collective->kind->lost(collective, member, end);
        others_say = end == PMIX_SUCCESS;
    }
    if (end == PMIX_ERR_PARTIAL_SUCCESS) {
        sx_members_leave(&collective->members, member);
    } else if (end != PMIX_SUCCESS) {
        collective_break(collective, member, end);
        return;
    }
    if (had_arrived && !others_say && (for_good || end != PMIX_SUCCESS) &&
        !sx_members_somebody_waits(&collective->members)) {
        collective_end(collective, PMIX_ERR_LOST_CONNECTION);
    } else if (end != PMIX_SUCCESS && !collective->with_host && !collective->is_over) {
        (void)collective_try(collective);
    }
}

static void member_look(struct sx_collective *collective, struct sx_member *member)
{
    const struct sx_member_ends ends = ends_of(collective, member->arrived);

    member_ends(collective, member, sx_member_end(&ends, member->client));
}

/* Act on the events that have waited for the answer of a round, see rounds.h. */
static void collective_resume(struct sx_collective *collective)
{
    const struct sx_members *const members = &collective->members;
    size_t i = 0;

    while (!collective->is_over && i < members->count) {
        const size_t count = members->count;

        member_look(collective, &members->all[i]);
        i += members->count == count;
    }
    if (collective->is_late) {
        collective_end(collective, collective->late);
    }
}

void sx_collective_client_gone(struct sx_server *server, struct sx_client *client)
{
    struct sx_collective_walk walk;
    struct sx_collective *collective;

    walk_begin(server, &walk);
    while ((collective = walk_next(server, &walk)) != NULL) {
        struct sx_member *member = sx_members_find(&collective->members, client);

        if (collective->is_owed) {
            owed_leave(collective, client);
        } else if (member != NULL && !sx_round_part_commits(&collective->part)) {
            member_look(collective, member);
        }
    }
    walk_end(server, &walk);
}

/* If the operation ends because @member is missing, it must fail for later callers too, whose lists
 * no longer have @member. */
static void member_withdraws(struct sx_collective *collective, struct sx_member *member)
{
    const pmix_status_t end = ends_of(collective, false).withdrew;

    collective->is_bound |= end != PMIX_ERR_PARTIAL_SUCCESS;
    member_ends(collective, member, end);
}

void sx_collective_client_withdrew(struct sx_server *server, struct sx_client *client,
                                   uint8_t pardons)
{
    struct sx_collective_walk walk;
    struct sx_collective *collective;

    walk_begin(server, &walk);
    while ((collective = walk_next(server, &walk)) != NULL) {
        struct sx_member *const member = sx_members_find(&collective->members, client);

        if (member != NULL && !member->arrived && client->nspace != NULL &&
            !sx_members_name(&collective->members, client)) {
            collective->pardons |= pardons;
            if (collective->is_owed) {
                owed_leave(collective, client);
            } else {
                member_withdraws(collective, member);
            }
        }
    }
    walk_end(server, &walk);
}

/* Return: whether the signature, as its lists are now, has a process on another node. */
static bool means_others_yet(const struct sx_collective *collective)
{
    struct sx_members now = collective->members;
    const bool found = sx_alias_list(now.server, NULL, now.procs, now.proc_count, &now.real) ==
                       PMIX_SUCCESS;
    const bool elsewhere = !found || sx_members_absent(&now).elsewhere;

    sx_alias_list_clear(&now.real);
    return elsewhere;
}

/* The host keeps the operation, since the member may have called before it left.  If no process
 * that could still call is on another node, the operation is taken from the host. */
static void go_on_without_one_elsewhere(struct sx_collective *collective)
{
    collective->members.incomplete = true;
    if (!collective->with_host) {
        (void)collective_try(collective);
    } else if (!sx_round_part_commits(&collective->part) && !means_others_yet(collective)) {
        collective_leave_host(collective, PMIX_SUCCESS);
    }
}

static void one_elsewhere_gone(struct sx_collective *collective, bool died, uint8_t pardons)
{
    collective->pardons |= pardons;
    const struct sx_member_ends ends = ends_of(collective, false);
    const pmix_status_t end = died ? ends.died : ends.withdrew;

    if (end == PMIX_ERR_PARTIAL_SUCCESS) {
        go_on_without_one_elsewhere(collective);
    } else if (end != PMIX_SUCCESS) {
        sx_collective_end_soon(collective, end);
    }
}

/* Return: the first operation of @list that is newer than @serial. */
static struct sx_collective *first_of_list(const struct sx_server *server, const char *list,
                                           uint64_t serial)
{
    SX_LIST_EACH(it, &server->collective.all) {
        struct sx_collective *const collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (collective->serial > serial && !collective->is_over &&
            sx_members_have_name(&collective->members, list)) {
            return collective;
        }
    }
    return NULL;
}

void sx_collective_member_elsewhere_gone(struct sx_server *server, const char *list, bool died,
                                         uint8_t pardons)
{
    struct sx_collective *collective = NULL;
    uint64_t last = 0;

    while ((collective = first_of_list(server, list, last)) != NULL) {
        last = collective->serial; /* the operation may end here, and others with it */
        one_elsewhere_gone(collective, died, pardons);
    }
}

static void collective_go_on(struct sx_collective *collective, struct sx_client *client)
{
    member_ends(collective, sx_members_find(&collective->members, client),
                PMIX_ERR_PARTIAL_SUCCESS);
}

static const struct sx_collective_engine engine = { .resume = collective_resume,
                                                    .go_on = collective_go_on,
                                                    .stop = collective_end };

static bool names(const struct sx_collective *collective, const struct sx_nspace *nspace)
{
    const struct sx_alias_list *const real = &collective->members.real;
    size_t i = 0;

    while (i < real->count && strcmp(real->all[i].nspace, nspace->name) != 0) {
        i++;
    }
    return i < real->count;
}

void sx_collective_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    struct sx_list gone = SX_LIST_INIT(gone); /* one may end the next ones, which are in the list */
    struct sx_list *link;

    SX_LIST_EACH(it, &server->collective.all) {
        struct sx_collective *collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (!collective->is_over || collective->is_owed || !names(collective, nspace)) {
            continue;
        }
        collective_unlink(collective);
        sx_list_append(&gone, it);
    }
    while ((link = sx_list_pop(&gone)) != NULL) {
        collective_leave_host(SX_LIST_ENTRY(link, struct sx_collective, link),
                              PMIX_ERR_LOST_CONNECTION);
    }
}

void sx_collective_end_all(struct sx_server *server)
{
    SX_LIST_EACH(it, &server->collective.all) {
        collective_close(SX_LIST_ENTRY(it, struct sx_collective, link));
    }
    sx_table_deinit(&server->collective.signatures);
    sx_table_deinit(&server->collective.meant);
    sx_table_deinit(&server->collective.owed);
    sx_table_deinit(&server->collective.rounds);
}

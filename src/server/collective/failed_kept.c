/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* failed_kept.c - failed operations that some members have not called yet, or other nodes need.
 *
 *     FAILED, for other nodes --its turn--> the host has it --answer--> KEPT for absent members
 *     KEPT --all have called, or have gone--> freed
 *
 * In the first two states it has its place among the open operations.  The others are in a table of
 * their own, by the same signatures.  A failed operation counts in the quotas of the members that
 * have called.  If the last one of these has gone, it is freed, unless the host has it or a list
 * has lost a member.  A survivor that calls later opens another one, which fails, too.  The next
 * failures of the same signature and status are only counted: a caller pays for one. */
#include "server/collective/engine.h"

#include "server/model/proc_list.h"

/* Return: whether a member may still call. */
static bool is_awaited(const struct sx_collective *collective)
{
    const struct sx_members *const members = &collective->members;
    bool awaited = false;

    for (size_t i = 0; i < members->count && !awaited; i++) {
        const struct sx_member *const member = &members->all[i];

        awaited = sx_collective_misses(collective, member) &&
                  sx_member_end(&sx_nobody_may_go, member->client) == PMIX_SUCCESS;
    }
    return awaited;
}

/* Return: whether the operation, which the host does not have, is kept. */
static bool is_kept(const struct sx_collective *collective)
{
    const bool is_paid = sx_members_somebody_waits(&collective->members);

    return collective->is_failed ? is_paid
                                 : (is_paid || collective->is_bound) && is_awaited(collective);
}

/* ---- one for several ------------------------------------------------------------------------- */

/* Return: whether @later, the next operation behind @kept that has failed, can count as repeats of
 * @kept.  Its callers have called @kept, since each has its calls in order. */
static bool may_merge(const struct sx_collective *kept, const struct sx_collective *later,
                      pmix_status_t status)
{
    bool may = kept->is_over && !kept->kind->commits && kept->ended == status &&
               status != PMIX_ERR_TIMEOUT &&
               sx_alias_lists_are_equal(&kept->members.real, &later->members.real);

    for (size_t i = 0; i < later->members.count && may; i++) {
        const struct sx_member *const called = &later->members.all[i];
        const struct sx_member *const member = sx_members_find(&kept->members, called->client);

        may = member != NULL &&
              (!sx_member_has_called(called) || !sx_collective_misses(kept, member));
    }
    return may;
}

/* Count @later as repeats of @kept.  A member that @later does not await need not call those. */
static void merge(struct sx_collective *kept, const struct sx_collective *later)
{
    const uint64_t count = 1 + later->repeats;

    for (size_t i = 0; i < kept->members.count; i++) {
        struct sx_member *const member = &kept->members.all[i];
        const struct sx_member *const called = sx_members_find(&later->members, member->client);

        member->repeats += called == NULL ? count : sx_member_has_called(called) + called->repeats;
    }
    kept->repeats += count;
}

static struct sx_collective *youngest_of(struct sx_collective *oldest)
{
    return SX_CONTAINER(sx_generation_youngest(&oldest->generation), struct sx_collective,
                        generation);
}

/* Return: the failed operation before @collective, the youngest of its signature, that the other
 * nodes have still to get; NULL: there is none. */
static struct sx_collective *failed_before(struct sx_collective *collective)
{
    struct sx_collective *const oldest = sx_collective_oldest_like(collective);
    const size_t count = oldest->generation.younger_count;

    if (oldest == collective || youngest_of(oldest) != collective) {
        return NULL;
    }
    struct sx_generation *const before = count > 1 ? oldest->generation.younger[count - 2]
                                                   : &oldest->generation;
    struct sx_collective *const found = SX_CONTAINER(before, struct sx_collective, generation);

    return found->is_failed ? found : NULL;
}

void sx_failed_open(struct sx_collective *collective)
{
    const pmix_status_t status = collective->members.gone;
    struct sx_collective *const before = failed_before(collective);

    if (before == NULL || !may_merge(before, collective, status)) {
        sx_collective_end(collective, status);
        return;
    }
    merge(before, collective);
    sx_collective_release(collective, status);
    sx_collective_close(collective);
}

/* ---- kept for late callers ------------------------------------------------------------------- */

/* Keep a failed operation: no call joins it, and each member that calls later gets its status. */
static void failed_keep(struct sx_collective *collective)
{
    struct sx_server *const server = collective->members.server;
    const uint64_t hash = collective->generation.node.hash;
    const struct sx_alias_list written = sx_members_written(&collective->members);
    const struct sx_op_signature meeting = sx_collective_signature(collective->kind, &written,
                                                                   collective->id,
                                                                   collective->space);
    struct sx_collective *const oldest = sx_op_signature_owed(server, &meeting, hash);
    struct sx_collective *const before = oldest != NULL ? youngest_of(oldest) : NULL;

    if (before != NULL && may_merge(before, collective, collective->ended)) {
        merge(before, collective);
        sx_collective_close(collective);
        return;
    }
    sx_generation_remove(&server->collective.signatures,
                         &sx_collective_oldest_like(collective)->generation,
                         &collective->generation);
    collective->is_owed = sx_generation_add(&server->collective.owed,
                                            oldest == NULL ? NULL : &oldest->generation,
                                            &collective->generation, hash);
    if (!collective->is_owed) {
        sx_collective_free(collective);
    }
}

void sx_failed_break(struct sx_collective *collective, struct sx_member *member,
                     pmix_status_t status)
{
    if (!collective->is_bound || collective->with_host) {
        sx_collective_end(collective, status);
        return;
    }
    if (!member->arrived) {
        sx_members_leave(&collective->members, member);
    }
    /* All nodes name the end of a list, and a fence that keeps its processes, alike.  The processes
     * of other operations are not the same on all nodes while a member leaves. */
    if ((collective->kind->known_by_list || collective->is_kept) &&
        sx_collective_fail(collective, status)) {
        return;
    }
    sx_collective_release(collective, status);
    if (is_awaited(collective)) {
        failed_keep(collective);
    } else {
        sx_collective_close(collective);
    }
}

void sx_failed_call(struct sx_collective *collective, struct sx_client *client)
{
    struct sx_member *const member = sx_members_find(&collective->members, client);

    if (sx_member_has_called(member)) {
        member->repeats++;
    } else {
        member->is_behind = true;
    }
    if (!is_kept(collective)) {
        sx_collective_close(collective);
    }
}

void sx_failed_leave(struct sx_collective *collective, struct sx_client *client)
{
    struct sx_member *const member = sx_members_find(&collective->members, client);

    if (member != NULL && !member->arrived) {
        sx_members_leave(&collective->members, member);
        sx_shown_changed(collective->members.server, &collective->shown);
    }
    if (!collective->with_host && !is_kept(collective)) {
        sx_collective_close(collective);
    }
}

void sx_failed_forget(struct sx_collective *collective)
{
    struct sx_members *const members = &collective->members;

    for (size_t i = members->count; i > 0; i--) {
        if (members->all[i - 1].arrived) {
            members->all[i - 1].repeats = collective->repeats;
        } else {
            sx_members_leave(members, &members->all[i - 1]);
        }
    }
}

void sx_failed_passed(struct sx_collective *collective)
{
    collective->is_failed = false;
    if (collective->ended == PMIX_ERR_TIMEOUT || !is_kept(collective)) {
        sx_collective_close(collective); /* late members call for the next one: X21 */
        return;
    }
    sx_collective_unlink(collective);
    sx_list_append(&collective->members.server->collective.all, &collective->link);
    failed_keep(collective);
}

struct sx_collective *sx_failed_find(struct sx_server *server,
                                     const struct sx_op_signature *meeting, uint64_t hash,
                                     struct sx_client *client, const struct sx_collective *next)
{
    struct sx_collective *const owed =
        server->collective.owed.count == 0
            ? NULL
            : sx_collective_joinable(sx_op_signature_owed(server, meeting, hash), client);

    return owed != NULL && (next == NULL || owed->serial < next->serial) ? owed : NULL;
}

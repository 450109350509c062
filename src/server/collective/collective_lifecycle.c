/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_lifecycle.c - open operations when clients and namespaces come and go.
 *
 * Members that are registered late, and members that leave. */
#include "server/collective/engine.h"

#include <string.h>

#include "base/status.h"
#include "server/model/proc_list.h"

/* Return: whether all that name a namespace are found by it (sx_collectives_of_nspace), and this
 * one is.  Of the others, each takes a search: those that name groups, or one namespace alone. */
static bool is_in_table(const struct sx_collective *collective)
{
    return collective->members.named != NULL && collective->members.real.made == NULL;
}

static void client_expect(struct sx_collective *collective, void *arg)
{
    struct sx_client *const client = arg;

    if (!sx_members_mean(&collective->members, client)) {
        return;
    }
    sx_shown_changed(collective->members.server, &collective->shown);
    if (!collective->with_host && !collective->is_over &&
        sx_members_expect(&collective->members, client) != PMIX_SUCCESS) {
        sx_collective_end_soon(collective, PMIX_ERR_OUT_OF_RESOURCE);
    }
}

void sx_collective_client_added(struct sx_server *server, struct sx_client *client)
{
    SX_LIST_EACH(it, &server->collective.all) {
        struct sx_collective *const collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (!is_in_table(collective)) {
            client_expect(collective, client);
        }
    }
    sx_collectives_of_nspace(server, client->nspace->name, client_expect, client);
}

/* ---- namespaces that operations have waited for ----------------------------------------------
 *
 *     a namespace is registered --> the operations that wait for it are UNREAD
 *     UNREAD --in steps, at most UNREAD_PROCS_MAX processes in one turn--> each continues
 *
 * Until then an operation still waits.  A member that waits in it pays. */

#define UNREAD_PROCS_MAX 1024u
#define PROCS_PER_UNIT 8u /* to look for them again: share.h */

static void unread_charge(const struct sx_collective *collective, size_t procs)
{
    const struct sx_members *const members = &collective->members;
    size_t i = 0;

    while (i < members->count && !members->all[i].arrived) {
        i++;
    }
    if (i < members->count) {
        sx_share_charge(members->server, members->all[i].client, procs / PROCS_PER_UNIT);
    }
}

static void unread_end(struct sx_collective *collective, pmix_status_t rc)
{
    if (rc == PMIX_SUCCESS) {
        sx_members_look_again(&collective->members);
        rc = sx_collective_reach(collective);
    }
    sx_shown_changed(collective->members.server, &collective->shown);
    if (rc != PMIX_SUCCESS) {
        sx_collective_end(collective, rc);
    } else {
        (void)sx_collective_try(collective);
    }
}

/* Return: how many processes were looked for. */
static size_t unread_step(struct sx_collective *collective)
{
    const struct sx_kind *const kind = collective->kind;
    const size_t procs = 1 + collective->members.proc_count;
    pmix_status_t rc = PMIX_SUCCESS;

    if (collective->with_host || collective->is_over) {
        sx_list_remove(&collective->unread);
        return 1;
    }
    unread_charge(collective, procs);
    if (kind->nspace_added != NULL) {
        rc = kind->nspace_added(collective);
    }
    if (rc != PMIX_ERR_WOULD_BLOCK) {
        sx_list_remove(&collective->unread);
        unread_end(collective, rc);
    }
    return procs;
}

static void unread_take(void *arg, uint64_t now_ns)
{
    struct sx_server *const server = arg;
    struct sx_collective_state *const state = &server->collective;
    size_t procs = 0;

    (void)now_ns;
    state->unread_posted = false;
    while (procs < UNREAD_PROCS_MAX && !sx_list_empty(&state->unread)) {
        procs += unread_step(SX_LIST_ENTRY(state->unread.next, struct sx_collective, unread));
    }
    if (!sx_list_empty(&state->unread) && !state->unread_posted) {
        state->unread_post = (struct sx_loop_post){ .fn = unread_take, .arg = server };
        state->unread_posted = sx_loop_post(server->loop, &state->unread_post) == PMIX_SUCCESS;
    }
}

void sx_collective_nspace_registered(struct sx_server *server, struct sx_nspace *nspace)
{
    struct sx_collective_state *const state = &server->collective;

    sx_name_returns(server, nspace->name);
    state->registrations++;
    SX_LIST_EACH(it, &state->all) {
        struct sx_collective *const collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (sx_list_empty(&collective->unread) && !collective->with_host && !collective->is_over &&
            sx_members_await(&collective->members, nspace)) {
            sx_list_append(&state->unread, &collective->unread);
        }
    }
    if (!state->unread_posted) {
        unread_take(server, 0);
    }
}

void sx_collective_client_connected(struct sx_server *server, struct sx_client *client)
{
    SX_LIST_EACH(it, &client->operations) {
        struct sx_collective *const collective = sx_collective_of(
            SX_LIST_ENTRY(it, struct sx_member, of_client));

        if (sx_shown_has_row(&collective->shown)) {
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
        sx_failed_break(collective, member, end);
        return;
    }
    if (had_arrived && !others_say && (for_good || end != PMIX_SUCCESS) &&
        !sx_members_somebody_waits(&collective->members)) {
        sx_collective_end(collective, PMIX_ERR_LOST_CONNECTION);
    } else if (end != PMIX_SUCCESS && !collective->with_host && !collective->is_over) {
        (void)sx_collective_try(collective);
    }
}

static void member_look(struct sx_collective *collective, struct sx_member *member)
{
    const struct sx_member_ends ends = sx_collective_ends(collective, member->arrived);

    member_ends(collective, member,
                sx_member_is_replaced(member) ? ends.died : sx_member_end(&ends, member->client));
}

/* Whether @collective is freed while its members are looked at.  One look may be within another. */
struct watch {
    bool freed;
    bool *outer;
};

static void watch_begin(struct watch *watch, struct sx_collective *collective)
{
    *watch = (struct watch){ .outer = collective->ret_freed };
    collective->ret_freed = &watch->freed;
}

/* Return: whether @collective is still there. */
static bool watch_end(const struct watch *watch, struct sx_collective *collective)
{
    if (!watch->freed) {
        collective->ret_freed = watch->outer;
    } else if (watch->outer != NULL) {
        *watch->outer = true;
    }
    return !watch->freed;
}

/* Act on the events that have waited for the answer of a round, see rounds.h. */
static bool collective_resume(struct sx_collective *collective)
{
    const struct sx_members *const members = &collective->members;
    struct watch watch;
    size_t i = 0;

    watch_begin(&watch, collective);
    while (!watch.freed && !collective->is_over && i < members->count) {
        const size_t count = members->count;

        member_look(collective, &members->all[i]);
        i += !watch.freed && members->count == count;
    }
    if (!watch.freed && collective->is_late) {
        sx_collective_end(collective, collective->late);
    }
    return watch_end(&watch, collective);
}

/* ---- the end of a client ---------------------------------------------------------------------
 *
 *     a client goes --> its operations are UNLOOKED --in steps--> each continues, or ends
 *
 * Meanwhile no operation with such a member succeeds.  The effect of the end depends on the state
 * of the client, so all are looked at before that changes: before another process comes in its
 * place, and before its namespace goes. */

#define ENDS_PER_TURN 1500u /* operations */

/* Return: whether @collective is still there. */
static bool look(struct sx_collective *collective, struct sx_member *member)
{
    struct watch watch;

    watch_begin(&watch, collective);
    if (collective->is_owed || collective->is_failed) {
        sx_failed_leave(collective, member->client);
    } else if (!sx_round_part_commits(&collective->part)) {
        member_look(collective, member);
    }
    return watch_end(&watch, collective);
}

/* Return: whether the operation of @member is still there. */
static bool unlooked_look(struct sx_client *client, struct sx_member *member)
{
    struct sx_collective *const collective = sx_collective_of(member);

    sx_list_remove(&member->of_client);
    sx_list_append(&client->operations, &member->of_client);
    member->is_unlooked = false;
    collective->unlooked--;
    if (!look(collective, member)) {
        return false;
    }
    if (!collective->is_ripe || collective->unlooked > 0 || collective->is_over) {
        return true;
    }
    collective->is_ripe = false;
    return !sx_collective_try(collective);
}

/* Look at up to *@left of the operations of @client. */
static void client_looks(struct sx_client *client, size_t *left)
{
    while (*left > 0 && !sx_list_empty(&client->unlooked)) {
        --*left;
        (void)unlooked_look(client,
                            SX_LIST_ENTRY(client->unlooked.next, struct sx_member, of_client));
    }
    if (sx_list_empty(&client->unlooked)) {
        sx_list_remove(&client->ending);
    }
}

static bool ends_step(struct sx_server *server, size_t *left)
{
    struct sx_list *const all = &server->collective.ends;

    while (*left > 0 && !sx_list_empty(all)) {
        struct sx_client *const client = sx_client_retain(
            SX_LIST_ENTRY(all->next, struct sx_client, ending));

        client_looks(client, left);
        sx_client_release(client);
    }
    return sx_list_empty(all);
}

void sx_collective_ends_init(struct sx_server *server)
{
    sx_list_init(&server->collective.ends);
    sx_steps_init(&server->collective.ending, server, ends_step, ENDS_PER_TURN);
}

void sx_collective_client_looks(struct sx_server *server, struct sx_client *client)
{
    size_t left = SIZE_MAX;

    (void)server;
    client_looks(client, &left);
}

size_t sx_collective_nspace_looks(struct sx_server *server, const struct sx_nspace *nspace,
                                  size_t max)
{
    size_t left = max;

    SX_LIST_EACH(it, &server->collective.ends) {
        struct sx_client *const client = SX_LIST_ENTRY(it, struct sx_client, ending);

        if (client->nspace == nspace) {
            client_looks(client, &left);
        }
        if (left < max) { /* else the ends of others have left it none */
            break;
        }
    }
    return max - left;
}

static bool collective_look(struct sx_collective *collective)
{
    struct sx_members *const members = &collective->members;
    bool is_there = true;
    size_t i = 0;

    while (is_there && collective->unlooked > 0 && i < members->count) {
        struct sx_member *const member = &members->all[i];
        const size_t count = members->count;

        is_there = !member->is_unlooked || unlooked_look(member->client, member);
        i = is_there && members->count != count ? 0 : i + 1; /* one look may end several */
    }
    return is_there;
}

/* Return: whether the end of a member counts only if the round does not end the operation. */
static bool dies_as_member(const struct sx_collective *collective)
{
    return !collective->is_owed && !collective->is_failed &&
           sx_round_part_commits(&collective->part);
}

void sx_collective_client_gone(struct sx_server *server, struct sx_client *client)
{
    struct sx_collective_state *const state = &server->collective;

    SX_LIST_EACH(it, &client->operations) {
        struct sx_member *const member = SX_LIST_ENTRY(it, struct sx_member, of_client);
        struct sx_collective *const collective = sx_collective_of(member);

        if (!dies_as_member(collective)) {
            member->is_unlooked = true;
            collective->unlooked++;
            sx_list_remove(it);
            sx_list_append(&client->unlooked, it);
        }
    }
    if (!sx_list_empty(&client->unlooked)) {
        sx_list_remove(&client->ending);
        sx_list_append(&state->ends, &client->ending);
        sx_steps_go(&state->ending);
    }
}

/* If the operation ends because @member is missing, it must fail for later callers too, whose lists
 * no longer have @member. */
static void member_withdraws(struct sx_collective *collective, struct sx_member *member)
{
    const pmix_status_t end = sx_collective_ends(collective, false).withdrew;

    collective->is_bound |= end != PMIX_ERR_PARTIAL_SUCCESS;
    member_ends(collective, member, end);
}

void sx_collective_client_withdrew(struct sx_server *server, struct sx_client *client,
                                   uint8_t pardons)
{
    struct sx_list left = SX_LIST_INIT(left);
    struct sx_list *link;

    (void)server;
    sx_list_splice(&left, &client->operations);
    while ((link = sx_list_pop(&left)) != NULL) { /* the end of one may end others */
        struct sx_member *const member = SX_LIST_ENTRY(link, struct sx_member, of_client);
        struct sx_collective *const collective = sx_collective_of(member);

        sx_list_append(&client->operations, link);
        if (!member->arrived && client->nspace != NULL &&
            !sx_members_name(&collective->members, client)) {
            collective->pardons |= pardons;
            if (collective->is_owed || collective->is_failed) {
                sx_failed_leave(collective, client);
            } else {
                member_withdraws(collective, member);
            }
        }
    }
}

/* Return: whether the signature, as its lists are now, has a process on another node. */
static bool means_others_yet(const struct sx_collective *collective)
{
    struct sx_members now = collective->members;
    const bool found = sx_alias_list(now.server, NULL, now.uid, now.procs, now.proc_count,
                                     &now.real) == PMIX_SUCCESS;
    const bool elsewhere = !found || sx_members_absent(&now).elsewhere;

    sx_alias_list_clear(&now.real);
    return elsewhere;
}

/* The host keeps the operation, since the member may have called before it left.  If no process
 * that could still call is on another node, the operation is taken from the host, unless that has
 * answered, and the values are being stored. */
static void go_on_without_one_elsewhere(struct sx_collective *collective)
{
    collective->members.incomplete = true;
    if (!collective->with_host) {
        (void)sx_collective_try(collective);
    } else if (!sx_round_part_commits(&collective->part) && collective->incoming == NULL &&
               !means_others_yet(collective) && collective_look(collective) &&
               !collective->is_over) {
        sx_collective_leave_host(collective, PMIX_SUCCESS);
    }
}

static void one_elsewhere_gone(struct sx_collective *collective, bool died, uint8_t pardons)
{
    collective->pardons |= pardons;
    const struct sx_member_ends ends = sx_collective_ends(collective, false);
    const pmix_status_t end = died ? ends.died : ends.withdrew;

    if (end == PMIX_ERR_PARTIAL_SUCCESS) {
        go_on_without_one_elsewhere(collective);
    } else if (end != PMIX_SUCCESS) {
        collective->by_list = !collective->kind->known_by_list && !collective->is_kept;
        sx_collective_end_soon(collective, end);
    }
}

struct mark {
    struct sx_server *server;
    bool died;
    uint8_t pardons;
};

static void list_mark(struct sx_collective *collective, void *arg)
{
    const struct mark *const mark = arg;

    if (!collective->is_over) {
        sx_list_remove(&collective->marked);
        sx_list_append(&mark->server->collective.marked, &collective->marked);
        collective->is_kept |= mark->died && !collective->kind->commits &&
                               ((collective->pardons | mark->pardons) & SX_PARDON_BEFORE) == 0;
    }
}

void sx_collective_list_mark(struct sx_server *server, const struct sx_membership_entry *list,
                             bool died, uint8_t pardons)
{
    struct mark mark = { .server = server, .died = died, .pardons = pardons };

    while (sx_list_pop(&server->collective.marked) != NULL) {
    }
    sx_collectives_of_list(server, list, list_mark, &mark);
}

void sx_collective_member_elsewhere_gone(struct sx_server *server, bool died, uint8_t pardons)
{
    struct sx_list *link;

    while ((link = sx_list_pop(&server->collective.marked)) != NULL) {
        struct sx_collective *const collective = SX_LIST_ENTRY(link, struct sx_collective, marked);

        if (!collective->is_over) { /* else the end of another has ended it */
            one_elsewhere_gone(collective, died, pardons);
        }
    }
}

static void collective_go_on(struct sx_collective *collective, struct sx_client *client)
{
    member_ends(collective, sx_members_find(&collective->members, client),
                PMIX_ERR_PARTIAL_SUCCESS);
}

const struct sx_collective_engine sx_collective_engine = { .resume = collective_resume,
                                                           .look = collective_look,
                                                           .go_on = collective_go_on,
                                                           .stop = sx_collective_end,
                                                           .failed = sx_failed_passed };

static bool names(const struct sx_collective *collective, const struct sx_nspace *nspace)
{
    return sx_alias_list_names(&collective->members.real, nspace->name);
}

/* Some of its members will never call: the host has ended their namespace before it has registered
 * them. */
static void missing_end(struct sx_collective *collective)
{
    const pmix_status_t end = sx_collective_ends(collective, false).died;

    sx_shown_changed(collective->members.server, &collective->shown);
    if (end == PMIX_ERR_PARTIAL_SUCCESS) {
        collective->members.incomplete = true;
        (void)sx_collective_try(collective);
    } else if (end != PMIX_SUCCESS) {
        sx_collective_end(collective, end);
    }
}

static void gone_note(struct sx_collective *collective, void *arg)
{
    (void)arg;
    collective->names_gone = true;
}

static void nspace_is_missed(struct sx_server *server, const struct sx_nspace *nspace)
{
    struct sx_collective_walk walk;
    struct sx_collective *collective;

    sx_collectives_of_nspace(server, nspace->name, gone_note, NULL);
    sx_collective_walk_begin(server, &walk);
    while ((collective = sx_collective_walk_next(server, &walk)) != NULL) {
        const bool may_miss = !is_in_table(collective) || collective->names_gone;

        collective->names_gone = false;
        if (may_miss && !collective->is_over && !collective->with_host &&
            sx_members_miss(&collective->members, nspace)) {
            missing_end(collective);
        }
    }
    sx_collective_walk_end(server, &walk);
}

void sx_collective_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    struct sx_list gone = SX_LIST_INIT(gone); /* one may end the next ones, which are in the list */
    struct sx_list *link;

    while (sx_collective_nspace_looks(server, nspace, SIZE_MAX) > 0) {
    }
    SX_LIST_EACH(it, &server->collective.all) {
        struct sx_collective *collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (!collective->is_over || collective->is_owed || !names(collective, nspace)) {
            continue;
        }
        sx_collective_unlink(collective);
        sx_list_append(&gone, it);
    }
    while ((link = sx_list_pop(&gone)) != NULL) {
        sx_collective_leave_host(SX_LIST_ENTRY(link, struct sx_collective, link),
                                 PMIX_ERR_LOST_CONNECTION);
    }
    if (sx_name_has_ended(server, nspace->name)) { /* else its registration has failed */
        nspace_is_missed(server, nspace);
    }
}

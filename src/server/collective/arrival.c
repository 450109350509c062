/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* arrival.c - an arrival: read, with its processes in order, and joined with its operation. */
#include "server/collective/engine.h"

#include <stdlib.h>

#include <pmix.h>

#include "base/clock.h"
#include "base/message/payloads.h"
#include "base/value/value.h"
#include "server/model/proc_list.h"
#include "server/port/port.h"

/* A client sorts the list that its caller gave, so the server only compares each entry with the
 * next. */
static bool procs_are_canonical(const pmix_proc_t *procs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (sx_proc_order(&procs[i - 1], &procs[i]) >= 0) {
            return false;
        }
    }
    return true;
}

static size_t bytes_of(const struct sx_arrival *arrival)
{
    size_t sum = arrival->proc_count * sizeof(arrival->procs[0]);
    size_t size;

    for (size_t i = 0; i < arrival->ninfo; i++) {
        sum += PMIx_Info_get_size(&arrival->info[i], &size) == PMIX_SUCCESS ? size : 0;
    }
    return sum;
}

void sx_arrival_clear(struct sx_arrival *arrival)
{
    free(arrival->procs);
    arrival->procs = NULL;
    if (arrival->real.made != NULL) {
        sx_alias_list_clear(&arrival->real);
    }
    if (arrival->prepared > 0) {
        sx_proc_list_clear(&arrival->listed);
        sx_proc_list_clear(&arrival->sorted);
        free(arrival->order);
        arrival->order = NULL;
    }
    if (arrival->info != NULL) {
        PMIX_INFO_FREE(arrival->info, arrival->ninfo);
    }
}

pmix_status_t sx_arrival_read(struct sx_arrival *ret, const struct sx_opened *body)
{
    const struct sx_lane_arrive *const head = body->head;

    *ret = (struct sx_arrival){ .kind = head->kind,
                                .op = head->op,
                                .open = head->open,
                                .options.collect = (head->flags & SX_ARRIVE_COLLECT) != 0,
                                .receives = head->flags & SX_ARRIVE_RECEIVES,
                                .proc_count = head->proc_count };
    pmix_status_t rc = (head->flags & ~(SX_ARRIVE_COLLECT | SX_ARRIVE_RECEIVES)) != 0
                           ? PMIX_ERR_BAD_PARAM
                           : sx_part_procs(&body->parts[SX_ARRIVE_PROCS], &ret->procs);

    if (rc == PMIX_SUCCESS) {
        ret->in_order = procs_are_canonical(ret->procs, ret->proc_count);
        rc = sx_body_infos(body, SX_ARRIVE_INFOS, &ret->info, &ret->ninfo);
    }
    if (rc == PMIX_SUCCESS) {
        ret->bytes = bytes_of(ret);
    } else {
        sx_arrival_clear(ret);
    }
    return rc == PMIX_ERR_UNPACK_FAILURE ? PMIX_ERR_BAD_PARAM : rc;
}

/* ---- the operation that it joins ------------------------------------------------------------- */

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
            sx_collective_close(collective);
        }
        return rc;
    }
    sx_members_arrive(&collective->members, member, arrival->op, arrival->bytes);
    sx_shown_changed(collective->members.server, &collective->shown);
    if (collective->members.gone != PMIX_SUCCESS) {
        sx_failed_open(collective);
        return PMIX_SUCCESS;
    }
    if (collective->kind->arrived != NULL) {
        collective->kind->arrived(collective, client, arrival->options.connect);
    }
    collective->collect |= arrival->options.collect;
    collective->pardons |= arrival->options.pardons;
    collective->connect |= arrival->options.connect;
    collective->group |= arrival->options.group;
    if (!sx_collective_try(collective) && arrival->options.timeout_ns != 0) {
        deadline_set(collective, arrival->options.timeout_ns);
    }
    return PMIX_SUCCESS;
}

/* Find an open operation over the processes of @arrival whose callers have named them in another
 * way.  Return: NULL when there is none. */
static const struct sx_collective *meant_find(struct sx_server *server, struct sx_client *client,
                                              const struct sx_kind *kind,
                                              struct sx_arrival *arrival)
{
    struct sx_alias_list *const real = &arrival->real;
    struct sx_collective *found = NULL;

    if (!kind->known_by_meaning || server->memberships.names.count == 0 ||
        sx_list_empty(&server->collective.all) ||
        sx_alias_list(server, client, client->uid, arrival->procs, arrival->proc_count, real) !=
            PMIX_SUCCESS) {
        return NULL;
    }
    const struct sx_op_signature meeting = sx_collective_signature(kind, real, arrival->options.id,
                                                                   0);

    arrival->real_hash = sx_op_signature_hash(server, &meeting);
    if (real->made != NULL) {
        found = sx_op_signature_oldest(server, &meeting, arrival->real_hash);
    }
    return found != NULL ? found : sx_op_signature_meant(server, &meeting, arrival->real_hash);
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
    arrival->space = other->space;
    return PMIX_SUCCESS;
}

/* Return: the operation that @client calls, from @oldest on; NULL: a new one.  One that has failed
 * by a time limit, and that other nodes need, is not joined: X21. */
static struct sx_collective *called_find(struct sx_collective *oldest, struct sx_client *client)
{
    struct sx_collective *next;

    while ((next = sx_collective_joinable(oldest, client)) != NULL && next->is_over &&
           next->ended == PMIX_ERR_TIMEOUT) {
        sx_members_leave(&next->members, sx_members_find(&next->members, client));
    }
    return next;
}

static struct sx_op_signature written_of(const struct sx_kind *kind,
                                         const struct sx_arrival *arrival)
{
    const struct sx_alias_list written = { .all = arrival->procs, .count = arrival->proc_count };

    return sx_collective_signature(kind, &written, arrival->options.id, arrival->space);
}

/* @client joins the operation that its signature matches; if there is none, it opens one. */
static pmix_status_t take_part(struct sx_server *server, struct sx_client *client,
                               struct sx_arrival *arrival)
{
    const struct sx_kind *const kind = sx_kind_of(server, arrival->kind);
    const struct sx_collective_options given = arrival->options;
    pmix_status_t rc = kind == NULL ? PMIX_ERR_NOT_SUPPORTED
                                    : sx_options_read(kind->function, arrival->info, arrival->ninfo,
                                                      &arrival->options);

    if (rc == PMIX_SUCCESS) {
        rc = sx_pending_judge(server, client, SX_PENDING_ARRIVAL);
    }
    if (rc == PMIX_SUCCESS && kind->aim != NULL) {
        rc = kind->aim(server, client, arrival);
    }
    if (rc == PMIX_ERR_WOULD_BLOCK) {
        arrival->options = given; /* they are read again */
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (!kind->known_by_id) {
        arrival->space = sx_alias_space(server, client->uid, arrival->procs, arrival->proc_count);
    }
    struct sx_op_signature meeting = written_of(kind, arrival);
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
        meeting = written_of(kind, arrival);
        hash = other->generation.node.hash;
        oldest = sx_op_signature_oldest(server, &meeting, hash);
    }
    struct sx_collective *collective = called_find(oldest, client);
    struct sx_collective *const owed = sx_failed_find(server, &meeting, hash, client, collective);

    if (owed != NULL) {
        rc = owed->ended;
        sx_failed_call(owed, client);
        return rc;
    }
    if (collective != NULL && collective->is_over) { /* it has failed, and other nodes need it */
        struct sx_member *const member = sx_members_find(&collective->members, client);

        if (member->arrived) {
            member->repeats++;
        } else {
            sx_members_arrive(&collective->members, member, arrival->op, arrival->bytes);
        }
        return collective->ended;
    }
    if (collective == NULL) {
        rc = sx_collective_new(server, hash, oldest, arrival, &collective);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    collective->engine = &sx_collective_engine;
    return join(collective, client, arrival);
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
    if (rc == PMIX_ERR_WOULD_BLOCK && arrival->may_wait) {
        return rc;
    }
    if (rc != PMIX_SUCCESS) {
        sx_members_refuse(client, arrival->op, rc);
    }
    sx_arrival_clear(arrival);
    return PMIX_SUCCESS;
}

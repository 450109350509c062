/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective.c - gather the local members of an operation, then release them together.
 *
 * An arrival finds its operation by the hash of its signature; nobody walks those of others.  A
 * second arrival of the same client with the same signature belongs to the next operation.  Who is
 * expected and who is told: members.h.  Memory: one struct and one member entry per expected
 * client, SX_COLLECTIVE_PENDING_MAX operations per client, and SX_COLLECTIVE_PROCS_MAX processes in
 * their lists. */
#include "server/engine/collective.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/value.h"
#include "server/engine/collective_kind.h"
#include "server/model/arrival.h"
#include "server/port/reply.h"

/* ---- life ---------------------------------------------------------------------------------- */

static struct sx_collective *collective_free(struct sx_collective *collective)
{
    sx_timer_remove(&collective->deadline);
    sx_list_remove(&collective->link);
    if (!sx_list_empty(&collective->node.link)) {
        sx_table_remove(&collective->members.server->signatures, &collective->node);
    }
    sx_members_clear(&collective->members);
    sx_wishes_clear(&collective->wishes);
    free(collective);
    return NULL;
}

/* Release everybody who has arrived with @status; the operation is no more, unless the host has it:
 * then the next one of its kind and signature waits for the answer. */
static void collective_end(struct sx_collective *collective, pmix_status_t status)
{
    if (status == PMIX_SUCCESS && collective->members.incomplete) {
        status = collective->kind->incomplete;
    }
    if (!collective->is_over) {
        collective->is_over = true;
        sx_timer_remove(&collective->deadline);
        sx_members_release(&collective->members, status);
    }
    if (!collective->with_host) {
        collective_free(collective);
    }
}

static void deadline_passed(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    collective_end(arg, PMIX_ERR_TIMEOUT);
}

static uint64_t signature_of(const struct sx_server *server, const struct sx_arrival *arrival)
{
    uint64_t hash = server->signature_seed ^ arrival->kind;

    for (size_t i = 0; i < arrival->proc_count; i++) {
        const pmix_proc_t *proc = &arrival->procs[i];

        hash = XXH3_64bits_withSeed(proc->nspace, strlen(proc->nspace), hash + proc->rank);
    }
    return hash;
}

static bool has_signature(const struct sx_collective *collective, const struct sx_kind *kind,
                          const pmix_proc_t *procs, size_t proc_count)
{
    const struct sx_members *members = &collective->members;

    if (collective->kind != kind || members->proc_count != proc_count) {
        return false;
    }
    for (size_t i = 0; i < proc_count; i++) {
        if (sx_proc_order(&members->procs[i], &procs[i]) != 0) {
            return false;
        }
    }
    return true;
}

/* The oldest operation of this signature that @client has not joined yet. */
static struct sx_collective *collective_find(struct sx_server *server, const struct sx_kind *kind,
                                             uint64_t signature, const struct sx_arrival *arrival,
                                             struct sx_client *client)
{
    const struct sx_table *table = &server->signatures;
    struct sx_table_node *node = sx_table_first(table, signature);

    for (; node != NULL; node = sx_table_next(table, node)) {
        struct sx_collective *collective = SX_CONTAINER(node, struct sx_collective, node);
        const struct sx_member *member = sx_members_find(&collective->members, client);

        if (member != NULL && !member->arrived &&
            has_signature(collective, kind, arrival->procs, arrival->proc_count)) {
            return collective;
        }
    }
    return NULL;
}

/* The oldest other operation of the signature of @of that the host has, or has not. */
static struct sx_collective *collective_other(const struct sx_collective *of, bool with_host)
{
    const struct sx_table *table = &of->members.server->signatures;
    struct sx_table_node *node = sx_table_first(table, of->node.hash);

    for (; node != NULL; node = sx_table_next(table, node)) {
        struct sx_collective *other = SX_CONTAINER(node, struct sx_collective, node);

        if (other != of && other->with_host == with_host &&
            has_signature(other, of->kind, of->members.procs, of->members.proc_count)) {
            return other;
        }
    }
    return NULL;
}

/* Takes the processes out of @arrival. */
static pmix_status_t collective_new(struct sx_server *server, const struct sx_kind *kind,
                                    uint64_t signature, struct sx_arrival *arrival,
                                    struct sx_collective **ret)
{
    struct sx_collective *collective = calloc(1, sizeof(*collective));
    pmix_status_t rc;

    if (collective == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_list_init(&collective->link);
    sx_list_init(&collective->node.link);
    sx_wishes_init(&collective->wishes);
    collective->members.server = server;
    collective->serial = ++server->serial;
    collective->kind = kind;
    collective->members.procs = arrival->procs;
    collective->members.proc_count = arrival->proc_count;
    arrival->procs = NULL;
    rc = sx_members_gather(&collective->members, &kind->before);
    if (rc == PMIX_SUCCESS && sx_members_absent(&collective->members).elsewhere &&
        !kind->host_reaches(server)) {
        rc = PMIX_ERR_NOT_SUPPORTED;
    }
    if (rc == PMIX_SUCCESS && !sx_table_add(&server->signatures, &collective->node, signature)) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc != PMIX_SUCCESS) {
        collective_free(collective);
        return rc;
    }
    sx_list_append(&server->collectives, &collective->link);
    *ret = collective;
    return PMIX_SUCCESS;
}

/* ---- members elsewhere --------------------------------------------------------------------- */

static bool collective_try(struct sx_collective *collective);

/* The host has it no longer, and takes the next one of its signature. */
static void collective_leave_host(struct sx_collective *collective, pmix_status_t status)
{
    struct sx_collective *next = collective_other(collective, false);

    collective->with_host = false;
    collective_end(collective, status);
    while (next != NULL) {
        struct sx_collective *behind = collective_other(next, false);

        next = collective_try(next) ? behind : NULL;
    }
}

static void host_has_answered(struct sx_server *server, uint64_t serial, struct sx_client *client,
                              const struct sx_host_answer *answer)
{
    (void)client;
    SX_LIST_EACH(it, &server->collectives) {
        struct sx_collective *collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (collective->serial == serial) {
            collective_leave_host(collective, collective->kind->host_said(collective, answer));
            return;
        }
    }
}

/* ---- arrivals ------------------------------------------------------------------------------ */

/* Whether @client may wait in one operation more. */
static bool may_wait(const struct sx_client *client)
{
    return client->arrival_count < SX_COLLECTIVE_PENDING_MAX &&
           client->arrival_procs < SX_COLLECTIVE_PROCS_MAX;
}

/* Everybody here?  Return: true when the operation has ended. */
static bool collective_try(struct sx_collective *collective)
{
    const struct sx_absent absent = sx_members_absent(&collective->members);

    if (collective->members.arrived_count < collective->members.count || absent.announced > 0) {
        return false;
    }
    if (absent.elsewhere && collective_other(collective, true) != NULL) {
        return false; /* hosts tell operations apart by their processes: one at a time */
    }
    if (absent.elsewhere) {
        const pmix_status_t rc = collective->kind->host_ask(collective, host_has_answered);

        collective->with_host = rc == PMIX_SUCCESS;
        if (collective->with_host) {
            return false;
        }
        collective_end(collective, rc);
        return true;
    }
    collective_end(collective, PMIX_SUCCESS);
    return true;
}

/* Take what @client brings.  Return: PMIX_SUCCESS when it may join; else nothing is left of an
 * operation that was made for it alone. */
static pmix_status_t admit(struct sx_collective *collective, struct sx_client *client,
                           const struct sx_arrival *arrival)
{
    pmix_status_t rc = PMIX_ERR_BAD_PARAM; /* it lists others only */

    if (sx_members_find(&collective->members, client) != NULL) {
        rc = sx_wishes_add(&collective->wishes, arrival->info, arrival->ninfo,
                           collective->members.server->signature_seed);
    }
    if (rc != PMIX_SUCCESS && collective->members.arrived_count == 0) {
        collective_free(collective);
    }
    return rc;
}

static void join(struct sx_collective *collective, struct sx_client *client,
                 const struct sx_arrival *arrival)
{
    struct sx_member *member = sx_members_find(&collective->members, client);

    sx_members_arrive(&collective->members, member, arrival->op);
    collective->collect |= arrival->options.collect;
    if (collective_try(collective)) {
        return;
    }
    if (arrival->options.timeout_ns != 0) {
        const uint64_t deadline_ns = sx_deadline_ns(sx_now_ns(), arrival->options.timeout_ns);

        if (collective->deadline.source.loop == NULL ||
            deadline_ns < collective->deadline.deadline_ns) {
            sx_timer_remove(&collective->deadline);
            collective->deadline.fn = deadline_passed;
            collective->deadline.arg = collective;
            sx_timer_add(collective->members.server->loop, &collective->deadline, deadline_ns);
        }
    }
}

pmix_status_t sx_collective_arrive(struct sx_server *server, struct sx_client *client,
                                   const void *body, size_t size)
{
    struct sx_arrival arrival;
    struct sx_collective *collective;
    pmix_status_t rc;

    if (size < sizeof(struct sx_lane_arrive)) {
        return PMIX_ERR_BAD_PARAM;
    }
    rc = sx_arrival_read(&arrival, body, size);
    if (rc == PMIX_ERR_BAD_PARAM) {
        return rc;
    }
    const uint32_t op = ((const struct sx_lane_arrive *)body)->op;
    const struct sx_kind *const kind = sx_kind_of(arrival.kind);

    if (rc == PMIX_SUCCESS) {
        rc = kind != NULL ? sx_arrival_directives(&arrival) : PMIX_ERR_NOT_SUPPORTED;
    }
    if (rc == PMIX_SUCCESS && !may_wait(client)) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc == PMIX_SUCCESS) {
        const uint64_t signature = signature_of(server, &arrival);

        collective = collective_find(server, kind, signature, &arrival, client);
        if (collective == NULL) {
            rc = collective_new(server, kind, signature, &arrival, &collective);
        }
        if (rc == PMIX_SUCCESS) {
            rc = admit(collective, client, &arrival);
        }
    }
    if (rc == PMIX_SUCCESS) {
        join(collective, client, &arrival);
    } else {
        sx_members_refuse(client, op, rc);
    }
    sx_arrival_clear(&arrival);
    return PMIX_SUCCESS;
}

bool sx_collective_on_arrive_bulk(struct sx_server *server, struct sx_client *client,
                                  struct sx_frame *frame, uint64_t now_ns)
{
    (void)now_ns;
    if (sx_collective_arrive(server, client, frame->body, frame->body_size) != PMIX_SUCCESS) {
        return false;
    }
    sx_reply(server, client, frame->header.id, PMIX_SUCCESS, -1);
    return true;
}

/* ---- members that come late, members that go ------------------------------------------------ */

void sx_collective_client_added(struct sx_server *server, struct sx_client *client)
{
    SX_LIST_EACH(it, &server->collectives) {
        struct sx_collective *collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (!collective->with_host &&
            sx_members_expect(&collective->members, client) != PMIX_SUCCESS) {
            collective_end(collective, PMIX_ERR_OUT_OF_RESOURCE);
        }
    }
}

/* @member is no longer there. */
static void member_gone(struct sx_collective *collective, struct sx_member *member)
{
    const struct sx_kind *const kind = collective->kind;
    const struct sx_member_ends *const ends = member->arrived ? &kind->after : &kind->before;
    const pmix_status_t end = sx_member_end(ends, member->client);

    if (end == PMIX_ERR_PARTIAL_SUCCESS) {
        sx_members_leave(&collective->members, member);
        (void)collective_try(collective);
    } else if (end != PMIX_SUCCESS) {
        collective_end(collective, end);
    } else if (!sx_members_somebody_waits(&collective->members)) {
        collective_end(collective, PMIX_ERR_LOST_CONNECTION);
    }
}

void sx_collective_client_gone(struct sx_server *server, struct sx_client *client)
{
    SX_LIST_EACH(it, &server->collectives) {
        struct sx_collective *collective = SX_LIST_ENTRY(it, struct sx_collective, link);
        struct sx_member *member = sx_members_find(&collective->members, client);

        if (member != NULL) {
            member_gone(collective, member);
        }
    }
}

static bool names(const struct sx_collective *collective, const struct sx_nspace *nspace)
{
    const struct sx_members *members = &collective->members;
    size_t i = 0;

    while (i < members->proc_count && strcmp(members->procs[i].nspace, nspace->name) != 0) {
        i++;
    }
    return i < members->proc_count;
}

void sx_collective_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    struct sx_list gone = SX_LIST_INIT(gone); /* the next ones may end, and are in the list */
    struct sx_list *link;

    SX_LIST_EACH(it, &server->collectives) {
        const struct sx_collective *collective = SX_LIST_ENTRY(it, struct sx_collective, link);

        if (collective->is_over && names(collective, nspace)) {
            sx_list_remove(it);
            sx_list_append(&gone, it);
        }
    }
    while ((link = sx_list_pop(&gone)) != NULL) {
        collective_leave_host(SX_LIST_ENTRY(link, struct sx_collective, link),
                              PMIX_ERR_LOST_CONNECTION);
    }
}

void sx_collective_end_all(struct sx_server *server)
{
    SX_LIST_EACH(it, &server->collectives) {
        collective_free(SX_LIST_ENTRY(it, struct sx_collective, link));
    }
    sx_table_deinit(&server->signatures);
}

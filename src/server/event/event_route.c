/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_route.c - the table of event_route.h, column by column. */
#include "server/event/event_route.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/value/value.h"
#include "server/model/membership.h"

/* Hosts name no source, or themselves.  Every other source that they pass on is a process. */
static bool is_manager(struct sx_server *server, const pmix_proc_t *source)
{
    return source->nspace[0] == '\0' || strcmp(source->nspace, server->self.nspace) == 0;
}

static const struct sx_event *head_of(const struct sx_event_block *block)
{
    return (const struct sx_event *)(const void *)block->bytes;
}

/* ---- namespaces of this node --------------------------------------------------------------- */

/* @source: used for a range that depends on it. */
static bool concerns(const struct sx_event_block *block, const pmix_proc_t *source,
                     const struct sx_nspace *nspace)
{
    switch (head_of(block)->range) {
    case PMIX_RANGE_RM:
    case PMIX_RANGE_PROC_LOCAL:
        return false;
    case PMIX_RANGE_NAMESPACE:
        return strcmp(source->nspace, nspace->name) == 0;
    case PMIX_RANGE_SESSION: /* a source without a known session may mean each session */
        return block->session == nspace->session || block->session == SX_SESSION_UNKNOWN ||
               nspace->session == SX_SESSION_UNKNOWN;
    case PMIX_RANGE_CUSTOM:
        return sx_event_block_aims_at(block, nspace->name, PMIX_RANK_WILDCARD);
    default:
        return true;
    }
}

bool sx_event_route_concerns(const struct sx_event_route *route, const struct sx_event_block *block,
                             const struct sx_nspace *nspace)
{
    return route->targets_mark != 0 ? nspace->targets_mark == route->targets_mark
                                    : concerns(block, &route->source, nspace);
}

bool sx_event_concerns(const struct sx_event_block *block, const struct sx_nspace *nspace)
{
    pmix_proc_t source;

    if (head_of(block)->range == PMIX_RANGE_NAMESPACE) {
        sx_event_block_source(block, &source);
    }
    return concerns(block, &source, nspace);
}

static bool is_known(struct sx_server *server, const char *nspace)
{
    return sx_nspace_find(server, nspace) != NULL || strcmp(nspace, server->self.nspace) == 0;
}

/* A walk over a list in a block: its processes are read where they stand, since a long list takes
 * long to copy. */
struct walk {
    struct sx_opened_part rest;
    pmix_proc_t proc;
    size_t name_len;
    bool is_new; /* the name is not that of the process before */
};

static struct walk walk_of(const struct sx_event_block *block, unsigned part)
{
    return (struct walk){ .rest = sx_event_block_list(block, part) };
}

/* Return: false behind the last. */
static bool walk_next(struct walk *walk)
{
    struct sx_proc_ref ref;

    if (!sx_part_proc_next(&walk->rest, &ref)) {
        return false;
    }
    walk->is_new = walk->name_len != ref.name_len ||
                   memcmp(walk->proc.nspace, ref.name, ref.name_len) != 0;
    if (walk->is_new) {
        memcpy(walk->proc.nspace, ref.name, ref.name_len);
        walk->proc.nspace[ref.name_len] = '\0';
        walk->name_len = ref.name_len;
    }
    walk->proc.rank = ref.rank;
    return true;
}

bool sx_event_awaits_job(struct sx_server *server, const struct sx_event_block *block)
{
    struct walk walk = walk_of(block, SX_EVENT_TARGETS);
    pmix_proc_t source;

    if (head_of(block)->range == PMIX_RANGE_NAMESPACE) {
        sx_event_block_source(block, &source);
        return !is_known(server, source.nspace);
    }
    while (walk_next(&walk)) {
        if (walk.is_new && !is_known(server, walk.proc.nspace)) {
            return true;
        }
    }
    return false;
}

/* ---- the host's handlers --------------------------------------------------------------------- */

static bool reaches_host(struct sx_server *server, const struct sx_event_block *block,
                         const pmix_proc_t *source, enum sx_event_origin origin)
{
    switch (head_of(block)->range) {
    case PMIX_RANGE_NAMESPACE:
        return origin == SX_EVENT_FROM_LIBRARY || strcmp(source->nspace, server->self.nspace) == 0;
    case PMIX_RANGE_CUSTOM:
        return sx_event_block_aims_at(block, server->self.nspace, server->self.rank);
    case PMIX_RANGE_PROC_LOCAL:
        return origin == SX_EVENT_FROM_HOST;
    default:
        return true;
    }
}

static bool is_for_host(const struct sx_event_block *block, enum sx_event_origin origin)
{
    const struct sx_event *head = head_of(block);

    if (origin == SX_EVENT_FROM_LIBRARY) {
        return head->code == PMIX_ERR_LOST_CONNECTION;
    }
    return (head->flags & SX_EVENT_NON_DEFAULT) == 0 &&
           (head->range == PMIX_RANGE_RM ||
            (head->range == PMIX_RANGE_PROC_LOCAL && origin == SX_EVENT_FROM_HOST));
}

/* ---- beyond the node ----------------------------------------------------------------------- */

/* Whether the job may have processes on other nodes. */
static bool job_goes_on_elsewhere(const struct sx_nspace *nspace)
{
    return nspace->job_size == 0 || nspace->job_size > nspace->local_count;
}

static bool targets_are_here(struct sx_server *server, const struct sx_event_block *block)
{
    struct walk walk = walk_of(block, SX_EVENT_TARGETS);
    const struct sx_nspace *nspace = NULL;
    bool here = true;

    while (here && walk_next(&walk)) {
        nspace = walk.is_new ? sx_nspace_find(server, walk.proc.nspace) : nspace;
        here = nspace != NULL && (walk.proc.rank == PMIX_RANK_WILDCARD
                                      ? !job_goes_on_elsewhere(nspace)
                                      : sx_client_find(nspace, walk.proc.rank) != NULL);
    }
    return here;
}

/* Whether the job has processes on other nodes, as far as this server has been informed. */
static bool nodes_are_elsewhere(const struct sx_server *server)
{
    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        if (nspace->job_size > nspace->local_count) {
            return true;
        }
    }
    return false;
}

static enum sx_event_way way_of(struct sx_server *server, const struct sx_event_block *block,
                                const pmix_proc_t *source)
{
    const struct sx_event *head = head_of(block);
    const struct sx_nspace *nspace;

    if ((head->flags & SX_EVENT_STAYS_LOCAL) != 0 ||
        (server->module.notify_event == NULL && !nodes_are_elsewhere(server))) {
        return SX_EVENT_STAYS;
    }
    switch (head->range) {
    case PMIX_RANGE_LOCAL:
    case PMIX_RANGE_PROC_LOCAL:
        return SX_EVENT_STAYS;
    case PMIX_RANGE_RM:
        return SX_EVENT_GOES_UP;
    case PMIX_RANGE_NAMESPACE:
        nspace = sx_nspace_find(server, source->nspace);
        return nspace != NULL && nspace->job_size > nspace->local_count ? SX_EVENT_LEAVES
                                                                        : SX_EVENT_GOES_UP;
    case PMIX_RANGE_CUSTOM:
        return targets_are_here(server, block) ? SX_EVENT_STAYS : SX_EVENT_LEAVES;
    default:
        return SX_EVENT_LEAVES;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Read the targets once, for all namespaces: targets and namespaces may both be thousands.  Return:
 * the mark of those that they name; 0 when there are none. */
static uint64_t targets_mark(struct sx_server *server, const struct sx_event_block *block)
{
    if (head_of(block)->range != PMIX_RANGE_CUSTOM || head_of(block)->target_count == 0) {
        return 0;
    }
    struct walk walk = walk_of(block, SX_EVENT_TARGETS);
    const uint64_t mark = ++server->event.targets_mark;

    while (walk_next(&walk)) {
        struct sx_nspace *const nspace = walk.is_new ? sx_nspace_find(server, walk.proc.nspace)
                                                     : NULL;

        if (nspace != NULL) {
            nspace->targets_mark = mark;
        }
    }
    return mark;
}

void sx_event_route(struct sx_server *server, struct sx_event_block *block,
                    enum sx_event_origin origin, struct sx_event_route *ret)
{
    struct sx_event *head = sx_event_block_head(block);

    sx_event_block_source(block, &ret->source);
    if (origin == SX_EVENT_FROM_HOST && !block->is_job && is_manager(server, &ret->source)) {
        head->flags |= SX_EVENT_ENVIRONMENT;
    }
    if (head->range == PMIX_RANGE_SESSION && block->session == SX_SESSION_UNKNOWN) {
        const struct sx_nspace *nspace = sx_nspace_find(server, ret->source.nspace);

        block->session = nspace != NULL ? nspace->session : SX_SESSION_UNKNOWN;
    }
    ret->targets_mark = targets_mark(server, block);
    ret->reaches_host = reaches_host(server, block, &ret->source, origin);
    ret->is_for_host = ret->reaches_host && is_for_host(block, origin);
    /* Deaths and aborts are not passed on: the host learns of them in other ways. */
    ret->way = origin == SX_EVENT_FROM_CLIENT ? way_of(server, block, &ret->source)
                                              : SX_EVENT_STAYS;
}

void sx_event_confine(struct sx_server *server)
{
    const bool confined = server->module.notify_event == NULL && nodes_are_elsewhere(server);

    /* relaxed: a client that has not read the new value gets a report of the loss instead. */
    atomic_store_explicit(&server->board.header->events_confined, confined ? 1 : 0,
                          memory_order_relaxed);
}

/* ---- names that stand for processes ---------------------------------------------------------- */

/* Resolve the names in an event once, before it is published. */

/* The real source of @block.  Return: whether it differs from the one in the block. */
static bool source_find(struct sx_server *server, const struct sx_event_block *block,
                        pmix_proc_t *ret)
{
    pmix_proc_t given;

    sx_event_block_source(block, &given);
    *ret = given;
    return sx_alias_one(server, SX_NAMES_OF_HOST, &given, ret) == PMIX_SUCCESS &&
           sx_proc_order(&given, ret) != 0;
}

static size_t list_alias_count(const struct sx_server *server, uid_t uid, struct walk walk)
{
    const struct sx_membership *alias = NULL;
    size_t count = 0;

    while (walk_next(&walk)) {
        if (walk.is_new) {
            alias = sx_alias_members(server, uid, walk.proc.nspace);
        }
        if (alias != NULL) {
            count += walk.proc.rank == PMIX_RANK_WILDCARD ? 1 + sx_membership_size(alias) : 1;
        }
    }
    return count;
}

/* Return: the user that means the names in an event of @client; NULL: of the host. */
static uid_t user_of(const struct sx_client *client)
{
    return client != NULL ? client->uid : SX_NAMES_OF_HOST;
}

size_t sx_event_alias_count(struct sx_server *server, const struct sx_client *client,
                            const struct sx_event_block *block)
{
    const uid_t uid = user_of(client);

    return server->memberships.names.count == 0
               ? 0
               : list_alias_count(server, uid, walk_of(block, SX_EVENT_TARGETS)) +
                     list_alias_count(server, uid, walk_of(block, SX_EVENT_AFFECTED));
}

/* Copy the block, for the processes that have been found. */
static pmix_status_t naming_end(struct sx_server *server, struct sx_event_naming *naming)
{
    const struct sx_alias_list *const targets = &naming->found[0], *const affected =
                                                                       &naming->found[1];
    struct sx_event_block *named = NULL;
    pmix_proc_t source;

    (void)source_find(server, naming->block, &source);
    if (sx_event_block_rename(naming->block, &source, targets, affected, &named) != PMIX_SUCCESS) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_event_block_release(naming->block);
    naming->block = named;
    return PMIX_SUCCESS;
}

#define NAMING_STEPS 2u /* for each list */

pmix_status_t sx_event_naming_step(struct sx_server *server, struct sx_client *payer,
                                   struct sx_event_naming *naming)
{
    static const unsigned parts[] = { SX_EVENT_TARGETS, SX_EVENT_AFFECTED };
    const unsigned list = naming->done / NAMING_STEPS;
    pmix_status_t rc;

    if (list == SX_COUNT(parts)) {
        return naming_end(server, naming);
    }
    if (naming->done % NAMING_STEPS == 0) {
        rc = sx_event_block_procs(naming->block, parts[list], &naming->given[list],
                                  &naming->counts[list]);
    } else {
        rc = sx_alias_list_found(server, payer, user_of(payer), naming->given[list],
                                 naming->counts[list], &naming->found[list]);
        if (rc == PMIX_SUCCESS && sx_procs_judge(naming->found[list].count, 0) != PMIX_SUCCESS) {
            rc = PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    naming->done += rc == PMIX_SUCCESS;
    return rc == PMIX_SUCCESS ? PMIX_ERR_WOULD_BLOCK : rc;
}

void sx_event_naming_clear(struct sx_event_naming *naming)
{
    for (size_t i = 0; i < SX_COUNT(naming->found); i++) {
        sx_alias_list_clear(&naming->found[i]);
        free(naming->given[i]);
        naming->given[i] = NULL;
    }
}

pmix_status_t sx_event_unalias(struct sx_server *server, struct sx_client *payer,
                               struct sx_event_block **block)
{
    struct sx_event_naming naming = { .block = *block };
    pmix_status_t rc;
    pmix_proc_t source;

    if (sx_event_alias_count(server, payer, *block) == 0 &&
        (payer != NULL || !source_find(server, *block, &source))) {
        return PMIX_SUCCESS; /* a client is the source itself */
    }
    do {
        rc = sx_event_naming_step(server, payer, &naming);
    } while (rc == PMIX_ERR_WOULD_BLOCK);
    sx_event_naming_clear(&naming);
    *block = naming.block;
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_alias.c - resolve the names in an event once, before it is published. */
#include "server/event/event_alias.h"

#include <stdlib.h>

#include "base/value/value.h"
#include "server/model/alias.h"

/* Copy @block, but from @source, for @targets and about @affected. */
static pmix_status_t block_rebuild(const struct sx_event_block *block, const pmix_proc_t *source,
                                   const struct sx_alias_list *targets,
                                   const struct sx_alias_list *affected,
                                   struct sx_event_block **ret)
{
    const struct sx_event *const head = (const struct sx_event *)(const void *)block->bytes;
    const struct sx_notify_options options = {
        .range = head->range,
        .non_default = (head->flags & SX_EVENT_NON_DEFAULT) != 0,
        .do_not_cache = (head->flags & SX_EVENT_DO_NOT_CACHE) != 0,
        .stays_local = (head->flags & SX_EVENT_STAYS_LOCAL) != 0,
        .targets = { targets->all, targets->count },
        .affected = { affected->all, affected->count },
    };
    pmix_info_t *info;
    size_t ninfo;
    pmix_status_t rc = sx_event_block_infos(block, &info, &ninfo);

    if (rc != PMIX_SUCCESS) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = sx_event_block_build(head->code, source, &options, info, ninfo, ret);
    if (rc == PMIX_SUCCESS) {
        (*ret)->session = block->session;
        (*ret)->has_user = block->has_user;
        (*ret)->user = block->user;
    }
    if (info != NULL) {
        PMIX_INFO_FREE(info, ninfo);
    }
    return rc == PMIX_SUCCESS ? rc : PMIX_ERR_OUT_OF_RESOURCE;
}

/* The real source of @block.  Return: whether it differs from the one in the block. */
static bool source_find(struct sx_server *server, const struct sx_event_block *block,
                        pmix_proc_t *ret)
{
    pmix_proc_t given;

    sx_event_block_source(block, &given);
    *ret = given;
    return sx_alias_one(server, &given, ret) == PMIX_SUCCESS && sx_proc_order(&given, ret) != 0;
}

pmix_status_t sx_event_unalias(struct sx_server *server, struct sx_client *payer,
                               struct sx_event_block **block)
{
    const struct sx_event *const head = sx_event_block_head(*block);
    struct sx_alias_list targets = { .all = NULL }, affected = { .all = NULL };
    pmix_proc_t *given[2] = { NULL, NULL };
    struct sx_event_block *named = NULL;
    pmix_proc_t source;
    size_t counts[2];

    if (server->memberships.names.count == 0 ||
        (payer != NULL && head->target_count + head->affected_count == 0)) {
        return PMIX_SUCCESS; /* a client is the source itself */
    }
    const bool is_renamed = source_find(server, *block, &source);
    pmix_status_t rc = sx_event_block_targets(*block, &given[0], &counts[0]);

    if (rc == PMIX_SUCCESS) {
        rc = sx_event_block_affected(*block, &given[1], &counts[1]);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_alias_list_found(server, payer, given[0], counts[0], &targets);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_alias_list_found(server, payer, given[1], counts[1], &affected);
    }
    if (rc == PMIX_SUCCESS && (is_renamed || targets.is_made || affected.is_made)) {
        rc = block_rebuild(*block, &source, &targets, &affected, &named);
    }
    if (named != NULL) {
        sx_event_block_release(*block);
        *block = named;
    }
    sx_alias_list_clear(&targets);
    sx_alias_list_clear(&affected);
    free(given[0]);
    free(given[1]);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* apps.c - sort the ranks by application and node, and derive each application's keys from its
 * part.
 *
 * The only application of a job gets no value that the job already has.  So the host's own values
 * for the job hold for it.  Entered from derived_keys.c, on the loop thread. */
#include "server/job/job.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/status.h"

/* One rank, with its application and node. */
struct member {
    uint32_t app, node, rank;
};

static int member_compare(const void *a, const void *b)
{
    const struct member *one = a, *other = b;

    if (one->app != other->app) {
        return one->app < other->app ? -1 : 1;
    }
    if (one->node != other->node) {
        return one->node < other->node ? -1 : 1;
    }
    return one->rank < other->rank ? -1 : one->rank > other->rank;
}

uint32_t sx_apps_of(const struct sx_nspace *nspace, uint32_t rank)
{
    const struct sx_store *store = &nspace->store.view;
    struct sx_item item;

    if (sx_store_find(store, SX_REALM_JOB, rank, PMIX_APPNUM, &item) != PMIX_SUCCESS &&
        sx_store_find(store, SX_REALM_JOB, SX_ROW_JOB, PMIX_APPNUM, &item) != PMIX_SUCCESS) {
        return 0;
    }
    return item.cell.len == 0 && item.cell.bits < SX_STORE_ROW_MAX ? (uint32_t)item.cell.bits : 0;
}

static pmix_status_t put_u32(struct sx_nspace *nspace, uint32_t app, const char *key,
                             uint32_t number)
{
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };

    return sx_nspace_fill(nspace, SX_REALM_APP, app, key, &value);
}

/* All members of one application. */
static pmix_status_t app_tell(struct sx_nspace *nspace, const struct member *members, size_t count,
                              bool is_one_of_several, bool nodes_known)
{
    const uint32_t app = members[0].app;
    pmix_value_t leader = { .type = PMIX_PROC_RANK, .data.rank = members[0].rank };
    uint32_t node_count = 1;

    for (size_t i = 1; i < count; i++) {
        node_count += members[i].node != members[i - 1].node;
        leader.data.rank = members[i].rank < leader.data.rank ? members[i].rank : leader.data.rank;
    }
    pmix_status_t rc = put_u32(nspace, app, PMIX_APP_SIZE, (uint32_t)count);
    if (rc == PMIX_SUCCESS) {
        rc = sx_nspace_fill(nspace, SX_REALM_APP, app, PMIX_APPLDR, &leader);
    }
    if (rc == PMIX_SUCCESS && is_one_of_several) {
        rc = put_u32(nspace, app, PMIX_MAX_PROCS, (uint32_t)count);
    }
    if (rc == PMIX_SUCCESS && is_one_of_several && nodes_known) {
        rc = put_u32(nspace, app, PMIX_NUM_NODES, node_count);
    }
    return rc;
}

pmix_status_t sx_apps_derive(struct sx_nspace *nspace, const struct sx_nodemap *map,
                             uint32_t *ret_count)
{
    const size_t count = nspace->job_size;
    pmix_status_t rc = PMIX_SUCCESS;

    *ret_count = 1;
    if (count == 0) {
        return PMIX_SUCCESS;
    }
    struct member *members = calloc(count, sizeof(*members));
    if (members == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (uint32_t rank = 0; rank < count; rank++) {
        members[rank] = (struct member){
            .app = sx_apps_of(nspace, rank),
            .node = rank < map->rank_count ? map->node_of_rank[rank] : UINT32_MAX,
            .rank = rank,
        };
    }
    qsort(members, count, sizeof(*members), member_compare);
    const bool several = members[0].app != members[count - 1].app;

    for (size_t first = 0, end; first < count && rc == PMIX_SUCCESS; first = end) {
        for (end = first + 1; end < count && members[end].app == members[first].app; end++) {
        }
        rc = app_tell(nspace, members + first, end - first, several, map->rank_count > 0);
    }
    if (several) {
        *ret_count = members[count - 1].app + 1;
    }
    free(members);
    return rc;
}

/* Return: 0 when it is not set. */
static uint32_t count_of(const struct sx_nspace *nspace, enum sx_realm realm, uint32_t row,
                         const char *key)
{
    struct sx_item item;

    return sx_store_find(&nspace->store.view, realm, row, key, &item) == PMIX_SUCCESS &&
                   item.cell.type == PMIX_UINT32
               ? (uint32_t)item.cell.bits
               : 0;
}

bool sx_apps_is_over(const struct sx_nspace *nspace, uint32_t app)
{
    uint32_t count = 0;

    if (!nspace->has_store || count_of(nspace, SX_REALM_JOB, SX_ROW_JOB, PMIX_JOB_NUM_APPS) < 2) {
        return false;
    }
    for (size_t i = 0; i < nspace->client_count; i++) {
        const struct sx_client *const client = nspace->by_rank[i];

        if (!client->is_tool && sx_apps_of(nspace, client->rank) == app) {
            if (!client->departed && client->state != SX_CLIENT_DEAD) {
                return false;
            }
            count++;
        }
    }
    return count > 0 && count == count_of(nspace, SX_REALM_APP, app, PMIX_APP_SIZE);
}

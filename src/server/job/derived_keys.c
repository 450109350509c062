/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* derived_keys.c - derive from maps and counts the cells that programs read, those of applications
 * included.
 *
 *     both maps             every rank's node is given
 *     all ranks are local   one node, ours, with all of them
 *     else                  derived from the registered clients
 *
 * No value that the host gave itself is changed.  Entered at registration, on the loop thread. */
#include "server/job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/status.h"
#include "server/port/port.h"

#define SX_RANK_DIGITS 11u /* one rank in a list, with a comma */

/* ---- missing cells -------------------------------------------------------------------------- */

/* One cell to be filled if it is empty. */
struct cell {
    struct sx_nspace *nspace;
    enum sx_realm realm;
    uint32_t row;
};

static bool is_stored(const struct cell *cell, const char *key)
{
    struct sx_item item;

    return sx_store_find(&cell->nspace->store.view, cell->realm, cell->row, key, &item) ==
           PMIX_SUCCESS;
}

static pmix_status_t put(const struct cell *cell, const char *key, const pmix_value_t *value)
{
    return sx_nspace_fill(cell->nspace, cell->realm, cell->row, key, value);
}

static pmix_status_t put_u32(const struct cell *cell, const char *key, uint32_t number)
{
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };

    return put(cell, key, &value);
}

static pmix_status_t put_rank(const struct cell *cell, const char *key, pmix_rank_t rank)
{
    const pmix_value_t value = { .type = PMIX_PROC_RANK, .data.rank = rank };

    return put(cell, key, &value);
}

static pmix_status_t put_text(const struct cell *cell, const char *key, const char *text)
{
    /* Only read; the interface has no const for it. */
    const pmix_value_t value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text };

    return put(cell, key, &value);
}

static struct cell job_of(struct sx_nspace *nspace)
{
    return (struct cell){ .nspace = nspace, .realm = SX_REALM_JOB, .row = SX_ROW_JOB };
}

static struct cell rank_of(struct sx_nspace *nspace, uint32_t rank)
{
    return (struct cell){ .nspace = nspace, .realm = SX_REALM_JOB, .row = rank };
}

/* ---- this node ------------------------------------------------------------------------------ */

/* The number that the host gave the node of this server; UINT32_MAX: none was given. */
static uint32_t own_number(const struct sx_nspace *nspace)
{
    struct sx_item item;

    if (sx_store_find(&nspace->store.view, SX_REALM_JOB, SX_ROW_JOB, PMIX_NODEID, &item) !=
            PMIX_SUCCESS ||
        item.cell.len != 0 || item.cell.bits >= SX_STORE_ROW_MAX) {
        return UINT32_MAX;
    }
    return (uint32_t)item.cell.bits;
}

/* "n1" and "n1.cluster" are the same node, "n1.a" and "n1.b" are not. */
static bool names_agree(const char *one, const char *other)
{
    const size_t one_len = strcspn(one, "."), other_len = strcspn(other, ".");

    if (strcmp(one, other) == 0) {
        return true;
    }
    return one_len == other_len && memcmp(one, other, one_len) == 0 &&
           (one[one_len] == '\0' || other[other_len] == '\0');
}

uint32_t sx_derive_own_node(const struct sx_server *server, const struct sx_nspace *nspace,
                            const struct sx_nodemap *map)
{
    const uint32_t number = own_number(nspace);

    if (number < map->node_count) {
        return number;
    }
    for (uint32_t node = 0; node < map->node_count; node++) {
        if (names_agree(map->nodes[node], server->hostname)) {
            return node;
        }
    }
    return map->node_count == 1 ? 0 : UINT32_MAX;
}

/* ---- peers ---------------------------------------------------------------------------------- */

/* The ranks of each node in rising order: those of node n begin at first[n]. */
struct peers {
    uint32_t *first; /* node_count + 1 entries */
    uint32_t *ranks;
    char *text; /* room for the longest list */
};

static void peers_clear(struct peers *peers)
{
    free(peers->first);
    free(peers->ranks);
    free(peers->text);
}

/* A counting sort of the ranks by their nodes. */
static pmix_status_t peers_init(struct peers *peers, const struct sx_nodemap *map)
{
    uint32_t most = 0;

    *peers = (struct peers){ .first = calloc(map->node_count + 2, sizeof(*peers->first)),
                             .ranks = calloc((size_t)map->rank_count + 1, sizeof(*peers->ranks)) };
    if (peers->first == NULL || peers->ranks == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    uint32_t *const ends = peers->first + 1; /* end of each node's ranks, once it is filled */
    for (uint32_t rank = 0; rank < map->rank_count; rank++) {
        if (map->node_of_rank[rank] != UINT32_MAX) {
            ends[map->node_of_rank[rank] + 1]++;
        }
    }
    for (size_t node = 0; node < map->node_count; node++) {
        most = ends[node + 1] > most ? ends[node + 1] : most;
        ends[node + 1] += ends[node];
    }
    for (uint32_t rank = 0; rank < map->rank_count; rank++) {
        if (map->node_of_rank[rank] != UINT32_MAX) {
            peers->ranks[ends[map->node_of_rank[rank]]++] = rank;
        }
    }
    peers->text = malloc((size_t)most * SX_RANK_DIGITS + 1);
    return peers->text != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

static const char *peers_text(struct peers *peers, uint32_t node)
{
    char *at = peers->text;

    *at = '\0';
    for (uint32_t i = peers->first[node]; i < peers->first[node + 1]; i++) {
        at += sprintf(at, "%s%u", i == peers->first[node] ? "" : ",", peers->ranks[i]);
    }
    return peers->text;
}

/* A node and its @count ranks, and the job's own cells if it is this one. */
static pmix_status_t derive_node(struct sx_nspace *nspace, const struct sx_nodemap *map,
                                 struct peers *peers, uint32_t node, bool own)
{
    const struct cell job = job_of(nspace);
    const struct cell cell = { .nspace = nspace,
                               .realm = SX_REALM_NODE,
                               .row = map->node_base + node };
    const uint32_t count = peers->first[node + 1] - peers->first[node];
    const char *const text = peers_text(peers, node);
    pmix_status_t rc = put_text(&cell, PMIX_HOSTNAME, map->nodes[node]);

    if (rc == PMIX_SUCCESS) {
        rc = put_u32(&cell, PMIX_NODEID, cell.row);
    }
    if (rc == PMIX_SUCCESS) {
        rc = put_text(&cell, PMIX_LOCAL_PEERS, text);
    }
    if (rc == PMIX_SUCCESS) {
        rc = put_u32(&cell, PMIX_LOCAL_SIZE, count);
    }
    if (rc == PMIX_SUCCESS) {
        rc = put_u32(&cell, PMIX_NUM_NODES, 1);
    }
    /* A value that the host gave the job holds for its only node. */
    if (rc == PMIX_SUCCESS && map->node_count > 1) {
        rc = put_u32(&cell, PMIX_MAX_PROCS, count);
    }
    if (rc == PMIX_SUCCESS && own) {
        rc = put_text(&job, PMIX_LOCAL_PEERS, text);
    }
    if (rc == PMIX_SUCCESS && own && count > 0) {
        rc = put_rank(&job, PMIX_LOCALLDR, peers->ranks[peers->first[node]]);
    }
    return rc;
}

/* The ranks of a node, numbered in their order. */
static pmix_status_t derive_ranks(struct sx_nspace *nspace, const struct sx_nodemap *map,
                                  const struct peers *peers, uint32_t node)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (uint32_t i = peers->first[node]; i < peers->first[node + 1] && rc == PMIX_SUCCESS; i++) {
        const struct cell cell = rank_of(nspace, peers->ranks[i]);
        const uint32_t number = i - peers->first[node];
        const pmix_value_t local = { .type = PMIX_UINT16, .data.uint16 = (uint16_t)number };

        rc = put_text(&cell, PMIX_HOSTNAME, map->nodes[node]);
        if (rc == PMIX_SUCCESS) {
            rc = put_u32(&cell, PMIX_NODEID, map->node_base + node);
        }
        if (rc == PMIX_SUCCESS && number <= UINT16_MAX) {
            rc = put(&cell, PMIX_LOCAL_RANK, &local);
        }
        if (rc == PMIX_SUCCESS && number <= UINT16_MAX) {
            rc = put(&cell, PMIX_NODE_RANK, &local);
        }
    }
    return rc;
}

static pmix_status_t derive_nodes(struct sx_nspace *nspace, const struct sx_nodemap *map,
                                  uint32_t own)
{
    struct peers peers;
    pmix_status_t rc = peers_init(&peers, map);

    for (uint32_t node = 0; node < map->node_count && rc == PMIX_SUCCESS; node++) {
        rc = derive_ranks(nspace, map, &peers, node);
        if (rc == PMIX_SUCCESS && map->rank_count > 0) {
            rc = derive_node(nspace, map, &peers, node, node == own);
        }
    }
    peers_clear(&peers);
    return rc;
}

/* "n1,n2": the names from which the map was read, joined into one text again. */
static pmix_status_t derive_node_list(struct sx_nspace *nspace, const struct sx_nodemap *map)
{
    const struct cell job = job_of(nspace);
    size_t size = 1, used = 0;

    for (size_t i = 0; i < map->node_count; i++) {
        size += strlen(map->nodes[i]) + 1;
    }
    char *const text = malloc(size);
    if (text == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < map->node_count; i++) {
        used += (size_t)sprintf(text + used, "%s%s", i == 0 ? "" : ",", map->nodes[i]);
    }
    const pmix_status_t rc = put_text(&job, PMIX_NODE_LIST, text);
    free(text);
    return rc;
}

/* ---- without maps --------------------------------------------------------------------------- */

/* A map of one node, ours, with all ranks of the job. */
static pmix_status_t derive_all_local(struct sx_server *server, struct sx_nspace *nspace,
                                      uint32_t *ret_app_count)
{
    const uint32_t number = own_number(nspace);
    char *name = server->hostname;
    struct sx_nodemap map = { .nodes = &name,
                              .node_count = 1,
                              .rank_count = nspace->job_size,
                              .node_base = number != UINT32_MAX ? number : 0 };

    map.node_of_rank = calloc(map.rank_count, sizeof(*map.node_of_rank));
    pmix_status_t rc = map.node_of_rank != NULL ? derive_nodes(nspace, &map, 0)
                                                : PMIX_ERR_OUT_OF_RESOURCE;
    if (rc == PMIX_SUCCESS) {
        rc = sx_apps_derive(nspace, &map, ret_app_count);
    }
    free(map.node_of_rank);
    return rc;
}

/* Derive the local ranks from the registered clients, once all are registered. */
static pmix_status_t derive_from_clients(struct sx_nspace *nspace)
{
    const struct cell job = job_of(nspace);
    size_t used = 0;

    if (nspace->client_count == 0 || nspace->client_count < nspace->local_count ||
        is_stored(&job, PMIX_LOCAL_PEERS)) {
        return PMIX_SUCCESS;
    }
    char *const text = malloc(nspace->client_count * SX_RANK_DIGITS + 1);
    if (text == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < nspace->client_count; i++) {
        used += (size_t)sprintf(text + used, "%s%u", i == 0 ? "" : ",", nspace->by_rank[i]->rank);
    }
    pmix_status_t rc = put_text(&job, PMIX_LOCAL_PEERS, text);
    if (rc == PMIX_SUCCESS) {
        rc = put_rank(&job, PMIX_LOCALLDR, nspace->by_rank[0]->rank);
    }
    free(text);
    return rc;
}

/* Set application 0, unless the host gave the whole job a number. */
static pmix_status_t derive_appnum(struct sx_nspace *nspace, uint32_t rank)
{
    const struct cell job = job_of(nspace), cell = rank_of(nspace, rank);

    return is_stored(&job, PMIX_APPNUM) ? PMIX_SUCCESS : put_u32(&cell, PMIX_APPNUM, 0);
}

pmix_status_t sx_derive_client(struct sx_server *server, struct sx_nspace *nspace,
                               const struct sx_client *client)
{
    const struct cell cell = rank_of(nspace, client->rank);
    pmix_status_t rc = put_text(&cell, PMIX_HOSTNAME, server->hostname);

    if (rc == PMIX_SUCCESS) {
        rc = derive_appnum(nspace, client->rank);
    }
    return rc == PMIX_SUCCESS ? derive_from_clients(nspace) : rc;
}

void sx_derive_process(struct sx_server *server, struct sx_client *client)
{
    struct sx_nspace *const nspace = client->nspace;
    const pid_t pid = sx_client_peer(client)->pid;
    const struct cell cell = rank_of(nspace, client->rank);
    const pmix_value_t value = { .type = PMIX_PID, .data.pid = pid };

    (void)server;
    if (pid <= 0 || !nspace->has_store ||
        (!client->pid_stored && is_stored(&cell, PMIX_PROC_PID))) {
        return; /* of another pid namespace, or the host has set the pid */
    }
    const pmix_status_t rc = sx_store_put(&nspace->store, cell.realm, cell.row, PMIX_PROC_PID,
                                          PMIX_GLOBAL, &value);
    client->pid_stored = rc == PMIX_SUCCESS;
    if (rc != PMIX_SUCCESS) {
        sx_log(SX_LOG_ERROR, "the process id of %s.%u cannot be stored: %s", nspace->name,
               client->rank, PMIx_Error_string(rc));
    }
}

/* ---- the job -------------------------------------------------------------------------------- */

static pmix_status_t derive_server(const struct sx_server *server, struct sx_nspace *nspace)
{
    const struct cell job = job_of(nspace);
    char *const uri = sx_server_uri(server);
    const pmix_status_t rc = uri != NULL ? put_text(&job, PMIX_SERVER_URI, uri)
                                         : PMIX_ERR_OUT_OF_RESOURCE;

    free(uri);
    return rc;
}

/* A host that gives one size means all sizes to be equal. */
static pmix_status_t derive_sizes(struct sx_nspace *nspace, uint32_t node_count, uint32_t app_count)
{
    const struct cell job = job_of(nspace);
    const struct {
        const char *key;
        uint32_t number;
    } sizes[] = {
        { PMIX_JOB_SIZE, nspace->job_size },  { PMIX_MAX_PROCS, nspace->job_size },
        { PMIX_UNIV_SIZE, nspace->job_size }, { PMIX_NUM_NODES, node_count },
        { PMIX_JOB_NUM_APPS, app_count },
    };
    pmix_status_t rc = put_u32(&job, PMIX_LOCAL_SIZE, nspace->local_count);

    for (size_t i = 0; i < SX_COUNT(sizes) && rc == PMIX_SUCCESS; i++) {
        if (sizes[i].number != 0) {
            rc = put_u32(&job, sizes[i].key, sizes[i].number);
        }
    }
    return rc;
}

pmix_status_t sx_derive(struct sx_server *server, struct sx_nspace *nspace,
                        const struct sx_nodemap *map, uint32_t node_count)
{
    const struct cell job = job_of(nspace);
    uint32_t app_count = 1;
    pmix_status_t rc = PMIX_SUCCESS;

    if (nspace->job_size == 0) {
        nspace->job_size = map->rank_count;
    }
    const bool all_local = map->rank_count == 0 && nspace->local_count > 0 &&
                           nspace->local_count == nspace->job_size;

    if (map->node_count > 0) {
        rc = derive_nodes(nspace, map, sx_derive_own_node(server, nspace, map));
        if (rc == PMIX_SUCCESS) {
            rc = derive_node_list(nspace, map);
        }
    }
    if (rc == PMIX_SUCCESS) {
        rc = all_local ? derive_all_local(server, nspace, &app_count)
                       : sx_apps_derive(nspace, map, &app_count);
    }
    if (rc == PMIX_SUCCESS) {
        rc = derive_sizes(nspace, node_count != 0 ? node_count : all_local, app_count);
    }
    if (rc == PMIX_SUCCESS) {
        rc = put_text(&job, PMIX_HOSTNAME, server->hostname);
    }
    if (rc == PMIX_SUCCESS) {
        rc = derive_server(server, nspace);
    }
    for (uint32_t rank = 0; rank < nspace->job_size && rc == PMIX_SUCCESS; rank++) {
        rc = derive_appnum(nspace, rank);
    }
    for (size_t i = 0; i < nspace->client_count && rc == PMIX_SUCCESS; i++) {
        rc = sx_derive_client(server, nspace, nspace->by_rank[i]);
    }
    return rc == PMIX_SUCCESS ? derive_from_clients(nspace) : rc;
}

/* ---- applications ---------------------------------------------------------------------------- */

/* The ranks are sorted by application and node, and each application's keys are derived from its
 * part.
 *
 * The only application of a job gets no value that the job already has.  So the host's own values
 * for the job hold for it. */

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

/* All members of one application. */
static pmix_status_t app_report(struct sx_nspace *nspace, const struct member *members,
                                size_t count, bool is_one_of_several, bool nodes_known)
{
    const struct cell cell = { .nspace = nspace, .realm = SX_REALM_APP, .row = members[0].app };
    pmix_rank_t leader = members[0].rank;
    uint32_t node_count = 1;

    for (size_t i = 1; i < count; i++) {
        node_count += members[i].node != members[i - 1].node;
        leader = members[i].rank < leader ? members[i].rank : leader;
    }
    pmix_status_t rc = put_u32(&cell, PMIX_APP_SIZE, (uint32_t)count);
    if (rc == PMIX_SUCCESS) {
        rc = put_rank(&cell, PMIX_APPLDR, leader);
    }
    if (rc == PMIX_SUCCESS && is_one_of_several) {
        rc = put_u32(&cell, PMIX_MAX_PROCS, (uint32_t)count);
    }
    if (rc == PMIX_SUCCESS && is_one_of_several && nodes_known) {
        rc = put_u32(&cell, PMIX_NUM_NODES, node_count);
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
        rc = app_report(nspace, members + first, end - first, several, map->rank_count > 0);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nspace.c - namespaces and clients: found by name, made on first mention, counted; the ends of a
 * client's collectives. */
#include "server/model/nspace.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/status.h"
#include "base/value/value.h"
#include "server/model/family.h"
#include "server/model/state.h"

void sx_registry_init(struct sx_registry *registry)
{
    sx_list_init(&registry->nspaces);
}

void sx_registry_deinit(struct sx_server *server)
{
    struct sx_list *const nspaces = &server->registry.nspaces;

    while (!sx_list_empty(nspaces)) { /* the host, called for some, may end others */
        sx_nspace_remove(server, SX_LIST_ENTRY(nspaces->next, struct sx_nspace, link));
    }
    sx_table_deinit(&server->registry.names);
    sx_table_deinit(&server->registry.ended_names);
}

uint64_t sx_nspace_hash(struct sx_server *server, const char *name)
{
    server->registry.lookups++;
    return XXH3_64bits_withSeed(name, strlen(name), server->seed) | 1; /* 0: none */
}

uint64_t sx_nspace_names(struct sx_server *server, const pmix_proc_t *procs, size_t count)
{
    uint64_t names = 0;

    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(procs[i].nspace, procs[i - 1].nspace) != 0) {
            names |= UINT64_C(1) << (sx_nspace_hash(server, procs[i].nspace) >> 58);
        }
    }
    return names;
}

struct sx_nspace *sx_nspace_find(struct sx_server *server, const char *name)
{
    struct sx_registry *const registry = &server->registry;
    struct sx_table_node *node = sx_table_first(&registry->names, sx_nspace_hash(server, name));

    for (; node != NULL; node = sx_table_next(&registry->names, node)) {
        struct sx_nspace *const nspace = SX_CONTAINER(node, struct sx_nspace, node);

        registry->walked++;
        if (strcmp(nspace->name, name) == 0) {
            return sx_list_empty(&nspace->link) ? NULL : nspace; /* the families receive it first */
        }
    }
    return NULL;
}

/* Return: the entry of @name; NULL: @name has not ended. */
static struct sx_table_node *ended_find(struct sx_server *server, const char *name)
{
    return sx_table_first(&server->registry.ended_names, sx_nspace_hash(server, name));
}

void sx_name_ended(struct sx_server *server, const char *name)
{
    struct sx_registry *const registry = &server->registry;
    struct sx_table_node *const oldest = &registry->ended[registry->ended_next];

    if (ended_find(server, name) != NULL) {
        return;
    }
    if (oldest->hash != 0) {
        sx_table_remove(&registry->ended_names, oldest);
        oldest->hash = 0;
    }
    if (!sx_table_add(&registry->ended_names, oldest, sx_nspace_hash(server, name))) {
        return; /* memory is out at the first name, which therefore counts as one to come */
    }
    registry->ended_next = (registry->ended_next + 1) % SX_ENDED_NAMES_MAX;
}

void sx_name_returns(struct sx_server *server, const char *name)
{
    struct sx_table_node *const ended = ended_find(server, name);

    if (ended != NULL) {
        sx_table_remove(&server->registry.ended_names, ended);
        ended->hash = 0;
    }
}

bool sx_name_has_ended(struct sx_server *server, const char *name)
{
    return ended_find(server, name) != NULL;
}

bool sx_name_may_come(struct sx_server *server, const char *name)
{
    return sx_nspace_find(server, name) == NULL && !sx_name_has_ended(server, name);
}

struct sx_nspace *sx_nspace_obtain(struct sx_server *server, const char *name)
{
    struct sx_nspace *nspace = sx_nspace_find(server, name);
    const size_t len = sx_name_len(name, sizeof(nspace->name));

    if (nspace != NULL || len == 0 || len >= sizeof(nspace->name)) {
        return nspace;
    }
    nspace = calloc(1, sizeof(*nspace));
    if (nspace == NULL ||
        !sx_table_add(&server->registry.names, &nspace->node, sx_nspace_hash(server, name))) {
        free(nspace);
        return NULL;
    }
    memcpy(nspace->name, name, len);
    nspace->ring = SX_RING_NULL;
    nspace->session = SX_SESSION_UNKNOWN;
    sx_list_init(&nspace->link);
    sx_list_init(&nspace->ending.link);
    sx_list_init(&nspace->ending.calls);
    sx_list_init(&nspace->pollers);
    sx_list_init(&nspace->tool_sets);
    sx_list_init(&nspace->group_values);
    sx_list_init(&nspace->kept);
    sx_list_init(&nspace->unsaid);
    sx_list_init(&nspace->awaited);
    SX_FAMILIES_NOTIFY(server, nspace_added, server, nspace);
    sx_list_append(&server->registry.nspaces, &nspace->link);
    return nspace;
}

static pmix_status_t store_open(const struct sx_server *server, struct sx_nspace *nspace)
{
    const struct sx_placement placement = sx_numa_place(&server->numa, SX_SEGMENT_STORE, 0);
    const struct sx_store_options options = {
        .nspace = nspace->name,
        .row_count = nspace->job_size,
        /* A namespace that is registered again under its old name goes on counting. */
        .generation = server->data.generation_last + 1,
        .placement = &placement,
    };
    const pmix_status_t rc = sx_store_create(&nspace->store, &options);

    nspace->has_store = rc == PMIX_SUCCESS;
    return rc;
}

bool sx_nspace_has_ring(const struct sx_nspace *nspace)
{
    return nspace->ring.header != NULL;
}

pmix_status_t sx_nspace_open(struct sx_server *server, struct sx_nspace *nspace)
{
    const bool is_here = nspace->local_count > 0 || nspace->client_count > 0;
    pmix_status_t rc = nspace->has_store ? PMIX_SUCCESS : store_open(server, nspace);

    if (rc == PMIX_SUCCESS && is_here && !sx_nspace_has_ring(nspace)) {
        const struct sx_placement placement = sx_numa_place(&server->numa, SX_SEGMENT_RING, 0);

        rc = sx_ring_create(&nspace->ring, nspace->name, 0, &placement);
        if (rc == PMIX_SUCCESS) {
            SX_FAMILIES_NOTIFY(server, nspace_opened, server, nspace);
        }
    }
    return rc;
}

pmix_status_t sx_nspace_fill(struct sx_nspace *nspace, enum sx_realm realm, uint32_t row,
                             const char *key, const pmix_value_t *value)
{
    struct sx_item item;
    pmix_status_t rc = sx_store_find(&nspace->store.view, realm, row, key, &item);

    if (rc != PMIX_SUCCESS) {
        rc = sx_store_put(&nspace->store, realm, row, key, PMIX_GLOBAL, value);
    }
    if (rc != PMIX_SUCCESS) {
        sx_log(SX_LOG_ERROR, "\"%s\" of %s cannot be stored: %s", key, nspace->name,
               PMIx_Error_string(rc));
    }
    return rc;
}

/* Readers ask again before they read on. */
static void nspace_store_end(struct sx_server *server, struct sx_nspace *nspace)
{
    if (nspace->has_store) {
        sx_store_end(&nspace->store);
        if (nspace->store.generation > server->data.generation_last) {
            server->data.generation_last = nspace->store.generation;
        }
    }
}

void sx_nspace_empty(struct sx_server *server, struct sx_nspace *nspace)
{
    nspace_store_end(server, nspace);
    if (nspace->has_store) {
        sx_store_destroy(&nspace->store);
    }
    nspace->has_store = nspace->has_data = nspace->registered = nspace->is_derived = false;
    nspace->brought_count = nspace->job_size = 0;
    nspace->session = SX_SESSION_UNKNOWN;
}

void sx_nspace_yield(struct sx_server *server, struct sx_nspace *nspace)
{
    if (nspace->brought_count > 0) {
        sx_nspace_empty(server, nspace);
    }
}

static void client_forget(struct sx_server *server, struct sx_client *client)
{
    SX_FAMILIES_NOTIFY_OF(server, client_removed, client);
    client->nspace = client->home = NULL;
    sx_client_release(client);
}

/* Nobody finds it any more, and its clients are still there. */
static void nspace_unlink(struct sx_server *server, struct sx_nspace *nspace)
{
    nspace->is_ending = true;
    SX_FAMILIES_NOTIFY(server, nspace_gone, server, nspace);
    sx_list_remove(&nspace->link);
    sx_table_remove(&server->registry.names, &nspace->node);
}

static void nspace_free(struct sx_nspace *nspace)
{
    free(nspace->by_rank);
    if (nspace->has_store) {
        sx_store_destroy(&nspace->store);
    }
    sx_ring_deinit(&nspace->ring);
    if (nspace->has_remote) {
        sx_store_destroy(&nspace->remote);
    }
    free(nspace);
}

void sx_nspace_end_begin(struct sx_server *server, struct sx_nspace *nspace)
{
    nspace_store_end(server, nspace);
    sx_name_ended(server, nspace->name);
    nspace_unlink(server, nspace);
}

bool sx_nspace_end_step(struct sx_server *server, struct sx_nspace *nspace)
{
    if (nspace->client_count == 0) {
        nspace_free(nspace);
        return false;
    }
    client_forget(server, nspace->by_rank[--nspace->client_count]);
    return true;
}

void sx_nspace_end(struct sx_server *server, struct sx_nspace *nspace)
{
    nspace_store_end(server, nspace);
    sx_name_ended(server, nspace->name);
    sx_nspace_remove(server, nspace);
}

void sx_nspace_remove(struct sx_server *server, struct sx_nspace *nspace)
{
    nspace_unlink(server, nspace);
    while (sx_nspace_end_step(server, nspace)) {
    }
}

/* Return: where @rank is, or would be inserted, in by_rank. */
static size_t client_index(const struct sx_nspace *nspace, uint32_t rank)
{
    size_t low = 0;
    size_t high = nspace->client_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (nspace->by_rank[middle]->rank < rank) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct sx_client *sx_client_run_find(struct sx_client_run *run, uint32_t rank)
{
    const struct sx_nspace *const nspace = run->nspace;
    const size_t count = nspace->client_count;

    if (run->next < count && nspace->by_rank[run->next]->rank < rank) {
        run->next++; /* mostly it is the next one */
        if (run->next < count && nspace->by_rank[run->next]->rank < rank) {
            run->next = client_index(nspace, rank);
        }
    }
    return run->next < count && nspace->by_rank[run->next]->rank == rank
               ? nspace->by_rank[run->next]
               : NULL;
}

struct sx_client *sx_client_find(const struct sx_nspace *nspace, uint32_t rank)
{
    const size_t i = client_index(nspace, rank);

    return i < nspace->client_count && nspace->by_rank[i]->rank == rank ? nspace->by_rank[i] : NULL;
}

struct sx_client *sx_client_from(const struct sx_nspace *nspace, uint32_t rank)
{
    const size_t i = client_index(nspace, rank);

    return i < nspace->client_count ? nspace->by_rank[i] : NULL;
}

struct sx_client *sx_client_add(struct sx_nspace *nspace, uint32_t rank)
{
    const size_t at = client_index(nspace, rank);

    if (!SX_ARRAY_RESERVE(nspace->by_rank, nspace->client_count, nspace->client_capacity, 16)) {
        return NULL;
    }
    struct sx_client *client = calloc(1, sizeof(*client));

    if (client == NULL) {
        return NULL;
    }
    client->nspace = client->home = nspace;
    client->rank = rank;
    client->reference_count = 1;
    client->slot = SX_BOARD_SLOT_MAX;
    client->doorbell_fd = -1;
    client->wake_fd = -1;
    client->exit_fd = -1;
    client->lane = SX_LANE_READER_NULL;
    sx_list_init(&client->poller);
    sx_list_init(&client->cleanups);
    sx_list_init(&client->cleanups_given);
    sx_list_init(&client->requests);
    sx_list_init(&client->pendings);
    for (size_t kind = 0; kind < SX_MEMBERSHIP_KINDS; kind++) {
        sx_list_init(&client->belongings[kind]);
    }
    sx_list_init(&client->operations);
    sx_list_init(&client->unlooked);
    sx_list_init(&client->ending);
    sx_list_init(&client->sets);
    sx_list_init(&client->monitors);
    sx_list_init(&client->guests);
    sx_list_init(&client->share.marks);
    sx_list_init(&client->share.due);
    sx_list_init(&client->share.works);
    sx_list_init(&client->share.ending.link);
    memmove(nspace->by_rank + at + 1, nspace->by_rank + at,
            (nspace->client_count - at) * sizeof(*nspace->by_rank));
    nspace->by_rank[at] = client;
    nspace->client_count++;
    return client;
}

void sx_client_remove(struct sx_server *server, struct sx_client *client)
{
    struct sx_nspace *nspace = client->nspace;
    const size_t at = client_index(nspace, client->rank);

    memmove(nspace->by_rank + at, nspace->by_rank + at + 1,
            (--nspace->client_count - at) * sizeof(*nspace->by_rank));
    client_forget(server, client);
}

bool sx_client_may_come(const struct sx_nspace *nspace, uint32_t rank)
{
    return rank < nspace->job_size && nspace->client_count < nspace->local_count;
}

pmix_proc_t sx_nspace_proc(const struct sx_nspace *nspace, uint32_t rank)
{
    pmix_proc_t proc = { .rank = rank };

    memcpy(proc.nspace, nspace->name, sizeof(proc.nspace));
    return proc;
}

struct sx_client *sx_client_retain(struct sx_client *client)
{
    client->reference_count++;
    return client;
}

struct sx_client *sx_client_release(struct sx_client *client)
{
    sx_assert(client->reference_count > 0);
    if (--client->reference_count == 0) {
        sx_assert(client->connection == NULL);       /* a connection holds a reference */
        sx_assert(sx_list_empty(&client->cleanups)); /* the namespace's end has taken them */
        sx_assert(sx_list_empty(&client->cleanups_given));
        sx_results_clear(&client->results);
        for (size_t kind = 0; kind < SX_MEMBERSHIP_KINDS; kind++) {
            while (sx_list_pop(&client->belongings[kind]) != NULL) {
            }
        }
        while (sx_list_pop(&client->sets) != NULL) {
        }
        free(client);
    }
    return NULL;
}

/* ---- the ends of a client's collectives ------------------------------------------------------ */

#define FIRST 16u /* of a circular buffer that grows */

void sx_results_clear(struct sx_results *results)
{
    free(results->all);
    *results = (struct sx_results){ .all = NULL };
}

bool sx_results_reserve(struct sx_results *results, size_t count)
{
    size_t capacity = results->capacity == 0 ? FIRST : results->capacity;

    if (results->capacity >= count && results->capacity > 0) {
        return true;
    }
    const size_t kept = sx_results_count(results);

    while (capacity < count) {
        capacity *= 2;
    }
    struct sx_result *const all = malloc(capacity * sizeof(*all));

    if (all == NULL) {
        return false;
    }
    for (size_t i = 0; i < kept; i++) {
        all[i] = sx_results_at(results, i);
    }
    free(results->all);
    *results = (struct sx_results){ .all = all, .capacity = capacity, .count = kept };
    return true;
}

void sx_results_keep(struct sx_results *results, struct sx_result result)
{
    if (results->capacity > 0) {
        results->all[results->count++ & (results->capacity - 1)] = result;
    }
}

size_t sx_results_count(const struct sx_results *results)
{
    return results->count < results->capacity ? (size_t)results->count : results->capacity;
}

struct sx_result sx_results_at(const struct sx_results *results, size_t index)
{
    const uint64_t oldest = results->count - sx_results_count(results);

    return results->all[(oldest + index) & (results->capacity - 1)];
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* resolve.c - PMIx_Resolve_peers and PMIx_Resolve_nodes: the places of processes, from job data.
 *
 *     this node    the job's local peers, if they are stored
 *     a name       ranks that carry it, else the peers or the ranks of the node with that name
 *
 * A connected namespace has the ranks of its members in it; the members belong to their own
 * namespaces.
 *
 * Both read mapped stores; only a namespace that is new to this process is requested.  A server
 * answers from the stores it writes, on its own thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/call/role.h"
#include "base/status.h"
#include "base/util.h"
#include "client/data/data.h"
#include "client/data/epoch.h"
#include "client/data/view.h"
#include "client/link/link.h"
#include "shmem/nspace_read.h"

/* The stored places of one namespace. */
struct place {
    const char *nspace;
    struct sx_site site;
    const struct sx_membership *members; /* only these are meant; NULL: all */
};

/* The rank in the namespace that was asked for.  Return: PMIX_RANK_INVALID when it is not meant. */
static uint32_t rank_there(const struct place *place, uint32_t rank)
{
    return place->members != NULL ? sx_membership_rank(place->members, place->nspace, rank) : rank;
}

/* ---- every namespace ---------------------------------------------------------------------- */

struct walk {
    pmix_status_t (*visit)(void *arg, const struct place *place);
    void *arg;
    unsigned count;
    pmix_status_t status;
    const struct sx_membership *members; /* as in struct place */
};

static bool walk_store(void *arg, const char *nspace, const struct sx_store *store,
                       const struct sx_membership *members)
{
    struct walk *const walk = arg;
    const struct place place = { .nspace = nspace,
                                 .site = { .shared = store },
                                 .members = members };

    walk->count++;
    walk->status = walk->visit(walk->arg, &place);
    return walk->status == PMIX_SUCCESS;
}

/* Can the server have a newer store than the one that @view shows, or any at all? */
static bool is_behind(const struct sx_view *view)
{
    return sx_view_shared(view) == NULL ? sx_link_is_live(sx_primary()) : sx_view_is_stale(view);
}

/* A namespace that no server has does not exist, unless this process keeps values of it. */
static pmix_status_t walk_view(struct walk *walk, struct sx_view *view)
{
    struct sx_grace grace = sx_grace_enter();
    pmix_status_t rc = PMIX_SUCCESS;

    if (is_behind(view)) {
        sx_grace_exit(&grace);
        rc = sx_at_hand_fetch(view->nspace, &view);
        grace = sx_grace_enter();
    }
    /* Texts are used without a lock. */
    const struct place place = { .nspace = view->nspace,
                                 .site = { .own = sx_view_private(view),
                                           .shared = sx_mapped_store_store(sx_view_shared(view)),
                                           .open = sx_box_hand_out },
                                 .members = walk->members };

    if (rc == PMIX_ERR_NOT_FOUND) {
        rc = PMIX_SUCCESS;
    }
    if (rc == PMIX_SUCCESS && (place.site.own != NULL || place.site.shared != NULL)) {
        walk->count++;
        rc = walk->visit(walk->arg, &place);
    }
    sx_grace_exit(&grace);
    return rc;
}

/* Return: PMIX_ERR_NOT_FOUND when the namespace is unknown. */
static pmix_status_t walk_nspace(struct walk *walk, const char *nspace)
{
    struct sx_view *view = sx_view_find(nspace, strlen(nspace));

    if (view == NULL) {
        const pmix_status_t rc = sx_at_hand_fetch(nspace, &view);

        if (rc != PMIX_SUCCESS) {
            return rc == PMIX_ERR_UNREACH ? PMIX_ERR_NOT_FOUND : rc;
        }
    }
    const pmix_status_t rc = walk_view(walk, view);

    return rc == PMIX_SUCCESS && walk->count == 0 ? PMIX_ERR_NOT_FOUND : rc;
}

/* The namespaces of the members of @name.  Return: as sx_members_copy; as walk_nspace. */
static pmix_status_t walk_members(struct walk *walk, const char *name)
{
    struct sx_membership_part part;
    struct sx_membership members;
    pmix_status_t rc = sx_members_copy(name, &members);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    walk->members = &members;
    for (uint32_t i = 0; rc == PMIX_SUCCESS && sx_membership_part(&members, i, &part); i++) {
        rc = walk_nspace(walk, part.nspace);
    }
    walk->members = NULL;
    sx_members_free(&members);
    return rc;
}

/* An unknown name may be a list's: the lists are searched first if that costs no message.  Return:
 * PMIX_ERR_NOT_FOUND when neither exists. */
static pmix_status_t walk_name(struct walk *walk, const char *name)
{
    const bool at_hand = sx_view_find(name, strlen(name)) == NULL && sx_members_are_at_hand();
    pmix_status_t rc = at_hand ? walk_members(walk, name) : PMIX_ERR_NOT_FOUND;

    if (rc == PMIX_ERR_NOT_FOUND) {
        rc = walk_nspace(walk, name);
    }
    return rc == PMIX_ERR_NOT_FOUND && !at_hand && sx_link_is_live(sx_primary())
               ? walk_members(walk, name)
               : rc;
}

/* @nspace is "" for all.  Return: PMIX_ERR_NOT_FOUND when the namespace is unknown. */
static pmix_status_t walk_client(struct walk *walk, const char *nspace)
{
    struct sx_view *view;
    pmix_status_t rc = PMIX_SUCCESS;

    if (nspace[0] != '\0') {
        return walk_name(walk, nspace);
    }
    for (view = sx_view_next(NULL); view != NULL && rc == PMIX_SUCCESS; view = sx_view_next(view)) {
        rc = walk_view(walk, view);
    }
    return rc;
}

static pmix_status_t walk_all(struct walk *walk, const char *nspace)
{
    const struct sx_role_server *const server = sx_role_server_get();

    if (server == NULL) {
        return sx_process_ready() ? walk_client(walk, nspace) : PMIX_ERR_INIT;
    }
    const pmix_status_t rc = server->each_store(nspace, walk_store, walk);
    if (rc != PMIX_SUCCESS || walk->status != PMIX_SUCCESS) {
        return rc != PMIX_SUCCESS ? rc : walk->status;
    }
    return walk->count == 0 && nspace[0] != '\0' ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS;
}

/* Return: false when @nspace does not end within its array; "" in *ret for NULL. */
static bool nspace_is_good(const char *nspace, const char **ret)
{
    *ret = nspace != NULL ? nspace : "";
    return strnlen(*ret, PMIX_MAX_NSLEN + 1) <= PMIX_MAX_NSLEN;
}

/* ---- peers -------------------------------------------------------------------------------- */

struct peers {
    const char *node; /* NULL: this one */
    char own[256];    /* the machine's own name for this one, once it is needed */
    pmix_proc_t *procs;
    size_t count, capacity;
};

/* The process of @rank at @place, under the name that was asked for. */
static pmix_status_t peers_add(struct peers *peers, const struct place *place, uint32_t rank)
{
    const char *const nspace = place->members != NULL ? sx_membership_name(place->members)
                                                      : place->nspace;

    rank = rank_there(place, rank);
    if (rank == PMIX_RANK_INVALID) {
        return PMIX_SUCCESS;
    }
    if (!SX_ARRAY_RESERVE(peers->procs, peers->count, peers->capacity, 16)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pmix_proc_t *const proc = &peers->procs[peers->count++];
    memset(proc, 0, sizeof(*proc));
    memcpy(proc->nspace, nspace, strlen(nspace));
    proc->rank = rank;
    return PMIX_SUCCESS;
}

static int by_rank(const void *left, const void *right)
{
    const pmix_proc_t *const a = left, *const b = right;

    return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Ranks as "0,2,5"; anything that is not a number ends the list. */
static pmix_status_t peers_add_text(struct peers *peers, const struct place *place,
                                    const char *text)
{
    const size_t first = peers->count;
    pmix_status_t rc = PMIX_SUCCESS;

    while (*text >= '0' && *text <= '9' && rc == PMIX_SUCCESS) {
        char *end;
        const unsigned long rank = strtoul(text, &end, 10);

        if (rank >= SX_STORE_ROW_MAX) {
            break;
        }
        rc = peers_add(peers, place, (uint32_t)rank);
        text = *end == ',' ? end + 1 : end;
    }
    if (peers->count > first) {
        qsort(peers->procs + first, peers->count - first, sizeof(*peers->procs), by_rank);
    }
    return rc;
}

static pmix_status_t peers_by_rank(struct peers *peers, const struct place *place)
{
    const uint32_t rank_count = sx_site_count(&place->site, PMIX_JOB_SIZE);
    pmix_status_t rc = PMIX_SUCCESS;

    for (uint32_t rank = 0; rank < rank_count && rc == PMIX_SUCCESS; rank++) {
        const char *const name = sx_site_text(&place->site, SX_REALM_JOB, rank, PMIX_HOSTNAME);

        if (name != NULL && strcmp(name, peers->node) == 0) {
            rc = peers_add(peers, place, rank);
        }
    }
    return rc;
}

static pmix_status_t peers_of_node(struct peers *peers, const struct place *place, uint32_t node)
{
    const char *const text = sx_site_text(&place->site, SX_REALM_NODE, node, PMIX_LOCAL_PEERS);
    const uint32_t rank_count = sx_site_count(&place->site, PMIX_JOB_SIZE);
    pmix_status_t rc = PMIX_SUCCESS;

    if (text != NULL) {
        return peers_add_text(peers, place, text);
    }
    for (uint32_t rank = 0; rank < rank_count && rc == PMIX_SUCCESS; rank++) {
        uint32_t its;

        if (sx_site_number(&place->site, SX_REALM_JOB, rank, PMIX_NODEID, UINT32_MAX, &its) &&
            its == node) {
            rc = peers_add(peers, place, rank);
        }
    }
    return rc;
}

/* The server may use another name for this node than the machine does. */
static const char *own_node(struct peers *peers, const struct place *place)
{
    const char *const notified = sx_site_text(&place->site, SX_REALM_JOB, SX_ROW_JOB,
                                              PMIX_HOSTNAME);

    if (notified == NULL && peers->own[0] == '\0') {
        sx_hostname(peers->own, sizeof(peers->own));
    }
    return notified != NULL ? notified : peers->own;
}

static pmix_status_t peers_visit(void *arg, const struct place *place)
{
    struct peers *const peers = arg;
    const char *const named = peers->node;
    const char *const text = named == NULL ? sx_site_text(&place->site, SX_REALM_JOB, SX_ROW_JOB,
                                                          PMIX_LOCAL_PEERS)
                                           : NULL;

    if (text != NULL) {
        return peers_add_text(peers, place, text);
    }
    const size_t before = peers->count;

    peers->node = named != NULL ? named : own_node(peers, place);
    pmix_status_t rc = peers_by_rank(peers, place);
    const uint32_t node_count = sx_site_count(&place->site, PMIX_NUM_NODES);
    if (rc == PMIX_SUCCESS && peers->count == before) {
        const uint32_t node = sx_site_node(&place->site, node_count, peers->node);

        rc = node < node_count ? peers_of_node(peers, place, node) : PMIX_SUCCESS;
    }
    peers->node = named;
    return rc;
}

pmix_status_t PMIx_Resolve_peers(const char *nodename, const char *nspace, pmix_proc_t **procs,
                                 size_t *nprocs)
{
    struct peers peers = { .node = nodename };
    struct walk walk = { .visit = peers_visit, .arg = &peers };
    const char *name;

    sx_results_none(procs, nprocs);
    if (procs == NULL || nprocs == NULL || !nspace_is_good(nspace, &name)) {
        return sx_process_misused();
    }
    const pmix_status_t rc = walk_all(&walk, name);
    if (rc != PMIX_SUCCESS) {
        free(peers.procs);
        return rc;
    }
    *procs = peers.procs; /* NULL when the node has none */
    *nprocs = peers.count;
    return PMIX_SUCCESS;
}

/* ---- nodes -------------------------------------------------------------------------------- */

struct nodes {
    char *text;
    size_t used, size;
    const char *last; /* in the mapping: ranks of one node follow each other */
};

static pmix_status_t nodes_add(struct nodes *nodes, const char *name)
{
    const size_t len = strlen(name);

    if ((nodes->last != NULL && strcmp(nodes->last, name) == 0) ||
        sx_names_hold(nodes->text, name)) {
        return PMIX_SUCCESS;
    }
    if (nodes->size - nodes->used < len + 2) {
        const size_t size = 2 * (nodes->size + len + 2);
        char *const text = realloc(nodes->text, size);

        if (text == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        nodes->text = text;
        nodes->size = size;
    }
    nodes->used += (size_t)sprintf(nodes->text + nodes->used, "%s%s", nodes->used != 0 ? "," : "",
                                   name);
    nodes->last = name;
    return PMIX_SUCCESS;
}

/* The nodes of its ranks; if those are not stored, the list of nodes that is. */
static pmix_status_t nodes_visit(void *arg, const struct place *place)
{
    struct nodes *const nodes = arg;
    const uint32_t rank_count = sx_site_count(&place->site, PMIX_JOB_SIZE);
    const uint32_t node_count = sx_site_count(&place->site, PMIX_NUM_NODES);
    pmix_status_t rc = PMIX_SUCCESS;
    bool any = false;

    nodes->last = NULL; /* it lay in another store */
    for (uint32_t rank = 0; rank < rank_count && rc == PMIX_SUCCESS; rank++) {
        const char *const name = sx_site_text(&place->site, SX_REALM_JOB, rank, PMIX_HOSTNAME);

        any |= name != NULL;
        if (name != NULL && rank_there(place, rank) != PMIX_RANK_INVALID) {
            rc = nodes_add(nodes, name);
        }
    }
    for (uint32_t node = 0; node < node_count && rc == PMIX_SUCCESS && !any; node++) {
        const char *const name = sx_site_text(&place->site, SX_REALM_NODE, node, PMIX_HOSTNAME);

        rc = name != NULL ? nodes_add(nodes, name) : PMIX_SUCCESS;
    }
    return rc;
}

pmix_status_t PMIx_Resolve_nodes(const char *nspace, char **nodelist)
{
    struct nodes nodes = { .text = NULL };
    struct walk walk = { .visit = nodes_visit, .arg = &nodes };
    const char *name;

    sx_results_none(nodelist, NULL);
    if (nodelist == NULL || !nspace_is_good(nspace, &name)) {
        return sx_process_misused();
    }
    const pmix_status_t rc = walk_all(&walk, name);
    if (rc != PMIX_SUCCESS || nodes.text == NULL) {
        free(nodes.text);
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_NOT_FOUND;
    }
    *nodelist = nodes.text;
    return PMIX_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* dmodex.c - servers of other nodes ask for the data of a local rank: direct modex.
 *
 * Collect the data of one rank that other nodes may see, for the host to carry.
 *
 *     WAITS --first commit--> PACKED, some in each turn --all of it--> the host is called
 *
 * A request names no key, so the answer contains all data; it waits for the rank's first commit.
 * A rank that has finalized without one is not waited for.  Data that fits in one turn is packed
 * at once.  Requests for little data overtake those for much (server/model/steps.h). */
#include "server/data/data.h"

#include <stdlib.h>

#include <pmix.h>

#include "base/value/value.h"
#include "server/data/get_index.h"
#include "server/model/blob.h"
#include "server/model/membership.h"
#include "server/port/port.h"

#define STEP_BYTES ((size_t)512 << 10)

struct request {
    struct sx_list link;         /* client.requests while it waits */
    struct sx_steps_entry entry; /* of server.data.packs, then */
    struct sx_client *client;
    struct sx_lane_mark mark; /* everything in the rank's lane at the time of the request belongs to
                               * the answer */
    pmix_proc_t proc;
    pmix_dmodex_response_fn_t cbfunc;
    void *cbdata;
    struct sx_host_call call; /* with the answer */
    pmix_status_t status;
    struct sx_blob blob;
    struct sx_rank_pack pack;
};

/* This server owns the bytes until the host's function returns. */
static void request_call(struct sx_host_call *call)
{
    struct request *const request = SX_CONTAINER(call, struct request, call);

    request->cbfunc(request->status, request->blob.bytes, request->blob.size, request->cbdata);
    sx_blob_clear(&request->blob);
    free(request);
}

static void request_end(struct request *request, pmix_status_t status)
{
    if (status != PMIX_SUCCESS) {
        sx_blob_clear(&request->blob);
    }
    request->status = status;
    sx_host_call_append(sx_server_get(), &request->call, request_call);
}

/* ---- packing --------------------------------------------------------------------------------- */

static pmix_status_t request_step(struct request *request, size_t *left)
{
    if (request->client->nspace == NULL) {
        return PMIX_ERR_NOT_FOUND; /* it has been removed meanwhile */
    }
    return sx_rank_pack_step(&request->pack, &request->blob, left);
}

static void packed(struct request *request, pmix_status_t status)
{
    sx_list_remove(&request->entry.link);
    sx_client_release(request->client);
    request_end(request, status);
}

static bool pack_some(struct sx_steps_entry *entry, size_t *left)
{
    struct request *const request = SX_CONTAINER(entry, struct request, entry);
    const unsigned before = sx_rank_pack_restarts(&request->pack);
    const pmix_status_t rc = request_step(request, left);

    if (rc == PMIX_ERR_WOULD_BLOCK) {
        entry->is_anew = sx_rank_pack_restarts(&request->pack) > before;
        return false;
    }
    packed(request, rc);
    return true;
}

static bool packs_step(struct sx_server *server, size_t *left)
{
    return sx_steps_queue_do(&server->data.packing, &server->data.packs, pack_some, left);
}

static struct sx_steps *steps_of(struct sx_server *server)
{
    struct sx_data_state *const state = &server->data;

    if (state->packing.server == NULL) {
        sx_steps_queue_init(&state->packs);
        sx_steps_init(&state->packing, server, packs_step, STEP_BYTES);
    }
    return &state->packing;
}

void sx_dmodex_deinit(struct sx_server *server)
{
    struct sx_steps_entry *entry;

    while (server->data.packing.server != NULL &&
           (entry = sx_steps_queue_first(&server->data.packs)) != NULL) {
        packed(SX_CONTAINER(entry, struct request, entry), PMIX_ERR_NOT_FOUND);
    }
}

/* All that the rank has put belongs to the answer. */
static void request_pack(struct request *request)
{
    struct sx_client *const client = request->client;
    pmix_status_t rc = client->nspace != NULL ? sx_blob_begin(&request->blob) : PMIX_ERR_NOT_FOUND;

    if (rc == PMIX_SUCCESS) {
        rc = sx_rank_pack_begin(&request->pack, &request->blob, client);
    }
    if (rc != PMIX_SUCCESS) {
        request_end(request, rc);
        return;
    }
    struct sx_steps *const steps = steps_of(sx_server_get());

    sx_client_retain(client);
    sx_steps_queue_add(&sx_server_get()->data.packs, &request->entry);
    sx_steps_go(steps);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void request_answer(struct request *request, pmix_status_t status)
{
    sx_list_remove(&request->mark.link);
    if (!sx_list_empty(&request->link)) {
        sx_list_remove(&request->link);
        sx_waiting_want(sx_server_get(), request->client, -1);
    }
    if (status == PMIX_SUCCESS) {
        request_pack(request);
    } else {
        request_end(request, status);
    }
}

/* The upcall may make the host ask for more, or end the job. */
static void requests_answer(struct sx_list *requests, pmix_status_t status)
{
    while (!sx_list_empty(requests)) {
        request_answer(SX_LIST_ENTRY(requests->next, struct request, link), status);
    }
}

void sx_dmodex_committed(struct sx_server *server, struct sx_client *client, bool first)
{
    struct sx_list due = SX_LIST_INIT(due);

    (void)server;
    (void)first;
    SX_LIST_EACH(it, &client->requests) {
        struct request *request = SX_LIST_ENTRY(it, struct request, link);

        if (sx_list_empty(&request->mark.link)) { /* else the rank's lane still holds data */
            sx_list_remove(it);
            sx_list_append(&due, it);
        }
    }
    requests_answer(&due, PMIX_SUCCESS);
}

void sx_dmodex_client_gone(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    requests_answer(&client->requests, PMIX_ERR_NOT_FOUND);
}

static void request_caught_up(struct sx_lane_mark *mark)
{
    struct request *request = SX_CONTAINER(mark, struct request, mark);

    if (request->client->has_committed) {
        request_answer(request, PMIX_SUCCESS);
    }
}

static pmix_status_t request_take(struct sx_server *server, void *arg)
{
    struct request *request = arg;
    pmix_proc_t real;
    const bool is_there = sx_alias_one(server, SX_NAMES_OF_HOST, &request->proc, &real) ==
                          PMIX_SUCCESS;
    struct sx_nspace *nspace = is_there ? sx_nspace_find(server, real.nspace) : NULL;
    struct sx_client *client = nspace == NULL ? NULL : sx_client_find(nspace, real.rank);

    request->client = client;
    if (client == NULL || client->state == SX_CLIENT_DEAD ||
        (client->left && !client->has_committed)) {
        request_answer(request, PMIX_ERR_NOT_FOUND);
        return PMIX_SUCCESS;
    }
    sx_list_append(&client->requests, &request->link);
    sx_waiting_want(server, client, 1);
    if (client->state == SX_CLIENT_CONNECTED) {
        request->mark.reached = request_caught_up;
        sx_lane_mark(server, client, &request->mark);
    } else {
        request_caught_up(&request->mark);
    }
    return PMIX_SUCCESS;
}

static void request_taken(pmix_status_t status, void *cbdata)
{
    (void)status;
    (void)cbdata;
}

pmix_status_t PMIx_server_dmodex_request(const pmix_proc_t *proc, pmix_dmodex_response_fn_t cbfunc,
                                         void *cbdata)
{
    struct sx_server *server = sx_server_get();
    struct request *request;

    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    if (proc == NULL || cbfunc == NULL ||
        sx_name_len(proc->nspace, sizeof(proc->nspace)) >= sizeof(proc->nspace)) {
        return PMIX_ERR_BAD_PARAM;
    }
    request = calloc(1, sizeof(*request));
    if (request == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    request->proc = *proc;
    request->cbfunc = cbfunc;
    request->cbdata = cbdata;
    sx_list_init(&request->link);
    sx_list_init(&request->mark.link);
    return sx_server_submit(server, request_take, request, NULL, request_taken, NULL);
}

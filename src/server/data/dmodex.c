/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* dmodex.c - servers of other nodes ask for the data of a local rank: direct modex.
 *
 * Collect the data of one rank that other nodes may see, for the host to carry.
 *
 * A request names no key, so the answer contains all data; it waits for the rank's first commit.
 * A rank that has finalized without one is not waited for. */
#include "server/data/data.h"

#include <stdlib.h>

#include <pmix.h>

#include "base/value/value.h"
#include "server/data/get_index.h"
#include "server/model/blob.h"
#include "server/model/membership.h"
#include "server/port/port.h"

struct request {
    struct sx_list link; /* client.requests while it waits */
    struct sx_client *client;
    struct sx_lane_mark mark; /* everything in the rank's lane at the time of the request belongs to
                               * the answer */
    pmix_proc_t proc;
    pmix_dmodex_response_fn_t cbfunc;
    void *cbdata;
    struct sx_host_call call; /* with the answer */
    pmix_status_t status;
    struct sx_blob blob;
};

/* This server owns the bytes until the host's function returns. */
static void request_call(struct sx_host_call *call)
{
    struct request *const request = SX_CONTAINER(call, struct request, call);

    request->cbfunc(request->status, request->blob.bytes, request->blob.size, request->cbdata);
    sx_blob_clear(&request->blob);
    free(request);
}

static void request_answer(struct request *request, pmix_status_t status)
{
    struct sx_client *client = request->client;
    struct sx_blob *const blob = &request->blob;

    sx_list_remove(&request->mark.link);
    if (!sx_list_empty(&request->link)) {
        sx_list_remove(&request->link);
        sx_waiting_want(sx_server_get(), client, -1);
    }
    if (status == PMIX_SUCCESS) {
        status = client->nspace != NULL ? sx_blob_begin(blob) : PMIX_ERR_NOT_FOUND;
    }
    if (status == PMIX_SUCCESS) {
        status = sx_blob_add_rank(blob, client);
    }
    if (status != PMIX_SUCCESS) {
        sx_blob_clear(blob);
    }
    request->status = status;
    sx_host_call_append(sx_server_get(), &request->call, request_call);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_handled.c - a number that the clients' handlers have to reach, and the calls that wait for
 * it. */
#include "server/event/event.h"

#include <stdlib.h>

struct asker {
    struct sx_list link; /* server.handled_askers */
    const struct sx_nspace *nspace;
    uint64_t seq; /* number of the last event in the ring */
    pmix_op_cbfunc_t cbfunc;
    void *cbdata;
    struct sx_host_call call; /* with the answer */
    pmix_status_t status;
};

static bool has_handled(const struct sx_client *client, uint64_t seq)
{
    if (client->state != SX_CLIENT_CONNECTED || client->event_left || !client->has_handlers) {
        return true;
    }
    /* A-handled <- R-handled (ring/lane.c). */
    return atomic_load_explicit(&client->lane.line->handled, memory_order_acquire) >= seq;
}

static bool all_have_handled(const struct asker *asker)
{
    for (size_t i = 0; i < asker->nspace->client_count; i++) {
        if (!has_handled(asker->nspace->by_rank[i], asker->seq)) {
            return false;
        }
    }
    return true;
}

static void asker_call(struct sx_host_call *call)
{
    struct asker *const asker = SX_CONTAINER(call, struct asker, call);

    asker->cbfunc(asker->status, asker->cbdata);
    free(asker);
}

static void asker_answer(struct sx_server *server, struct asker *asker, pmix_status_t status)
{
    sx_list_remove(&asker->link);
    asker->status = status;
    sx_host_call_append(server, &asker->call, asker_call);
}

void sx_eventhandled_check(struct sx_server *server)
{
    SX_LIST_EACH(it, &server->event.handled_askers) {
        struct asker *asker = SX_LIST_ENTRY(it, struct asker, link);

        if (all_have_handled(asker)) {
            asker_answer(server, asker, PMIX_SUCCESS);
        }
    }
}

void sx_eventhandled_nspace_gone(struct sx_server *server, struct sx_nspace *nspace)
{
    SX_LIST_EACH(it, &server->event.handled_askers) {
        struct asker *asker = SX_LIST_ENTRY(it, struct asker, link);

        if (asker->nspace == nspace) {
            asker_answer(server, asker, PMIX_ERR_NOT_FOUND);
        }
    }
}

struct question {
    const char *nspace;
    struct asker *asker;
};

/* A client whose handlers are done may be asleep, and has not been asked before: wake all of them
 * to check. */
static pmix_status_t ask(struct sx_server *server, void *arg)
{
    const struct question *question = arg;
    struct sx_nspace *nspace = sx_nspace_find(server, question->nspace);

    if (nspace == NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    question->asker->nspace = nspace;
    question->asker->seq = nspace->event_seq_last;
    sx_list_append(&server->event.handled_askers, &question->asker->link);
    if (sx_nspace_has_ring(nspace) && !all_have_handled(question->asker)) {
        /* relaxed: it refers to nothing but a number, and the doors are rung after it. */
        atomic_store_explicit(&nspace->ring.header->handled_wanted, question->asker->seq,
                              memory_order_relaxed);
        sx_event_wake_handlers(server, nspace);
    }
    sx_eventhandled_check(server);
    return PMIX_SUCCESS;
}

pmix_status_t sx_eventhandled_ask(const char *nspace, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_server *server = sx_server_get();
    struct question question = { .nspace = nspace, .asker = malloc(sizeof(struct asker)) };
    pmix_status_t rc = server != NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_ERR_INIT;

    if (server != NULL && question.asker != NULL) {
        *question.asker = (struct asker){ .cbfunc = cbfunc, .cbdata = cbdata };
        rc = sx_server_call(server, ask, &question);
    }
    if (rc != PMIX_SUCCESS) {
        free(question.asker);
    }
    return rc;
}

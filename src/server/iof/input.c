/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* input.c - producers, and pushes that are parked until their producer may continue. */
#include "server/iof/iof.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "server/manage/manage.h"
#include "server/port/port.h"

#define PIECES_A_TURN 4096u /* of pushes that were parked: one for each process, and for each ... */
#define PUSH_PIECES 64u     /* ... so many */

/* A client that has pushed something. */
struct producer {
    struct sx_list link; /* server.iof.producers */
    struct sx_client *client;
    bool stopped;
    struct sx_list parked; /* its parked pushes, in order */
    pmix_proc_t *targets;  /* of its own standard input; NULL: it does not push it, or the input is
                            * complete */
    size_t target_count;
};

/* A push of a producer that is stopped. */
struct parked {
    struct sx_pending pending;
    struct sx_list link;
    struct sx_upcall up;
};

static void parked_free(struct sx_pending *pending)
{
    struct parked *const parked = SX_CONTAINER(pending, struct parked, pending);

    sx_list_remove(&parked->link);
    sx_upcall_drop(&parked->up);
    free(parked->up.info);
    free(parked->up.procs);
    free(parked);
}

/* ---- producers ------------------------------------------------------------------------------- */

static struct producer *producer_find(struct sx_server *server, const struct sx_client *client)
{
    SX_LIST_EACH(it, &server->iof.producers) {
        struct producer *const producer = SX_LIST_ENTRY(it, struct producer, link);

        if (producer->client == client) {
            return producer;
        }
    }
    return NULL;
}

/* Return: NULL when memory is out. */
static struct producer *producer_obtain(struct sx_server *server, struct sx_client *client)
{
    struct producer *producer = producer_find(server, client);

    if (producer != NULL) {
        return producer;
    }
    producer = calloc(1, sizeof(*producer));
    if (producer != NULL) {
        producer->client = client;
        producer->stopped = server->iof.producers_stopped;
        sx_list_init(&producer->parked);
        sx_list_append(&server->iof.producers, &producer->link);
    }
    return producer;
}

static void producer_free(struct producer *producer)
{
    while (!sx_list_empty(&producer->parked)) {
        sx_pending_drop(&SX_LIST_ENTRY(producer->parked.next, struct parked, link)->pending);
    }
    sx_list_remove(&producer->link);
    free(producer->targets);
    free(producer);
}

/* Store the targets of the producer's own input: they are the same each time, until it is complete.
 * Return: true if the push does nothing else: it is the first one, and has no bytes. */
static bool targets_note(struct producer *producer, const struct sx_upcall *up)
{
    struct sx_iof_options options = { 0 };

    (void)sx_options_read(SX_OF_IOF_PUSH, up->info, up->ninfo, &options);
    if (!options.own_input) {
        return false;
    }
    free(producer->targets);
    producer->targets = options.complete ? NULL : malloc(up->nprocs * sizeof(*up->procs));
    producer->target_count = up->nprocs;
    if (producer->targets != NULL) {
        memcpy(producer->targets, up->procs, up->nprocs * sizeof(*up->procs));
    }
    return !options.complete && up->info[0].value.data.bo.size == 0;
}

/* Mark the producer's input as complete: nothing follows what it has pushed. */
static void targets_end(struct sx_server *server, struct producer *producer)
{
    struct sx_upcall up = { .client = producer->client,
                            .procs = producer->targets,
                            .nprocs = producer->target_count,
                            .info = calloc(2, sizeof(*up.info)),
                            .ninfo = 2 };

    if (up.info == NULL) {
        return;
    }
    PMIx_Load_key(up.info[0].key, SX_PUSH_BYTES);
    up.info[0].value.type = PMIX_BYTE_OBJECT;
    PMIx_Info_load(&up.info[1], PMIX_IOF_COMPLETE, NULL, PMIX_BOOL);
    if (sx_ask_asker_add(producer->client, &up.info, &up.ninfo) == PMIX_SUCCESS) {
        (void)sx_upcall(server, SX_UPCALL_PUSH_STDIN, &up);
    }
    free(up.info);
}

/* ---- pushes ---------------------------------------------------------------------------------- */

/* The host has taken the push; XOFF means that it wants no more for now. */
static pmix_status_t answer_judge(struct sx_server *server, struct sx_client *client,
                                  pmix_status_t status)
{
    struct producer *const producer = producer_find(server, client);

    if (status == PMIX_ERR_IOF_XOFF && producer != NULL) {
        producer->stopped = true;
    }
    return status == PMIX_ERR_IOF_XOFF ? PMIX_SUCCESS : status;
}

/* Return: PMIX_SUCCESS, and the parts of @up are kept; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t push_park(struct sx_server *server, struct producer *producer, uint32_t id,
                               const struct sx_upcall *up)
{
    static const struct sx_pending_kind kind = { .quota = SX_PENDING_HOST, .free = parked_free };
    struct parked *const parked = calloc(1, sizeof(*parked));

    if (parked == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    parked->up = *up;
    parked->pending.bytes = up->info_bytes + up->nprocs * sizeof(*up->procs);
    const pmix_status_t rc = sx_pending_begin(server, producer->client, id, &kind,
                                              &parked->pending);

    if (rc != PMIX_SUCCESS) {
        free(parked);
        return rc;
    }
    sx_list_append(&producer->parked, &parked->link);
    return PMIX_SUCCESS;
}

static void push_ask(struct sx_server *server, struct sx_client *client, uint32_t id,
                     struct sx_upcall *up)
{
    sx_pending_ask_host_judged(server, client, id, SX_UPCALL_PUSH_STDIN, up, answer_judge);
    free(up->info);
    free(up->procs);
}

static bool is_input(const pmix_info_t info[], size_t ninfo)
{
    return ninfo > 0 && PMIx_Check_key(info[0].key, SX_PUSH_BYTES) &&
           info[0].value.type == PMIX_BYTE_OBJECT;
}

bool sx_input_on_push(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                      uint64_t now_ns)
{
    struct sx_upcall up = { .info_bytes = frame->opened.size };
    struct producer *const producer = producer_obtain(server, client);
    const uint32_t id = frame->header.id;
    bool is_all = false;
    pmix_status_t rc = producer == NULL
                           ? PMIX_ERR_OUT_OF_RESOURCE
                           : sx_iof_procs_take(server, client, &frame->opened.parts[SX_PUSH_PROCS],
                                               &up.procs, &up.nprocs);

    (void)now_ns;
    if (rc == PMIX_SUCCESS) {
        rc = sx_body_infos(&frame->opened, SX_PUSH_INFOS, &up.info, &up.ninfo);
    }
    if (rc == PMIX_SUCCESS && !is_input(up.info, up.ninfo)) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    if (rc == PMIX_SUCCESS) {
        is_all = targets_note(producer, &up);
        rc = is_all ? sx_upcall_judge(server, SX_UPCALL_PUSH_STDIN, 0)
                    : sx_ask_asker_add(client, &up.info, &up.ninfo);
    }
    if (rc == PMIX_SUCCESS && !is_all && (producer->stopped || !sx_list_empty(&producer->parked))) {
        rc = push_park(server, producer, id, &up);
        if (rc == PMIX_SUCCESS) {
            sx_reply_read(server, client, frame);
            return true;
        }
    }
    if (rc == PMIX_SUCCESS && !is_all) {
        sx_reply_read(server, client, frame);
        push_ask(server, client, id, &up);
        return true;
    }
    PMIX_INFO_FREE(up.info, up.ninfo);
    free(up.procs);
    sx_reply(server, client, id, rc, -1);
    return true;
}

/* ---- flow control ---------------------------------------------------------------------------- */

/* A producer that may continue and has something parked.  Return: NULL when there is none. */
static struct producer *producer_ready(struct sx_server *server)
{
    SX_LIST_EACH(it, &server->iof.producers) {
        struct producer *const producer = SX_LIST_ENTRY(it, struct producer, link);

        if (!producer->stopped && !sx_list_empty(&producer->parked)) {
            return producer;
        }
    }
    return NULL;
}

/* The host's entry may end any producer, so no pointer to one is kept across the call.  The next
 * push is of the next producer. */
bool sx_input_go_on(struct sx_server *server, size_t *left)
{
    struct producer *producer;

    while (*left > 0 && (producer = producer_ready(server)) != NULL) {
        struct parked *const parked = SX_LIST_ENTRY(producer->parked.next, struct parked, link);
        struct sx_client *const client = sx_client_retain(producer->client);
        struct sx_upcall up = parked->up;
        const size_t pieces = PUSH_PIECES + up.nprocs;
        const uint32_t id = parked->pending.id;

        sx_list_remove(&producer->link);
        sx_list_append(&server->iof.producers, &producer->link);
        *left -= pieces < *left ? pieces : *left;
        parked->up = (struct sx_upcall){ 0 };
        sx_pending_drop(&parked->pending);
        push_ask(server, client, id, &up);
        sx_client_release(client);
    }
    return producer_ready(server) == NULL;
}

struct flow {
    const pmix_proc_t *source; /* NULL: all */
    bool xoff;
};

static bool is_meant(const struct flow *flow, const struct sx_client *client)
{
    const pmix_proc_t *const source = flow->source;

    return source == NULL ||
           ((source->nspace[0] == '\0' || strcmp(source->nspace, client->nspace->name) == 0) &&
            (source->rank == PMIX_RANK_WILDCARD || source->rank == client->rank));
}

static pmix_status_t flow_set(struct sx_server *server, void *arg)
{
    const struct flow *const flow = arg;

    if (flow->source == NULL ||
        (flow->source->nspace[0] == '\0' && flow->source->rank == PMIX_RANK_WILDCARD)) {
        server->iof.producers_stopped = flow->xoff; /* also for producers that are added later */
    }
    SX_LIST_EACH(it, &server->iof.producers) {
        struct producer *const producer = SX_LIST_ENTRY(it, struct producer, link);

        if (is_meant(flow, producer->client)) {
            producer->stopped = flow->xoff;
        }
    }
    if (!flow->xoff) { /* not inside the host's call */
        sx_steps_later(&server->iof.producing);
    }
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_server_IOF_flow_control(const pmix_proc_t *source, pmix_iof_channel_t channel,
                                           bool xoff, const pmix_info_t directives[], size_t ndirs,
                                           pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct flow flow = { .source = source, .xoff = xoff };
    struct sx_server *const server = sx_server_get();

    (void)cbfunc;
    (void)cbdata;
    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    if ((channel & PMIX_FWD_STDIN_CHANNEL) == 0) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (source != NULL &&
        strnlen(source->nspace, sizeof(source->nspace)) == sizeof(source->nspace)) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_options_read(SX_OF_IOF_FLOW, directives, ndirs, NULL);

    if (rc == PMIX_SUCCESS) {
        rc = sx_server_call(server, flow_set, &flow);
    }
    return rc == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : rc; /* done, no callback follows */
}

/* ---- life ------------------------------------------------------------------------------------ */

void sx_input_init(struct sx_server *server)
{
    sx_steps_init(&server->iof.producing, server, sx_input_go_on, PIECES_A_TURN);
    sx_list_init(&server->iof.producers);
}

void sx_input_client_gone(struct sx_server *server, struct sx_client *client)
{
    struct producer *const producer = producer_find(server, client);

    if (producer == NULL) {
        return;
    }
    sx_list_remove(&producer->link); /* the host's call may come back to this function */
    sx_list_init(&producer->link);
    if (producer->targets != NULL) {
        targets_end(server, producer);
    }
    producer_free(producer);
}

void sx_input_clear(struct sx_server *server)
{
    while (!sx_list_empty(&server->iof.producers)) {
        producer_free(SX_LIST_ENTRY(server->iof.producers.next, struct producer, link));
    }
}

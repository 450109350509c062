/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pending.c - the requests that wait for an answer, from their beginning to their one end. */
#include "server/port/port.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/environment.h"
#include "base/log.h"
#include "base/status.h"
#include "base/value/flat.h"
#include "server/model/share.h"

/* The quota of one client: @max, or the value of the variable, at most @most. */
static const struct {
    const char *things;
    unsigned max;
    const char *variable; /* NULL: none */
    unsigned most;
    size_t bytes_max; /* kept by all together, or by a single one; 0: no client data is kept */
    const char *state, *remedy; /* NULL: they wait for an answer */
} quotas[SX_PENDING_QUOTAS] = {
    [SX_PENDING_GET] = { "Gets", SX_GETS_MAX, NULL, 0, 0, NULL, NULL },
    [SX_PENDING_REGISTRATION] = { "registrations of event handlers", 4096, NULL, 0, 0, NULL, NULL },
    [SX_PENDING_HOST] = { "requests to the host", 256, NULL, 0, 16u << 20, NULL, NULL },
    [SX_PENDING_ARRIVAL] = { "collective operations", 4096, "SHMIX_SERVER_COLLECTIVES", 16384,
                             32u << 20, NULL, NULL },
    [SX_PENDING_LOG] = { "calls of PMIx_Log", 256, NULL, 0, 1u << 20, NULL, NULL },
    [SX_PENDING_PULL] = { "pulls of output", SX_PULLS_MAX, NULL, 0, 4u << 20, "open",
                          "end some with PMIx_IOF_deregister" },
    [SX_PENDING_INVITE] = { "invitations to groups", 1024, NULL, 0, 4u << 20, NULL, NULL },
    [SX_PENDING_LOOKUP] = { "waiting lookups", 256, NULL, 0, 1u << 20, NULL, NULL },
    [SX_PENDING_FINALIZE] = { "calls of PMIx_Finalize", 4, NULL, 0, 0, NULL, NULL },
};

static uint64_t hash_of(const struct sx_server *server, const struct sx_client *client, uint32_t id)
{
    const uint64_t words[2] = { (uint64_t)(uintptr_t)client, id };

    return XXH3_64bits_withSeed(words, sizeof(words), server->seed);
}

pmix_status_t sx_pendings_init(struct sx_server *server)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < SX_PENDING_QUOTAS && rc == PMIX_SUCCESS; i++) {
        uint64_t max = quotas[i].max;

        if (quotas[i].variable != NULL) {
            rc = sx_switch_number(quotas[i].variable, 1, quotas[i].most, &max);
        }
        server->port.pending_max[i] = (unsigned)max;
    }
    return rc;
}

void sx_pendings_deinit(struct sx_server *server)
{
    sx_table_deinit(&server->port.pendings);
}

/* ---- quotas -------------------------------------------------------------------------------- */

/* A client may not cause a warning for each refusal. */
static void quota_log(struct sx_client *client, enum sx_pending_quota quota, bool is_full)
{
    const char *const variable = quotas[quota].variable;

    if ((client->pending_logged & 1u << quota) != 0) {
        return;
    }
    const char *const state = quotas[quota].state != NULL ? quotas[quota].state
                                                          : "that are not answered";
    const char *const remedy = quotas[quota].remedy != NULL ? quotas[quota].remedy
                                                            : "let it wait for some of them";

    client->pending_logged |= 1u << quota;
    if (is_full) {
        sx_log(SX_LOG_WARN, "client %s.%u has %u %s %s, and may have no more: %s%s%s",
               client->nspace->name, client->rank, client->pending_counts[quota],
               quotas[quota].things, state, remedy, variable != NULL ? ", or set a larger " : "",
               variable != NULL ? variable : "");
    } else {
        sx_log(SX_LOG_WARN,
               "client %s.%u has %u %s %s, which keep %zu bytes, and may have no more above %zu: "
               "%s, or name fewer processes and say less in each",
               client->nspace->name, client->rank, client->pending_counts[quota],
               quotas[quota].things, state, client->pending_bytes[quota], quotas[quota].bytes_max,
               remedy);
    }
}

pmix_status_t sx_pending_judge(const struct sx_server *server, struct sx_client *client,
                               enum sx_pending_quota quota)
{
    const size_t bytes_max = quotas[quota].bytes_max;
    const bool is_full = client->pending_counts[quota] >= server->port.pending_max[quota];

    if (!is_full && (bytes_max == 0 || client->pending_bytes[quota] < bytes_max)) {
        return PMIX_SUCCESS;
    }
    quota_log(client, quota, is_full);
    return PMIX_ERR_OUT_OF_RESOURCE;
}

void sx_pending_count(struct sx_client *client, enum sx_pending_quota quota, size_t bytes)
{
    client->pending_counts[quota]++;
    client->pending_bytes[quota] += bytes;
}

void sx_pending_uncount(struct sx_client *client, enum sx_pending_quota quota, size_t bytes)
{
    client->pending_counts[quota]--;
    client->pending_bytes[quota] -= bytes;
}

/* ---- its beginning ------------------------------------------------------------------------- */

/* Return: the first one of @client and @id that @kind allows (NULL: of any kind); NULL: there is
 * none. */
static struct sx_pending *pending_of(struct sx_server *server, const struct sx_client *client,
                                     uint32_t id, const struct sx_pending_kind *kind)
{
    const struct sx_table *table = &server->port.pendings;
    struct sx_table_node *node = sx_table_first(table, hash_of(server, client, id));

    for (; node != NULL; node = sx_table_next(table, node)) {
        struct sx_pending *const pending = SX_CONTAINER(node, struct sx_pending, node);

        if (pending->client == client && pending->id == id &&
            (kind == NULL || pending->kind == kind)) {
            return pending;
        }
    }
    return NULL;
}

bool sx_pending_uses(struct sx_server *server, const struct sx_client *client, uint32_t id)
{
    return server->port.pendings.count > 0 && pending_of(server, client, id, NULL) != NULL;
}

pmix_status_t sx_pending_begin(struct sx_server *server, struct sx_client *client, uint32_t id,
                               const struct sx_pending_kind *kind, struct sx_pending *pending)
{
    const pmix_status_t rc = sx_pending_judge(server, client, kind->quota);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (id != SX_PENDING_OF_LANE && /* the connection has refused a client's frame */
        sx_pending_uses(server, client, id)) {
        return PMIX_ERR_EXISTS;
    }
    if (!sx_table_add(&server->port.pendings, &pending->node, hash_of(server, client, id))) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pending->kind = kind;
    pending->server = server;
    pending->client = sx_client_retain(client);
    pending->id = id;
    sx_asker_init(&pending->asker);
    sx_list_append(&client->pendings, &pending->link);
    sx_pending_count(client, kind->quota, pending->bytes);
    return PMIX_SUCCESS;
}

void sx_pending_limit(struct sx_pending *pending, sx_loop_fn fn, uint64_t deadline_ns)
{
    pending->deadline.fn = fn;
    pending->deadline.arg = pending;
    sx_timer_add(pending->server->loop, &pending->deadline, deadline_ns);
}

/* ---- its end ------------------------------------------------------------------------------- */

static void pending_close(struct sx_pending *pending, pmix_status_t status)
{
    pending->status = status;
    sx_list_remove(&pending->link); /* a callback that ends its client does not find it */
    sx_timer_remove(&pending->deadline);
    sx_asker_deinit(&pending->asker);
    sx_table_remove(&pending->server->port.pendings, &pending->node);
    if (pending->kind->closed != NULL) {
        pending->kind->closed(pending);
    }
}

static void uncount_once(struct sx_pending *pending)
{
    if (!pending->with_host) {
        sx_pending_uncount(pending->client, pending->kind->quota, pending->bytes);
    }
    pending->with_host = true;
}

static void pending_free(struct sx_pending *pending)
{
    struct sx_client *const client = pending->client;

    sx_list_remove(&pending->link);
    uncount_once(pending);
    if (pending->kind->free != NULL) {
        pending->kind->free(pending);
    } else {
        free(pending);
    }
    sx_client_release(client);
}

void sx_pending_drop(struct sx_pending *pending)
{
    pending_close(pending, PMIX_SUCCESS);
    pending_free(pending);
}

void sx_pending_send_due(struct sx_client *client)
{
    struct sx_list *const first = sx_list_pop(&client->share.due);
    struct sx_pending *const pending = SX_LIST_ENTRY(first, struct sx_pending, link);

    if (pending->kind->send != NULL) {
        pending->kind->send(pending);
    } else {
        sx_reply(pending->server, client, pending->id, pending->status, -1);
    }
    sx_share_charge(pending->server, client, SX_TURN_ANSWER_UNITS);
    pending_free(pending);
}

void sx_pending_answer(struct sx_pending *pending, pmix_status_t status)
{
    struct sx_client *const client = pending->client;

    pending_close(pending, status);
    if (client->channel == NULL) {
        pending_free(pending);
        return;
    }
    const bool is_first = sx_list_empty(&client->share.due);

    sx_list_append(&client->share.due, &pending->link);
    if (is_first && sx_share_affords(pending->server, client)) {
        sx_pending_send_due(client);
    }
}

bool sx_pending_on_cancel(struct sx_server *server, struct sx_client *client,
                          struct sx_frame *frame, uint64_t now_ns)
{
    struct sx_pending *const pending = pending_of(server, client, frame->header.id, NULL);

    (void)now_ns;
    if (pending != NULL) { /* else answered in the meantime */
        sx_pending_drop(pending);
    }
    return true;
}

void sx_pending_client_gone(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    sx_client_retain(client); /* what is pending holds it */
    SX_LIST_EACH(it, &client->pendings) {
        sx_pending_drop(SX_LIST_ENTRY(it, struct sx_pending, link));
    }
    SX_LIST_EACH(it, &client->share.due) {
        pending_free(SX_LIST_ENTRY(it, struct sx_pending, link));
    }
    sx_client_release(client);
}

void sx_pending_client_left(struct sx_server *server, struct sx_client *client)
{
    (void)server;
    SX_LIST_EACH(it, &client->pendings) {
        struct sx_pending *const pending = SX_LIST_ENTRY(it, struct sx_pending, link);

        if (!pending->kind->stays) {
            sx_pending_drop(pending);
        }
    }
}

void sx_pending_answer_last(struct sx_pending *last)
{
    SX_LIST_EACH(it, &last->client->pendings) {
        struct sx_pending *const pending = SX_LIST_ENTRY(it, struct sx_pending, link);

        if (pending != last) {
            sx_pending_drop(pending);
        }
    }
    sx_pending_answer(last, PMIX_SUCCESS);
}

/* ---- answers of the host ------------------------------------------------------------------- */

struct asked {
    struct sx_pending pending;
    void *results; /* its infos, flat */
    size_t results_size;
    sx_pending_judge_fn judge; /* NULL: the host's status is passed on */
};

static pmix_status_t judge(const struct asked *asked, pmix_status_t status)
{
    const struct sx_pending *const pending = &asked->pending;

    return asked->judge == NULL ? status : asked->judge(pending->server, pending->client, status);
}

static void asked_send(struct sx_pending *pending)
{
    const struct asked *const asked = SX_CONTAINER(pending, struct asked, pending);

    sx_reply_body(pending->server, pending->client, pending->id, pending->status, asked->results,
                  asked->results_size);
}

static void asked_free(struct sx_pending *pending)
{
    struct asked *const asked = SX_CONTAINER(pending, struct asked, pending);

    free(asked->results);
    free(asked);
}

/* Keep a flat copy of the host's infos, which the host owns.  Return: the status for the client. */
static pmix_status_t results_keep(struct asked *asked, const struct sx_host_answer *answer)
{
    pmix_status_t rc = sx_flat_infos_size(answer->info, answer->ninfo, &asked->results_size);

    asked->results = rc == PMIX_SUCCESS ? malloc(asked->results_size) : NULL;
    if (asked->results != NULL) {
        rc = sx_flat_infos_encode(answer->info, answer->ninfo, asked->results, asked->results_size);
    } else if (rc == PMIX_SUCCESS) {
        rc = PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (rc != PMIX_SUCCESS) {
        sx_log(SX_LOG_WARN, "the results that the host gives for %s.%u cannot travel: %s",
               answer->client->nspace->name, answer->client->rank, PMIx_Error_string(rc));
        asked->results_size = 0;
    }
    return rc == PMIX_SUCCESS ? answer->status : rc;
}

static void host_has_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    if (asker == NULL) { /* its client has gone, or has cancelled it */
        sx_pending_uncount(answer->client, SX_PENDING_HOST, (size_t)answer->id);
        return;
    }
    struct sx_pending *const pending = SX_CONTAINER(asker, struct sx_pending, asker);
    struct asked *const asked = SX_CONTAINER(pending, struct asked, pending);

    pending->with_host = false;
    sx_pending_answer(pending, judge(asked, answer->ninfo > 0 ? results_keep(asked, answer)
                                                              : answer->status));
}

void sx_pending_ask_host(struct sx_server *server, struct sx_client *client, uint32_t id,
                         enum sx_upcall_kind kind, const struct sx_upcall *upcall)
{
    sx_pending_ask_host_judged(server, client, id, kind, upcall, NULL);
}

void sx_pending_ask_host_judged(struct sx_server *server, struct sx_client *client, uint32_t id,
                                enum sx_upcall_kind kind, const struct sx_upcall *upcall,
                                sx_pending_judge_fn judge_fn)
{
    static const struct sx_pending_kind of_host = { .quota = SX_PENDING_HOST,
                                                    .send = asked_send,
                                                    .free = asked_free };
    struct asked *const asked = calloc(1, sizeof(*asked));
    struct sx_pending *pending = asked == NULL ? NULL : &asked->pending;
    struct sx_upcall up = *upcall;
    pmix_status_t rc = PMIX_ERR_OUT_OF_RESOURCE;

    up.id = up.nprocs * sizeof(up.procs[0]) + (up.text != NULL ? strlen(up.text) : 0) +
            up.info_bytes;
    if (pending != NULL) {
        asked->judge = judge_fn;
        pending->bytes = up.id;
        rc = sx_pending_begin(server, client, id, &of_host, pending);
    }
    if (rc != PMIX_SUCCESS) {
        free(asked);
        sx_upcall_drop(upcall);
        sx_reply(server, client, id, rc, -1);
        return;
    }
    up.client = client;
    up.asker = &pending->asker;
    up.answered = host_has_answered;
    rc = sx_upcall(server, kind, &up);
    pending->with_host = rc == PMIX_SUCCESS;
    if (rc != PMIX_SUCCESS) {
        sx_pending_answer(pending, judge(asked, rc));
    }
}

void sx_pending_pass_to_host(struct sx_pending *pending, enum sx_upcall_kind kind,
                             const struct sx_upcall *upcall)
{
    pending_close(pending, PMIX_SUCCESS);
    uncount_once(pending); /* what the host is asked counts instead */
    sx_pending_ask_host(pending->server, pending->client, pending->id, kind, upcall);
    pending_free(pending);
}

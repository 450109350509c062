/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.c - answer what the server has, and ask the host for the rest, in one call.
 *
 * Only the asking client waits for the host.  The host gets copies, to which the asker's user and
 * group are added.  The host's answer is checked info by info; infos that cannot be passed on are
 * left out. */
#include "server/query/query.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/status.h"
#include "base/value/value.h"
#include "server/model/share.h"
#include "server/port/port.h"
#include "server/query/query_keys.h"

#define KEYS_PER_UNIT 32u /* keys compared to find those that an answer is for */

struct query {
    struct sx_pending pending;
    pmix_info_t *info; /* the infos of the message, from which the queries are made */
    size_t ninfo;
    struct sx_queries queries;
    struct sx_query_progress progress;
    struct sx_share_work work; /* queued: the server's own answer takes longer than a turn */
    bool begun;                /* the request is pending */
    pmix_status_t missed;      /* the status when no key is answered */
    pmix_info_t *results;      /* of the answer; NULL: there are none, or not yet */
    size_t result_count;
    pmix_status_t status;       /* of the answer */
    bool is_made;               /* these three are set */
    bool is_written, is_orphan; /* by a thread; and no request waits for it any more */
    int fd;                     /* the body that the thread has made; 0: none */
    size_t size;
};

/* ---- the answer ----------------------------------------------------------------------------- */

static void results_make(struct query *query)
{
    if (!query->is_made) {
        query->is_made = true;
        query->status = sx_queries_results(&query->queries, query->missed, &query->results,
                                           &query->result_count);
    }
}

static void query_send(struct sx_pending *pending)
{
    struct query *const query = SX_CONTAINER(pending, struct query, pending);
    size_t size = 0;
    void *body = NULL;

    if (query->fd > 0) {
        sx_reply_made(pending->server, pending->client, pending->id, query->fd, query->size);
        return;
    }
    results_make(query);
    if (query->results != NULL) {
        const pmix_status_t rc = sx_flat_infos_size(query->results, query->result_count, &size);

        body = rc == PMIX_SUCCESS ? malloc(size) : NULL;
        if (body == NULL ||
            sx_flat_infos_encode(query->results, query->result_count, body, size) != PMIX_SUCCESS) {
            query->status = PMIX_ERR_OUT_OF_RESOURCE;
            size = 0;
        }
    }
    sx_reply_body(pending->server, pending->client, pending->id, query->status, body, size);
    free(body);
}

static void query_destroy(struct query *query)
{
    sx_query_progress_clear(&query->progress);
    sx_queries_close(&query->queries);
    PMIx_Info_free(query->info, query->ninfo);
    if (query->results != NULL) {
        PMIx_Info_free(query->results, query->result_count);
    }
    if (query->fd > 0) {
        close(query->fd);
    }
    free(query);
}

static void query_written(void *arg, pmix_status_t status, int fd, size_t size)
{
    struct query *const query = arg;

    query->is_written = false;
    query->fd = fd >= 0 ? fd : 0;
    query->size = size;
    if (query->is_orphan) {
        query_destroy(query);
        return;
    }
    if (status != PMIX_SUCCESS) {
        PMIx_Info_free(query->results, query->result_count);
        query->results = NULL;
        query->status = status;
    }
    sx_pending_answer(&query->pending, PMIX_SUCCESS);
}

static bool is_large(struct query *query)
{
    size_t size = 0;

    results_make(query);
    return query->results != NULL &&
           sx_flat_infos_size(query->results, query->result_count, &size) == PMIX_SUCCESS &&
           size >= SX_ANSWER_LARGE_BYTES;
}

/* The request is pending.  A large answer is written by a thread. */
static void query_answer(struct query *query)
{
    query->is_written = is_large(query) &&
                        sx_answer_write(query->pending.server, query->status, query->results,
                                        query->result_count, SX_ANSWER_BYTES_MAX, query_written,
                                        query);
    if (!query->is_written) {
        sx_pending_answer(&query->pending, PMIX_SUCCESS);
    }
}

static void query_closed(struct sx_pending *pending)
{
    sx_share_work_remove(&SX_CONTAINER(pending, struct query, pending)->work);
}

static void query_free(struct sx_pending *pending)
{
    struct query *const query = SX_CONTAINER(pending, struct query, pending);

    query->is_orphan = true;
    if (!query->is_written) { /* else the thread still reads it */
        query_destroy(query);
    }
}

static const struct sx_pending_kind query_kind = {
    .quota = SX_PENDING_HOST, .closed = query_closed, .send = query_send, .free = query_free
};

/* ---- the host ------------------------------------------------------------------------------- */

static void host_has_answered(struct sx_asker *asker, const struct sx_host_answer *answer)
{
    if (asker == NULL) { /* the client is gone */
        sx_pending_uncount(answer->client, query_kind.quota, (size_t)answer->id);
        return;
    }
    struct sx_pending *const pending = SX_CONTAINER(asker, struct sx_pending, asker);
    struct query *const query = SX_CONTAINER(pending, struct query, pending);
    const uint64_t before = query->queries.walked;
    const pmix_status_t rc = sx_queries_take(&query->queries, answer->info, answer->ninfo);

    sx_share_charge(answer->server, answer->client,
                    (query->queries.walked - before) / KEYS_PER_UNIT);
    sx_query_kept_add(answer->server, answer->client, &query->queries);
    if (rc != PMIX_SUCCESS || answer->status < 0) {
        query->missed = rc != PMIX_SUCCESS ? rc : answer->status;
    }
    pending->with_host = false;
    query_answer(query);
}

/* A copy of @query, with the asker's identity added. */
static pmix_status_t query_copy(const pmix_query_t *query, const struct sx_client *client,
                                pmix_query_t *ret)
{
    size_t count = query->nqual;
    pmix_status_t rc = PMIX_ERR_OUT_OF_RESOURCE;

    PMIx_Query_qualifiers_create(ret, count + 2);
    ret->keys = PMIx_Argv_copy(query->keys);
    if (ret->keys != NULL && ret->qualifiers != NULL) {
        rc = count != 0 ? sx_elements_copy(ret->qualifiers, query->qualifiers, count, PMIX_INFO)
                        : PMIX_SUCCESS;
    }
    if (rc == PMIX_SUCCESS) {
        sx_infos_user_add(ret->qualifiers, &count, client->uid, client->gid);
    }
    return rc;
}

static pmix_status_t host_queries(const struct query *query, const struct sx_client *client,
                                  pmix_query_t **ret, size_t *ret_count)
{
    size_t count;
    pmix_query_t *const left = sx_queries_left(&query->queries, &count);
    pmix_query_t *const copies = count != 0 ? PMIx_Query_create(count) : NULL;
    pmix_status_t rc = left != NULL && copies != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;

    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        rc = query_copy(&left[i], client, &copies[i]);
    }
    for (size_t i = 0; i < query->queries.asked_count; i++) {
        query->queries.asked[i].passed_on = !query->queries.asked[i].answered;
    }
    free(left);
    if (rc != PMIX_SUCCESS) {
        PMIx_Query_free(copies, count);
        return rc;
    }
    *ret = copies;
    *ret_count = count;
    return PMIX_SUCCESS;
}

static pmix_status_t query_begin(struct query *query, struct sx_server *server,
                                 struct sx_client *client, uint32_t id)
{
    const pmix_status_t rc = query->begun ? PMIX_SUCCESS
                                          : sx_pending_begin(server, client, id, &query_kind,
                                                             &query->pending);

    query->begun = query->begun || rc == PMIX_SUCCESS;
    return rc;
}

/* Return: PMIX_SUCCESS when it is answered later; otherwise the reason why the host is not
 * asked. */
static pmix_status_t host_ask(struct query *query, struct sx_server *server,
                              struct sx_client *client, uint32_t id)
{
    struct sx_upcall up = { .answered = host_has_answered,
                            .asker = &query->pending.asker,
                            .id = query->pending.bytes,
                            .client = client,
                            .info_bytes = query->pending.bytes };
    pmix_status_t rc = host_queries(query, client, &up.queries, &up.nqueries);

    if (rc == PMIX_SUCCESS) {
        rc = query_begin(query, server, client, id);
        if (rc != PMIX_SUCCESS) {
            PMIx_Query_free(up.queries, up.nqueries);
        }
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_upcall(server, SX_UPCALL_QUERY, &up);
    free(up.queries);
    query->pending.with_host = rc == PMIX_SUCCESS;
    if (rc != PMIX_SUCCESS) {
        query->missed = rc;
        sx_pending_answer(&query->pending, PMIX_SUCCESS);
    }
    return PMIX_SUCCESS;
}

/* ---- the message ---------------------------------------------------------------------------- */

/* Find the array of queries in the one info.  Return: NULL when there is none. */
static const pmix_data_array_t *queries_find(const struct query *query)
{
    const pmix_value_t *const value = query->ninfo == 1 ? &query->info[0].value : NULL;
    const pmix_data_array_t *const array = value != NULL && value->type == PMIX_DATA_ARRAY
                                               ? value->data.darray
                                               : NULL;

    return array != NULL && array->type == PMIX_QUERY ? array : NULL;
}

static pmix_status_t query_open(struct query *query, const struct sx_frame *frame)
{
    pmix_status_t rc = sx_body_infos(&frame->opened, SX_QUERY_INFOS, &query->info, &query->ninfo);
    const pmix_data_array_t *const array = rc == PMIX_SUCCESS ? queries_find(query) : NULL;

    if (rc == PMIX_SUCCESS) {
        rc = array == NULL ? PMIX_ERR_BAD_PARAM
                           : sx_queries_open(&query->queries, array->array, array->size);
    }
    query->missed = PMIX_ERR_NOT_FOUND;
    query->pending.bytes = frame->opened.size;
    return rc;
}

/* The status if nothing more is found; PMIX_SUCCESS when there is a host to be asked. */
static pmix_status_t host_judge(const struct query *query, const struct sx_server *server)
{
    const struct sx_queries *const queries = &query->queries;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    if (queries->answered_count == queries->asked_count) {
        return rc;
    }
    for (size_t i = 0; i < queries->asked_count; i++) {
        if (!queries->asked[i].answered && sx_query_is_hosts(queries->asked[i].key)) {
            rc = PMIX_ERR_NOT_SUPPORTED;
        }
    }
    return server->module.query != NULL ? PMIX_SUCCESS : rc;
}

/* Answer with the results so far; @status: the status if there are none. */
static void query_end(struct query *query, struct sx_server *server, struct sx_client *client,
                      uint32_t id, pmix_status_t status)
{
    query->missed = status;
    if (query->begun ||
        (is_large(query) && query_begin(query, server, client, id) == PMIX_SUCCESS)) {
        query_answer(query);
        return;
    }
    query->pending.server = server;
    query->pending.client = client;
    query->pending.id = id;
    query_send(&query->pending);
    query_free(&query->pending);
}

/* The server has answered from its own data, with status @rc.  @frame is NULL when it has been
 * read. */
static void query_go_on(struct query *query, struct sx_server *server, struct sx_client *client,
                        uint32_t id, const struct sx_frame *frame, pmix_status_t rc)
{
    if (rc == PMIX_SUCCESS) {
        sx_query_kept_answer(server, client, &query->queries);
        rc = host_judge(query, server);
    }
    if (rc == PMIX_SUCCESS) {
        if (frame != NULL) {
            sx_reply_read(server, client, frame);
        }
        rc = host_ask(query, server, client, id);
    }
    if (rc != PMIX_SUCCESS) {
        query_end(query, server, client, id, rc);
    }
}

/* One step, in a turn of the client. */
static void query_step(struct sx_share_work *work)
{
    struct query *const query = SX_CONTAINER(work, struct query, work);
    struct sx_pending *const pending = &query->pending;
    const pmix_status_t rc = sx_query_known(pending->server, pending->client, &query->queries,
                                            &query->progress);

    if (rc != PMIX_ERR_WOULD_BLOCK) {
        sx_share_work_remove(work);
        query_go_on(query, pending->server, pending->client, pending->id, NULL, rc);
    }
}

/* Do the first step at once.  Return: PMIX_SUCCESS when the request continues by itself; otherwise
 * the reason why it is not answered later. */
static pmix_status_t query_take(struct query *query, struct sx_server *server,
                                struct sx_client *client, const struct sx_frame *frame)
{
    const uint32_t id = frame->header.id;
    pmix_status_t rc = query_open(query, frame);

    if (rc == PMIX_SUCCESS) {
        rc = sx_query_known(server, client, &query->queries, &query->progress);
    }
    if (rc != PMIX_ERR_WOULD_BLOCK) {
        query_go_on(query, server, client, id, frame, rc);
        return PMIX_SUCCESS;
    }
    rc = query_begin(query, server, client, id);
    if (rc == PMIX_SUCCESS) {
        query->work.step = query_step;
        sx_share_work_add(client, &query->work);
        sx_reply_read(server, client, frame);
    }
    return rc;
}

bool sx_query_on_query(struct sx_server *server, struct sx_client *client, struct sx_frame *frame,
                       uint64_t now_ns)
{
    const uint32_t id = frame->header.id;
    struct query *const query = calloc(1, sizeof(*query));
    pmix_status_t rc;

    (void)now_ns;
    if (query == NULL) {
        sx_reply(server, client, id, PMIX_ERR_OUT_OF_RESOURCE, -1);
        return true;
    }
    rc = query_take(query, server, client, frame);
    if (rc != PMIX_SUCCESS) {
        query_end(query, server, client, id, rc);
    }
    return true;
}

static pmix_status_t host_answers(struct sx_server *server, void *arg)
{
    struct sx_query_progress progress = { .at = 0 };
    const pmix_status_t rc = sx_query_known(server, NULL, arg, &progress);

    sx_query_progress_clear(&progress);
    return rc;
}

pmix_status_t sx_query_by_host(struct sx_queries *queries)
{
    struct sx_server *const server = sx_server_get();

    return server == NULL ? PMIX_ERR_INIT : sx_server_call(server, host_answers, queries);
}

/* ---- attributes of the host's functions ------------------------------------------------------
 *
 * PMIx_Register_attributes. */

struct registration {
    const char *function;
    char **attributes;
};

static pmix_status_t attributes_add(struct sx_server *server, void *arg)
{
    const struct registration *const said = arg;
    struct sx_support_host *const host = &server->query.support;

    for (size_t i = 0; i < host->count; i++) {
        if (strcmp(host->all[i].function, said->function) == 0) {
            return PMIX_ERR_REPEAT_ATTR_REGISTRATION;
        }
    }
    if (host->count == SX_SUPPORT_HOST_FUNCTIONS_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "a host may register the attributes of %u functions: \"%s\" is one more",
                        SX_SUPPORT_HOST_FUNCTIONS_MAX, said->function);
    }
    char *const function = strdup(said->function);
    char **const attributes = PMIx_Argv_copy(said->attributes);

    if (function == NULL || attributes == NULL) {
        free(function);
        PMIx_Argv_free(attributes);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    host->all[host->count].function = function;
    host->all[host->count++].attributes = attributes;
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_Register_attributes(char *function, char **attrs)
{
    struct registration said = { function, attrs };

    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    return function != NULL && function[0] != '\0' && strlen(function) <= PMIX_MAX_KEYLEN &&
                   attrs != NULL
               ? sx_server_call(sx_server_get(), attributes_add, &said)
               : PMIX_ERR_BAD_PARAM;
}

void sx_attributes_clear(struct sx_server *server)
{
    struct sx_support_host *const host = &server->query.support;

    while (host->count > 0) {
        host->count--;
        free(host->all[host->count].function);
        PMIx_Argv_free(host->all[host->count].attributes);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.c - PMIx_Query_info, blocking or not.
 *
 * Keys in shared memory are answered from there.  The rest is sent to the server in one message;
 * the server answers or asks the host. */
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/role.h"
#include "base/util.h"
#include "client/link/process.h"
#include "client/link/procs.h"
#include "client/link/request.h"
#include "client/query/query_local.h"
#include "client/query/query_memory.h"

struct query {
    struct sx_op op;
    struct sx_queries queries;
    void *bytes; /* a copy of the server's results; NULL: no results */
    size_t size;
};

/* Under lock. */
static void query_answered(struct sx_op *op, const struct sx_frame *frame)
{
    struct query *const query = SX_CONTAINER(op, struct query, op);
    const size_t head = sizeof(struct sx_reply);

    if (frame == NULL || frame->body_size <= head) {
        return;
    }
    query->size = frame->body_size - head;
    query->bytes = malloc(query->size);
    if (query->bytes != NULL) {
        memcpy(query->bytes, (const uint8_t *)frame->body + head, query->size);
    } else {
        op->status = PMIX_ERR_OUT_OF_RESOURCE;
    }
}

static pmix_status_t answer_take(struct query *query)
{
    pmix_info_t *info;
    size_t ninfo;
    pmix_status_t rc = sx_flat_infos_decode(query->bytes, query->size, &info, &ninfo);

    free(query->bytes);
    query->bytes = NULL;
    if (rc == PMIX_SUCCESS) {
        rc = sx_queries_take(&query->queries, info, ninfo);
        PMIX_INFO_FREE(info, ninfo);
    }
    return rc;
}

static bool query_finish(struct sx_op *op)
{
    struct query *const query = SX_CONTAINER(op, struct query, op);

    if (query->bytes != NULL) {
        op->status = answer_take(query);
        sx_query_memory_measure(&query->queries);
        if (op->status == PMIX_SUCCESS) {
            op->status = sx_queries_repeat(&query->queries);
        }
    }
    op->status = sx_queries_results(&query->queries,
                                    op->status == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : op->status,
                                    &op->info, &op->ninfo);
    return true;
}

static void query_told(struct sx_op *op)
{
    if (op->info != NULL) {
        PMIX_INFO_FREE(op->info, op->ninfo);
    }
    free(SX_CONTAINER(op, struct query, op)->bytes);
    sx_queries_close(&SX_CONTAINER(op, struct query, op)->queries);
}

static const struct sx_op_kind query_kind = { .size = sizeof(struct query),
                                              .request = SX_MSG_QUERY,
                                              .answered = query_answered,
                                              .finish = query_finish,
                                              .told = query_told };

/* ---- requests -------------------------------------------------------------------------------- */

/* Check the arguments, and answer the keys that this process can.  Return: PMIX_SUCCESS, and the
 * caller closes the queries. */
static pmix_status_t query_open(struct sx_queries *ret, const pmix_query_t *queries,
                                size_t nqueries)
{
    const struct sx_role_server *const server = sx_role_server_get();
    pmix_status_t rc = sx_queries_open(ret, queries, nqueries);

    if (rc == PMIX_ERR_BAD_PARAM) {
        return server != NULL ? rc : sx_process_misused();
    }
    if (rc == PMIX_SUCCESS && !sx_process_ready() && server == NULL &&
        !sx_query_is_of_library(ret)) {
        rc = PMIX_ERR_INIT;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_query_answer_here(ret, PMIx_Query_info);
    }
    if (rc == PMIX_SUCCESS && server != NULL) {
        rc = server->query(ret);
        sx_query_memory_measure(ret);
    }
    if (rc != PMIX_SUCCESS) {
        sx_queries_close(ret);
    }
    return rc;
}

/* Write the remaining keys for the server.  Return: PMIX_SUCCESS; as sx_wire_write. */
static pmix_status_t left_write(const struct sx_queries *queries, struct iovec *ret_body)
{
    const struct sx_query_head head = { 0 };
    pmix_data_array_t array = { .type = PMIX_QUERY };
    const pmix_info_t info = { .value = { .type = PMIX_DATA_ARRAY, .data.darray = &array } };
    struct sx_draft draft = { .head = &head, .parts = { [SX_QUERY_INFOS] = { &info, 1 } } };

    array.array = sx_queries_left(queries, &array.size);
    if (array.array == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = sx_wire_write(SX_MSG_QUERY, &draft, NULL, 0, ret_body);

    free(array.array);
    return rc;
}

/* Is there anything left, and a server to be asked for it?  Return: PMIX_SUCCESS when the server is
 * to be asked; else the status of a call without any answer. */
static pmix_status_t left_judge(const struct query *query)
{
    if (query->queries.answered_count == query->queries.asked_count || !sx_process_ready()) {
        return PMIX_ERR_NOT_FOUND;
    }
    const pmix_status_t rc = sx_op_judge(&query->op);

    /* A process that never had a server lacks nothing; one that has left its server does. */
    return rc == PMIX_ERR_UNREACH && sx_link_is_singleton(sx_primary()) ? PMIX_ERR_NOT_FOUND : rc;
}

/* The queries of @query, which is on the caller's stack, are open.  Return: as sx_op_ask; with a
 * callback and an error they are closed. */
static pmix_status_t query_ask(struct query *query)
{
    const bool waits = !sx_callback_is_given(&query->op.callback);
    struct iovec body = { .iov_base = NULL };
    struct sx_op *op = &query->op;
    const pmix_status_t missed = left_judge(query);
    pmix_status_t rc = missed == PMIX_SUCCESS ? left_write(&query->queries, &body) : PMIX_SUCCESS;

    if (rc == PMIX_SUCCESS) {
        rc = sx_op_open(&op);
    }
    if (rc != PMIX_SUCCESS && !waits) {
        sx_queries_close(&query->queries);
    } else if (rc == PMIX_SUCCESS) {
        rc = missed != PMIX_SUCCESS
                 ? sx_op_answer(op, missed)
                 : sx_op_settle(op, waits, sx_request_start(op, SX_MSG_QUERY, &body, 1));
    }
    free(body.iov_base);
    return rc;
}

pmix_status_t PMIx_Query_info(pmix_query_t *queries, size_t nqueries, pmix_info_t **info,
                              size_t *ninfo)
{
    struct query query = { .op = SX_OP_INIT(&query_kind, sx_primary()) };

    sx_results_none(info, ninfo);
    if (info == NULL || ninfo == NULL) {
        return sx_process_misused();
    }
    pmix_status_t rc = query_open(&query.queries, queries, nqueries);

    if (rc == PMIX_SUCCESS) {
        rc = query_ask(&query);
        sx_queries_close(&query.queries);
        *info = query.op.info;
        *ninfo = query.op.ninfo;
    }
    return rc;
}

pmix_status_t PMIx_Query_info_nb(pmix_query_t *queries, size_t nqueries, pmix_info_cbfunc_t cbfunc,
                                 void *cbdata)
{
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_INFO, info, cbfunc, cbdata,
                                                    .alone = !sx_process_ready());
    struct query query = { .op = SX_OP_INIT(&query_kind, sx_primary(), .callback = callback) };

    if (cbfunc == NULL) {
        return sx_process_misused();
    }
    const pmix_status_t rc = query_open(&query.queries, queries, nqueries);

    return rc == PMIX_SUCCESS ? query_ask(&query) : rc;
}

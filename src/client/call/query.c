/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.c - PMIx_Query_info, blocking or not: what is in shared memory is answered from there. */
#include <pmix.h>

#include "client/call/query_local.h"
#include "client/link/process.h"
#include "client/link/request.h"

struct query {
    struct sx_op op;
    struct sx_queries queries;
};

static bool query_finish(struct sx_op *op)
{
    struct query *const query = SX_CONTAINER(op, struct query, op);

    if (op->status == PMIX_SUCCESS) {
        op->status = sx_queries_results(&query->queries, PMIX_ERR_NOT_FOUND, &op->info, &op->ninfo);
    }
    return true;
}

static void query_told(struct sx_op *op)
{
    if (op->info != NULL) {
        PMIX_INFO_FREE(op->info, op->ninfo);
    }
    sx_queries_close(&SX_CONTAINER(op, struct query, op)->queries);
}

static const struct sx_op_kind query_kind = { .size = sizeof(struct query),
                                              .finish = query_finish,
                                              .told = query_told };

/* Return: PMIX_SUCCESS, and the queries are to be closed. */
static pmix_status_t query_open(struct sx_queries *ret, const pmix_query_t *queries,
                                size_t nqueries)
{
    pmix_status_t rc = sx_queries_open(ret, queries, nqueries);

    if (rc == PMIX_ERR_BAD_PARAM) {
        return sx_process_misused();
    }
    if (rc == PMIX_SUCCESS && !sx_process_ready() && !sx_query_is_of_library(ret)) {
        rc = PMIX_ERR_INIT;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_query_answer_here(ret);
    }
    if (rc != PMIX_SUCCESS) {
        sx_queries_close(ret);
    }
    return rc;
}

pmix_status_t PMIx_Query_info(pmix_query_t *queries, size_t nqueries, pmix_info_t **info,
                              size_t *ninfo)
{
    struct query query = { .op = SX_OP_INIT(&query_kind, &sx_process.link) };

    if (info == NULL || ninfo == NULL) {
        return sx_process_misused();
    }
    *info = NULL;
    *ninfo = 0;
    pmix_status_t rc = query_open(&query.queries, queries, nqueries);

    if (rc == PMIX_SUCCESS) {
        rc = sx_op_answer(&query.op, PMIX_SUCCESS);
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
    struct query here = { .op = SX_OP_INIT(&query_kind, &sx_process.link, .callback = callback) };
    struct sx_op *op = &here.op;

    if (cbfunc == NULL) {
        return sx_process_misused();
    }
    pmix_status_t rc = query_open(&here.queries, queries, nqueries);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_op_open(&op);
    if (rc != PMIX_SUCCESS) {
        sx_queries_close(&here.queries);
        return rc;
    }
    return sx_op_answer(op, PMIX_SUCCESS);
}

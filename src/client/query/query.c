/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.c - PMIx_Query_info, blocking or not.
 *
 * Keys in shared memory are answered from there.  The rest is sent to the server in one message;
 * the server answers or asks the host.  A row for each key says where it is answered here; all keys
 * that PMIx_Get finds are answered as well. */
#include "client/query/query.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/role.h"
#include "base/call/support.h"
#include "base/util.h"
#include "base/value/value.h"
#include "client/data/view.h"
#include "client/link/link.h"
#include "client/link/op.h"

/* ---- the library ----------------------------------------------------------------------------- */

static pmix_status_t abi_answer(const struct sx_question *question, pmix_value_t *ret)
{
    (void)question;
    return sx_value_load(ret, "4.2", PMIX_STRING);
}

static pmix_status_t support_answer(const struct sx_question *question, pmix_value_t *ret)
{
    return sx_support_find(question->query, NULL, ret);
}

/* ---- shared memory --------------------------------------------------------------------------- */

static pmix_status_t sets_answer(const struct sx_question *question, pmix_value_t *ret)
{
    return sx_members_lists(question->key, question->options->pset, ret);
}

static pmix_status_t groups_answer(const struct sx_question *question, pmix_value_t *ret)
{
    return sx_members_lists(question->key, question->options->group, ret);
}

/* Whether @info says where a Get leaves its value.  An answer of a query is always its caller's,
 * and is freed as such. */
static bool is_about_memory(const pmix_info_t *info)
{
    return PMIx_Check_key(info->key, PMIX_GET_POINTER_VALUES) ||
           PMIx_Check_key(info->key, PMIX_GET_STATIC_VALUES);
}

/* The value that a Get finds without waiting. */
static pmix_status_t value_answer(const struct sx_question *question, pmix_value_t *ret)
{
    const pmix_proc_t proc = sx_query_proc(question->options, &sx_process.self);
    const pmix_query_t *const query = question->query;
    pmix_info_t *const infos = calloc(query->nqual + 1, sizeof(*infos));
    pmix_value_t *value = NULL;
    size_t count = 1;

    if (infos == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    PMIx_Load_key(infos[0].key, PMIX_OPTIONAL);
    infos[0].value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    for (size_t i = 0; i < query->nqual; i++) {
        if (!is_about_memory(&query->qualifiers[i])) {
            infos[count] = query->qualifiers[i];
            infos[count++].flags = 0;
        }
    }
    const pmix_status_t rc = PMIx_Get(&proc, question->key, infos, count, &value);

    free(infos);
    if (rc == PMIX_SUCCESS) {
        *ret = *value;
        free(value);
    }
    return rc == PMIX_SUCCESS || rc == PMIX_ERR_OUT_OF_RESOURCE ? rc : PMIX_ERR_NOT_FOUND;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* The name of the node in @qualifier, malloc'ed.  Return: PMIX_ERR_NOT_FOUND when it names none. */
static pmix_status_t node_name(const struct sx_question *question, const pmix_info_t *qualifier,
                               char **ret)
{
    pmix_proc_t job = sx_query_proc(question->options, &sx_process.self);
    pmix_value_t *value = NULL;
    pmix_info_t infos[3] = { *qualifier };

    if (PMIx_Check_key(qualifier->key, PMIX_HOSTNAME) && qualifier->value.type == PMIX_STRING) {
        *ret = strdup(qualifier->value.data.string);
        return *ret != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (!PMIx_Check_key(qualifier->key, PMIX_NODEID)) {
        return PMIX_ERR_NOT_FOUND;
    }
    job.rank = PMIX_RANK_WILDCARD;
    infos[0].flags = 0;
    PMIx_Load_key(infos[1].key, PMIX_NODE_INFO);
    PMIx_Load_key(infos[2].key, PMIX_OPTIONAL);
    infos[1].value = infos[2].value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    const pmix_status_t rc = PMIx_Get(&job, PMIX_HOSTNAME, infos, SX_COUNT(infos), &value);

    if (rc != PMIX_SUCCESS || value->type != PMIX_STRING) {
        PMIx_Value_free(value, rc == PMIX_SUCCESS ? 1 : 0);
        return PMIX_ERR_NOT_FOUND;
    }
    *ret = value->data.string;
    free(value);
    return PMIX_SUCCESS;
}

/* Add the processes on that node.  Return: as node_name; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t node_add(const struct sx_question *question, const pmix_info_t *qualifier,
                              pmix_data_array_t *all)
{
    pmix_proc_t *procs = NULL;
    size_t count = 0;
    char *name;
    pmix_status_t rc = node_name(question, qualifier, &name);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = PMIx_Resolve_peers(name, question->options->nspace, &procs, &count);
    free(name);
    pmix_proc_t *const grown = rc == PMIX_SUCCESS && count > 0
                                   ? realloc(all->array, (all->size + count) * sizeof(*grown))
                                   : NULL;

    if (grown != NULL) {
        memcpy(grown + all->size, procs, count * sizeof(*grown));
        all->array = grown;
        all->size += count;
    }
    free(procs);
    return rc != PMIX_SUCCESS || (grown == NULL && count > 0) ? PMIX_ERR_OUT_OF_RESOURCE : rc;
}

/* The processes on all nodes that the qualifiers name, as one list. */
static pmix_status_t peers_answer(const struct sx_question *question, pmix_value_t *ret)
{
    const pmix_query_t *const query = question->query;
    pmix_data_array_t *const all = PMIx_Data_array_create(0, PMIX_PROC);
    pmix_status_t rc = all != NULL ? PMIX_ERR_NOT_FOUND : PMIX_ERR_OUT_OF_RESOURCE;

    for (size_t i = 0; i < query->nqual && (rc == PMIX_SUCCESS || rc == PMIX_ERR_NOT_FOUND); i++) {
        const pmix_status_t its = node_add(question, &query->qualifiers[i], all);

        rc = its == PMIX_ERR_NOT_FOUND ? rc : its;
    }
    if (rc == PMIX_SUCCESS) {
        *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = all };
        return PMIX_SUCCESS;
    }
    PMIx_Data_array_free(all);
    return rc == PMIX_ERR_NOT_FOUND ? value_answer(question, ret) : rc;
}

static pmix_status_t nodes_answer(const struct sx_question *question, pmix_value_t *ret)
{
    *ret = (pmix_value_t){ .type = PMIX_STRING };
    return PMIx_Resolve_nodes(question->options->nspace, &ret->data.string);
}

/* The answer for the node that a qualifier names, else for this one. */
static pmix_status_t usage_answer(const struct sx_question *question, pmix_value_t *ret)
{
    const pmix_query_t *const query = question->query;
    char *node = NULL;
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    for (size_t i = 0; i < query->nqual && rc == PMIX_ERR_NOT_FOUND; i++) {
        const char *const key = query->qualifiers[i].key;

        rc = node_name(question, &query->qualifiers[i], &node);
        if (rc == PMIX_ERR_NOT_FOUND &&
            (PMIx_Check_key(key, PMIX_HOSTNAME) || PMIx_Check_key(key, PMIX_NODEID))) {
            return rc; /* a node that is unknown here */
        }
    }
    rc = rc == PMIX_ERR_OUT_OF_RESOURCE ? rc : sx_query_usage(question, node, ret);
    free(node);
    return rc;
}

static pmix_status_t servers_answer(const struct sx_question *question, pmix_value_t *ret)
{
    (void)question;
    return sx_query_servers(ret);
}

/* ---- keys ------------------------------------------------------------------------------------ */

enum where {
    ANYTIME, /* before PMIx_Init, too */
    ALL,     /* in clients and servers */
    MAPPED,  /* stores that clients map; a server has them itself */
};

static const struct row {
    const char *key;
    pmix_status_t (*answer)(const struct sx_question *question, pmix_value_t *ret);
    enum where where;
} rows[] = {
    { PMIX_QUERY_STABLE_ABI_VERSION, abi_answer, ANYTIME },
    { PMIX_QUERY_PROVISIONAL_ABI_VERSION, abi_answer, ANYTIME },
    { PMIX_QUERY_ATTRIBUTE_SUPPORT, support_answer, ALL },
    { PMIX_LOCAL_PROCS, peers_answer, ALL },
    { PMIX_QUERY_RESOLVE_PEERS, peers_answer, ALL },
    { PMIX_QUERY_RESOLVE_NODE, nodes_answer, ALL },
    { PMIX_QUERY_AVAIL_SERVERS, servers_answer, ALL },
    { PMIX_QUERY_DEVICES, sx_query_devices, ALL },
    { PMIX_QUERY_NODE_RESOURCE_USAGE, usage_answer, ALL },
    { PMIX_QUERY_PROC_RESOURCE_USAGE, usage_answer, ALL },
    { PMIX_QUERY_STORAGE_LIST, sx_query_storage, ALL },
    { PMIX_STORAGE_ID, sx_query_storage, ALL },
    { PMIX_STORAGE_PATH, sx_query_storage, ALL },
    { PMIX_STORAGE_TYPE, sx_query_storage, ALL },
    { PMIX_STORAGE_MEDIUM, sx_query_storage, ALL },
    { PMIX_STORAGE_ACCESS_TYPE, sx_query_storage, ALL },
    { PMIX_STORAGE_CAPACITY_LIMIT, sx_query_storage, ALL },
    { PMIX_STORAGE_CAPACITY_USED, sx_query_storage, ALL },
    { PMIX_STORAGE_OBJECT_LIMIT, sx_query_storage, ALL },
    { PMIX_STORAGE_OBJECTS_USED, sx_query_storage, ALL },
    { PMIX_STORAGE_MINIMAL_XFER_SIZE, sx_query_storage, ALL },
    { PMIX_STORAGE_SUGGESTED_XFER_SIZE, sx_query_storage, ALL },
    { PMIX_QUERY_NUM_PSETS, sets_answer, MAPPED },
    { PMIX_QUERY_PSET_NAMES, sets_answer, MAPPED },
    { PMIX_QUERY_PSET_MEMBERSHIP, sets_answer, MAPPED },
    { PMIX_QUERY_NUM_GROUPS, groups_answer, MAPPED },
    { PMIX_QUERY_GROUP_NAMES, groups_answer, MAPPED },
    { PMIX_QUERY_GROUP_MEMBERSHIP, groups_answer, MAPPED },
};
static const struct row any_other = { .answer = value_answer, .where = ALL };

static const struct row *row_find(const char *key)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        if (strcmp(key, rows[i].key) == 0) {
            return &rows[i];
        }
    }
    return &any_other;
}

/* Whether each key is about the library itself, which answers before PMIx_Init as well. */
static bool is_of_library(const struct sx_queries *queries)
{
    size_t i = 0;

    while (i < queries->asked_count && row_find(queries->asked[i].key)->where == ANYTIME) {
        i++;
    }
    return i == queries->asked_count;
}

static pmix_status_t key_answer(void *arg, const struct sx_question *question, pmix_value_t *ret)
{
    const struct row *const row = row_find(question->key);
    struct sx_question here = *question;

    here.ask = *(const sx_query_fn *)arg;
    return row->where == MAPPED && !sx_process_ready() ? PMIX_ERR_NOT_FOUND
                                                       : row->answer(&here, ret);
}

/* Answer all keys about the library itself, and, in a process that is initialised, those in shared
 * memory.  The node's store, or a job's, is fetched at its first use.  @ask: PMIx_Query_info.
 * Return: PMIX_SUCCESS; any error on the way. */
static pmix_status_t answer_here(struct sx_queries *queries, sx_query_fn ask)
{
    return sx_queries_ask(queries, key_answer, &ask);
}

/* ---- calls ----------------------------------------------------------------------------------- */

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

static void query_release(struct sx_op *op)
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
                                              .release = query_release };

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
    if (rc == PMIX_SUCCESS && !sx_process_ready() && server == NULL && !is_of_library(ret)) {
        rc = PMIX_ERR_INIT;
    }
    if (rc == PMIX_SUCCESS) {
        rc = answer_here(ret, PMIx_Query_info);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hostget.c - the host's Get and Store_internal: never an upcall, never a wait for the host.
 *
 *     rank given        that process's cell, then for reserved keys the job's
 *     WILDCARD, UNDEF   the job's cell, then for reserved keys this node's, the first app's and
 *                       session's
 *     node/app/session  the row that was named, else that of this node, the first app, session
 *
 * The host's own data lies in private stores, one per namespace, under one lock; the jobs' data is
 * looked up on the loop thread, which owns it. */
#include "server/hostget.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/value.h"
#include "server/event.h"
#include "server/hostevent.h"
#include "server/server.h"
#include "shmem/collect.h"
#include "shmem/qualified.h"

struct own_store {
    struct sx_list link;
    struct sx_store_writer writer;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sx_list own_stores = SX_LIST_INIT(own_stores); /* under lock */

/* Under the lock. */
static struct own_store *own_find(const char *nspace)
{
    SX_LIST_EACH(it, &own_stores) {
        struct own_store *own = SX_LIST_ENTRY(it, struct own_store, link);

        if (strcmp(own->writer.nspace, nspace) == 0) {
            return own;
        }
    }
    return NULL;
}

static bool proc_is_good(const pmix_proc_t *proc)
{
    return proc != NULL && sx_name_len(proc->nspace, sizeof(proc->nspace)) < sizeof(proc->nspace);
}

static uint32_t row_of(pmix_rank_t rank)
{
    return rank == PMIX_RANK_UNDEF ? SX_ROW_JOB : rank;
}

static pmix_status_t host_store(const pmix_proc_t *proc, const char *key, pmix_value_t *value)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (!proc_is_good(proc) || key == NULL || value == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    pthread_mutex_lock(&lock);
    struct own_store *own = own_find(proc->nspace);

    if (own == NULL) {
        const struct sx_store_options options = { .nspace = proc->nspace,
                                                  .private_memory = true,
                                                  .alone = true };

        own = calloc(1, sizeof(*own));
        rc = own == NULL ? PMIX_ERR_OUT_OF_RESOURCE : sx_store_create(&own->writer, &options);
        if (rc == PMIX_SUCCESS) {
            sx_list_append(&own_stores, &own->link);
        } else {
            free(own);
        }
    }
    if (rc == PMIX_SUCCESS) {
        rc = strcmp(key, PMIX_QUALIFIED_VALUE) == 0
                 ? sx_qualified_put(&own->writer, row_of(proc->rank), PMIX_INTERNAL, value, NULL)
                 : sx_store_put(&own->writer, SX_REALM_JOB, row_of(proc->rank), key, PMIX_INTERNAL,
                                value);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

void sx_hostget_clear(void)
{
    struct sx_list *it;

    sx_hostevent_clear();
    pthread_mutex_lock(&lock);
    while ((it = sx_list_pop(&own_stores)) != NULL) {
        struct own_store *own = SX_LIST_ENTRY(it, struct own_store, link);

        sx_store_destroy(&own->writer);
        free(own);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- get ----------------------------------------------------------------------------------- */

struct question {
    const pmix_proc_t *proc;
    const char *key; /* NULL: everything of the row */
    enum sx_realm realm;
    bool reserved;
    bool job_only; /* not of a node, app or session */
    bool has_row;
    uint32_t row;
    const char *hostname; /* names the row of a node */
    bool is_static;
    char name[SX_QUALIFIED_NAME_LEN + 1];
    pmix_value_t *ret;
};

/* ---- directives ---- */

static const struct {
    const char *key;
    enum sx_realm realm;
} realm_directives[] = {
    { PMIX_JOB_INFO, SX_REALM_JOB },
    { PMIX_NODE_INFO, SX_REALM_NODE },
    { PMIX_APP_INFO, SX_REALM_APP },
    { PMIX_SESSION_INFO, SX_REALM_SESSION },
};

/* Nothing is waited for and nothing is kept apart, so these are always obeyed. */
static const char *const obeyed[] = {
    PMIX_OPTIONAL,
    PMIX_IMMEDIATE,
    PMIX_TIMEOUT,
    PMIX_GET_REFRESH_CACHE,
};

static pmix_status_t directive_read(struct question *question, const pmix_info_t *info)
{
    uint64_t row;

    for (size_t i = 0; i < SX_COUNT(realm_directives); i++) {
        if (strcmp(info->key, realm_directives[i].key) == 0) {
            if (sx_value_is_true(&info->value)) {
                question->realm = realm_directives[i].realm;
                question->job_only = question->realm == SX_REALM_JOB;
            }
            return PMIX_SUCCESS;
        }
    }
    if (strcmp(info->key, PMIX_NODEID) == 0 || strcmp(info->key, PMIX_APPNUM) == 0 ||
        strcmp(info->key, PMIX_SESSION_ID) == 0) {
        const pmix_status_t rc = sx_value_get_uint(&info->value, &row);

        question->has_row = rc == PMIX_SUCCESS && row < SX_STORE_ROW_MAX;
        question->row = question->has_row ? (uint32_t)row : 0;
        return question->has_row ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    }
    if (strcmp(info->key, PMIX_HOSTNAME) == 0) {
        question->hostname = info->value.type == PMIX_STRING ? info->value.data.string : NULL;
        return question->hostname != NULL ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    }
    if (strcmp(info->key, PMIX_GET_STATIC_VALUES) == 0) {
        question->is_static = sx_value_is_true(&info->value);
        return PMIX_SUCCESS;
    }
    /* The stores of jobs move while they are written, so a host gets copies. */
    if (strcmp(info->key, PMIX_GET_POINTER_VALUES) == 0) {
        return sx_value_is_true(&info->value) ? PMIX_ERR_NOT_SUPPORTED : PMIX_SUCCESS;
    }
    return sx_directives_judge(info, 1, obeyed, SX_COUNT(obeyed));
}

static pmix_status_t question_read(struct question *question, const pmix_info_t info[],
                                   size_t ninfo)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (sx_name_len(info[i].key, sizeof(info[i].key)) >= sizeof(info[i].key)) {
            return PMIX_ERR_BAD_PARAM;
        }
        if ((info[i].flags & PMIX_INFO_QUALIFIER) == 0) {
            rc = directive_read(question, &info[i]);
        }
    }
    if (rc == PMIX_SUCCESS && sx_qualified_asked(info, ninfo)) {
        if (question->key == NULL || question->realm != SX_REALM_JOB) {
            return PMIX_ERR_NOT_SUPPORTED;
        }
        rc = sx_qualified_name(question->key, strlen(question->key), info, ninfo, question->name);
        question->realm = SX_REALM_QUALIFIED;
        question->key = question->name;
    }
    return rc;
}

/* ---- answers ---- */

static bool node_named(const struct sx_store *store, const char *hostname, uint32_t *ret)
{
    const size_t size = strlen(hostname) + 1;
    const sx_column column = sx_store_column(store, SX_REALM_NODE, PMIX_HOSTNAME,
                                             strlen(PMIX_HOSTNAME));
    struct sx_item count, item;

    if (sx_store_find(store, SX_REALM_JOB, SX_ROW_JOB, PMIX_NUM_NODES, &count) != PMIX_SUCCESS ||
        count.cell.len != 0) {
        return false;
    }
    for (uint32_t row = 0; row < count.cell.bits && row < SX_STORE_ROW_MAX; row++) {
        if (sx_store_read(store, column, row, &item) == PMIX_SUCCESS && item.cell.len == size &&
            memcmp(item.body, hostname, size) == 0) {
            *ret = row;
            return true;
        }
    }
    return false;
}

/* The row of a node, application or session. */
static bool row_named(struct sx_server *server, struct sx_nspace *nspace,
                      const struct question *question, enum sx_realm realm, uint32_t *ret)
{
    const struct sx_store *const store = &nspace->store.view;
    struct sx_item item;

    *ret = question->row; /* 0 unless it was given */
    if (question->has_row || realm != SX_REALM_NODE) {
        return true;
    }
    if (question->hostname != NULL) {
        return node_named(store, question->hostname, ret);
    }
    if (sx_store_find(store, SX_REALM_JOB, SX_ROW_JOB, PMIX_NODEID, &item) == PMIX_SUCCESS &&
        item.cell.len == 0 && item.cell.bits < SX_STORE_ROW_MAX) {
        *ret = (uint32_t)item.cell.bits;
        return true;
    }
    return node_named(store, server->hostname, ret);
}

static pmix_status_t row_ask(const struct sx_store *store, const struct question *question,
                             enum sx_realm realm, uint32_t row)
{
    if (question->key == NULL) {
        struct sx_collect all = { .realm = realm, .row = row };

        sx_collect_add(&all, store);
        return sx_collect_take(&all, question->ret);
    }
    return sx_store_get(store, realm, row, question->key, question->ret);
}

/* What a store has of processes and the job. */
static pmix_status_t store_ask(const struct sx_store *store, const struct question *question)
{
    const uint32_t row = row_of(question->proc->rank);
    pmix_status_t rc = row_ask(store, question, question->realm, row);

    if (rc == PMIX_ERR_NOT_FOUND && row != SX_ROW_JOB && question->reserved) {
        rc = row_ask(store, question, question->realm, SX_ROW_JOB);
    }
    return rc;
}

static bool is_of_job(const struct question *question)
{
    return question->realm == SX_REALM_JOB || question->realm == SX_REALM_QUALIFIED;
}

static pmix_status_t job_ask(struct sx_server *server, void *arg)
{
    const struct question *question = arg;
    struct sx_nspace *nspace = sx_nspace_find(server, question->proc->nspace);
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    uint32_t row;

    if (nspace == NULL || !nspace->has_store) {
        return rc;
    }
    if (!is_of_job(question)) {
        return row_named(server, nspace, question, question->realm, &row)
                   ? row_ask(&nspace->store.view, question, question->realm, row)
                   : rc;
    }
    rc = store_ask(&nspace->store.view, question);
    for (enum sx_realm realm = SX_REALM_NODE;
         realm <= SX_REALM_SESSION && rc == PMIX_ERR_NOT_FOUND && question->reserved &&
         question->realm == SX_REALM_JOB && !question->job_only;
         realm++) {
        if (row_named(server, nspace, question, realm, &row)) {
            rc = row_ask(&nspace->store.view, question, realm, row);
        }
    }
    return rc;
}

/* The host's own word first. */
static pmix_status_t question_ask(struct sx_server *server, struct question *question)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    pthread_mutex_lock(&lock);
    struct own_store *own = is_of_job(question) ? own_find(question->proc->nspace) : NULL;

    if (own != NULL) {
        rc = store_ask(&own->writer.view, question);
    }
    pthread_mutex_unlock(&lock);
    return rc == PMIX_ERR_NOT_FOUND ? sx_server_call(server, job_ask, question) : rc;
}

static pmix_status_t host_get(const pmix_proc_t *proc, const char *key, const pmix_info_t info[],
                              size_t ninfo, pmix_value_t **ret_value)
{
    struct sx_server *server = sx_server_get();
    struct question question = { .proc = proc, .key = key };

    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    if (!proc_is_good(proc) || ret_value == NULL || (info == NULL && ninfo != 0) ||
        (key != NULL && strnlen(key, PMIX_MAX_KEYLEN + 1) > PMIX_MAX_KEYLEN)) {
        return PMIX_ERR_BAD_PARAM;
    }
    question.reserved = key != NULL && strncmp(key, "pmix", 4) == 0;
    pmix_status_t rc = question_read(&question, info, ninfo);
    if (rc == PMIX_SUCCESS && question.is_static && *ret_value == NULL) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    question.ret = question.is_static ? *ret_value : calloc(1, sizeof(*question.ret));
    if (question.ret == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = question_ask(server, &question);
    if (rc == PMIX_SUCCESS) {
        *ret_value = question.ret;
    } else if (!question.is_static) {
        free(question.ret);
    }
    return rc;
}

/* ---- every store --------------------------------------------------------------------------- */

struct visit {
    const char *nspace; /* "": all */
    bool (*each)(void *arg, const char *nspace, const struct sx_store *store);
    void *arg;
};

static pmix_status_t stores_visit(struct sx_server *server, void *arg)
{
    const struct visit *visit = arg;

    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        if (nspace->has_store &&
            (visit->nspace[0] == '\0' || strcmp(visit->nspace, nspace->name) == 0) &&
            !visit->each(visit->arg, nspace->name, &nspace->store.view)) {
            break;
        }
    }
    return PMIX_SUCCESS;
}

static pmix_status_t host_each_store(const char *nspace,
                                     bool (*each)(void *arg, const char *nspace,
                                                  const struct sx_store *store),
                                     void *arg)
{
    struct sx_server *server = sx_server_get();
    struct visit visit = { .nspace = nspace, .each = each, .arg = arg };

    return server == NULL ? PMIX_ERR_INIT : sx_server_call(server, stores_visit, &visit);
}

const struct sx_role_server sx_hostget_role = {
    .get = host_get,
    .store_internal = host_store,
    .register_handler = sx_hostevent_register,
    .activate_handler = sx_hostevent_activate,
    .deregister_handler = sx_hostevent_deregister,
    .notify = sx_event_notify,
    .each_store = host_each_store,
};

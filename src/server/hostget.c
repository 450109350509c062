/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* hostget.c - the host's Get and Store_internal: never an upcall, never a wait for the host.
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
                                                  .private_memory = true };

        own = calloc(1, sizeof(*own));
        rc = own == NULL ? PMIX_ERR_OUT_OF_RESOURCE : sx_store_create(&own->writer, &options);
        if (rc == PMIX_SUCCESS) {
            sx_list_append(&own_stores, &own->link);
        } else {
            free(own);
        }
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_store_put(&own->writer, SX_REALM_JOB, row_of(proc->rank), key, PMIX_INTERNAL,
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

/* Everything of one row, collected as infos. */
struct collection {
    pmix_info_t *infos;
    size_t count, capacity;
    pmix_status_t status;
};

static bool collect(void *arg, const char *key, const struct sx_item *item)
{
    struct collection *all = arg;

    if (all->count == all->capacity) {
        const size_t capacity = all->capacity == 0 ? 16 : 2 * all->capacity;
        pmix_info_t *grown = realloc(all->infos, capacity * sizeof(*grown));

        if (grown == NULL) {
            all->status = PMIX_ERR_OUT_OF_RESOURCE;
            return false;
        }
        all->infos = grown;
        all->capacity = capacity;
    }
    pmix_info_t *info = &all->infos[all->count];

    memset(info, 0, sizeof(*info));
    memcpy(info->key, key, sx_name_len(key, PMIX_MAX_KEYLEN));
    all->status = sx_flat_decode(&info->value, &item->cell, item->body, item->cell.len);
    all->count += all->status == PMIX_SUCCESS;
    return all->status == PMIX_SUCCESS;
}

/* The collection as one DATA_ARRAY value. */
static pmix_status_t collection_value(struct collection *all, pmix_value_t *ret)
{
    pmix_data_array_t *array = NULL;

    if (all->status == PMIX_SUCCESS && all->count > 0) {
        array = calloc(1, sizeof(*array));
    }
    if (array == NULL) {
        for (size_t i = 0; i < all->count; i++) {
            sx_value_destruct(&all->infos[i].value);
        }
        free(all->infos);
        if (all->status != PMIX_SUCCESS) {
            return all->status;
        }
        return all->count == 0 ? PMIX_ERR_NOT_FOUND : PMIX_ERR_OUT_OF_RESOURCE;
    }
    *array = (pmix_data_array_t){ .type = PMIX_INFO, .size = all->count, .array = all->infos };
    memset(ret, 0, sizeof(*ret));
    ret->type = PMIX_DATA_ARRAY;
    ret->data.darray = array;
    return PMIX_SUCCESS;
}

struct question {
    const pmix_proc_t *proc;
    const char *key; /* NULL: everything of the rank */
    pmix_value_t *ret;
};

static pmix_status_t store_ask(const struct sx_store *store, const struct question *question)
{
    const uint32_t row = row_of(question->proc->rank);

    if (question->key == NULL) {
        struct collection all = { .status = PMIX_SUCCESS };

        sx_store_each(store, SX_REALM_JOB, row, collect, &all);
        return collection_value(&all, question->ret);
    }
    pmix_status_t rc = sx_store_get(store, SX_REALM_JOB, row, question->key, question->ret);

    if (rc == PMIX_ERR_NOT_FOUND && row != SX_ROW_JOB &&
        strncmp(question->key, "pmix", 4) == 0) {
        rc = sx_store_get(store, SX_REALM_JOB, SX_ROW_JOB, question->key, question->ret);
    }
    return rc;
}

static pmix_status_t job_ask(struct sx_server *server, void *arg)
{
    const struct question *question = arg;
    struct sx_nspace *nspace = sx_nspace_find(server, question->proc->nspace);

    return nspace == NULL || !nspace->has_store ? PMIX_ERR_NOT_FOUND
                                                : store_ask(&nspace->store.view, question);
}

static pmix_status_t host_get(const pmix_proc_t *proc, const char *key, const pmix_info_t info[],
                              size_t ninfo, pmix_value_t **ret_value)
{
    struct sx_server *server = sx_server_get();
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    /* Nothing is waited for, whatever the directives. */
    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    if (!proc_is_good(proc) || ret_value == NULL || (info == NULL && ninfo != 0) ||
        (key != NULL && strnlen(key, PMIX_MAX_KEYLEN + 1) > PMIX_MAX_KEYLEN)) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_value_t *value = calloc(1, sizeof(*value));
    struct question question = { .proc = proc, .key = key, .ret = value };

    if (value == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pthread_mutex_lock(&lock);
    struct own_store *own = own_find(proc->nspace);

    if (own != NULL) {
        rc = store_ask(&own->writer.view, &question);
    }
    pthread_mutex_unlock(&lock);
    if (rc == PMIX_ERR_NOT_FOUND) {
        rc = sx_server_call(server, job_ask, &question);
    }
    if (rc == PMIX_SUCCESS) {
        *ret_value = value;
    } else {
        free(value);
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
    .deregister_handler = sx_hostevent_deregister,
    .notify = sx_event_notify,
    .each_store = host_each_store,
};

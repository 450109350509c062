/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_get.c - the host's own Get and Store_internal: no upcall, and no wait for the host.
 *
 * shmem/wanted.h lists the places to search.  The server is the asking process.  The host's own
 * data lies in private stores, one per namespace, under one lock.  The jobs' data belongs to the
 * loop thread, which searches it. */
#include "server/entry/entry.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/system/topology.h"
#include "base/value/opaque.h"
#include "base/value/value.h"
#include "server/event/event.h"
#include "server/log/logging.h"
#include "server/manage/manage.h"
#include "server/model/membership.h"
#include "server/model/state.h"
#include "server/publish/publish.h"
#include "server/query/query.h"
#include "shmem/membership.h"
#include "shmem/qualified.h"
#include "shmem/wanted.h"

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

static uint32_t row_of(pmix_rank_t rank)
{
    return rank == PMIX_RANK_UNDEF ? SX_ROW_JOB : rank;
}

/* An empty namespace is the server's own.  Return: NULL when it does not end. */
static const char *nspace_of(const struct sx_server *server, const pmix_proc_t *proc)
{
    if (proc == NULL || proc->nspace[0] == '\0') {
        return server->self.nspace;
    }
    return sx_name_len(proc->nspace, sizeof(proc->nspace)) < sizeof(proc->nspace) ? proc->nspace
                                                                                  : NULL;
}

static pmix_status_t own_obtain(const char *nspace, struct own_store **ret)
{
    const struct sx_store_options options = { .nspace = nspace,
                                              .private_memory = true,
                                              .alone = true };
    struct own_store *own = own_find(nspace);
    pmix_status_t rc = PMIX_SUCCESS;

    if (own == NULL) {
        own = calloc(1, sizeof(*own));
        rc = own == NULL ? PMIX_ERR_OUT_OF_RESOURCE : sx_store_create(&own->writer, &options);
        if (rc != PMIX_SUCCESS) {
            free(own);
            return rc;
        }
        sx_list_append(&own_stores, &own->link);
    }
    *ret = own;
    return rc;
}

static pmix_status_t host_store(const pmix_proc_t *proc, const char *key, pmix_value_t *value)
{
    const struct sx_server *server = sx_server_get();
    const char *nspace = server != NULL && proc != NULL ? nspace_of(server, proc) : NULL;
    struct own_store *own;

    if (nspace == NULL || key == NULL || value == NULL) {
        return server == NULL ? PMIX_ERR_INIT : PMIX_ERR_BAD_PARAM;
    }
    pthread_mutex_lock(&lock);
    pmix_status_t rc = own_obtain(nspace, &own);

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
    const char *nspace;
    struct sx_wanted wanted;
    pmix_value_t *ret;
};

static pmix_status_t site_ask(const struct sx_server *server, struct question *question,
                              const struct sx_store *store)
{
    const bool is_own = strcmp(question->nspace, server->self.nspace) == 0;
    const struct sx_site site = { .shared = store,
                                  .self = is_own ? server->self.rank : PMIX_RANK_INVALID };
    struct sx_item item;

    if (question->wanted.key == NULL) {
        return sx_wanted_collect(&question->wanted, &site, question->ret);
    }
    const pmix_status_t rc = sx_wanted_find(&question->wanted, &site, &item);
    if (rc == PMIX_SUCCESS) {
        return sx_flat_decode(question->ret, &item.cell, item.body, item.cell.len);
    }
    return rc != PMIX_ERR_NOT_FOUND
               ? rc
               : sx_wanted_name(&question->wanted, &site, question->nspace, question->ret);
}

/* Keys about the server itself that no store contains. */
static pmix_status_t server_ask(const struct sx_server *server, const struct question *question)
{
    const char *key = question->wanted.key;

    if (key == NULL || strcmp(question->nspace, server->self.nspace) != 0 ||
        (strcmp(key, PMIX_SERVER_URI) != 0 && strcmp(key, PMIX_MYSERVER_URI) != 0)) {
        return PMIX_ERR_NOT_FOUND;
    }
    char *const uri = sx_server_uri(server);
    const pmix_status_t rc = uri != NULL ? sx_value_load(question->ret, uri, PMIX_STRING)
                                         : PMIX_ERR_OUT_OF_RESOURCE;

    free(uri);
    return rc;
}

/* Values that follow from the lists that contain a process. */
static pmix_status_t places_ask(const struct sx_server *server, const struct question *question)
{
    const struct sx_memberships *const all = &server->memberships;
    const struct sx_wanted *const wanted = &question->wanted;

    return all->has_store && wanted->realm == SX_REALM_JOB && wanted->key != NULL
               ? sx_places_find(&all->store.view, wanted->key, question->nspace, wanted->rank,
                                question->ret)
               : PMIX_ERR_NOT_FOUND;
}

static pmix_status_t job_ask(struct sx_server *server, void *arg)
{
    struct question question = *(const struct question *)arg;
    pmix_proc_t named = { .rank = question.wanted.rank }, real;

    memcpy(named.nspace, question.nspace, strlen(question.nspace));
    if (sx_alias_one(server, SX_NAMES_OF_HOST, &named, &real) != PMIX_SUCCESS) {
        return PMIX_ERR_NOT_FOUND;
    }
    question.nspace = real.nspace;
    question.wanted.rank = real.rank;
    struct sx_nspace *nspace = sx_nspace_find(server, real.nspace);
    const bool has_store = nspace != NULL && nspace->has_store;
    pmix_status_t rc = site_ask(server, &question, has_store ? &nspace->store.view : NULL);

    if (rc == PMIX_ERR_NOT_FOUND && has_store) {
        rc = places_ask(server, &question);
    }
    return rc == PMIX_ERR_NOT_FOUND ? server_ask(server, &question) : rc;
}

/* The host's own data come first. */
static pmix_status_t question_ask(struct sx_server *server, struct question *question)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;

    pthread_mutex_lock(&lock);
    struct own_store *own = own_find(question->nspace);

    if (own != NULL) {
        rc = site_ask(server, question, &own->writer.view);
    }
    pthread_mutex_unlock(&lock);
    return rc == PMIX_ERR_NOT_FOUND ? sx_server_call(server, job_ask, question) : rc;
}

/* The node's topology stays the library's: values borrow it, and the process has one. */
static pmix_status_t topology_answer(pmix_value_t *ret)
{
    static pthread_mutex_t topology_lock = PTHREAD_MUTEX_INITIALIZER;
    static char source[] = SX_OPAQUE_HWLOC;
    static pmix_topology_t topology = { .source = source };
    pmix_status_t rc = PMIX_SUCCESS;

    pthread_mutex_lock(&topology_lock);
    if (topology.topology == NULL) {
        hwloc_topology_t made = NULL;
        char *xml = NULL;

        rc = sx_topology_node(&xml);
        if (rc == PMIX_SUCCESS) {
            rc = sx_topology_read(xml, strlen(xml) + 1, &made);
        }
        topology.topology = rc == PMIX_SUCCESS ? made : NULL;
        free(xml);
    }
    pthread_mutex_unlock(&topology_lock);
    if (rc == PMIX_SUCCESS) {
        *ret = (pmix_value_t){ .type = PMIX_TOPO, .data.topo = &topology };
    }
    return rc;
}

static pmix_status_t host_get(const pmix_proc_t *proc, const char *key, const pmix_info_t info[],
                              size_t ninfo, pmix_value_t **ret_value)
{
    struct sx_server *server = sx_server_get();
    struct question question;

    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    question.nspace = nspace_of(server, proc);
    if (ret_value == NULL || question.nspace == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_wanted_read(&question.wanted, SX_OF_GET_BY_HOST,
                                      proc == NULL ? PMIX_RANK_UNDEF : proc->rank, key, info,
                                      ninfo);
    const bool is_static = question.wanted.options.is_static;
    if (rc == PMIX_SUCCESS && question.wanted.options.is_pointers) {
        rc = PMIX_ERR_NOT_SUPPORTED; /* the stores of jobs move while they are written */
    }
    if (rc == PMIX_SUCCESS && is_static && *ret_value == NULL) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    question.ret = is_static ? *ret_value : calloc(1, sizeof(*question.ret));
    if (question.ret == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = question_ask(server, &question);
    if (rc == PMIX_ERR_NOT_FOUND && key != NULL && strcmp(key, PMIX_TOPOLOGY2) == 0) {
        rc = topology_answer(question.ret);
    }
    if (rc == PMIX_SUCCESS) {
        *ret_value = question.ret;
    } else if (!is_static) {
        free(question.ret);
    }
    return rc;
}

/* ---- every store --------------------------------------------------------------------------- */

struct visit {
    const char *nspace; /* "": all */
    bool (*each)(void *arg, const char *nspace, const struct sx_store *store,
                 const struct sx_membership *members);
    void *arg;
};

/* Return: false to stop. */
static bool store_visit(const struct visit *visit, const struct sx_nspace *nspace,
                        const struct sx_membership *members)
{
    return nspace == NULL || !nspace->has_store ||
           visit->each(visit->arg, nspace->name, &nspace->store.view, members);
}

static void members_visit(struct sx_server *server, const struct visit *visit,
                          const struct sx_membership *members)
{
    struct sx_membership_part part;

    for (uint32_t i = 0; sx_membership_part(members, i, &part) &&
                         store_visit(visit, sx_nspace_find(server, part.nspace), members);
         i++) {
    }
}

static pmix_status_t stores_visit(struct sx_server *server, void *arg)
{
    const struct visit *const visit = arg;
    const struct sx_membership *const members = sx_alias_members(server, SX_NAMES_OF_HOST,
                                                                 visit->nspace);

    if (members != NULL) {
        members_visit(server, visit, members);
        return PMIX_SUCCESS;
    }
    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        if ((visit->nspace[0] == '\0' || strcmp(visit->nspace, nspace->name) == 0) &&
            !store_visit(visit, nspace, NULL)) {
            break;
        }
    }
    return PMIX_SUCCESS;
}

static pmix_status_t host_each_store(const char *nspace,
                                     bool (*each)(void *arg, const char *nspace,
                                                  const struct sx_store *store,
                                                  const struct sx_membership *members),
                                     void *arg)
{
    struct sx_server *server = sx_server_get();
    struct visit visit = { .nspace = nspace, .each = each, .arg = arg };

    return server == NULL ? PMIX_ERR_INIT : sx_server_call(server, stores_visit, &visit);
}

static void host_name(char *ret, size_t size)
{
    const struct sx_server *const server = sx_server_or_parents();

    if (server != NULL) {
        snprintf(ret, size, "%s", server->hostname);
    }
}

static void host_tmpdir(char *ret, size_t size)
{
    const struct sx_server *const server = sx_server_or_parents();

    if (server != NULL) {
        snprintf(ret, size, "%s", server->tmpdir);
    }
}

static pmix_status_t module_take(struct sx_server *server, void *arg)
{
    const pmix_server_module_t *const module = arg;

    server->module = *module;
    sx_event_confine(server);
    return PMIX_SUCCESS;
}

static pmix_status_t host_module_set(const pmix_server_module_t *module)
{
    struct sx_server *server = sx_server_get();

    return server == NULL ? PMIX_ERR_INIT
                          : sx_server_call(server, module_take, (void *)(uintptr_t)module);
}

const struct sx_role_server sx_hostget_role = {
    .get = host_get,
    .store_internal = host_store,
    .register_handler = sx_hostevent_register,
    .activate_handler = sx_hostevent_activate,
    .deregister_handler = sx_hostevent_deregister,
    .notify = sx_event_notify,
    .log = sx_logging_by_host,
    .ask = sx_own_ask,
    .publish = sx_publish_by_host,
    .hostname = host_name,
    .tmpdir = host_tmpdir,
    .each_store = host_each_store,
    .module_set = host_module_set,
    .validate = sx_credential_by_host,
    .query = sx_query_by_host,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* register.c - what the host registers and deregisters: namespaces and clients. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/value/value.h"
#include "server/collective/collective.h"
#include "server/data/data.h"
#include "server/entry/entry.h"
#include "server/event/event.h"
#include "server/job/job.h"
#include "server/model/family.h"
#include "server/model/nspace.h"
#include "server/model/state.h"
#include "server/publish/publish.h"

struct registration {
    char nspace[PMIX_MAX_NSLEN + 1];
    uint32_t rank;
    int local_count;
    const pmix_info_t *info; /* the host's, kept by it until the callback */
    size_t ninfo;
    struct sx_nspace_options options; /* of @info */
    uid_t uid;
    gid_t gid;
    void *server_object;
};

/* Return: a copy of the host's arguments, NULL with *ret_rc. */
static struct registration *registration_new(const char *nspace, pmix_status_t *ret_rc)
{
    struct registration *registration = NULL;
    const size_t len = nspace == NULL ? 0 : sx_name_len(nspace, PMIX_MAX_NSLEN + 1);

    *ret_rc = PMIX_ERR_INIT;
    if (sx_server_get() == NULL) {
        return NULL;
    }
    *ret_rc = PMIX_ERR_BAD_PARAM;
    if (len == 0 || len > PMIX_MAX_NSLEN) {
        return NULL;
    }
    *ret_rc = PMIX_ERR_OUT_OF_RESOURCE;
    registration = calloc(1, sizeof(*registration));
    if (registration != NULL) {
        memcpy(registration->nspace, nspace, len);
        *ret_rc = PMIX_SUCCESS;
    }
    return registration;
}

/* The user that may read a job without a process here: the one that the host names, or else the one
 * this server is for.  A later registration may leave it out, and the number: both stay. */
static void announced(const struct sx_server *server, struct sx_nspace *nspace,
                      const struct registration *registration)
{
    const struct sx_nspace_options *const options = &registration->options;

    if (options->uid.given || !nspace->registered) {
        nspace->uid = options->uid.given ? (uid_t)options->uid.number : server->client_uid;
    }
    if (registration->local_count > 0 || !nspace->registered) {
        nspace->local_count = (uint32_t)registration->local_count;
    }
    if (nspace->job_size == 0) {
        nspace->job_size = sx_jobinfo_job_size(registration->info, registration->ninfo);
    }
}

/* ---- namespaces ---------------------------------------------------------------------------- */

/* The name is taken from others that have it (model/claim.c). */
static pmix_status_t nspace_obtain(struct sx_server *server, const char *name,
                                   struct sx_nspace **ret)
{
    sx_claim_by_host(server, name);
    *ret = sx_nspace_obtain(server, name);
    if (*ret != NULL && (*ret)->is_ending) {
        return SX_RAISE(PMIX_ERR_NOT_AVAILABLE,
                        "namespace %s is just being deregistered: register it again when that is "
                        "done",
                        name);
    }
    return *ret != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* Whether its info can be stored, before anything is changed. */
static pmix_status_t nspace_check(struct sx_server *server, const struct registration *registration)
{
    const struct sx_nspace *const known = sx_nspace_find(server, registration->nspace);
    const bool stays = known != NULL && known->has_store && known->brought_count == 0;

    return registration->options.no_data
               ? PMIX_SUCCESS
               : sx_jobinfo_check(registration->nspace, stays ? known : NULL, registration->info,
                                  registration->ninfo);
}

/* Store the job's data, and what others have given for it. */
static pmix_status_t nspace_fill(struct sx_server *server, struct sx_nspace *nspace,
                                 const struct registration *registration)
{
    pmix_status_t rc = sx_jobinfo_store(server, nspace, registration->info, registration->ninfo);

    if (rc == PMIX_SUCCESS) {
        rc = sx_resource_nspace_added(server, nspace);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_pset_nspace_added(server, nspace);
    }
    if (rc == PMIX_SUCCESS && nspace->local_count > 0) {
        rc = sx_server_topology_publish(nspace);
    }
    /* An answered waiter searches again, and must not find the namespace still pending then. */
    if (rc == PMIX_SUCCESS) {
        sx_gets_nspace_coming(server, nspace, registration->options.coming);
        sx_gets_nspace_filled(nspace);
    }
    return rc;
}

/* Open a namespace, and fill it.  A first registration that fails, for want of memory or of
 * descriptors, leaves nothing behind. */
static pmix_status_t nspace_open(struct sx_server *server, struct sx_nspace *nspace, bool is_new,
                                 const struct registration *registration)
{
    const bool had_store = nspace->has_store, had_data = nspace->has_data;
    pmix_status_t rc = sx_nspace_open(server, nspace);

    if (rc == PMIX_SUCCESS && !registration->options.no_data) {
        nspace->has_data = true;
        rc = nspace_fill(server, nspace, registration);
    }
    if (rc != PMIX_SUCCESS) {
        nspace->has_data = had_data;
        if (is_new) {
            sx_nspace_remove(server, nspace);
        } else if (!had_store) {
            sx_nspace_empty(server, nspace);
        }
    }
    return rc;
}

static pmix_status_t nspace_register(struct sx_server *server, void *arg)
{
    const struct registration *registration = arg;
    struct sx_nspace *nspace;

    if (sx_ending_is_awaited(server, registration->nspace)) {
        return PMIX_SUCCESS;
    }
    const bool is_new = sx_nspace_find(server, registration->nspace) == NULL;
    pmix_status_t rc = nspace_check(server, registration);

    if (rc == PMIX_SUCCESS) {
        rc = nspace_obtain(server, registration->nspace, &nspace);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    sx_nspace_yield(server, nspace);
    announced(server, nspace, registration);
    if (nspace->session >= SX_SESSION_NONE) {
        nspace->session = sx_jobinfo_session(registration->info, registration->ninfo);
        sx_publish_session_notified(server, nspace);
    }
    rc = nspace_open(server, nspace, is_new, registration);
    if (rc != PMIX_SUCCESS) {
        sx_event_confine(server);
        return rc;
    }
    if (!nspace->registered) {
        sx_journal_nspace_registered(nspace);
    }
    nspace->registered = true;
    sx_event_confine(server);
    SX_FAMILIES_NOTIFY(server, nspace_registered, server, nspace);
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_server_register_nspace(const char *nspace, int nlocalprocs, pmix_info_t info[],
                                          size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    pmix_status_t rc;

    if (info == NULL && ninfo != 0) {
        return sx_server_get() == NULL ? PMIX_ERR_INIT : PMIX_ERR_BAD_PARAM;
    }
    struct registration *registration = registration_new(nspace, &rc);

    if (registration == NULL) {
        return rc;
    }
    rc = sx_options_read(SX_OF_REGISTER_NSPACE, info, ninfo, &registration->options);
    if (rc == PMIX_SUCCESS && nlocalprocs < 0) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "nlocalprocs of %s is %d", nspace, nlocalprocs);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_jobinfo_judge(info, ninfo);
    }
    if (rc != PMIX_SUCCESS) {
        free(registration);
        return rc;
    }
    registration->local_count = nlocalprocs;
    registration->info = info;
    registration->ninfo = ninfo;
    if (sx_server_get() != NULL) {
        sx_server_topology_prepare(nlocalprocs, &registration->options, info, ninfo);
    }
    return sx_server_submit(sx_server_get(), nspace_register, registration, free, cbfunc, cbdata);
}

static pmix_status_t nspace_deregister(struct sx_server *server, void *arg)
{
    const struct registration *registration = arg;
    struct sx_nspace *nspace;

    if (sx_ending_is_awaited(server, registration->nspace)) {
        return PMIX_SUCCESS;
    }
    nspace = sx_nspace_find(server, registration->nspace);
    if (nspace != NULL && !nspace->is_ending) { /* else the host deregisters it twice */
        sx_ending_begin(server, nspace);
        (void)sx_ending_is_awaited(server, registration->nspace);
    }
    return PMIX_SUCCESS;
}

void PMIx_server_deregister_nspace(const char *nspace, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    pmix_status_t rc;
    struct registration *registration = registration_new(nspace, &rc);

    if (registration != NULL) {
        rc = sx_server_submit(sx_server_get(), nspace_deregister, registration, free, cbfunc,
                              cbdata);
    }
    if (rc != PMIX_SUCCESS && cbfunc != NULL) {
        cbfunc(rc, cbdata);
    }
}

/* ---- clients ------------------------------------------------------------------------------- */

/* Hosts may register clients before their namespace, so a rank that does not fit is not refused. */
static void rank_judge(struct sx_nspace *nspace, uint32_t rank)
{
    if (nspace->job_size > 0 && rank >= nspace->job_size && !nspace->rank_logged) {
        nspace->rank_logged = true;
        sx_log(SX_LOG_WARN,
               "the host has registered rank %u of %s, whose PMIX_JOB_SIZE is %u: its ranks are 0 "
               "to %u",
               rank, nspace->name, nspace->job_size, nspace->job_size - 1);
    }
}

static pmix_status_t client_register(struct sx_server *server, void *arg)
{
    const struct registration *registration = arg;
    struct sx_nspace *nspace;

    if (sx_ending_is_awaited(server, registration->nspace)) {
        return PMIX_SUCCESS;
    }
    pmix_status_t rc = nspace_obtain(server, registration->nspace, &nspace);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_client *client = sx_client_find(nspace, registration->rank);
    const bool is_new = client == NULL;

    if (!is_new && client->state != SX_CLIENT_DEAD) {
        return PMIX_EXISTS;
    }
    if (is_new) {
        rank_judge(nspace, registration->rank);
        client = sx_client_add(nspace, registration->rank);
    }
    if (client == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_collective_client_looks(server, client);
    client->state = SX_CLIENT_REGISTERED;
    client->uid = registration->uid;
    client->gid = registration->gid;
    client->server_object = registration->server_object;
    if (is_new) {
        SX_FAMILIES_NOTIFY_OF(server, client_added, client);
    } else {
        SX_FAMILIES_NOTIFY_OF(server, client_expected, client);
    }
    rc = nspace->has_store ? sx_nspace_open(server, nspace) : PMIX_SUCCESS;
    return rc == PMIX_SUCCESS && nspace->registered && nspace->has_data
               ? sx_derive_client(server, nspace, client)
               : rc;
}

pmix_status_t PMIx_server_register_client(const pmix_proc_t *proc, uid_t uid, gid_t gid,
                                          void *server_object, pmix_op_cbfunc_t cbfunc,
                                          void *cbdata)
{
    pmix_status_t rc;

    if (proc == NULL || proc->rank > PMIX_RANK_VALID || proc->rank >= SX_STORE_ROW_MAX) {
        return sx_server_get() == NULL ? PMIX_ERR_INIT : PMIX_ERR_BAD_PARAM;
    }
    struct registration *registration = registration_new(proc->nspace, &rc);

    if (registration == NULL) {
        return rc;
    }
    registration->rank = proc->rank;
    registration->uid = uid;
    registration->gid = gid;
    registration->server_object = server_object;
    return sx_server_submit(sx_server_get(), client_register, registration, free, cbfunc, cbdata);
}

static pmix_status_t client_deregister(struct sx_server *server, void *arg)
{
    const struct registration *registration = arg;

    if (sx_ending_is_awaited(server, registration->nspace)) {
        return PMIX_SUCCESS;
    }
    struct sx_nspace *nspace = sx_nspace_find(server, registration->nspace);
    struct sx_client *client = nspace == NULL ? NULL : sx_client_find(nspace, registration->rank);

    if (client != NULL) {
        sx_client_take_away(server, client);
    }
    return PMIX_SUCCESS;
}

void PMIx_server_deregister_client(const pmix_proc_t *proc, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    pmix_status_t rc = PMIX_ERR_BAD_PARAM;
    struct registration *registration = proc == NULL ? NULL : registration_new(proc->nspace, &rc);

    if (registration != NULL) {
        registration->rank = proc->rank;
        rc = sx_server_submit(sx_server_get(), client_deregister, registration, free, cbfunc,
                              cbdata);
    }
    if (rc != PMIX_SUCCESS && cbfunc != NULL) {
        cbfunc(rc, cbdata);
    }
}

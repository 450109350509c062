/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_request.c - checks as for a client's calls; a blocking call waits for the callback. */
#include "client/manage/host_request.h"

#include <pthread.h>

#include <pmix.h>

#include "base/value/value.h"
#include "client/link/link.h"

#define PROCS_MAX 16384u /* as of a client's call */

bool sx_ask_is_own(void)
{
    return !sx_process_ready() && sx_role_server_get() != NULL;
}

static void nobody_asks(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                        pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    (void)status, (void)info, (void)ninfo, (void)cbdata, (void)release_fn, (void)release_cbdata;
}

static bool procs_are_valid(const struct sx_role_ask *ask)
{
    bool valid = ask->nprocs <= PROCS_MAX && (ask->procs != NULL || ask->nprocs == 0);

    for (size_t i = 0; valid && i < ask->nprocs; i++) {
        valid = sx_proc_is_valid(&ask->procs[i]);
    }
    return valid;
}

pmix_status_t sx_ask_own_nb(enum sx_function function, const struct sx_role_ask *ask,
                            pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_role_server *const server = sx_role_server_get();
    struct sx_control_options options = { 0 }; /* the only options that are used */
    const pmix_status_t rc = sx_options_read(function, ask->info, ask->ninfo,
                                             function == SX_OF_JOB_CONTROL ? &options : NULL);

    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    if (rc != PMIX_SUCCESS || !procs_are_valid(ask)) {
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_BAD_PARAM;
    }
    return server->ask(ask, cbfunc != NULL ? cbfunc : nobody_asks, cbdata);
}

struct waiter {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool done;
    pmix_status_t status;
    pmix_info_t *info; /* a copy; NULL: no infos */
    size_t ninfo;
};

static void waiter_wake(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                        pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct waiter *const waiter = cbdata;

    pthread_mutex_lock(&waiter->lock);
    waiter->status = status;
    if (info != NULL && ninfo > 0) {
        waiter->info = PMIx_Info_create(ninfo);
        const pmix_status_t rc = waiter->info != NULL
                                     ? sx_elements_copy(waiter->info, info, ninfo, PMIX_INFO)
                                     : PMIX_ERR_OUT_OF_RESOURCE;
        waiter->ninfo = waiter->info != NULL ? ninfo : 0;
        waiter->status = rc != PMIX_SUCCESS ? rc : status;
    }
    waiter->done = true;
    pthread_cond_signal(&waiter->cond);
    pthread_mutex_unlock(&waiter->lock);
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
}

static void wait(struct waiter *waiter)
{
    pthread_mutex_lock(&waiter->lock);
    while (!waiter->done) {
        pthread_cond_wait(&waiter->cond, &waiter->lock);
    }
    pthread_mutex_unlock(&waiter->lock);
}

pmix_status_t sx_ask_own(enum sx_function function, const struct sx_role_ask *ask,
                         pmix_info_t **ret_info, size_t *ret_ninfo)
{
    struct waiter waiter = { .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER };
    const bool wanted = ret_info != NULL && ret_ninfo != NULL;
    pmix_status_t rc = sx_role_may_wait();

    if (rc == PMIX_SUCCESS) {
        rc = sx_ask_own_nb(function, ask, waiter_wake, &waiter);
    }
    if (rc == PMIX_SUCCESS) {
        wait(&waiter);
        rc = waiter.status;
    }
    if (ret_info != NULL) {
        *ret_info = wanted ? waiter.info : NULL;
    }
    if (ret_ninfo != NULL) {
        *ret_ninfo = wanted ? waiter.ninfo : 0;
    }
    if (!wanted) {
        PMIx_Info_free(waiter.info, waiter.ninfo);
    }
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

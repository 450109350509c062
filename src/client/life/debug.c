/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* debug.c - stop for a debugger: the handler for the release is registered before the debugger is
 * notified. */
#include "client/life/life.h"

#include <poll.h>
#include <stdatomic.h>

#include <pmix.h>
#include <shmix.h>

#include "base/util.h"
#include "client/link/link.h"
#include "client/link/wait.h"

static atomic_bool released;

static void on_release(size_t id, pmix_status_t status, const pmix_proc_t *source,
                       pmix_info_t info[], size_t ninfo, pmix_info_t results[], size_t nresults,
                       pmix_event_notification_cbfunc_fn_t done, void *cbdata)
{
    (void)id;
    (void)status;
    (void)source;
    (void)info;
    (void)ninfo;
    (void)results;
    (void)nresults;
    atomic_store(&released, true);
    pthread_mutex_lock(&sx_process.lock);
    sx_local_ring_locked();
    pthread_mutex_unlock(&sx_process.lock);
    if (done != NULL) {
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    }
}

static bool is_one_of(const pmix_data_array_t *array, pmix_rank_t rank)
{
    const pmix_rank_t *const ranks = array->array;

    for (size_t i = 0; array->type == PMIX_PROC_RANK && i < array->size; i++) {
        if (ranks[i] == rank || ranks[i] == PMIX_RANK_WILDCARD) {
            return true;
        }
    }
    return false;
}

/* A host stores the key for the rank (a flag), or for the job (the ranks). */
static bool is_to_stop(const pmix_proc_t *self)
{
    pmix_value_t *value = NULL;
    bool stops;

    if (PMIx_Get(self, PMIX_DEBUG_STOP_IN_INIT, NULL, 0, &value) != PMIX_SUCCESS) {
        return false;
    }
    if (value->type == PMIX_PROC_RANK) {
        stops = value->data.rank == self->rank || value->data.rank == PMIX_RANK_WILDCARD;
    } else if (value->type == PMIX_DATA_ARRAY) {
        stops = value->data.darray != NULL && is_one_of(value->data.darray, self->rank);
    } else {
        stops = value->type == PMIX_BOOL && value->data.flag;
    }
    PMIx_Value_free(value, 1);
    return stops;
}

static bool is_released(void *arg)
{
    (void)arg;
    return atomic_load(&released);
}

/* Where the program itself calls PMIx_Progress, no other thread would call the handler. */
static pmix_status_t wait_without_thread(struct sx_link *link)
{
    struct pollfd wake = { .events = POLLIN };
    pmix_status_t rc = shmix_fd(&wake.fd);

    while (rc == PMIX_SUCCESS) {
        PMIx_Progress();
        if (is_released(NULL)) {
            break;
        }
        rc = sx_link_status(link);
        if (rc == PMIX_SUCCESS) {
            (void)poll(&wake, 1, -1);
        }
    }
    return rc;
}

pmix_status_t sx_debug_stop(const pmix_proc_t *self)
{
    struct sx_link *const link = &sx_process.first;
    pmix_status_t code = PMIX_DEBUGGER_RELEASE, id, rc;
    pmix_info_t info[2];
    const bool yes = true;

    if (!is_to_stop(self)) {
        return PMIX_SUCCESS;
    }
    atomic_store(&released, false);
    id = PMIx_Register_event_handler(&code, 1, NULL, 0, on_release, NULL, NULL);
    if (id < 0) { /* no event could release this rank */
        return sx_link_status(link);
    }
    PMIx_Info_load(&info[0], PMIX_BREAKPOINT, "pmix-init", PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    rc = PMIx_Notify_event(PMIX_READY_FOR_DEBUG, self, PMIX_RANGE_LOCAL, info, SX_COUNT(info), NULL,
                           NULL);
    if (rc == PMIX_SUCCESS) {
        rc = sx_process.external ? wait_without_thread(link)
                                 : sx_wait_until(link, is_released, NULL, 0, SX_DEADLINE_NEVER);
    } else {
        rc = sx_link_status(link);
    }
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
    PMIx_Deregister_event_handler((size_t)id, NULL, NULL);
    return rc;
}

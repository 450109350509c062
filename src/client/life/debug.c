/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* debug.c - heard before it is said: the handler is there when the debugger is told. */
#include "client/life/debug.h"

#include <errno.h>
#include <semaphore.h>
#include <string.h>

#include <pmix.h>

#include "base/util.h"

static sem_t released;

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
    sem_post(&released);
    if (done != NULL) {
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    }
}

static bool is_to_stop(const pmix_proc_t *self)
{
    pmix_value_t *value = NULL;
    bool stops;

    if (PMIx_Get(self, PMIX_DEBUG_STOP_IN_INIT, NULL, 0, &value) != PMIX_SUCCESS) {
        return false;
    }
    stops = value->type == PMIX_BOOL && value->data.flag;
    PMIx_Value_free(value, 1);
    return stops;
}

void sx_debug_stop(const pmix_proc_t *self)
{
    pmix_status_t code = PMIX_DEBUGGER_RELEASE, id;
    pmix_info_t info[2];
    const bool yes = true;

    if (!is_to_stop(self)) {
        return;
    }
    sem_init(&released, 0, 0);
    id = PMIx_Register_event_handler(&code, 1, NULL, 0, on_release, NULL, NULL);
    if (id < 0) {
        return; /* nobody could let it go on */
    }
    PMIx_Info_load(&info[0], PMIX_BREAKPOINT, "pmix-init", PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    if (PMIx_Notify_event(PMIX_READY_FOR_DEBUG, self, PMIX_RANGE_LOCAL, info, SX_COUNT(info), NULL,
                          NULL) == PMIX_SUCCESS) {
        while (sem_wait(&released) != 0 && errno == EINTR) {
        }
    }
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
    PMIx_Deregister_event_handler((size_t)id, NULL, NULL);
}

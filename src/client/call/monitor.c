/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* monitor.c - PMIx_Process_monitor, blocking or not, and the heartbeats that it watches.  What the
 * host monitors may have results, which are passed on. */
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/status.h"
#include "client/link/process.h"
#include "client/link/request.h"
#include "client/link/results.h"

void PMIx_Heartbeat(void)
{
    struct sx_link *const link = &sx_process.link;

    pthread_mutex_lock(&link->lane_lock);
    if (sx_link_is_live(link)) {
        sx_lane_beat(&link->lane);
    }
    pthread_mutex_unlock(&link->lane_lock);
}

/* A cancel of all of them. */
static char no_id[] = "";

static bool is_about(const pmix_info_t *monitor, const char *key)
{
    return strncmp(monitor->key, key, sizeof(monitor->key)) == 0;
}

/* What is monitored stands before the directives.  Its value may be anything where none is
 * needed.  Return: NULL when memory is out; else the array is the caller's to free. */
static pmix_info_t *infos_with(const pmix_info_t *monitor, const pmix_info_t directives[],
                               size_t ndirs)
{
    pmix_info_t *const infos = calloc(ndirs + 1, sizeof(*infos));

    if (infos == NULL) {
        return NULL;
    }
    infos[0] = *monitor;
    if (is_about(monitor, PMIX_MONITOR_HEARTBEAT)) {
        infos[0].value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    } else if (is_about(monitor, PMIX_MONITOR_CANCEL) &&
               (monitor->value.type != PMIX_STRING || monitor->value.data.string == NULL)) {
        infos[0].value = (pmix_value_t){ .type = PMIX_STRING, .data.string = no_id };
    }
    for (size_t i = 0; i < ndirs; i++) {
        infos[i + 1] = directives[i];
    }
    return infos;
}

static const struct sx_op_kind monitor_kind = SX_RESULTS_KIND(SX_MSG_MONITOR);

static pmix_status_t monitor_start(struct sx_results_op *results, const pmix_info_t *monitor,
                                   pmix_status_t error, const pmix_info_t directives[],
                                   size_t ndirs)
{
    struct sx_monitor_options options = { 0 };

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (monitor == NULL || (directives == NULL && ndirs != 0)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (is_about(monitor, PMIX_SEND_HEARTBEAT)) {
        PMIx_Heartbeat();
        return sx_op_answer(&results->op, PMIX_SUCCESS);
    }
    pmix_info_t *const infos = infos_with(monitor, directives, ndirs);
    pmix_status_t rc = infos == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                                     : sx_options_read(SX_OF_MONITOR, infos, ndirs + 1, &options);

    if (rc == PMIX_SUCCESS && options.heartbeats) {
        rc = sx_options_read(SX_OF_HEARTBEATS, infos, ndirs + 1, &options);
    }
    if (rc == PMIX_SUCCESS && options.heartbeats && options.period_s.number == 0) {
        rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "heartbeats are monitored with \"%s\", 1 second or more",
                      PMIX_MONITOR_HEARTBEAT_TIME);
    }
    if (rc == PMIX_SUCCESS) {
        const struct sx_monitor_request head = { .code = error };
        struct sx_draft draft = { .head = &head,
                                  .parts = { [SX_MONITOR_INFOS] = { infos, ndirs + 1 } } };

        rc = sx_op_ask(&results->op, &draft);
    }
    free(infos);
    return rc;
}

pmix_status_t PMIx_Process_monitor(const pmix_info_t *monitor, pmix_status_t error,
                                   const pmix_info_t directives[], size_t ndirs,
                                   pmix_info_t **results, size_t *nresults)
{
    struct sx_results_op op = { .op = SX_OP_INIT(&monitor_kind, &sx_process.link) };
    const pmix_status_t rc = monitor_start(&op, monitor, error, directives, ndirs);

    sx_results_give(&op, results, nresults);
    return rc;
}

pmix_status_t PMIx_Process_monitor_nb(const pmix_info_t *monitor, pmix_status_t error,
                                      const pmix_info_t directives[], size_t ndirs,
                                      pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_callback callback = cbfunc != NULL
                                            ? SX_CALLBACK(SX_SHAPE_INFO, info, cbfunc, cbdata)
                                            : SX_CALLBACK_IGNORED;
    struct sx_results_op op = { .op = SX_OP_INIT(&monitor_kind, &sx_process.link,
                                                 .callback = callback) };

    return monitor_start(&op, monitor, error, directives, ndirs);
}

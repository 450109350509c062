/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn.c - PMIx_Spawn, blocking or not: the host starts a job, and its namespace is the answer.
 *
 * The applications travel as one info, whose value is an array of PMIX_APP.  The answer is an info,
 * too: PMIX_NSPACE. */
#include <string.h>

#include <pmix.h>

#include "base/options.h"
#include "base/status.h"
#include "client/link/process.h"
#include "client/link/request.h"
#include "client/link/results.h"
#include "control/message.h"

/* ---- the answer ------------------------------------------------------------------------------ */

static bool has_name(const struct sx_op *op)
{
    return op->ninfo > 0 && PMIx_Check_key(op->info[0].key, PMIX_NSPACE) &&
           op->info[0].value.type == PMIX_STRING && op->info[0].value.data.string != NULL &&
           strlen(op->info[0].value.data.string) <= PMIX_MAX_NSLEN;
}

static bool spawn_finish(struct sx_op *op)
{
    (void)sx_results_finish(op);
    if (op->status == PMIX_SUCCESS && !has_name(op)) {
        op->status = PMIX_ERR_NOT_FOUND;
    }
    return true;
}

static const struct sx_op_kind spawn_kind = { .size = sizeof(struct sx_results_op),
                                              .request = SX_MSG_SPAWN,
                                              .answered = sx_results_answered,
                                              .finish = spawn_finish,
                                              .told = sx_results_told };

/* ---- asking ---------------------------------------------------------------------------------- */

static pmix_status_t apps_judge(const pmix_app_t *apps, size_t napps)
{
    if (apps == NULL || napps == 0) {
        return sx_process_misused();
    }
    if (napps > SX_SPAWN_APPS_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "a call of PMIx_Spawn may start %u applications, and this one names %zu: "
                        "make several calls",
                        SX_SPAWN_APPS_MAX, napps);
    }
    for (size_t i = 0; i < napps; i++) {
        if (apps[i].cmd == NULL || apps[i].cmd[0] == '\0') {
            return SX_RAISE(PMIX_ERR_BAD_PARAM, "application %zu of a spawn has no command", i);
        }
        const pmix_status_t rc = sx_options_read(SX_OF_SPAWN, apps[i].info, apps[i].ninfo, NULL);

        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
    return PMIX_SUCCESS;
}

static pmix_status_t spawn(struct sx_results_op *results, const pmix_info_t job_info[],
                           size_t ninfo, const pmix_app_t *apps, size_t napps)
{
    pmix_data_array_t array = { .type = PMIX_APP, .size = napps, .array = (void *)(uintptr_t)apps };
    const pmix_info_t all = { .value = { .type = PMIX_DATA_ARRAY, .data.darray = &array } };
    struct sx_draft draft = {
        .head = &(struct sx_spawn){ 0 },
        .parts = { [SX_SPAWN_JOB] = { job_info, ninfo }, [SX_SPAWN_APPS] = { &all, 1 } }
    };

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    pmix_status_t rc = apps_judge(apps, napps);

    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_SPAWN, job_info, ninfo, NULL);
    }
    return rc == PMIX_SUCCESS ? sx_op_ask(&results->op, &draft) : rc;
}

pmix_status_t PMIx_Spawn(const pmix_info_t *job_info, size_t ninfo, const pmix_app_t *apps,
                         size_t napps, pmix_nspace_t nspace)
{
    struct sx_results_op results = { .op = SX_OP_INIT(&spawn_kind, sx_primary()) };
    const pmix_status_t rc = spawn(&results, job_info, ninfo, apps, napps);

    if (nspace != NULL) { /* whoever does not ask has started a job all the same */
        PMIx_Load_nspace(nspace, rc == PMIX_SUCCESS ? results.op.info[0].value.data.string : "");
    }
    sx_results_told(&results.op);
    return rc;
}

pmix_status_t PMIx_Spawn_nb(const pmix_info_t *job_info, size_t ninfo, const pmix_app_t *apps,
                            size_t napps, pmix_spawn_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_SPAWN, spawn, cbfunc, cbdata);
    struct sx_results_op results = { .op = SX_OP_INIT(&spawn_kind, sx_primary(),
                                                      .callback = callback) };

    return cbfunc != NULL ? spawn(&results, job_info, ninfo, apps, napps) : sx_process_misused();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job_control.c - PMIx_Job_control, blocking or not: directives that the server carries out, or its
 * host, whose results are passed on. */
#include "base/util.h"
#include "client/cleanup/cleanup.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "client/manage/host_request.h"

static const struct sx_op_kind control_kind = SX_RESULTS_KIND(SX_MSG_JOB_CONTROL);

static pmix_status_t control(struct sx_results_op *results, const pmix_proc_t targets[],
                             size_t ntargets, const pmix_info_t directives[], size_t ndirs)
{
    const struct sx_job_control head = { .proc_count = 0 };
    pmix_info_t *spelled;

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (directives == NULL || ndirs == 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_wire_procs_check(targets, ntargets);
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(results->op.link);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_cleanup_spell(directives, ndirs, &spelled);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_draft draft = { .head = &head,
                              .parts = { [SX_CONTROL_PROCS] = { targets, ntargets },
                                         [SX_CONTROL_INFOS] = { spelled, ndirs } } };

    rc = sx_op_ask(&results->op, &draft);
    sx_cleanup_free(spelled, directives, ndirs);
    return rc;
}

/* The same call in a host. */
#define OF_OWN(targets, ntargets, directives, ndirs)    \
    ((struct sx_role_ask){ .kind = SX_ROLE_ASK_CONTROL, \
                           .procs = (targets),          \
                           .nprocs = (ntargets),        \
                           .info = (directives),        \
                           .ninfo = (ndirs) })

pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets,
                               const pmix_info_t directives[], size_t ndirs, pmix_info_t **results,
                               size_t *nresults)
{
    sx_results_none(results, nresults);
    if (sx_ask_is_own()) {
        return ndirs == 0
                   ? PMIX_ERR_BAD_PARAM
                   : sx_ask_own(SX_OF_JOB_CONTROL, &OF_OWN(targets, ntargets, directives, ndirs),
                                results, nresults);
    }
    struct sx_results_op op = { .op = SX_OP_INIT(&control_kind, sx_primary()) };
    const pmix_status_t rc = control(&op, targets, ntargets, directives, ndirs);

    sx_results_give(&op, results, nresults);
    return rc;
}

/* Open MPI does not ask for the result. */
pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[], size_t ntargets,
                                  const pmix_info_t directives[], size_t ndirs,
                                  pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    if (sx_ask_is_own()) {
        return ndirs == 0
                   ? PMIX_ERR_BAD_PARAM
                   : sx_ask_own_nb(SX_OF_JOB_CONTROL, &OF_OWN(targets, ntargets, directives, ndirs),
                                   cbfunc, cbdata);
    }
    const struct sx_callback callback = cbfunc != NULL
                                            ? SX_CALLBACK(SX_SHAPE_INFO, info, cbfunc, cbdata)
                                            : SX_CALLBACK_IGNORED;
    struct sx_results_op op = { .op = SX_OP_INIT(&control_kind, sx_primary(),
                                                 .callback = callback) };

    return control(&op, targets, ntargets, directives, ndirs);
}

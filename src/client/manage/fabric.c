/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fabric.c - the host's data of a fabric, in the caller's pmix_fabric_t.
 *
 *     constructed --PMIx_Fabric_register--> registered --PMIx_Fabric_deregister--> as constructed
 *                                             \--PMIx_Fabric_update--^
 *
 * A call that fails leaves the fabric unchanged.  The name and the memory it points at stay the
 * caller's. */
#include <pmix.h>

#include "base/value/value.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "client/manage/host_request.h"
#include "client/manage/request.h"

/* `module` of a registered fabric. */
static const char registered[] = "registered";

static bool is_registered(const pmix_fabric_t *fabric)
{
    return fabric->module == registered;
}

static void infos_drop(pmix_fabric_t *fabric)
{
    if (fabric->info != NULL) {
        PMIX_INFO_FREE(fabric->info, fabric->ninfo);
    }
    fabric->ninfo = 0;
}

struct fabric_op {
    struct sx_results_op results;
    pmix_fabric_t *fabric;
};

/* The fabric takes over the results, unless the host refused. */
static bool fabric_finish(struct sx_op *op)
{
    pmix_fabric_t *const fabric = SX_CONTAINER(op, struct fabric_op, results.op)->fabric;
    uint64_t index;

    (void)sx_results_finish(op);
    if (op->status != PMIX_SUCCESS) {
        return true;
    }
    if (is_registered(fabric)) {
        infos_drop(fabric);
    }
    fabric->info = op->info;
    fabric->ninfo = op->ninfo;
    fabric->module = (void *)(uintptr_t)registered;
    op->info = NULL;
    op->ninfo = 0;
    const pmix_info_t *const said = sx_info_find(fabric->info, fabric->ninfo, PMIX_FABRIC_INDEX);

    if (said != NULL && sx_value_get_uint(&said->value, &index) == PMIX_SUCCESS) {
        fabric->index = (size_t)index;
    }
    return true;
}

static const struct sx_op_kind fabric_kind = { .size = sizeof(struct fabric_op),
                                               .request = SX_MSG_ASK_HOST,
                                               .answered = sx_results_answered,
                                               .finish = fabric_finish,
                                               .told = sx_results_told };

static pmix_status_t ask(pmix_fabric_t *fabric, pmix_fabric_operation_t operation,
                         const pmix_info_t info[], size_t ninfo, struct sx_callback callback)
{
    const struct sx_ask what = { .kind = SX_ASK_FABRIC, .detail = operation };
    struct fabric_op op = {
        .results.op = SX_OP_INIT(&fabric_kind, sx_primary(), .callback = callback), .fabric = fabric
    };
    const pmix_status_t rc = sx_ask_is_own()
                                 ? PMIX_ERR_NOT_SUPPORTED
                                 : sx_ask_host(&op.results, SX_OF_FABRIC, &what, info, ninfo);

    if (!sx_callback_is_given(&callback)) {
        sx_results_told(&op.results.op);
    }
    return rc;
}

/* ---- registering ----------------------------------------------------------------------------- */

static pmix_status_t fabric_register(pmix_fabric_t *fabric, const pmix_info_t info[], size_t ninfo,
                                     struct sx_callback callback)
{
    if (fabric == NULL) {
        return sx_process_misused();
    }
    return is_registered(fabric) ? PMIX_ERR_EXISTS
                                 : ask(fabric, PMIX_FABRIC_REQUEST_INFO, info, ninfo, callback);
}

pmix_status_t PMIx_Fabric_register(pmix_fabric_t *fabric, const pmix_info_t directives[],
                                   size_t ndirs)
{
    return fabric_register(fabric, directives, ndirs, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Fabric_register_nb(pmix_fabric_t *fabric, const pmix_info_t directives[],
                                      size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL ? fabric_register(fabric, directives, ndirs,
                                            SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
                          : sx_process_misused();
}

/* ---- registered fabrics ---------------------------------------------------------------------- */

static pmix_status_t judge(const pmix_fabric_t *fabric)
{
    if (fabric == NULL || !sx_process_ready()) {
        return sx_process_misused();
    }
    return is_registered(fabric) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* The host identifies the fabric by its index. */
static pmix_status_t update(pmix_fabric_t *fabric, struct sx_callback callback)
{
    pmix_info_t which = { .value = { .type = PMIX_SIZE } };
    const pmix_status_t rc = judge(fabric);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    PMIx_Load_key(which.key, PMIX_FABRIC_INDEX);
    which.value.data.size = fabric->index;
    return ask(fabric, PMIX_FABRIC_UPDATE_INFO, &which, 1, callback);
}

pmix_status_t PMIx_Fabric_update(pmix_fabric_t *fabric)
{
    return update(fabric, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL ? update(fabric, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
                          : sx_process_misused();
}

/* No request is needed. */
static pmix_status_t deregister(pmix_fabric_t *fabric, struct sx_callback callback)
{
    struct sx_op on_stack = SX_OP_INIT(&sx_op_plain, sx_primary(), .callback = callback);
    struct sx_op *op = &on_stack;
    pmix_status_t rc = judge(fabric);

    if (rc == PMIX_SUCCESS) {
        rc = sx_op_open(&op);
    }
    if (rc == PMIX_SUCCESS) {
        infos_drop(fabric);
        fabric->index = 0;
        fabric->module = NULL;
        rc = sx_op_answer(op, PMIX_SUCCESS);
    }
    return rc;
}

pmix_status_t PMIx_Fabric_deregister(pmix_fabric_t *fabric)
{
    return deregister(fabric, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc,
                                        void *cbdata)
{
    return cbfunc != NULL ? deregister(fabric, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
                          : sx_process_misused();
}

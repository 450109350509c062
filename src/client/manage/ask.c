/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ask.c - calls that the host answers: allocations, credentials, fabrics, job control and
 * PMIx_Abort, blocking or not. */
#include "client/manage/manage.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/role.h"
#include "base/clock.h"
#include "base/util.h"
#include "base/value/value.h"
#include "base/waiter.h"
#include "client/cleanup/cleanup.h"
#include "client/link/link.h"
#include "client/link/op.h"

/* ---- in a server ----------------------------------------------------------------------------- */

/* Checks as for a client's calls; a blocking call waits for the callback. */

#define PROCS_MAX 16384u /* as of a client's call */

bool sx_ask_is_own(void)
{
    return !sx_process_ready() && sx_role_server_get() != NULL;
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
    return server->ask(ask, cbfunc != NULL ? cbfunc : sx_results_ignored, cbdata);
}

/* A caller that waits for what the host answers. */
struct own_answer {
    struct sx_waiter waiter;
    pmix_info_t *info; /* a copy; NULL: no infos */
    size_t ninfo;
};

static void own_answered(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                         pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct own_answer *const answer = cbdata;

    if (info != NULL && ninfo > 0) {
        answer->info = PMIx_Info_create(ninfo);
        const pmix_status_t rc = answer->info != NULL
                                     ? sx_elements_copy(answer->info, info, ninfo, PMIX_INFO)
                                     : PMIX_ERR_OUT_OF_RESOURCE;
        answer->ninfo = answer->info != NULL ? ninfo : 0;
        status = rc != PMIX_SUCCESS ? rc : status;
    }
    sx_waiter_wake(&answer->waiter, status);
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
}

pmix_status_t sx_ask_own(enum sx_function function, const struct sx_role_ask *ask,
                         pmix_info_t **ret_info, size_t *ret_ninfo)
{
    struct own_answer answer = { .waiter = SX_WAITER_INIT };
    const bool wanted = ret_info != NULL && ret_ninfo != NULL;
    pmix_status_t rc = sx_role_may_wait();

    if (rc == PMIX_SUCCESS) {
        rc = sx_ask_own_nb(function, ask, own_answered, &answer);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_waiter_wait(&answer.waiter);
    }
    if (ret_info != NULL) {
        *ret_info = wanted ? answer.info : NULL;
    }
    if (ret_ninfo != NULL) {
        *ret_ninfo = wanted ? answer.ninfo : 0;
    }
    if (!wanted) {
        PMIx_Info_free(answer.info, answer.ninfo);
    }
    return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The directives are checked here, so that mistakes are in the caller's own log. */

/* Functions for the row of such a call. */
#define ASK_KIND SX_RESULTS_KIND(SX_MSG_ASK_HOST)

/* Check @info by the directives of @function, and send the request: @results is on the caller's
 * stack.  Return: as sx_op_ask; PMIX_ERR_INIT; as sx_options_read; PMIX_ERR_NOT_SUPPORTED when the
 * host has no such entry. */
static pmix_status_t ask_host(struct sx_results_op *results, enum sx_function function,
                              const struct sx_ask *ask, const pmix_info_t info[], size_t ninfo)
{
    struct sx_draft draft = { .head = ask, .parts = { [SX_ASK_INFOS] = { info, ninfo } } };

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    const pmix_status_t rc = sx_options_read(function, info, ninfo, NULL);

    return rc == PMIX_SUCCESS ? sx_op_ask(&results->op, &draft) : rc;
}

/* ---- allocations and job control ------------------------------------------------------------- */

/* Two calls of one shape, each with a row; in a server the host's own entry answers. */
struct row {
    enum sx_function function;
    struct sx_op_kind kind;
    bool needs_infos;
    /* Check the arguments and send the request of a client. */
    pmix_status_t (*send)(struct sx_results_op *results, const struct sx_role_ask *ask);
};

static bool row_refuses(const struct row *row, const struct sx_role_ask *ask)
{
    return row->needs_infos && ask->ninfo == 0;
}

static pmix_status_t row_call(const struct row *row, const struct sx_role_ask *ask,
                              pmix_info_t **results, size_t *nresults)
{
    sx_results_none(results, nresults);
    if (sx_ask_is_own()) {
        return row_refuses(row, ask) ? PMIX_ERR_BAD_PARAM
                                     : sx_ask_own(row->function, ask, results, nresults);
    }
    struct sx_results_op op = { .op = SX_OP_INIT(&row->kind, sx_primary()) };
    const pmix_status_t rc = row->send(&op, ask);

    sx_results_give(&op, results, nresults);
    return rc;
}

/* Without @cbfunc, the caller wants no result. */
static pmix_status_t row_call_nb(const struct row *row, const struct sx_role_ask *ask,
                                 pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    if (sx_ask_is_own()) {
        return row_refuses(row, ask) ? PMIX_ERR_BAD_PARAM
                                     : sx_ask_own_nb(row->function, ask, cbfunc, cbdata);
    }
    const struct sx_callback callback = cbfunc != NULL
                                            ? SX_CALLBACK(SX_SHAPE_INFO, info, cbfunc, cbdata)
                                            : SX_CALLBACK_IGNORED;
    struct sx_results_op op = { .op = SX_OP_INIT(&row->kind, sx_primary(), .callback = callback) };

    return row->send(&op, ask);
}

/* The host's scheduler answers. */
static pmix_status_t allocation_send(struct sx_results_op *results, const struct sx_role_ask *ask)
{
    return ask_host(results, SX_OF_ALLOCATION,
                    &(struct sx_ask){ .kind = SX_ASK_ALLOCATION, .detail = ask->detail }, ask->info,
                    ask->ninfo);
}

static const struct row allocation = { .function = SX_OF_ALLOCATION,
                                       .kind = ASK_KIND,
                                       .send = allocation_send };

pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive, pmix_info_t *info,
                                      size_t ninfo, pmix_info_t **results, size_t *nresults)
{
    return row_call(&allocation,
                    &(struct sx_role_ask){ .kind = SX_ROLE_ASK_ALLOCATION,
                                           .detail = directive,
                                           .info = info,
                                           .ninfo = ninfo },
                    results, nresults);
}

pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive, pmix_info_t *info,
                                         size_t ninfo, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL ? row_call_nb(&allocation,
                                        &(struct sx_role_ask){ .kind = SX_ROLE_ASK_ALLOCATION,
                                                               .detail = directive,
                                                               .info = info,
                                                               .ninfo = ninfo },
                                        cbfunc, cbdata)
                          : sx_process_misused();
}

/* The server carries the directives out, or its host, whose results are passed on. */
static pmix_status_t control_send(struct sx_results_op *results, const struct sx_role_ask *ask)
{
    const struct sx_job_control head = { .proc_count = 0 };
    pmix_info_t *spelled;

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (ask->info == NULL || ask->ninfo == 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_wire_procs_check(ask->procs, ask->nprocs);
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(results->op.link);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_cleanup_spell(ask->info, ask->ninfo, &spelled);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_draft draft = { .head = &head,
                              .parts = { [SX_CONTROL_PROCS] = { ask->procs, ask->nprocs },
                                         [SX_CONTROL_INFOS] = { spelled, ask->ninfo } } };

    rc = sx_op_ask(&results->op, &draft);
    sx_cleanup_free(spelled, ask->info, ask->ninfo);
    return rc;
}

static const struct row control = { .function = SX_OF_JOB_CONTROL,
                                    .kind = SX_RESULTS_KIND(SX_MSG_JOB_CONTROL),
                                    .needs_infos = true,
                                    .send = control_send };

pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets,
                               const pmix_info_t directives[], size_t ndirs, pmix_info_t **results,
                               size_t *nresults)
{
    return row_call(&control,
                    &(struct sx_role_ask){ .kind = SX_ROLE_ASK_CONTROL,
                                           .procs = targets,
                                           .nprocs = ntargets,
                                           .info = directives,
                                           .ninfo = ndirs },
                    results, nresults);
}

/* Open MPI does not ask for the result. */
pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[], size_t ntargets,
                                  const pmix_info_t directives[], size_t ndirs,
                                  pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return row_call_nb(&control,
                       &(struct sx_role_ask){ .kind = SX_ROLE_ASK_CONTROL,
                                              .procs = targets,
                                              .nprocs = ntargets,
                                              .info = directives,
                                              .ninfo = ndirs },
                       cbfunc, cbdata);
}

/* ---- credentials ----------------------------------------------------------------------------- */

/* A credential travels as an info before the others. */

/* ---- get ------------------------------------------------------------------------------------- */

static bool has_credential(const struct sx_op *op)
{
    return op->ninfo > 0 && op->info[0].value.type == PMIX_BYTE_OBJECT &&
           PMIx_Check_key(op->info[0].key, PMIX_CREDENTIAL);
}

static bool get_finish(struct sx_op *op)
{
    (void)sx_results_finish(op);
    if (op->status == PMIX_SUCCESS && !has_credential(op)) {
        op->status = PMIX_ERR_NOT_FOUND; /* the host had no credential to give */
    }
    return true;
}

static const struct sx_op_kind get_kind = { .size = sizeof(struct sx_results_op),
                                            .request = SX_MSG_ASK_HOST,
                                            .answered = sx_results_answered,
                                            .finish = get_finish,
                                            .release = sx_results_release };

static pmix_status_t credential_get(struct sx_results_op *op, const pmix_info_t info[],
                                    size_t ninfo)
{
    return ask_host(op, SX_OF_GET_CREDENTIAL, &(struct sx_ask){ .kind = SX_ASK_CREDENTIAL }, info,
                    ninfo);
}

pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo,
                                  pmix_byte_object_t *credential)
{
    struct sx_results_op results = { .op = SX_OP_INIT(&get_kind, sx_primary()) };

    if (credential == NULL) {
        return sx_process_misused();
    }
    const pmix_status_t rc = credential_get(&results, info, ninfo);

    *credential = (pmix_byte_object_t){ .bytes = NULL };
    if (rc == PMIX_SUCCESS) {
        *credential = results.op.info[0].value.data.bo;
        results.op.info[0].value.type = PMIX_UNDEF;
    }
    sx_results_release(&results.op);
    return rc;
}

pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo,
                                     pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_CREDENTIAL, credential, cbfunc,
                                                    cbdata);
    struct sx_results_op results = { .op = SX_OP_INIT(&get_kind, sx_primary(),
                                                      .callback = callback) };

    return cbfunc != NULL ? credential_get(&results, info, ninfo) : sx_process_misused();
}

/* ---- validate -------------------------------------------------------------------------------- */

static const struct sx_op_kind validate_kind = ASK_KIND;

static pmix_status_t credential_validate(struct sx_results_op *op,
                                         const pmix_byte_object_t *credential,
                                         const pmix_info_t info[], size_t ninfo)
{
    if (credential == NULL || credential->bytes == NULL || credential->size == 0 ||
        (info == NULL && ninfo != 0)) {
        return sx_process_misused();
    }
    pmix_info_t *const infos = calloc(ninfo + 1, sizeof(*infos));

    if (infos == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    PMIx_Load_key(infos[0].key, PMIX_CREDENTIAL);
    infos[0].value = (pmix_value_t){ .type = PMIX_BYTE_OBJECT, .data.bo = *credential };
    if (ninfo > 0) {
        memcpy(&infos[1], info, ninfo * sizeof(*infos));
    }
    const bool waits = !sx_callback_is_given(&op->op.callback);
    const pmix_status_t rc = sx_ask_is_own() && waits
                                 ? sx_role_server_get()->validate(infos, ninfo + 1, &op->op.info,
                                                                  &op->op.ninfo)
                                 : ask_host(op, SX_OF_VALIDATE_CREDENTIAL,
                                            &(struct sx_ask){ .kind = SX_ASK_VALIDATION }, infos,
                                            ninfo + 1);

    free(infos);
    return rc;
}

pmix_status_t PMIx_Validate_credential(const pmix_byte_object_t *credential,
                                       const pmix_info_t info[], size_t ninfo,
                                       pmix_info_t **results, size_t *nresults)
{
    sx_results_none(results, nresults);
    struct sx_results_op op = { .op = SX_OP_INIT(&validate_kind, sx_primary()) };
    const pmix_status_t rc = credential_validate(&op, credential, info, ninfo);

    sx_results_give(&op, results, nresults);
    return rc;
}

pmix_status_t PMIx_Validate_credential_nb(const pmix_byte_object_t *credential,
                                          const pmix_info_t info[], size_t ninfo,
                                          pmix_validation_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_VALIDATION, validation, cbfunc,
                                                    cbdata);
    struct sx_results_op op = { .op = SX_OP_INIT(&validate_kind, sx_primary(),
                                                 .callback = callback) };

    return cbfunc != NULL ? credential_validate(&op, credential, info, ninfo)
                          : sx_process_misused();
}

/* ---- fabrics --------------------------------------------------------------------------------- */

/* The host's data of a fabric, in the caller's pmix_fabric_t.
 *
 *     constructed --PMIx_Fabric_register--> registered --PMIx_Fabric_deregister--> as constructed
 *                                             \--PMIx_Fabric_update--^
 *
 * A call that fails leaves the fabric unchanged.  The name and the memory it points at stay the
 * caller's. */

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
                                               .release = sx_results_release };

static pmix_status_t fabric_ask(pmix_fabric_t *fabric, pmix_fabric_operation_t operation,
                                const pmix_info_t info[], size_t ninfo, struct sx_callback callback)
{
    const struct sx_ask what = { .kind = SX_ASK_FABRIC, .detail = operation };
    struct fabric_op op = {
        .results.op = SX_OP_INIT(&fabric_kind, sx_primary(), .callback = callback), .fabric = fabric
    };
    const pmix_status_t rc = sx_ask_is_own()
                                 ? PMIX_ERR_NOT_SUPPORTED
                                 : ask_host(&op.results, SX_OF_FABRIC, &what, info, ninfo);

    if (!sx_callback_is_given(&callback)) {
        sx_results_release(&op.results.op);
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
    return is_registered(fabric)
               ? PMIX_ERR_EXISTS
               : fabric_ask(fabric, PMIX_FABRIC_REQUEST_INFO, info, ninfo, callback);
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

static pmix_status_t fabric_judge(const pmix_fabric_t *fabric)
{
    if (fabric == NULL || !sx_process_ready()) {
        return sx_process_misused();
    }
    return is_registered(fabric) ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;
}

/* The host identifies the fabric by its index. */
static pmix_status_t fabric_update(pmix_fabric_t *fabric, struct sx_callback callback)
{
    pmix_info_t which = { .value = { .type = PMIX_SIZE } };
    const pmix_status_t rc = fabric_judge(fabric);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    PMIx_Load_key(which.key, PMIX_FABRIC_INDEX);
    which.value.data.size = fabric->index;
    return fabric_ask(fabric, PMIX_FABRIC_UPDATE_INFO, &which, 1, callback);
}

pmix_status_t PMIx_Fabric_update(pmix_fabric_t *fabric)
{
    return fabric_update(fabric, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Fabric_update_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL ? fabric_update(fabric, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
                          : sx_process_misused();
}

/* No request is needed. */
static pmix_status_t fabric_deregister(pmix_fabric_t *fabric, struct sx_callback callback)
{
    struct sx_op on_stack = SX_OP_INIT(&sx_op_plain, sx_primary(), .callback = callback);
    struct sx_op *op = &on_stack;
    pmix_status_t rc = fabric_judge(fabric);

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
    return fabric_deregister(fabric, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Fabric_deregister_nb(pmix_fabric_t *fabric, pmix_op_cbfunc_t cbfunc,
                                        void *cbdata)
{
    return cbfunc != NULL ? fabric_deregister(fabric, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
                          : sx_process_misused();
}

/* ---- PMIx_Abort ------------------------------------------------------------------------------ */

/* Ask the host to end processes.  The host usually ends the caller with the others, so the
 * answer often never arrives; the call waits for it no longer than SX_ABORT_TIMEOUT_NS. */

#define SX_ABORT_TIMEOUT_NS (5 * SX_NS_PER_SEC)
#define SX_ABORT_MESSAGE_MAX 65536u

pmix_status_t PMIx_Abort(int status, const char *msg, pmix_proc_t procs[], size_t nprocs)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op), .request = SX_MSG_ABORT };
    struct sx_op op = SX_OP_INIT(&kind, sx_primary());
    const struct sx_abort head = { .status = status };
    struct sx_draft draft = {
        .head = &head,
        .parts = { [SX_ABORT_PROCS] = { procs, nprocs },
                   [SX_ABORT_TEXT] = { msg, msg == NULL
                                                ? 0
                                                : strnlen(msg, SX_ABORT_MESSAGE_MAX - 1) + 1 } },
    };

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    op.deadline_ns = sx_deadline_ns(sx_now_ns(), SX_ABORT_TIMEOUT_NS);
    const pmix_status_t rc = sx_wire_procs_check(procs, nprocs);

    return rc == PMIX_SUCCESS ? sx_op_ask(&op, &draft) : rc;
}

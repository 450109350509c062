/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* credential.c - PMIx_Get_credential and PMIx_Validate_credential, blocking or not.
 *
 * A credential travels as an info before the others. */
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/role.h"
#include "base/util.h"
#include "base/value/value.h"
#include "client/link/link.h"
#include "client/manage/host_request.h"
#include "client/manage/request.h"

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
                                            .told = sx_results_told };

static pmix_status_t get(struct sx_results_op *op, const pmix_info_t info[], size_t ninfo)
{
    return sx_ask_host(op, SX_OF_GET_CREDENTIAL, &(struct sx_ask){ .kind = SX_ASK_CREDENTIAL },
                       info, ninfo);
}

pmix_status_t PMIx_Get_credential(const pmix_info_t info[], size_t ninfo,
                                  pmix_byte_object_t *credential)
{
    struct sx_results_op results = { .op = SX_OP_INIT(&get_kind, sx_primary()) };

    if (credential == NULL) {
        return sx_process_misused();
    }
    const pmix_status_t rc = get(&results, info, ninfo);

    *credential = (pmix_byte_object_t){ .bytes = NULL };
    if (rc == PMIX_SUCCESS) {
        *credential = results.op.info[0].value.data.bo;
        results.op.info[0].value.type = PMIX_UNDEF;
    }
    sx_results_told(&results.op);
    return rc;
}

pmix_status_t PMIx_Get_credential_nb(const pmix_info_t info[], size_t ninfo,
                                     pmix_credential_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_CREDENTIAL, credential, cbfunc,
                                                    cbdata);
    struct sx_results_op results = { .op = SX_OP_INIT(&get_kind, sx_primary(),
                                                      .callback = callback) };

    return cbfunc != NULL ? get(&results, info, ninfo) : sx_process_misused();
}

/* ---- validate -------------------------------------------------------------------------------- */

static const struct sx_op_kind validate_kind = SX_ASK_KIND;

static pmix_status_t validate(struct sx_results_op *op, const pmix_byte_object_t *credential,
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
                                 : sx_ask_host(op, SX_OF_VALIDATE_CREDENTIAL,
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
    const pmix_status_t rc = validate(&op, credential, info, ninfo);

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

    return cbfunc != NULL ? validate(&op, credential, info, ninfo) : sx_process_misused();
}

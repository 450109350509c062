/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* allocation.c - PMIx_Allocation_request, blocking or not: the host's scheduler answers. */
#include "base/util.h"
#include "client/link/link.h"
#include "client/manage/host_request.h"
#include "client/manage/request.h"

static const struct sx_op_kind allocation_kind = SX_ASK_KIND;

static pmix_status_t request(struct sx_results_op *results, pmix_alloc_directive_t directive,
                             const pmix_info_t info[], size_t ninfo)
{
    return sx_ask_host(results, SX_OF_ALLOCATION,
                       &(struct sx_ask){ .kind = SX_ASK_ALLOCATION, .detail = directive }, info,
                       ninfo);
}

/* The same call in a host. */
#define OF_OWN(directive, infos, count)                    \
    ((struct sx_role_ask){ .kind = SX_ROLE_ASK_ALLOCATION, \
                           .detail = (directive),          \
                           .info = (infos),                \
                           .ninfo = (count) })

pmix_status_t PMIx_Allocation_request(pmix_alloc_directive_t directive, pmix_info_t *info,
                                      size_t ninfo, pmix_info_t **results, size_t *nresults)
{
    sx_results_none(results, nresults);
    if (sx_ask_is_own()) {
        return sx_ask_own(SX_OF_ALLOCATION, &OF_OWN(directive, info, ninfo), results, nresults);
    }
    struct sx_results_op op = { .op = SX_OP_INIT(&allocation_kind, sx_primary()) };
    const pmix_status_t rc = request(&op, directive, info, ninfo);

    sx_results_give(&op, results, nresults);
    return rc;
}

pmix_status_t PMIx_Allocation_request_nb(pmix_alloc_directive_t directive, pmix_info_t *info,
                                         size_t ninfo, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    if (sx_ask_is_own() && cbfunc != NULL) {
        return sx_ask_own_nb(SX_OF_ALLOCATION, &OF_OWN(directive, info, ninfo), cbfunc, cbdata);
    }
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_INFO, info, cbfunc, cbdata);
    struct sx_results_op op = { .op = SX_OP_INIT(&allocation_kind, sx_primary(),
                                                 .callback = callback) };

    return cbfunc != NULL ? request(&op, directive, info, ninfo) : sx_process_misused();
}

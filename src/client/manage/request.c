/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* request.c - the directives are checked here, so that mistakes are in the caller's own log. */
#include "client/manage/request.h"

#include "client/link/link.h"
#include "client/link/op.h"

pmix_status_t sx_ask_host(struct sx_results_op *results, enum sx_function function,
                          const struct sx_ask *ask, const pmix_info_t info[], size_t ninfo)
{
    struct sx_draft draft = { .head = ask, .parts = { [SX_ASK_INFOS] = { info, ninfo } } };

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    const pmix_status_t rc = sx_options_read(function, info, ninfo, NULL);

    return rc == PMIX_SUCCESS ? sx_op_ask(&results->op, &draft) : rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log.c - PMIx_Log, blocking or not: send the lines that a process wants logged to the server.
 *
 * Mistakes are found here, before anything is sent. */
#include "base/call/directive_tables.h"
#include "base/call/role.h"
#include "base/stream/log_channel.h"
#include "client/link/link.h"
#include "client/link/op.h"

static pmix_status_t judge(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
                           size_t ndirs)
{
    struct sx_log_options options = { 0 };
    const pmix_status_t rc = sx_log_data_judge(data, ndata);

    return rc == PMIX_SUCCESS ? sx_options_read(SX_OF_LOG, directives, ndirs, &options) : rc;
}

static pmix_status_t log_all(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
                             size_t ndirs, struct sx_callback callback)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op), .request = SX_MSG_LOG };
    struct sx_op op = SX_OP_INIT(&kind, sx_primary(), .callback = callback);
    struct sx_draft draft = {
        .head = &(struct sx_log_request){ 0 },
        .parts = { [SX_LOG_DATA] = { data, ndata }, [SX_LOG_DIRECTIVES] = { directives, ndirs } }
    };

    return sx_op_ask(&op, &draft);
}

pmix_status_t PMIx_Log(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
                       size_t ndirs)
{
    const struct sx_role_server *const server = sx_role_server_get();

    if (server == NULL && !sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    const pmix_status_t rc = judge(data, ndata, directives, ndirs);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return server != NULL ? server->log(data, ndata, directives, ndirs, NULL, NULL)
                          : log_all(data, ndata, directives, ndirs, SX_CALLBACK_NONE);
}

static void nobody_asks(pmix_status_t status, void *cbdata)
{
    (void)status;
    (void)cbdata;
}

pmix_status_t PMIx_Log_nb(const pmix_info_t data[], size_t ndata, const pmix_info_t directives[],
                          size_t ndirs, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_role_server *const server = sx_role_server_get();

    if (server == NULL && !sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    const pmix_status_t rc = judge(data, ndata, directives, ndirs);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (server != NULL) {
        return server->log(data, ndata, directives, ndirs, cbfunc != NULL ? cbfunc : nobody_asks,
                           cbdata);
    }
    return log_all(data, ndata, directives, ndirs,
                   cbfunc != NULL ? SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata)
                                  : SX_CALLBACK_IGNORED);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* abort.c - PMIx_Abort: ask the host to end processes.
 *
 * The host usually ends the caller with the others, so the answer often never comes; it is waited
 * for no longer than SX_ABORT_TIMEOUT_NS. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "client/link/process.h"
#include "client/link/procs.h"
#include "client/link/request.h"

#define SX_ABORT_TIMEOUT_NS (5 * SX_NS_PER_SEC)
#define SX_ABORT_MESSAGE_MAX 65536u

pmix_status_t PMIx_Abort(int status, const char *msg, pmix_proc_t procs[], size_t nprocs)
{
    struct sx_op op = SX_OP_INIT(&sx_op_plain, &sx_process.link);
    const struct sx_abort head = { .status = status };
    struct sx_draft draft = {
        .head = &head,
        .parts = { [SX_ABORT_PROCS] = { procs, nprocs },
                   [SX_ABORT_TEXT] = { msg, msg == NULL
                                                ? 0
                                                : strnlen(msg, SX_ABORT_MESSAGE_MAX - 1) + 1 } },
    };
    struct iovec body;

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    pmix_status_t rc = sx_wire_procs_check(procs, nprocs);
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(&sx_process.link);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_wire_write(SX_MSG_ABORT, &draft, NULL, 0, &body);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_request(&op, SX_MSG_ABORT, &body, 1, sx_deadline_ns(sx_now_ns(), SX_ABORT_TIMEOUT_NS));
    free(body.iov_base);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* abort.c - PMIx_Abort: ask the host to end processes.
 *
 * The host usually ends the caller with the others, so the answer often never arrives; the call
 * waits for it no longer than SX_ABORT_TIMEOUT_NS. */
#include <string.h>

#include "base/clock.h"
#include "client/link/link.h"
#include "client/link/op.h"

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

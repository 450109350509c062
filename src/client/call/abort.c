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
    const size_t msg_size = msg != NULL ? strnlen(msg, SX_ABORT_MESSAGE_MAX - 1) + 1 : 0;
    char end[1] = "";
    size_t procs_size;

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    pmix_status_t rc = sx_wire_procs_size(procs, nprocs, &procs_size);
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(&sx_process.link);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    uint8_t *const names = procs_size != 0 ? malloc(procs_size) : NULL;
    if (procs_size != 0 && names == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    (void)sx_wire_procs_write(names, procs, nprocs);
    struct sx_abort abort_body = { .status = status,
                                   .proc_count = (uint32_t)nprocs,
                                   .msg_size = (uint32_t)msg_size };
    const struct iovec iov[] = {
        { &abort_body, sizeof(abort_body) },
        { names, procs_size },
        { (void *)(uintptr_t)msg, msg_size != 0 ? msg_size - 1 : 0 },
        { end, msg_size != 0 ? 1 : 0 }, /* a text that was cut ends too */
    };
    rc = sx_request(&op, SX_MSG_ABORT, iov, SX_COUNT(iov),
                    sx_deadline_ns(sx_now_ns(), SX_ABORT_TIMEOUT_NS));
    free(names);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job_control.c - PMIx_Job_control, blocking or not: directives that the server carries out.
 *
 * No directive that is supported has results, so none are returned. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/flat.h"
#include "client/call/cleanup.h"
#include "client/link/process.h"
#include "client/link/procs.h"
#include "client/link/request.h"

/* A request as it travels. */
struct message {
    uint8_t *bytes;
    size_t size;
};

/* Encode what has been judged; the caller frees message.bytes. */
static pmix_status_t message_encode(struct message *message, const pmix_proc_t *targets,
                                    size_t ntargets, size_t procs_size,
                                    const pmix_info_t *directives, size_t ndirs)
{
    struct sx_job_control head = { .proc_count = (uint32_t)ntargets };
    size_t info_size;
    pmix_status_t rc = sx_flat_infos_size(directives, ndirs, &info_size);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    head.info_size = info_size;
    message->size = sizeof(head) + procs_size + info_size;
    rc = sx_message_size_judge(SX_MSG_JOB_CONTROL, message->size);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    message->bytes = malloc(message->size);
    if (message->bytes == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    memcpy(message->bytes, &head, sizeof(head));
    uint8_t *const infos = sx_wire_procs_write(message->bytes + sizeof(head), targets, ntargets);
    rc = sx_flat_infos_encode(directives, ndirs, infos, info_size);
    if (rc == PMIX_SUCCESS) {
        rc = sx_wire_infos_judge(infos, info_size, SX_REQUEST_HEAP_MAX);
    }
    if (rc != PMIX_SUCCESS) {
        free(message->bytes);
    }
    return rc;
}

/* Judge the arguments and encode them; the caller frees message.bytes. */
static pmix_status_t message_make(struct message *message, const pmix_proc_t *targets,
                                  size_t ntargets, const pmix_info_t *directives, size_t ndirs)
{
    pmix_info_t *spelled;
    size_t procs_size;

    message->bytes = NULL;
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (directives == NULL || ndirs == 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_wire_procs_size(targets, ntargets, &procs_size);
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(&sx_process.link);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_cleanup_spell(directives, ndirs, &spelled);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = message_encode(message, targets, ntargets, procs_size, spelled, ndirs);
    sx_cleanup_free(spelled, directives, ndirs);
    return rc;
}

static const struct sx_op_kind control_kind = { .size = sizeof(struct sx_op),
                                                .request = SX_MSG_JOB_CONTROL };

static pmix_status_t control(const pmix_proc_t targets[], size_t ntargets,
                             const pmix_info_t directives[], size_t ndirs,
                             struct sx_callback callback)
{
    struct sx_op here = SX_OP_INIT(&control_kind, &sx_process.link, .callback = callback),
                 *op = &here;
    struct message message;

    pmix_status_t rc = message_make(&message, targets, ntargets, directives, ndirs);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const struct iovec iov = { message.bytes, message.size };
    rc = sx_op_open(&op);
    if (rc == PMIX_SUCCESS) {
        rc = sx_op_ask(op, &iov, 1);
    }
    free(message.bytes);
    return rc;
}

pmix_status_t PMIx_Job_control(const pmix_proc_t targets[], size_t ntargets,
                               const pmix_info_t directives[], size_t ndirs, pmix_info_t **results,
                               size_t *nresults)
{
    const pmix_status_t rc = control(targets, ntargets, directives, ndirs, SX_CALLBACK_NONE);

    if (rc == PMIX_SUCCESS && results != NULL) {
        *results = NULL;
    }
    if (rc == PMIX_SUCCESS && nresults != NULL) {
        *nresults = 0;
    }
    return rc;
}

/* Open MPI does not ask how it went. */
pmix_status_t PMIx_Job_control_nb(const pmix_proc_t targets[], size_t ntargets,
                                  const pmix_info_t directives[], size_t ndirs,
                                  pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return control(targets, ntargets, directives, ndirs,
                   cbfunc != NULL ? SX_CALLBACK(SX_SHAPE_INFO, info, cbfunc, cbdata)
                                  : SX_CALLBACK_IGNORED);
}

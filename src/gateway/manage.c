/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* manage.c - the end of processes that a rank asks for. */
#include <string.h>

#include "gateway/request.h"

/* STATUS, STRING, procs.  None of them is the whole job.  The public API has no form of this call
 * that does not wait; a rank that aborts asks for nothing else. */
pmix_status_t sx_gateway_abort(struct sx_request *request, struct sx_wire_reader *body)
{
    const pmix_status_t status = sx_codec_get_status(body);
    const char *const text = sx_codec_get_text(body);

    request->procs = sx_codec_get_procs(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    sx_request_answer(request,
                      PMIx_Abort(status, text, request->procs.at, request->procs.count));
    return PMIX_SUCCESS;
}

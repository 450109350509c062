/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.c - QUERY, LOG, and the processes and nodes of a namespace. */
#include <stdlib.h>

#include "gateway/request.h"

/* QUERYs. */
pmix_status_t sx_gateway_query(struct sx_request *request, struct sx_wire_reader *body)
{
    sx_request_get_array(request, body, PMIX_QUERY);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return PMIx_Query_info_nb(request->array.at, request->array.count, sx_request_on_infos,
                              request);
}

/* TIME, infos, infos (directives).  The time is when the rank asked; it comes at once. */
pmix_status_t sx_gateway_log(struct sx_request *request, struct sx_wire_reader *body)
{
    time_t asked;

    sx_codec_unpack(body, PMIX_TIME, &asked, 1);
    sx_request_get_array(request, body, PMIX_INFO);
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return sx_request_called(request,
                             PMIx_Log_nb(request->array.at, request->array.count, request->infos.at,
                                         request->infos.count, sx_request_on_status, request));
}

/* STRING node (NULL: its own), STRING nspace (NULL: all). */
pmix_status_t sx_gateway_resolve_peers(struct sx_request *request, struct sx_wire_reader *body)
{
    const char *const node = sx_codec_get_text(body), *const nspace = sx_codec_get_text(body);
    struct sx_wire_writer answer;
    pmix_status_t rc;

    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    rc = PMIx_Resolve_peers(node, nspace, &request->procs.at, &request->procs.count);
    if (rc == PMIX_SUCCESS) {
        answer = sx_request_body(request, rc);
        sx_codec_put_array(&answer, PMIX_PROC, request->procs.at, request->procs.count);
        sx_request_answer_body(request, &answer);
    }
    return rc;
}

/* STRING nspace. */
pmix_status_t sx_gateway_resolve_nodes(struct sx_request *request, struct sx_wire_reader *body)
{
    const char *const nspace = sx_codec_get_text(body);
    struct sx_wire_writer answer;
    pmix_status_t rc;

    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    rc = PMIx_Resolve_nodes(nspace, &request->text);
    if (rc == PMIX_SUCCESS) {
        answer = sx_request_body(request, rc);
        sx_codec_put_text(&answer, request->text);
        sx_request_answer_body(request, &answer);
    }
    return rc;
}

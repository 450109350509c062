/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* manage.c - requests about processes and jobs: abort, spawn, job control, allocation, monitors and
 * credentials; and fabrics of the host. */
#include <stdlib.h>
#include <string.h>

#include "gateway/request.h"

/* ---- ABORT ----------------------------------------------------------------------------------- */

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
    sx_request_answer(request, PMIx_Abort(status, text, request->procs.at, request->procs.count));
    return PMIX_SUCCESS;
}

/* ---- SPAWNNB --------------------------------------------------------------------------------- */

/* STATUS, STRING nspace, and the new job's data if they can be had. */
static void spawn_resume(struct sx_request *request)
{
    struct sx_wire_writer answer = sx_request_body(request, request->status);

    sx_codec_put_text(&answer, request->proc.nspace);
    if (sx_gateway_nspace_write(&request->out, request->proc.nspace) == PMIX_SUCCESS) {
        sx_wire_put(&answer, request->out.bytes, request->out.size);
    }
    sx_request_answer_body(request, &answer);
}

static void on_spawned(pmix_status_t status, pmix_nspace_t nspace, void *cbdata)
{
    struct sx_request *const request = cbdata;

    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        sx_request_answer(request, status);
        return;
    }
    request->status = status;
    PMIX_LOAD_NSPACE(request->proc.nspace, nspace);
    sx_request_defer(request, spawn_resume);
}

/* infos, APPs. */
pmix_status_t sx_gateway_spawn(struct sx_request *request, struct sx_wire_reader *body)
{
    request->infos = sx_codec_get_infos(body);
    sx_request_get_array(request, body, PMIX_APP);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return PMIx_Spawn_nb(request->infos.at, request->infos.count, request->array.at,
                         request->array.count, on_spawned, request);
}

/* ---- Requests with infos for an answer ------------------------------------------------------- */

/* ALLOC_DIRECTIVE, infos. */
pmix_status_t sx_gateway_allocate(struct sx_request *request, struct sx_wire_reader *body)
{
    const pmix_alloc_directive_t directive = sx_codec_get_u8(body, PMIX_ALLOC_DIRECTIVE);

    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return sx_request_called(request, PMIx_Allocation_request_nb(directive, request->infos.at,
                                                                 request->infos.count,
                                                                 sx_request_on_infos, request));
}

/* procs, infos. */
pmix_status_t sx_gateway_job_control(struct sx_request *request, struct sx_wire_reader *body)
{
    request->procs = sx_codec_get_procs(body);
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return sx_request_called(request, PMIx_Job_control_nb(request->procs.at, request->procs.count,
                                                          request->infos.at, request->infos.count,
                                                          sx_request_on_infos, request));
}

/* INFO, STATUS, infos. */
pmix_status_t sx_gateway_monitor(struct sx_request *request, struct sx_wire_reader *body)
{
    pmix_info_t *const monitor = calloc(1, sizeof(*monitor));
    pmix_status_t error;

    if (monitor == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    request->array.at = monitor;
    request->array.type = PMIX_INFO;
    request->array.count = sx_codec_unpack(body, PMIX_INFO, monitor, 1) ? 1 : 0;
    error = sx_codec_get_status(body);
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return sx_request_called(request, PMIx_Process_monitor_nb(monitor, error, request->infos.at,
                                                              request->infos.count,
                                                              sx_request_on_infos, request));
}

void sx_gateway_heartbeat(void)
{
    PMIx_Heartbeat();
}

/* ---- Credentials ----------------------------------------------------------------------------- */

static void on_credential(pmix_status_t status, pmix_byte_object_t *credential, pmix_info_t *infos,
                          size_t count, void *cbdata)
{
    struct sx_request *const request = cbdata;
    struct sx_wire_writer body = sx_request_body(request, status);

    if (status == PMIX_SUCCESS && credential != NULL) {
        sx_codec_pack(&body, PMIX_BYTE_OBJECT, credential, 1);
        sx_codec_put_infos(&body, infos, infos == NULL ? 0 : count);
    }
    sx_request_answer_body(request, &body);
}

/* infos. */
pmix_status_t sx_gateway_get_credential(struct sx_request *request, struct sx_wire_reader *body)
{
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return PMIx_Get_credential_nb(request->infos.at, request->infos.count, on_credential, request);
}

static void on_validated(pmix_status_t status, pmix_info_t *infos, size_t count, void *cbdata)
{
    sx_request_on_infos(status, infos, count, cbdata, NULL, NULL);
}

/* BYTE_OBJECT, infos. */
pmix_status_t sx_gateway_validate_credential(struct sx_request *request,
                                             struct sx_wire_reader *body)
{
    pmix_byte_object_t *const credential = calloc(1, sizeof(*credential));

    if (credential == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    request->array.at = credential;
    request->array.type = PMIX_BYTE_OBJECT;
    request->array.count = sx_codec_unpack(body, PMIX_BYTE_OBJECT, credential, 1) ? 1 : 0;
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return PMIx_Validate_credential_nb(credential, request->infos.at, request->infos.count,
                                       on_validated, request);
}

/* ---- Fabrics --------------------------------------------------------------------------------- */

/* Our call keeps what the host said in its own fabric.  The rank's library does so, too, and names
 * a fabric by its index; it lets go of it without a message. */
struct fabric {
    struct sx_request *request;
    pmix_fabric_t ours;
};

static struct fabric *fabric_new(struct sx_request *request)
{
    struct fabric *const fabric = calloc(1, sizeof(*fabric));

    if (fabric != NULL) {
        fabric->request = request;
    }
    return fabric;
}

static void on_fabric(pmix_status_t status, void *cbdata)
{
    struct fabric *const fabric = cbdata;
    struct sx_session *const session = fabric->request->session;

    if (status == PMIX_SUCCESS) {
        session->fabric = fabric->ours;
        session->fabric.info = NULL;
        session->fabric.ninfo = 0;
    }
    sx_request_on_infos(status, fabric->ours.info, fabric->ours.ninfo, fabric->request, NULL, NULL);
    if (fabric->ours.info != NULL) {
        PMIX_INFO_FREE(fabric->ours.info, fabric->ours.ninfo);
    }
    free(fabric);
}

/* infos. */
pmix_status_t sx_gateway_fabric_register(struct sx_request *request, struct sx_wire_reader *body)
{
    struct fabric *fabric;
    pmix_status_t rc;

    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    fabric = fabric_new(request);
    if (fabric == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = PMIx_Fabric_register_nb(&fabric->ours, request->infos.at, request->infos.count, on_fabric,
                                 fabric);
    if (rc != PMIX_SUCCESS) {
        free(fabric);
    }
    return rc;
}

/* SIZE index, of any fabric that was registered: the host judges it. */
pmix_status_t sx_gateway_fabric_update(struct sx_request *request, struct sx_wire_reader *body)
{
    const size_t index = sx_codec_get_size(body);
    struct fabric *fabric;
    pmix_status_t rc;

    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    fabric = fabric_new(request);
    if (fabric == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    fabric->ours = request->session->fabric;
    fabric->ours.index = index;
    rc = PMIx_Fabric_update_nb(&fabric->ours, on_fabric, fabric);
    if (rc != PMIX_SUCCESS) {
        free(fabric);
    }
    return rc;
}

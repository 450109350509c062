/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective.c - CONNECTNB and DISCONNECTNB, and groups.
 *
 * The answers to GROUP_CONSTRUCT differ between releases that use one encoding, so they go by the
 * version of the handshake. */
#include <stdlib.h>
#include <string.h>

#include "base/value/value.h"
#include "gateway/request.h"

/* ---- CONNECTNB ------------------------------------------------------------------------------- */

/* Whether @index is the first of the list with its namespace, which is another than the rank's. */
static bool is_new_nspace(const struct sx_request *request, size_t index)
{
    const char *const nspace = request->procs.at[index].nspace;
    bool is_new = strcmp(nspace, request->session->foreign.proc.nspace) != 0;

    for (size_t i = 0; i < index && is_new; i++) {
        is_new = strcmp(request->procs.at[i].nspace, nspace) != 0;
    }
    return is_new;
}

/* The data of the other namespaces go with the answer. */
static void connect_resume(struct sx_request *request)
{
    struct sx_wire_writer answer = sx_request_body(request, request->status);

    for (size_t i = 0; i < request->procs.count; i++) {
        struct sx_wire_writer object = { .form = answer.form };

        if (is_new_nspace(request, i)) {
            sx_codec_put_text(&object, request->procs.at[i].nspace);
            if (sx_gateway_nspace_write(&object, request->procs.at[i].nspace) == PMIX_SUCCESS) {
                sx_codec_put_bytes(&answer, &object);
            }
        }
        sx_wire_writer_deinit(&object);
    }
    sx_request_answer_body(request, &answer);
}

static void on_connected(pmix_status_t status, void *cbdata)
{
    struct sx_request *const request = cbdata;

    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        sx_request_answer(request, status);
        return;
    }
    request->status = status;
    sx_request_defer(request, connect_resume);
}

/* procs, infos.  Releases from 6.0 on may add data of the rank and its job: our server has them. */
pmix_status_t sx_gateway_connect(struct sx_request *request, struct sx_wire_reader *body)
{
    request->procs = sx_codec_get_procs(body);
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return PMIx_Connect_nb(request->procs.at, request->procs.count, request->infos.at,
                           request->infos.count, on_connected, request);
}

/* procs, infos. */
pmix_status_t sx_gateway_disconnect(struct sx_request *request, struct sx_wire_reader *body)
{
    request->procs = sx_codec_get_procs(body);
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return sx_request_called(request, PMIx_Disconnect_nb(request->procs.at, request->procs.count,
                                                         request->infos.at, request->infos.count,
                                                         sx_request_on_status, request));
}

/* ---- Groups ---------------------------------------------------------------------------------- */

/* STRING name; NULL is for the call to refuse. */
static void get_name(struct sx_request *request, struct sx_wire_reader *body)
{
    const char *const name = sx_codec_get_text(body);

    request->text = name == NULL ? NULL : strdup(name);
    if (body->failed == PMIX_SUCCESS && name != NULL && request->text == NULL) {
        sx_wire_fail(body, PMIX_ERR_OUT_OF_RESOURCE);
    }
}

/* SIZE n, n PROCs. */
static void members_put(const struct sx_request *request, struct sx_wire_writer *w,
                        const pmix_info_t *infos, size_t count)
{
    const pmix_info_t *const info = sx_info_find(infos, count, PMIX_GROUP_MEMBERSHIP);
    const pmix_data_array_t *const array = info != NULL && info->value.type == PMIX_DATA_ARRAY
                                               ? info->value.data.darray
                                               : NULL;

    if (array != NULL && array->type == PMIX_PROC && array->size > 0) {
        sx_codec_put_array(w, PMIX_PROC, array->array, array->size);
    } else {
        sx_codec_put_array(w, PMIX_PROC, request->procs.at, request->procs.count);
    }
}

void sx_gateway_group_put(const struct sx_request *request, struct sx_wire_writer *w,
                          const pmix_info_t *infos, size_t count)
{
    const uint32_t version = request->session->foreign.number;
    const pmix_info_t *const info = sx_info_find(infos, count, PMIX_GROUP_CONTEXT_ID);
    uint64_t id = 0;
    const bool has_id = info != NULL && sx_value_get_uint(&info->value, &id) == PMIX_SUCCESS;

    if (version < SX_FOREIGN_NUMBER(4, 2, 4)) {
        sx_codec_put_size(w, (size_t)id);
        return;
    }
    members_put(request, w, infos, count);
    if (version >= SX_FOREIGN_NUMBER(6, 0, 0)) {
        sx_codec_pack(w, PMIX_BOOL, &has_id, 1);
    }
    if (has_id) {
        sx_codec_put_size(w, (size_t)id);
    }
    if (version >= SX_FOREIGN_NUMBER(6, 1, 0)) {
        sx_codec_put_size(w, 0); /* no infos of members */
    }
}

static void on_constructed(pmix_status_t status, pmix_info_t *infos, size_t count, void *cbdata,
                           pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    struct sx_request *const request = cbdata;
    struct sx_wire_writer body = sx_request_body(request, status);

    if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED) {
        sx_gateway_group_put(request, &body, infos, infos == NULL ? 0 : count);
    }
    sx_request_answer_body(request, &body);
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
}

/* STRING name, procs, infos. */
pmix_status_t sx_gateway_group_construct(struct sx_request *request, struct sx_wire_reader *body)
{
    get_name(request, body);
    request->procs = sx_codec_get_procs(body);
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return PMIx_Group_construct_nb(request->text, request->procs.at, request->procs.count,
                                   request->infos.at, request->infos.count, on_constructed,
                                   request);
}

/* STRING name, procs (not before 4.2.4), infos. */
pmix_status_t sx_gateway_group_destruct(struct sx_request *request, struct sx_wire_reader *body)
{
    get_name(request, body);
    if (request->session->foreign.number >= SX_FOREIGN_NUMBER(4, 2, 4)) {
        request->procs = sx_codec_get_procs(body);
    }
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return sx_request_called(request, PMIx_Group_destruct_nb(request->text, request->infos.at,
                                                             request->infos.count,
                                                             sx_request_on_status, request));
}

/* STRING name, infos. */
pmix_status_t sx_gateway_group_leave(struct sx_request *request, struct sx_wire_reader *body)
{
    get_name(request, body);
    request->infos = sx_codec_get_infos(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    return sx_request_called(request, PMIx_Group_leave_nb(request->text, request->infos.at,
                                                          request->infos.count,
                                                          sx_request_on_status, request));
}

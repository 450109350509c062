/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* iof.c - IOF_PULL, IOF_DEREG, IOF_PUSH, and output of other processes to the rank (tag 2).
 *
 *   pull: ASKED --the call of the public API returns its number--> LIVE --deregistered--> gone
 *            \--refused--> gone
 *
 * The rank numbers its pulls itself, and finds them by that number (id) when output arrives; its
 * deregistration names ours.  Output for which the link has no room waits: the pull takes no
 * further piece, and our server judges the rank as any slow reader (server/iof/pull.h). */
#include <pmix_tool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gateway/request.h"

#define TAG_OUTPUT 2
#define OUTPUT_MAX ((size_t)1 << 20) /* that waits for the rank before further output does */

struct pull {
    struct sx_list node;        /* of session->pulls */
    struct sx_request *request; /* that waits for its begin or its end; NULL: none */
    size_t number;              /* of ours, from 1; 0: not there yet */
    size_t id;                  /* of the rank's */
};

static void pull_free(struct pull *pull)
{
    sx_list_remove(&pull->node);
    free(pull);
}

/* @number 0 finds none. */
static struct pull *pull_find(struct sx_session *session, size_t number)
{
    SX_LIST_EACH(it, &session->pulls) {
        struct pull *const pull = SX_LIST_ENTRY(it, struct pull, node);

        if (number != 0 && pull->number == number) {
            return pull;
        }
    }
    return NULL;
}

/* ---- To the rank ----------------------------------------------------------------------------- */

/* PROC source, IOF_CHANNEL, SIZE id, infos, BYTE_OBJECT; no bytes: the end of the stream. */
static void on_output(size_t number, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t *infos, size_t count)
{
    struct sx_session *const session = sx_session_current();
    const struct pull *const pull = session == NULL ? NULL : pull_find(session, number);
    struct sx_wire_writer body = { .failed = PMIX_SUCCESS };

    if (pull == NULL || session->link == NULL) {
        return;
    }
    body.form = session->foreign.form;
    sx_codec_pack(&body, PMIX_PROC, source, 1);
    sx_codec_pack(&body, PMIX_IOF_CHANNEL, &channel, 1);
    sx_codec_put_size(&body, pull->id);
    sx_codec_put_infos(&body, infos, count);
    sx_codec_pack(&body, PMIX_BYTE_OBJECT, bytes, 1);
    if (body.failed != PMIX_SUCCESS) {
        sx_log(SX_LOG_WARN, "rank %u misses %zu bytes of output: there is no memory for them",
               session->foreign.proc.rank, bytes->size);
    } else {
        sx_gateway_link_make_room(session->link, OUTPUT_MAX);
        sx_gateway_link_send(session->link, TAG_OUTPUT, body.bytes, body.size);
    }
    sx_wire_writer_deinit(&body);
}

/* ---- IOF_PULL -------------------------------------------------------------------------------- */

/* STATUS, SIZE number. */
static void on_pulled(pmix_status_t status, size_t number, void *cbdata)
{
    struct pull *const pull = cbdata;
    struct sx_request *const request = pull->request;
    struct sx_wire_writer answer = sx_request_body(request, status);

    pull->request = NULL;
    pull->number = number;
    if (status != PMIX_SUCCESS) {
        pull_free(pull);
    }
    sx_codec_put_size(&answer, status == PMIX_SUCCESS ? number : 0);
    sx_request_answer_body(request, &answer);
}

/* procs, infos, IOF_CHANNEL, SIZE id.  Releases before 4.0 give no id, and expect output in another
 * form. */
pmix_status_t sx_gateway_iof_pull(struct sx_request *request, struct sx_wire_reader *body)
{
    struct sx_session *const session = request->session;
    pmix_iof_channel_t channel = PMIX_FWD_NO_CHANNELS;
    struct pull *pull;
    pmix_status_t rc;
    size_t id;

    if (session->foreign.number < SX_FOREIGN_NUMBER(4, 0, 0)) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    request->procs = sx_codec_get_procs(body);
    request->infos = sx_codec_get_infos(body);
    sx_codec_unpack(body, PMIX_IOF_CHANNEL, &channel, 1);
    id = sx_codec_get_size(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    pull = calloc(1, sizeof(*pull));
    if (pull == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pull->request = request;
    pull->id = id;
    sx_list_append(&session->pulls, &pull->node);
    rc = PMIx_IOF_pull(request->procs.at, request->procs.count, request->infos.at,
                       request->infos.count, channel, on_output, on_pulled, pull);
    if (rc != PMIX_SUCCESS) {
        pull_free(pull);
    }
    return rc;
}

/* ---- IOF_DEREG ------------------------------------------------------------------------------- */

/* Output that was under way has been sent. */
static void on_ended(pmix_status_t status, void *cbdata)
{
    struct pull *const pull = cbdata;
    struct sx_request *const request = pull->request;

    pull_free(pull);
    sx_request_answer(request, status);
}

/* infos, SIZE number. */
pmix_status_t sx_gateway_iof_deregister(struct sx_request *request, struct sx_wire_reader *body)
{
    struct pull *pull;
    pmix_status_t rc;
    size_t number;

    request->infos = sx_codec_get_infos(body);
    number = sx_codec_get_size(body);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    pull = pull_find(request->session, number);
    if (pull == NULL || pull->request != NULL) {
        return PMIX_ERR_NOT_FOUND;
    }
    pull->request = request;
    rc = PMIx_IOF_deregister(number, request->infos.at, request->infos.count, on_ended, pull);
    if (rc == PMIX_ERR_NOT_FOUND) { /* it has ended with our server's side of it */
        pull_free(pull);
    } else if (rc != PMIX_SUCCESS) {
        pull->request = NULL;
    }
    return rc;
}

/* ---- IOF_PUSH -------------------------------------------------------------------------------- */

/* The rank's library reads the input that PMIX_IOF_PUSH_STDIN is about; our call would read the
 * gateway's.  That library sends its end as a push without bytes. */
static void input_adapt(struct sx_codec_infos *infos, size_t size)
{
    size_t kept = 0;

    for (size_t i = 0; i < infos->count; i++) {
        pmix_info_t *const info = &infos->at[i];

        if (strcmp(info->key, PMIX_IOF_PUSH_STDIN) == 0 && size > 0) {
            PMIX_INFO_DESTRUCT(info);
            continue;
        }
        if (strcmp(info->key, PMIX_IOF_PUSH_STDIN) == 0) {
            PMIX_LOAD_KEY(info->key, PMIX_IOF_COMPLETE);
        }
        infos->at[kept++] = *info;
    }
    infos->count = kept;
}

/* procs, infos, BYTE_OBJECT. */
pmix_status_t sx_gateway_iof_push(struct sx_request *request, struct sx_wire_reader *body)
{
    struct sx_wire_reader input;
    pmix_byte_object_t bytes;

    request->procs = sx_codec_get_procs(body);
    request->infos = sx_codec_get_infos(body);
    input = sx_codec_get_bytes(body, PMIX_BYTE_OBJECT);
    if (body->failed != PMIX_SUCCESS) {
        return body->failed;
    }
    /* The interface has no const for the bytes, which nobody changes. */
    bytes = (pmix_byte_object_t){ .bytes = (char *)(uintptr_t)input.at,
                                  .size = sx_wire_rest(&input) };
    input_adapt(&request->infos, bytes.size);
    return sx_request_called(request, PMIx_IOF_push(request->procs.at, request->procs.count, &bytes,
                                                    request->infos.at, request->infos.count,
                                                    sx_request_on_status, request));
}

void sx_gateway_iof_deinit(struct sx_session *session)
{
    SX_LIST_EACH(it, &session->pulls) {
        pull_free(SX_LIST_ENTRY(it, struct pull, node));
    }
}

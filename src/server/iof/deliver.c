/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* deliver.c - PMIx_server_IOF_deliver, on any thread of the host: output is posted to the loop,
 * which hands it on to the pulls (iof.c). */
#include <stdio.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/call/directive_tables.h"
#include "base/call/role.h"
#include "base/waiter.h"
#include "server/iof/output.h"

/* @again: the source may be a whole job, as for its end. */
static pmix_status_t output_judge(const pmix_proc_t *source, pmix_iof_channel_t channel,
                                  const pmix_byte_object_t *bo, bool again)
{
    const bool is_one = (channel & (channel - 1)) == 0 && (channel & SX_OUTPUT_CHANNELS) != 0;
    const bool is_named = source != NULL && source->nspace[0] != '\0' &&
                          strnlen(source->nspace, sizeof(source->nspace)) <
                              sizeof(source->nspace) &&
                          (source->rank <= PMIX_RANK_VALID ||
                           (again && source->rank == PMIX_RANK_WILDCARD));

    return is_named && is_one && bo != NULL && (bo->bytes != NULL || bo->size == 0)
               ? PMIX_SUCCESS
               : PMIX_ERR_BAD_PARAM;
}

/* Post @size bytes, or the end, to the loop; @cbfunc NULL: no callback. */
static pmix_status_t output_post(struct sx_server *server, const pmix_proc_t *source,
                                 pmix_iof_channel_t channel, const void *bytes, size_t size,
                                 const struct sx_iof_options *options, pmix_op_cbfunc_t cbfunc,
                                 void *cbdata)
{
    struct sx_output *output;
    pmix_status_t rc = sx_output_new(server, source, bytes, size, &output);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    output->channel = channel;
    output->again = options->again;
    output->pid = options->pid.number;
    if (options->host != NULL) {
        snprintf(output->host, sizeof(output->host), "%s", options->host);
    }
    output->taken = cbfunc;
    output->cbdata = cbdata;
    output->post = (struct sx_loop_post){ .fn = sx_iof_hand_on, .arg = output };
    rc = sx_loop_post(server->loop, &output->post);
    if (rc != PMIX_SUCCESS) {
        sx_output_release(output);
    }
    return rc;
}

static pmix_status_t deliver(struct sx_server *server, const pmix_proc_t *source,
                             pmix_iof_channel_t channel, const pmix_byte_object_t *bo,
                             const struct sx_iof_options *options, pmix_op_cbfunc_t cbfunc,
                             void *cbdata)
{
    const bool in_two = options->complete && bo->size > 0;
    pmix_status_t rc = output_post(server, source, channel, bo->bytes, bo->size, options, cbfunc,
                                   cbdata);

    if (rc == PMIX_SUCCESS && in_two) {
        /* The end has no bytes, and does not count; without memory the reader misses an end. */
        (void)output_post(server, source, channel, NULL, 0, options, NULL, NULL);
    }
    return rc;
}

pmix_status_t PMIx_server_IOF_deliver(const pmix_proc_t *source, pmix_iof_channel_t channel,
                                      const pmix_byte_object_t *bo, const pmix_info_t *info,
                                      size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_server *const server = sx_server_get();
    struct sx_iof_options options = { 0 };
    struct sx_waiter waiter = SX_WAITER_INIT;

    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    pmix_status_t rc = sx_options_read(SX_OF_IOF_DELIVER, info, ninfo, &options);

    if (rc == PMIX_SUCCESS) {
        rc = output_judge(source, channel, bo, options.again);
    }
    if (rc == PMIX_SUCCESS && cbfunc == NULL) {
        rc = sx_role_may_wait();
    }
    if (rc == PMIX_SUCCESS) {
        rc = deliver(server, source, channel, bo, &options,
                     cbfunc != NULL ? cbfunc : sx_waiter_op_done,
                     cbfunc != NULL ? cbdata : &waiter);
    }
    if (rc != PMIX_SUCCESS || cbfunc != NULL) {
        return rc;
    }
    (void)sx_waiter_wait(&waiter);
    return PMIX_OPERATION_SUCCEEDED; /* done, no callback follows */
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* output.c - its bytes, counted, and the callback of who has delivered it. */
#include "server/port/output.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static _Atomic uint64_t bytes_made;
static atomic_bool full_told;

static pmix_status_t bytes_take(size_t size)
{
    const uint64_t before = atomic_fetch_add(&bytes_made, size);

    if (before == 0 || before + size <= SX_OUTPUTS_BYTES_MAX) {
        return PMIX_SUCCESS;
    }
    atomic_fetch_sub(&bytes_made, size);
    if (!atomic_exchange(&full_told, true)) {
        sx_log(SX_LOG_WARN,
               "%llu bytes of output have been delivered and wait for a slow reader: output is "
               "refused until there is room; let the host wait for the callback of "
               "PMIx_server_IOF_deliver",
               (unsigned long long)before);
    }
    return PMIX_ERR_OUT_OF_RESOURCE;
}

pmix_status_t sx_output_new(struct sx_server *server, const void *bytes, size_t size,
                            struct sx_output **ret)
{
    pmix_status_t rc = bytes_take(size);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct sx_output *const output = malloc(sizeof(*output) + size);

    if (output == NULL) {
        atomic_fetch_sub(&bytes_made, size);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *output = (struct sx_output){
        .reference_count = 1, .server = server, .when = time(NULL), .size = size
    };
    if (size > 0) {
        memcpy(output->bytes, bytes, size);
    }
    *ret = output;
    return PMIX_SUCCESS;
}

void sx_output_release(struct sx_output *output)
{
    if (--output->reference_count == 0) {
        atomic_fetch_sub(&bytes_made, output->size);
        free(output);
    }
}

static void tell(void *arg, uint64_t now_ns)
{
    struct sx_output *const output = arg;
    const pmix_op_cbfunc_t taken = output->taken;

    (void)now_ns;
    output->taken = NULL;
    taken(PMIX_SUCCESS, output->cbdata);
    sx_output_release(output);
}

void sx_output_settle(struct sx_output *output)
{
    if (output->taken == NULL || output->hold_count > 0 || output->post.fn == tell) {
        return;
    }
    /* What the host does inside its callback may end the pull that lets it go just now. */
    output->reference_count++;
    output->post = (struct sx_loop_post){ .fn = tell, .arg = output };
    if (sx_loop_post(output->server->loop, &output->post) != PMIX_SUCCESS) {
        tell(output, 0);
    }
}

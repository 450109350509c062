/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* results.c - the bytes are kept under the lock, and decoded by the thread that ends the call. */
#include "client/link/results.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/value/flat.h"
#include "control/message.h"

void sx_results_answered(struct sx_op *op, const struct sx_frame *frame)
{
    struct sx_results_op *const results = SX_CONTAINER(op, struct sx_results_op, op);
    const size_t head = sizeof(struct sx_reply);

    if (frame == NULL || frame->body_size <= head) {
        return;
    }
    results->size = frame->body_size - head;
    results->bytes = malloc(results->size);
    if (results->bytes != NULL) {
        memcpy(results->bytes, (const uint8_t *)frame->body + head, results->size);
    } else {
        op->status = PMIX_ERR_OUT_OF_RESOURCE;
    }
}

bool sx_results_finish(struct sx_op *op)
{
    struct sx_results_op *const results = SX_CONTAINER(op, struct sx_results_op, op);

    if (results->bytes != NULL) {
        const pmix_status_t rc = sx_flat_infos_decode(results->bytes, results->size, &op->info,
                                                      &op->ninfo);

        op->status = rc == PMIX_SUCCESS ? op->status : rc;
        free(results->bytes);
        results->bytes = NULL;
    }
    return true;
}

void sx_results_told(struct sx_op *op)
{
    if (op->info != NULL) {
        PMIX_INFO_FREE(op->info, op->ninfo);
    }
    free(SX_CONTAINER(op, struct sx_results_op, op)->bytes);
}

void sx_results_give(struct sx_results_op *results, pmix_info_t **ret_info, size_t *ret_ninfo)
{
    const bool wanted = ret_info != NULL && ret_ninfo != NULL;

    if (ret_info != NULL) {
        *ret_info = wanted ? results->op.info : NULL;
    }
    if (ret_ninfo != NULL) {
        *ret_ninfo = wanted ? results->op.ninfo : 0;
    }
    if (!wanted) {
        sx_results_told(&results->op);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* op.c - operations that wait for their answers, and the callbacks that report their ends. */
#include "client/link/op.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/value/flat.h"
#include "client/link/link.h"
#include "client/link/wait.h"
#include "control/message.h"

const struct sx_op_kind sx_op_plain = { .size = sizeof(struct sx_op) };

void sx_task_post_locked(struct sx_task *task)
{
    sx_list_append(&sx_process.tasks, &task->node);
}

/* ---- the answer --------------------------------------------------------------------------- */

struct sx_op *sx_op_find(struct sx_list *list, uint32_t id)
{
    SX_LIST_EACH(it, list) {
        struct sx_op *op = SX_LIST_ENTRY(it, struct sx_op, task.node);

        if (op->id == id) {
            return op;
        }
    }
    return NULL;
}

/* The thread that waits for @op sees that it is done. */
static void hand_on_locked(struct sx_op *op)
{
    if (sx_callback_is_given(&op->callback)) {
        sx_task_post_locked(&op->task);
    }
}

void sx_op_complete(struct sx_op *op, pmix_status_t status, struct sx_frame *frame)
{
    sx_list_remove(&op->task.node);
    if (op->windowed) {
        op->windowed = false;
        sx_window_free_locked(&op->link->window);
    }
    op->status = status;
    op->done = true;
    if (frame != NULL && frame->fd_count > 0) {
        op->fd = frame->fds[0];
        frame->fds[0] = -1;
    }
    if (op->kind->answered != NULL) {
        op->kind->answered(op, frame);
    }
    if (!op->held) {
        hand_on_locked(op);
    }
}

void sx_op_release_locked(struct sx_op *op)
{
    op->held = false;
    if (op->done && sx_callback_is_given(&op->callback)) {
        hand_on_locked(op);
        /* The bell for the answer rang before the task was posted, so the local door must ring
         * too. */
        sx_local_ring_locked();
    }
}

/* ---- callbacks ---------------------------------------------------------------------------- */

void sx_op_free(struct sx_op *op)
{
    if (op->kind->release != NULL) {
        op->kind->release(op);
    }
    free(op);
}

static void release(void *arg)
{
    sx_op_free(arg);
}

static void credential_call(const struct sx_op *op)
{
    const struct sx_callback *const c = &op->callback;

    if (op->status == PMIX_SUCCESS) {
        c->credential(op->status, &op->info[0].value.data.bo, op->info + 1, op->ninfo - 1,
                      c->cbdata);
    } else {
        c->credential(op->status, NULL, NULL, 0, c->cbdata);
    }
}

static void lookup_call(const struct sx_op *op)
{
    const struct sx_callback *const c = &op->callback;
    const size_t count = op->ninfo / 2;
    pmix_pdata_t *const data = calloc(count + 1, sizeof(*data));

    for (size_t i = 0; data != NULL && i < count; i++) {
        data[i].proc = *op->info[2 * i].value.data.proc;
        memcpy(data[i].key, op->info[2 * i + 1].key, sizeof(data[i].key));
        data[i].value = op->info[2 * i + 1].value;
    }
    c->lookup(data == NULL ? PMIX_ERR_OUT_OF_RESOURCE : op->status, count > 0 ? data : NULL,
              data == NULL ? 0 : count, c->cbdata);
    free(data);
}

static void spawn_call(const struct sx_op *op)
{
    pmix_nspace_t nspace;

    PMIx_Load_nspace(nspace, op->status == PMIX_SUCCESS ? op->info[0].value.data.string : "");
    op->callback.spawn(op->status, nspace, op->callback.cbdata);
}

static void callback_call(struct sx_op *op)
{
    const struct sx_callback *const c = &op->callback;

    switch (c->shape) {
    case SX_SHAPE_NONE:
    case SX_SHAPE_IGNORED:
        break;
    case SX_SHAPE_OP:
        c->op(op->status, c->cbdata);
        break;
    case SX_SHAPE_INFO:
        if (op->info != NULL) {
            c->info(op->status, op->info, op->ninfo, c->cbdata, release, op);
            return;
        }
        c->info(op->status, NULL, 0, c->cbdata, NULL, NULL);
        break;
    case SX_SHAPE_VALUE:
        c->value(op->status, op->value, c->cbdata);
        break;
    case SX_SHAPE_HANDLER:
        c->handler(op->status, op->handler, c->cbdata);
        break;
    case SX_SHAPE_DISTANCES:
        c->distances(op->status, op->distances, op->distance_count, c->cbdata, release, op);
        return; /* the thread that takes it frees it */
    case SX_SHAPE_CONNECT:
        c->connect(op->status, op->nspace, op->rank, c->cbdata);
        break;
    case SX_SHAPE_CREDENTIAL:
        credential_call(op);
        break;
    case SX_SHAPE_VALIDATION:
        c->validation(op->status, op->info, op->ninfo, c->cbdata);
        break;
    case SX_SHAPE_LOOKUP:
        lookup_call(op);
        break;
    case SX_SHAPE_SPAWN:
        spawn_call(op);
        break;
    }
    sx_op_free(op);
}

bool sx_op_finish(struct sx_op *op)
{
    return op->kind->finish == NULL || op->kind->finish(op);
}

void sx_op_run(struct sx_task *task)
{
    struct sx_op *const op = SX_CONTAINER(task, struct sx_op, task);

    if (sx_op_finish(op)) {
        callback_call(op);
    }
}

/* ---- results --------------------------------------------------------------------------------- */

/* The bytes are kept under the lock, and decoded by the thread that ends the call. */

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

void sx_results_release(struct sx_op *op)
{
    if (op->info != NULL) {
        PMIX_INFO_FREE(op->info, op->ninfo);
    }
    free(SX_CONTAINER(op, struct sx_results_op, op)->bytes);
}

void sx_results_ignored(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                        pmix_release_cbfunc_t release_fn, void *release_cbdata)
{
    (void)status, (void)info, (void)ninfo, (void)cbdata;
    if (release_fn != NULL) {
        release_fn(release_cbdata);
    }
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
        sx_results_release(&results->op);
    }
}

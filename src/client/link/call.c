/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* call.c - calls that wait for their answers. */
#include "client/link/call.h"

#include "client/link/local.h"
#include "client/link/process.h"

struct sx_call *sx_call_find(struct sx_list *list, uint32_t id)
{
    SX_LIST_EACH(it, list) {
        struct sx_call *call = SX_LIST_ENTRY(it, struct sx_call, node);

        if (call->id == id) {
            return call;
        }
    }
    return NULL;
}

void sx_call_complete(struct sx_call *call, pmix_status_t status, struct sx_frame *frame)
{
    sx_list_remove(&call->node);
    if (call->windowed) {
        call->windowed = false;
        sx_window_free_locked(&sx_process.window);
    }
    call->status = status;
    call->done = true;
    if (frame != NULL && frame->fd_count > 0) {
        call->fd = frame->fds[0];
        frame->fds[0] = -1;
    }
    if (frame != NULL && call->on_answer != NULL) {
        call->on_answer(call, frame);
    }
    if (call->on_done != NULL && !call->held) {
        call->on_done(call, frame);
    }
}

void sx_call_release_locked(struct sx_call *call)
{
    call->held = false;
    if (call->done && call->on_done != NULL) {
        call->on_done(call, NULL);
        /* What rang for the answer has rung before the task was posted. */
        sx_local_ring_locked();
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence.c - PMIx_Fence and PMIx_Fence_nb: arrive through the lane, complete from the ring.
 *
 *     ARRIVED --completion with our slot and op, or the link is lost--> done
 *
 * At most SX_FENCE_COUNT_MAX are under way.  A blocking fence costs SX_FENCE_CALLS_MAX system calls
 * when nothing disturbs it: the doorbell, if the server sleeps; the CPU handed over once, twice
 * without the doorbell; one sleep, if that was not enough. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/flat.h"
#include "base/options.h"
#include "base/status.h"
#include "client/call/put.h"
#include "client/data/view.h"
#include "client/link/process.h"
#include "client/link/procs.h"
#include "client/link/progress.h"
#include "client/link/wakefd.h"
#include "ring/record.h"

#define SX_FENCE_COUNT_MAX 256u
#define SX_ARRIVE_STACK_BYTES 512u
/* System calls a fence makes at most when it is left alone; the last one sleeps. */
#define SX_FENCE_CALLS_MAX 3u

struct fence_nb {
    struct sx_call call;
    struct sx_task task;
    pmix_op_cbfunc_t cbfunc;
    void *cbdata;
    bool collects;
};

/* The caller must be one of @procs. */
static bool procs_hold_self(const pmix_proc_t *procs, size_t nprocs)
{
    const struct sx_process *const p = &sx_process;

    for (size_t i = 0; i < nprocs; i++) {
        if (strcmp(sx_wire_nspace(&procs[i]), p->self.nspace) == 0 &&
            (procs[i].rank == p->self.rank || procs[i].rank == PMIX_RANK_WILDCARD)) {
            return true;
        }
    }
    return false;
}

/* A singleton is complete alone; nobody else is there. */
static bool procs_are_self(const pmix_proc_t *procs, size_t nprocs)
{
    for (size_t i = 0; i < nprocs; i++) {
        if (!procs_hold_self(&procs[i], 1)) {
            return false;
        }
    }
    return true;
}

static void arrive_write(uint8_t *at, const struct sx_lane_arrive *arrive, const pmix_proc_t *procs)
{
    memcpy(at, arrive, sizeof(*arrive));
    (void)sx_wire_procs_write(at + sizeof(*arrive), procs, arrive->proc_count);
}

/* *ret_calls says how many system calls it took. */
static pmix_status_t arrive_send(uint8_t *bytes, size_t size, unsigned *ret_calls)
{
    struct sx_process *const p = &sx_process;
    struct sx_call call = SX_CALL_INIT(NULL);
    const struct iovec iov = { bytes, size };

    if (size > SX_LANE_MESSAGE_MAX) {
        return sx_request(&call, SX_MSG_ARRIVE_BULK, &iov, 1,
                          sx_deadline_ns(sx_now_ns(), SX_REQUEST_TIMEOUT_NS));
    }
    pthread_mutex_lock(&p->lane_lock);
    const pmix_status_t rc = sx_lane_submit(SX_LANE_ARRIVE, &iov, 1);
    if (rc == PMIX_SUCCESS) {
        const uint32_t rung_before = p->lane.epoch_rung;

        sx_lane_doorbell(&p->lane);
        *ret_calls = p->lane.epoch_rung != rung_before;
    }
    pthread_mutex_unlock(&p->lane_lock);
    return rc;
}

/* Put @call into the list of what waits for a completion. */
static pmix_status_t fence_enlist(struct sx_call *call)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    pmix_status_t rc = sx_link_status();
    if (rc == PMIX_SUCCESS && p->collective_count >= SX_FENCE_COUNT_MAX) {
        rc = SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                      "%u fences of this process are under way; wait for one to end",
                      SX_FENCE_COUNT_MAX);
    }
    if (rc == PMIX_SUCCESS) {
        call->id = p->id_last = p->id_last == UINT32_MAX ? 1 : p->id_last + 1;
        call->held = true;
        sx_list_append(&p->collectives, &call->node);
        p->collective_count++;
        sx_wakefd_want_locked();
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* The arrival was sent, or not, as @status says.  Return: PMIX_SUCCESS when @call has ended or will
 * end; else it has been taken out again. */
static pmix_status_t fence_sent(struct sx_call *call, pmix_status_t status)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    if (status != PMIX_SUCCESS && !call->done) {
        sx_list_remove(&call->node);
        p->collective_count--;
    } else {
        status = PMIX_SUCCESS;
        sx_call_release_locked(call);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

static pmix_status_t infos_size(const pmix_info_t *info, size_t ninfo, size_t *ret_size)
{
    const pmix_status_t rc = ninfo == 0 ? PMIX_SUCCESS : sx_flat_infos_size(info, ninfo, ret_size);

    if (rc != PMIX_SUCCESS || *ret_size <= SX_ARRIVE_INFOS_MAX) {
        return rc;
    }
    return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                    "the directives of a fence would take %zu bytes; at most %" PRIu64
                    " go with it: what is for the other processes belongs in PMIx_Put",
                    *ret_size, SX_ARRIVE_INFOS_MAX);
}

/* Arrive; @procs are sorted.  Return: as fence_start. */
static pmix_status_t fence_arrive(struct sx_call *call, const pmix_proc_t *procs, size_t nprocs,
                                  const pmix_info_t *info, size_t ninfo, unsigned *ret_calls)
{
    uint64_t stack[SX_ARRIVE_STACK_BYTES / sizeof(uint64_t)];
    uint8_t *bytes = (uint8_t *)stack;
    size_t procs_size, info_size = 0;

    pmix_status_t rc = sx_wire_procs_size(procs, nprocs, &procs_size);
    if (rc == PMIX_SUCCESS) {
        rc = infos_size(info, ninfo, &info_size);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const size_t head_size = sizeof(struct sx_lane_arrive) + procs_size;
    rc = sx_message_size_judge(SX_MSG_ARRIVE_BULK, head_size + info_size);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (head_size + info_size > sizeof(stack)) {
        bytes = malloc(head_size + info_size);
        if (bytes == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
    }
    if (ninfo != 0) {
        rc = sx_flat_infos_encode(info, ninfo, bytes + head_size, info_size);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_wire_infos_judge(bytes + head_size, info_size, SX_ARRIVE_HEAP_MAX);
    }
    if (rc == PMIX_SUCCESS) {
        rc = fence_enlist(call);
    }
    if (rc == PMIX_SUCCESS) {
        const struct sx_lane_arrive arrive = { .kind = SX_COLLECTIVE_FENCE,
                                               .op = call->id,
                                               .proc_count = (uint32_t)nprocs,
                                               .info_size = (uint32_t)info_size };

        arrive_write(bytes, &arrive, procs);
        rc = fence_sent(call, arrive_send(bytes, head_size + info_size, ret_calls));
    }
    if (bytes != (uint8_t *)stack) {
        free(bytes);
    }
    return rc;
}

/* Return: PMIX_SUCCESS when @call will be completed; *ret_calls as arrive_send. */
static pmix_status_t fence_start(struct sx_call *call, const pmix_proc_t *procs, size_t nprocs,
                                 const pmix_info_t *info, size_t ninfo, unsigned *ret_calls)
{
    pmix_proc_t *copy;
    const pmix_proc_t *const sorted = sx_wire_procs_sorted(procs, &nprocs, &copy);

    if (sorted == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = fence_arrive(call, sorted, nprocs, info, ninfo, ret_calls);

    free(copy);
    return rc;
}

/* There is one algorithm, which has no name: a choice can be a wish only. */
static pmix_status_t algorithm_judge(const struct sx_fence_options *options)
{
    if (options->algorithm == NULL ||
        (!options->algorithm_required && (options->algorithm->flags & PMIX_INFO_REQD) == 0)) {
        return PMIX_SUCCESS;
    }
    return SX_RAISE(PMIX_ERR_NOT_SUPPORTED, "fences have one algorithm; \"%s\" cannot be required",
                    PMIX_COLLECTIVE_ALGO);
}

/* Judge the arguments; nobody named means the whole namespace. */
static pmix_status_t fence_check(const pmix_proc_t **procs, size_t *nprocs, pmix_proc_t *whole,
                                 const pmix_info_t *info, size_t ninfo,
                                 struct sx_fence_options *options)
{
    size_t size;

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if ((*procs == NULL && *nprocs != 0) || (info == NULL && ninfo != 0)) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (*procs == NULL || *nprocs == 0) {
        *whole = sx_process.self;
        whole->rank = PMIX_RANK_WILDCARD;
        *procs = whole;
        *nprocs = 1;
    }
    pmix_status_t rc = sx_wire_procs_size(*procs, *nprocs, &size);
    if (rc == PMIX_SUCCESS && !procs_hold_self(*procs, *nprocs)) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_FENCE, info, ninfo, options);
    }
    return rc == PMIX_SUCCESS ? algorithm_judge(options) : rc;
}

pmix_status_t PMIx_Fence(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                         size_t ninfo)
{
    struct sx_call call = SX_CALL_INIT(NULL);
    struct sx_fence_options options = { 0 };
    unsigned calls = 0;
    pmix_proc_t whole;
    pmix_status_t rc = fence_check(&procs, &nprocs, &whole, info, ninfo, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_link_status();
    if (rc == PMIX_ERR_UNREACH && procs_are_self(procs, nprocs)) {
        return PMIX_SUCCESS;
    }
    if (rc == PMIX_SUCCESS) {
        rc = fence_start(&call, procs, nprocs, info, ninfo, &calls);
    }
    if (rc == PMIX_SUCCESS) {
        /* One call is for the sleep, one for taking the data in. */
        const unsigned kept = 1 + options.collect + calls;

        rc = sx_call_wait(&call, kept < SX_FENCE_CALLS_MAX ? SX_FENCE_CALLS_MAX - kept : 0,
                          SX_DEADLINE_NEVER);
    }
    if (rc == PMIX_SUCCESS && options.collect) {
        sx_view_warm(sx_process.own);
    }
    return rc;
}

static void fence_nb_run(struct sx_task *task)
{
    struct fence_nb *const op = SX_CONTAINER(task, struct fence_nb, task);

    if (op->collects && op->call.status == PMIX_SUCCESS) {
        sx_view_warm(sx_process.own);
    }
    op->cbfunc(op->call.status, op->cbdata);
    free(op);
}

static void fence_nb_done(struct sx_call *call, const struct sx_frame *frame)
{
    (void)frame;
    sx_task_post_locked(&SX_CONTAINER(call, struct fence_nb, call)->task);
}

pmix_status_t PMIx_Fence_nb(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                            size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_fence_options options = { 0 };
    unsigned calls = 0;
    pmix_proc_t whole;
    pmix_status_t rc = fence_check(&procs, &nprocs, &whole, info, ninfo, &options);

    if (rc == PMIX_SUCCESS && cbfunc == NULL) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status();
    }
    const bool alone = rc == PMIX_ERR_UNREACH && procs_are_self(procs, nprocs);
    if (rc == PMIX_SUCCESS || alone) {
        rc = sx_progress_start();
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct fence_nb *const op = malloc(sizeof(*op));
    if (op == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *op = (struct fence_nb){ .call = SX_CALL_INIT(fence_nb_done),
                             .task = { .run = fence_nb_run },
                             .cbfunc = cbfunc,
                             .cbdata = cbdata,
                             .collects = options.collect };
    if (alone) {
        op->call.status = PMIX_SUCCESS;
        sx_task_post(&op->task);
        return PMIX_SUCCESS;
    }
    rc = fence_start(&op->call, procs, nprocs, info, ninfo, &calls);
    if (rc != PMIX_SUCCESS) {
        free(op);
    }
    return rc;
}

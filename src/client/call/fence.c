/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence.c - PMIx_Fence and PMIx_Fence_nb: arrive through the lane, complete from the ring.
 *
 *     ARRIVED --completion with our slot and op, or the link is lost--> done
 *
 * As many are under way as the server allows.  A blocking fence costs SX_FENCE_CALLS_MAX system
 * calls when nothing disturbs it: the doorbell, if the server sleeps; the CPU handed over once,
 * twice without the doorbell; one sleep, if that was not enough.  One more takes the data in that
 * it has collected, if there are any. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/options.h"
#include "base/status.h"
#include "client/data/view.h"
#include "client/link/process.h"
#include "client/link/procs.h"
#include "client/link/request.h"
#include "client/link/submit.h"
#include "ring/record.h"

#define SX_ARRIVE_STACK_BYTES 512u
/* System calls a fence makes at most until it has ended, when it is left alone. */
#define SX_FENCE_CALLS_MAX 3u

struct fence {
    struct sx_op op;
    bool collects; /* everybody's data is to be at hand afterwards */
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

/* Arrive; @procs are sorted. */
static pmix_status_t fence_arrive(struct sx_op *op, const pmix_proc_t *procs, size_t nprocs,
                                  const pmix_info_t *info, size_t ninfo)
{
    uint64_t stack[SX_ARRIVE_STACK_BYTES / sizeof(uint64_t)];
    const struct sx_lane_arrive head = { .kind = SX_COLLECTIVE_FENCE };
    struct sx_draft draft = {
        .head = &head,
        .parts = { [SX_ARRIVE_PROCS] = { procs, nprocs }, [SX_ARRIVE_INFOS] = { info, ninfo } }
    };
    struct iovec body;
    pmix_status_t rc = sx_wire_write(SX_MSG_ARRIVE_BULK, &draft, stack, sizeof(stack), &body);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    rc = sx_arrive_start(op, body.iov_base, body.iov_len);
    if (body.iov_base != stack) {
        free(body.iov_base);
    }
    return rc;
}

static pmix_status_t fence_start(struct sx_op *op, const pmix_proc_t *procs, size_t nprocs,
                                 const pmix_info_t *info, size_t ninfo)
{
    pmix_proc_t *copy;
    const pmix_proc_t *const sorted = sx_wire_procs_sorted(procs, &nprocs, &copy);

    if (sorted == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = fence_arrive(op, sorted, nprocs, info, ninfo);

    free(copy);
    return rc;
}

/* There is one algorithm, which has no name: a choice can be a wish only. */
static pmix_status_t algorithm_judge(const struct sx_collective_options *options)
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
                                 struct sx_collective_options *options)
{
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
    pmix_status_t rc = sx_wire_procs_check(*procs, *nprocs);
    if (rc == PMIX_SUCCESS && !procs_hold_self(*procs, *nprocs)) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_FENCE, info, ninfo, options);
    }
    return rc == PMIX_SUCCESS ? algorithm_judge(options) : rc;
}

static bool fence_finish(struct sx_op *op)
{
    const struct fence *const fence = SX_CONTAINER(op, struct fence, op);

    if (fence->collects && op->status == PMIX_SUCCESS) {
        sx_view_warm(sx_process.own);
    }
    return true;
}

static const struct sx_op_kind fence_kind = { .size = sizeof(struct fence),
                                              .finish = fence_finish };

static pmix_status_t fence(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                           size_t ninfo, struct sx_callback callback)
{
    struct fence here = { .op = SX_OP_INIT(&fence_kind, &sx_process.link, .callback = callback) };
    const bool waits = !sx_callback_is_given(&callback);
    struct sx_op *op = &here.op;
    struct sx_collective_options options = { 0 };
    pmix_proc_t whole;
    pmix_status_t rc = fence_check(&procs, &nprocs, &whole, info, ninfo, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    here.collects = options.collect;
    here.op.yield_count = SX_FENCE_CALLS_MAX - 1u; /* the last one sleeps */
    rc = sx_link_status(&sx_process.link);
    const bool alone = rc == PMIX_ERR_UNREACH && procs_are_self(procs, nprocs);
    if (rc == PMIX_SUCCESS || alone) {
        rc = sx_op_open(&op);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return alone ? sx_op_answer(op, PMIX_SUCCESS)
                 : sx_op_settle(op, waits, fence_start(op, procs, nprocs, info, ninfo));
}

pmix_status_t PMIx_Fence(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                         size_t ninfo)
{
    return fence(procs, nprocs, info, ninfo, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Fence_nb(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                            size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL
               ? fence(procs, nprocs, info, ninfo, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
               : sx_process_misused();
}

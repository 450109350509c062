/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* fence.c - PMIx_Fence and PMIx_Fence_nb.
 *
 * The server limits the number of fences under way.  Mapping collected data, if there are any,
 * costs one system call more than arrive.h counts.  If the server could not keep values, the next
 * fence of the process that has lost them fails. */
#include "client/collective/arrive.h"
#include "client/data/at_hand.h"
#include "client/data/view.h"
#include "client/link/process.h"

struct fence {
    struct sx_op op;
    bool collects; /* the data of all members must be at hand afterwards */
};

/* Check the arguments; an empty list means the whole namespace. */
static pmix_status_t fence_check(struct sx_arriving *arriving, pmix_proc_t *whole,
                                 struct sx_collective_options *options)
{
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (arriving->procs == NULL && arriving->nprocs != 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (arriving->procs == NULL || arriving->nprocs == 0) {
        *whole = sx_process.self;
        whole->rank = PMIX_RANK_WILDCARD;
        arriving->procs = whole;
        arriving->nprocs = 1;
    }
    const pmix_status_t rc = sx_arriving_check(arriving, SX_OF_FENCE, options);
    return rc == PMIX_SUCCESS && !sx_procs_hold_self(arriving->procs, arriving->nprocs)
               ? PMIX_ERR_NOT_A_MEMBER
               : rc;
}

static bool fence_finish(struct sx_op *op)
{
    const struct fence *const fence = SX_CONTAINER(op, struct fence, op);

    if (fence->collects && op->status == PMIX_SUCCESS) {
        sx_view_warm(sx_process.own);
    }
    if (op->status == PMIX_SUCCESS && sx_link_is_live(op->link)) {
        op->status = sx_link_values_judge(op->link);
    }
    return true;
}

static const struct sx_op_kind fence_kind = { .size = sizeof(struct fence),
                                              .finish = fence_finish };

static pmix_status_t fence(struct sx_arriving arriving, struct sx_callback callback)
{
    struct fence here = { .op = SX_OP_INIT(&fence_kind, sx_primary(), .callback = callback) };
    struct sx_collective_options options = { 0 };
    pmix_proc_t whole;
    const pmix_status_t rc = fence_check(&arriving, &whole, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    here.collects = options.collect;
    if (here.collects) {
        const pmix_status_t marked = sx_at_hand_mark(arriving.procs, arriving.nprocs);

        if (marked != PMIX_SUCCESS) {
            return marked;
        }
    }
    return sx_arrive(&here.op, SX_COLLECTIVE_FENCE, &arriving);
}

pmix_status_t PMIx_Fence(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                         size_t ninfo)
{
    return fence((struct sx_arriving){ procs, nprocs, info, ninfo }, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Fence_nb(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                            size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL ? fence((struct sx_arriving){ procs, nprocs, info, ninfo },
                                  SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
                          : sx_process_misused();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* arrive.c - the list in the server's order, one message, and the wait.
 *
 *     ARRIVED --completion with our slot and op, or the link is lost--> done */
#include "client/collective/arrive.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/value/value.h"
#include "client/data/alias.h"
#include "client/event/group_answer.h"
#include "client/link/process.h"
#include "client/link/procs.h"
#include "client/link/request.h"
#include "client/link/submit.h"

#define STACK_BYTES 512u
/* The most system calls of a blocking call that nothing disturbs. */
#define SX_ARRIVE_CALLS_MAX 3u

bool sx_procs_hold_self(const pmix_proc_t *procs, size_t nprocs)
{
    const struct sx_process *const p = &sx_process;

    for (size_t i = 0; i < nprocs; i++) {
        if (strcmp(sx_wire_nspace(&procs[i]), p->self.nspace) == 0 &&
            (procs[i].rank == p->self.rank || procs[i].rank == PMIX_RANK_WILDCARD)) {
            return true;
        }
    }
    for (size_t i = 0; i < nprocs && sx_link_is_live(sx_primary()); i++) {
        if (sx_alias_holds_self(&procs[i])) {
            return true;
        }
    }
    return false;
}

/* A singleton is complete alone; there are no other members. */
static bool procs_are_self(const pmix_proc_t *procs, size_t nprocs)
{
    for (size_t i = 0; i < nprocs; i++) {
        if (!sx_procs_hold_self(&procs[i], 1)) {
            return false;
        }
    }
    return true;
}

/* There is only one algorithm, without a name, so a requested algorithm can only be optional. */
static pmix_status_t algorithm_judge(const struct sx_collective_options *options)
{
    if (options->algorithm == NULL ||
        (!options->algorithm_required && (options->algorithm->flags & PMIX_INFO_REQD) == 0)) {
        return PMIX_SUCCESS;
    }
    return SX_RAISE(PMIX_ERR_NOT_SUPPORTED, "there is one algorithm; \"%s\" cannot be required",
                    PMIX_COLLECTIVE_ALGO);
}

pmix_status_t sx_arriving_check(const struct sx_arriving *arriving, enum sx_function function,
                                struct sx_collective_options *ret_options)
{
    if (arriving->info == NULL && arriving->ninfo != 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_wire_procs_check(arriving->procs, arriving->nprocs);
    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(function, arriving->info, arriving->ninfo, ret_options);
    }
    return rc == PMIX_SUCCESS ? algorithm_judge(ret_options) : rc;
}

/* The directives of most fences are sent without an info, which the server would have to decode for
 * each fence. */
static uint8_t flags_take(struct sx_arriving *arriving)
{
    uint8_t flags = 0;

    while (arriving->ninfo != 0 && strcmp(arriving->info->key, PMIX_COLLECT_DATA) == 0) {
        flags = sx_value_is_true(&arriving->info->value) ? SX_ARRIVE_COLLECT : 0;
        arriving->info++;
        arriving->ninfo--;
    }
    return flags;
}

/* @arriving: its processes are sorted, unless their order means something. */
static pmix_status_t write_and_start(struct sx_op *op, enum sx_collective_kind kind, uint8_t flags,
                                     struct sx_arriving *arriving)
{
    uint64_t stack[STACK_BYTES / sizeof(uint64_t)];
    const struct sx_lane_arrive head = { .kind = (uint8_t)kind,
                                         .flags = flags | flags_take(arriving) };
    struct sx_draft draft = { .head = &head,
                              .parts = {
                                  [SX_ARRIVE_PROCS] = { arriving->procs, arriving->nprocs },
                                  [SX_ARRIVE_INFOS] = { arriving->info, arriving->ninfo },
                              } };
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

static pmix_status_t start(struct sx_op *op, enum sx_collective_kind kind,
                           const struct sx_arriving *arriving)
{
    struct sx_arriving sorted = *arriving;
    pmix_proc_t *copy = NULL;

    if (kind == SX_COLLECTIVE_GROUP_CONSTRUCT) { /* their order is the ranks in the group */
        const bool waits = !sx_callback_is_given(&op->callback);

        return write_and_start(op, kind, sx_group_hears(waits) & SX_ARRIVE_HEARS, &sorted);
    }
    sorted.procs = sx_wire_procs_sorted(arriving->procs, &sorted.nprocs, &copy);
    if (sorted.procs == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = write_and_start(op, kind, 0, &sorted);

    free(copy);
    return rc;
}

pmix_status_t sx_arrive(struct sx_op *op, enum sx_collective_kind kind,
                        const struct sx_arriving *arriving)
{
    const bool waits = !sx_callback_is_given(&op->callback);
    pmix_status_t rc = sx_link_status(op->link);
    const bool alone = rc == PMIX_ERR_UNREACH && procs_are_self(arriving->procs, arriving->nprocs);

    op->yield_count = SX_ARRIVE_CALLS_MAX - 1u; /* the last one sleeps */
    if (rc == PMIX_SUCCESS || alone) {
        rc = sx_op_open(&op);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return alone ? sx_op_answer(op, PMIX_SUCCESS)
                 : sx_op_settle(op, waits, start(op, kind, arriving));
}

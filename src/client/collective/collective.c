/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective.c - PMIx_Fence, PMIx_Connect, PMIx_Disconnect and shmix_connect: the list in the
 * server's order, one message, and the wait. */
#include "client/collective/collective.h"

#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "base/status.h"
#include "base/value/value.h"
#include "client/data/data.h"
#include "client/data/view.h"
#include "client/event/event.h"
#include "client/link/link.h"
#include "client/link/op.h"

/* ---- arrivals -------------------------------------------------------------------------------- */

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

        return write_and_start(op, kind, sx_group_receives(waits) & SX_ARRIVE_RECEIVES, &sorted);
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

/* ---- PMIx_Fence ------------------------------------------------------------------------------ */

/* The server limits the number of fences under way.  Mapping collected data, if there are any,
 * costs one system call more than collective.h counts.  If the server could not keep values, the
 * next fence of the process that has lost them fails. */

struct fence {
    struct sx_op op;
    bool collects; /* the data of all members must be at hand afterwards */
};

/* Get what was collected mapped before it is read. */
static void fence_warm(const struct fence *fence)
{
    if (fence->collects && fence->op.status == PMIX_SUCCESS) {
        sx_view_warm(sx_process.own);
    }
}

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
    if (!sx_callback_is_given(&op->callback)) {
        fence_warm(SX_CONTAINER(op, struct fence, op));
    }
    if (op->status == PMIX_SUCCESS && sx_link_is_live(op->link)) {
        op->status = sx_link_values_judge(op->link);
    }
    return true;
}

/* After the callback, which may be waited for. */
static void fence_release(struct sx_op *op)
{
    fence_warm(SX_CONTAINER(op, struct fence, op));
}

static const struct sx_op_kind fence_kind = { .size = sizeof(struct fence),
                                              .finish = fence_finish,
                                              .release = fence_release };

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

/* ---- connect and disconnect ------------------------------------------------------------------ */

/* PMIx_Connect, PMIx_Disconnect, and the forms of them that return the new namespace are arrivals.
 * All forms may take part in one operation.  The result of a connect
 * is read from the node's store: the end of the operation gives its place. */

/* Check the arguments, and whether there are other processes to connect with. */
static pmix_status_t check(const struct sx_arriving *arriving, enum sx_function function,
                           struct sx_collective_options *options)
{
    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    if (arriving->procs == NULL || arriving->nprocs == 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    const pmix_status_t rc = sx_arriving_check(arriving, function, options);

    return rc == PMIX_SUCCESS ? sx_link_status(sx_primary()) : rc;
}

/* A mere exchange makes no list that would mark the others' data as at hand. */
static pmix_status_t begin(bool connects, const struct sx_collective_options *options,
                           const struct sx_arriving *arriving)
{
    if (!connects) {
        sx_at_hand_joined();
    }
    return connects && (options->connect & SX_CONNECT_EXCHANGES) != 0
               ? sx_at_hand_mark(arriving->procs, arriving->nprocs)
               : PMIX_SUCCESS;
}

/* A process that connects must be in the list; the server decides which processes may
 * disconnect. */
static pmix_status_t connect_start(struct sx_op *op, enum sx_collective_kind kind,
                                   const struct sx_arriving *arriving)
{
    const bool connects = kind == SX_COLLECTIVE_CONNECT;
    struct sx_collective_options options = { 0 };
    struct sx_arriving here = *arriving;
    pmix_proc_t *copy;
    pmix_status_t rc = check(arriving, connects ? SX_OF_CONNECT : SX_OF_DISCONNECT, &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    here.procs = sx_cluster_strip(arriving->procs, arriving->nprocs, &copy);
    if (here.procs == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    rc = connects && !sx_procs_hold_self(here.procs, here.nprocs)
             ? PMIX_ERR_NOT_A_MEMBER
             : begin(connects, &options, &here);
    if (rc == PMIX_SUCCESS) {
        rc = sx_arrive(op, kind, &here);
    }
    free(copy);
    return rc;
}

/* ---- connect ------------------------------------------------------------------------------ */

struct connect {
    struct sx_op op;   /* its nspace and rank are the caller's results */
    bool wants_nspace; /* false for the Standard's form */
    char nspace[PMIX_MAX_NSLEN + 1];
};

/* Return: as sx_members_open_subject; PMIX_ERR_NOT_FOUND also when this process is not a member. */
static pmix_status_t identity_read(struct connect *connect)
{
    struct sx_members_look look;
    pmix_status_t rc = sx_members_open_subject(connect->op.link, connect->op.subject, &look);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    connect->op.rank = sx_membership_rank(&look.found, sx_process.self.nspace,
                                          sx_process.self.rank);
    if (connect->op.rank == PMIX_RANK_INVALID) {
        connect->op.rank = PMIX_RANK_UNDEF;
        rc = PMIX_ERR_NOT_FOUND;
    } else {
        memcpy(connect->nspace, sx_membership_name(&look.found), look.found.head.name_len + 1);
    }
    sx_members_close(&look);
    return rc;
}

static bool connect_finish(struct sx_op *op)
{
    struct connect *const connect = SX_CONTAINER(op, struct connect, op);

    op->nspace = connect->nspace;
    op->rank = PMIX_RANK_UNDEF;
    if (op->status == PMIX_SUCCESS && op->subject != 0 && connect->wants_nspace) {
        op->status = identity_read(connect);
    }
    if (op->status == PMIX_SUCCESS) {
        sx_at_hand_joined();
    }
    /* A mere exchange; a call that has made a namespace must not fail. */
    if (op->status == PMIX_SUCCESS && op->subject == 0 && sx_link_is_live(op->link)) {
        op->status = sx_link_values_judge(op->link);
    }
    return true;
}

static const struct sx_op_kind connect_kind = { .size = sizeof(struct connect),
                                                .finish = connect_finish };

static struct connect connect_init(bool wants_nspace, struct sx_callback callback)
{
    return (struct connect){ .op = SX_OP_INIT(&connect_kind, sx_primary(), .callback = callback),
                             .wants_nspace = wants_nspace };
}

pmix_status_t shmix_connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                            size_t ninfo, char nspace[], pmix_rank_t *ret_newrank)
{
    struct connect connect = connect_init(nspace != NULL || ret_newrank != NULL, SX_CALLBACK_NONE);
    const pmix_status_t rc = connect_start(&connect.op, SX_COLLECTIVE_CONNECT,
                                           &(struct sx_arriving){ procs, nprocs, info, ninfo });

    if (rc == PMIX_SUCCESS && nspace != NULL) {
        memcpy(nspace, connect.nspace, sizeof(connect.nspace));
    }
    if (rc == PMIX_SUCCESS && ret_newrank != NULL) {
        *ret_newrank = connect.op.rank;
    }
    return rc;
}

pmix_status_t shmix_connect_nb(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                               size_t ninfo, shmix_connect_cbfunc_t cbfunc, void *cbdata)
{
    struct connect connect = connect_init(true,
                                          SX_CALLBACK(SX_SHAPE_CONNECT, connect, cbfunc, cbdata));

    return cbfunc != NULL ? connect_start(&connect.op, SX_COLLECTIVE_CONNECT,
                                          &(struct sx_arriving){ procs, nprocs, info, ninfo })
                          : sx_process_misused();
}

pmix_status_t PMIx_Connect(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                           size_t ninfo)
{
    return shmix_connect(procs, nprocs, info, ninfo, NULL, NULL);
}

pmix_status_t PMIx_Connect_nb(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                              size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct connect connect = connect_init(false, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata));

    return cbfunc != NULL ? connect_start(&connect.op, SX_COLLECTIVE_CONNECT,
                                          &(struct sx_arriving){ procs, nprocs, info, ninfo })
                          : sx_process_misused();
}

/* ---- disconnect --------------------------------------------------------------------------- */

static pmix_status_t disconnect(const struct sx_arriving *arriving, struct sx_callback callback)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op),
                                            .finish = sx_at_hand_parted };
    struct sx_op op = SX_OP_INIT(&kind, sx_primary(), .callback = callback);

    return connect_start(&op, SX_COLLECTIVE_DISCONNECT, arriving);
}

static pmix_status_t disconnect_name(const char *nspace, const pmix_info_t *info, size_t ninfo,
                                     struct sx_callback callback)
{
    pmix_proc_t all = { .rank = PMIX_RANK_WILDCARD };

    if (nspace == NULL || nspace[0] == '\0' || strlen(nspace) > PMIX_MAX_NSLEN) {
        return sx_process_misused();
    }
    memcpy(all.nspace, nspace, strlen(nspace));
    return disconnect(&(struct sx_arriving){ &all, 1, info, ninfo }, callback);
}

pmix_status_t shmix_disconnect(const char nspace[], const pmix_info_t info[], size_t ninfo)
{
    return disconnect_name(nspace, info, ninfo, SX_CALLBACK_NONE);
}

pmix_status_t shmix_disconnect_nb(const char nspace[], const pmix_info_t info[], size_t ninfo,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL
               ? disconnect_name(nspace, info, ninfo, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
               : sx_process_misused();
}

pmix_status_t PMIx_Disconnect(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                              size_t ninfo)
{
    return disconnect(&(struct sx_arriving){ procs, nprocs, info, ninfo }, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Disconnect_nb(const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                                 size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL ? disconnect(&(struct sx_arriving){ procs, nprocs, info, ninfo },
                                       SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
                          : sx_process_misused();
}

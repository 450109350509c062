/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect.c - PMIx_Connect, PMIx_Disconnect, and the forms of them that return the new namespace.
 *
 * All of them are arrivals, and all forms may take part in one operation.  The result of a connect
 * is read from the node's store: the end of the operation gives its place. */
#include <stdlib.h>
#include <string.h>

#include <shmix.h>

#include "client/collective/arrive.h"
#include "client/data/at_hand.h"
#include "client/data/cluster.h"
#include "client/data/membership.h"
#include "client/link/process.h"

/* ---- both --------------------------------------------------------------------------------- */

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
static pmix_status_t start(struct sx_op *op, enum sx_collective_kind kind,
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
    const pmix_status_t rc = start(&connect.op, SX_COLLECTIVE_CONNECT,
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

    return cbfunc != NULL ? start(&connect.op, SX_COLLECTIVE_CONNECT,
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

    return cbfunc != NULL ? start(&connect.op, SX_COLLECTIVE_CONNECT,
                                  &(struct sx_arriving){ procs, nprocs, info, ninfo })
                          : sx_process_misused();
}

/* ---- disconnect --------------------------------------------------------------------------- */

static pmix_status_t disconnect(const struct sx_arriving *arriving, struct sx_callback callback)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op),
                                            .finish = sx_at_hand_parted };
    struct sx_op op = SX_OP_INIT(&kind, sx_primary(), .callback = callback);

    return start(&op, SX_COLLECTIVE_DISCONNECT, arriving);
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

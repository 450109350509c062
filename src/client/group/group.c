/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group.c - PMIx_Group_construct, PMIx_Group_destruct, and their non-blocking forms.
 *
 * Both are arrivals.  A construct is identified by the name of the group, and its processes keep
 * their order.  The result is read from the node's store: the end of the operation gives its
 * place. */
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/util.h"
#include "client/collective/arrive.h"
#include "client/data/at_hand.h"
#include "client/group/group_results.h"
#include "client/link/process.h"

static const struct sx_op_kind construct_kind = { .size = sizeof(struct sx_group_op),
                                                  .finish = sx_group_op_finish,
                                                  .told = sx_group_op_told };

/* ---- construct ------------------------------------------------------------------------------ */

/* The infos of the caller, borrowed, with the group's name in place of any info of that name.  A
 * caller without processes joins the leaders' construct. */
static pmix_info_t *infos_with_name(const struct sx_arriving *arriving, const char *name,
                                    size_t *ret_count)
{
    pmix_info_t *const infos = calloc(arriving->ninfo + 2, sizeof(*infos));
    size_t count = 1;

    if (infos == NULL) {
        return NULL;
    }
    PMIx_Load_key(infos[0].key, PMIX_GROUP_ID);
    infos[0].value = (pmix_value_t){ .type = PMIX_STRING, .data.string = (char *)(uintptr_t)name };
    if (arriving->nprocs == 0) {
        PMIx_Load_key(infos[count].key, PMIX_GROUP_BOOTSTRAP);
        infos[count++].value = (pmix_value_t){ .type = PMIX_SIZE, .data.size = 0 };
    }
    for (size_t i = 0; i < arriving->ninfo; i++) {
        if (strcmp(arriving->info[i].key, PMIX_GROUP_ID) != 0) {
            infos[count++] = arriving->info[i];
        }
    }
    *ret_count = count;
    return infos;
}

static pmix_status_t construct_check(const char *name, const struct sx_arriving *arriving)
{
    struct sx_collective_options options = { 0 };
    pmix_status_t rc = sx_group_name_check(name);

    if (rc == PMIX_SUCCESS && (arriving->procs == NULL) != (arriving->nprocs == 0)) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_arriving_check(arriving, SX_OF_GROUP_CONSTRUCT, &options);
    }
    if (rc == PMIX_SUCCESS && arriving->nprocs == 0 && options.leaders.given) {
        rc = PMIX_ERR_BAD_PARAM; /* a leader must name itself */
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(sx_primary());
    }
    return rc == PMIX_SUCCESS && arriving->nprocs > 0 &&
                   !sx_procs_hold_self(arriving->procs, arriving->nprocs)
               ? PMIX_ERR_NOT_A_MEMBER
               : rc;
}

static pmix_status_t construct_start(struct sx_group_op *construct, const char *name,
                                     const struct sx_arriving *arriving)
{
    struct sx_arriving named = *arriving;
    pmix_status_t rc = construct_check(name, arriving);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pmix_info_t *const infos = infos_with_name(arriving, name, &named.ninfo);

    if (infos == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    named.info = infos;
    if (arriving->nprocs == 0) {
        named.procs = &sx_process.self;
        named.nprocs = 1;
    }
    rc = sx_arrive(&construct->op, SX_COLLECTIVE_GROUP_CONSTRUCT, &named);
    free(infos);
    return rc;
}

static struct sx_group_op construct_init(bool wants_results, struct sx_callback callback)
{
    return (
        struct sx_group_op){ .op = SX_OP_INIT(&construct_kind, sx_primary(), .callback = callback),
                             .wants_results = wants_results };
}

pmix_status_t PMIx_Group_construct(const char *grp, const pmix_proc_t *procs, size_t nprocs,
                                   const pmix_info_t *directives, size_t ndirs,
                                   pmix_info_t **results, size_t *nresults)
{
    sx_results_none(results, nresults);
    struct sx_group_op construct = construct_init(results != NULL && nresults != NULL,
                                                  SX_CALLBACK_NONE);
    const pmix_status_t rc = construct_start(&construct, grp,
                                             &(struct sx_arriving){ procs, nprocs, directives,
                                                                    ndirs });

    sx_group_op_give(&construct, results, nresults);
    return rc;
}

pmix_status_t PMIx_Group_construct_nb(const char *grp, const pmix_proc_t *procs, size_t nprocs,
                                      const pmix_info_t *directives, size_t ndirs,
                                      pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_group_op construct = construct_init(true,
                                                  SX_CALLBACK(SX_SHAPE_INFO, info, cbfunc, cbdata));

    return cbfunc != NULL
               ? construct_start(&construct, grp,
                                 &(struct sx_arriving){ procs, nprocs, directives, ndirs })
               : sx_process_misused();
}

/* ---- destruct ------------------------------------------------------------------------------- */

static pmix_status_t destruct(const char *name, const pmix_info_t *info, size_t ninfo,
                              struct sx_callback callback)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op),
                                            .finish = sx_at_hand_parted };
    struct sx_op op = SX_OP_INIT(&kind, sx_primary(), .callback = callback);
    struct sx_collective_options options = { 0 };
    pmix_proc_t all = { .rank = PMIX_RANK_WILDCARD };
    const struct sx_arriving arriving = {
        .procs = &all, .nprocs = 1, .info = info, .ninfo = ninfo
    };
    pmix_status_t rc = sx_group_name_check(name);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    memcpy(all.nspace, name, strlen(name));
    rc = sx_arriving_check(&arriving, SX_OF_GROUP_DESTRUCT, &options);
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(sx_primary());
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    sx_at_hand_joined();
    return sx_arrive(&op, SX_COLLECTIVE_GROUP_DESTRUCT, &arriving);
}

pmix_status_t PMIx_Group_destruct(const char *grp, const pmix_info_t *directives, size_t ndirs)
{
    return destruct(grp, directives, ndirs, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Group_destruct_nb(const char *grp, const pmix_info_t *directives, size_t ndirs,
                                     pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL
               ? destruct(grp, directives, ndirs, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
               : sx_process_misused();
}

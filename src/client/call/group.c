/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group.c - PMIx_Group_construct, PMIx_Group_destruct, and their non-blocking forms.
 *
 * Both are arrivals: of a construct the name of the group says which one, and the processes keep
 * their order.  What it has made is read from the node's store: the end of the operation says
 * where. */
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/status.h"
#include "client/call/arrive.h"
#include "client/data/membership.h"
#include "client/link/process.h"

static pmix_status_t name_judge(const char *name)
{
    const size_t len = name != NULL ? strnlen(name, PMIX_MAX_NSLEN + 1) : 0;

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    return len > 0 && len <= PMIX_MAX_NSLEN
               ? PMIX_SUCCESS
               : SX_RAISE(PMIX_ERR_BAD_PARAM, "the name of a group has 1 to %d bytes",
                          PMIX_MAX_NSLEN);
}

/* ---- what a construct has made -------------------------------------------------------------- */

struct construct {
    struct sx_op op;
    bool wants_results;
};

static pmix_status_t members_load(const struct sx_membership *group, pmix_info_t *ret)
{
    const uint32_t size = sx_membership_size(group);
    pmix_data_array_t *const array = PMIx_Data_array_create(size, PMIX_PROC);
    size_t count = 0;

    if (array == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (uint32_t rank = 0; rank < size; rank++) {
        pmix_proc_t *const procs = array->array;

        count += sx_membership_member(group, rank, &procs[count]) == PMIX_SUCCESS;
    }
    array->size = count; /* without those who have left meanwhile */
    PMIx_Load_key(ret->key, PMIX_GROUP_MEMBERSHIP);
    ret->value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    return PMIX_SUCCESS;
}

static pmix_status_t results_load(const struct sx_membership *group, struct sx_op *op)
{
    const bool has_context = (group->head.flags & SX_MEMBERSHIP_CONTEXT) != 0;
    pmix_info_t *info = PMIx_Info_create(has_context ? 2 : 1);

    if (info == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const pmix_status_t rc = members_load(group, &info[0]);

    if (rc != PMIX_SUCCESS) {
        PMIX_INFO_FREE(info, 1);
        return rc;
    }
    if (has_context) {
        PMIx_Load_key(info[1].key, PMIX_GROUP_CONTEXT_ID);
        info[1].value = (pmix_value_t){ .type = PMIX_SIZE, .data.size = group->head.context_id };
    }
    op->info = info;
    op->ninfo = has_context ? 2 : 1;
    return PMIX_SUCCESS;
}

static bool construct_finish(struct sx_op *op)
{
    const struct construct *const construct = SX_CONTAINER(op, struct construct, op);
    struct sx_members_look look;

    if (op->subject == 0 || !construct->wants_results) {
        return true;
    }
    pmix_status_t rc = sx_members_open_subject(op->subject, &look);

    if (rc == PMIX_SUCCESS) {
        rc = results_load(&look.found, op);
        sx_members_close(&look);
    }
    op->status = rc == PMIX_SUCCESS ? op->status : rc;
    return true;
}

static void construct_told(struct sx_op *op)
{
    if (op->info != NULL) {
        PMIX_INFO_FREE(op->info, op->ninfo);
    }
}

static const struct sx_op_kind construct_kind = { .size = sizeof(struct construct),
                                                  .finish = construct_finish,
                                                  .told = construct_told };

/* ---- construct ------------------------------------------------------------------------------ */

/* The infos of the caller, borrowed, and the name of the group in place of what they say of it. */
static pmix_info_t *infos_with_name(const struct sx_arriving *arriving, const char *name,
                                    size_t *ret_count)
{
    pmix_info_t *const infos = malloc((arriving->ninfo + 1) * sizeof(*infos));
    size_t count = 1;

    if (infos == NULL) {
        return NULL;
    }
    memset(&infos[0], 0, sizeof(infos[0]));
    memcpy(infos[0].key, PMIX_GROUP_ID, sizeof(PMIX_GROUP_ID));
    infos[0].value = (pmix_value_t){ .type = PMIX_STRING, .data.string = (char *)(uintptr_t)name };
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
    pmix_status_t rc = name_judge(name);

    if (rc == PMIX_SUCCESS && (arriving->procs == NULL || arriving->nprocs == 0)) {
        rc = PMIX_ERR_BAD_PARAM;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_arriving_check(arriving, SX_OF_GROUP_CONSTRUCT, &options);
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(&sx_process.link);
    }
    return rc == PMIX_SUCCESS && !sx_procs_hold_self(arriving->procs, arriving->nprocs)
               ? PMIX_ERR_BAD_PARAM
               : rc;
}

static pmix_status_t construct_start(struct construct *construct, const char *name,
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
    rc = sx_arrive(&construct->op, SX_COLLECTIVE_GROUP_CONSTRUCT, &named);
    free(infos);
    return rc;
}

static struct construct construct_init(bool wants_results, struct sx_callback callback)
{
    return (struct construct){ .op = SX_OP_INIT(&construct_kind, &sx_process.link,
                                                .callback = callback),
                               .wants_results = wants_results };
}

pmix_status_t PMIx_Group_construct(const char *grp, const pmix_proc_t *procs, size_t nprocs,
                                   const pmix_info_t *directives, size_t ndirs,
                                   pmix_info_t **results, size_t *nresults)
{
    struct construct construct = construct_init(results != NULL && nresults != NULL,
                                                SX_CALLBACK_NONE);
    const pmix_status_t rc = construct_start(&construct, grp,
                                             &(struct sx_arriving){ procs, nprocs, directives,
                                                                    ndirs });

    if (construct.wants_results) {
        *results = construct.op.info;
        *nresults = construct.op.ninfo;
    }
    return rc;
}

pmix_status_t PMIx_Group_construct_nb(const char *grp, const pmix_proc_t *procs, size_t nprocs,
                                      const pmix_info_t *directives, size_t ndirs,
                                      pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct construct construct = construct_init(true,
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
    struct sx_op op = SX_OP_INIT(&sx_op_plain, &sx_process.link, .callback = callback);
    struct sx_collective_options options = { 0 };
    pmix_proc_t all = { .rank = PMIX_RANK_WILDCARD };
    const struct sx_arriving arriving = {
        .procs = &all, .nprocs = 1, .info = info, .ninfo = ninfo
    };
    pmix_status_t rc = name_judge(name);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    memcpy(all.nspace, name, strlen(name));
    rc = sx_arriving_check(&arriving, SX_OF_GROUP_DESTRUCT, &options);
    if (rc == PMIX_SUCCESS) {
        rc = sx_link_status(&sx_process.link);
    }
    return rc == PMIX_SUCCESS ? sx_arrive(&op, SX_COLLECTIVE_GROUP_DESTRUCT, &arriving) : rc;
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_results.c - a membership as infos. */
#include "client/group/group_results.h"

#include <string.h>

#include <pmix.h>

#include "base/status.h"
#include "client/data/at_hand.h"
#include "client/data/membership.h"
#include "client/link/process.h"

pmix_status_t sx_group_name_check(const char *name)
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
    array->size = count; /* without members that have left meanwhile */
    PMIx_Load_key(ret->key, PMIX_GROUP_MEMBERSHIP);
    ret->value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    return PMIX_SUCCESS;
}

/* The context id is first, as many programs read nothing else; then the members, then the name of
 * the group. */
static pmix_status_t results_load(const struct sx_membership *group, struct sx_op *op)
{
    const bool has_context = (group->head.flags & SX_MEMBERSHIP_CONTEXT) != 0;
    const size_t count = has_context ? 3 : 2;
    pmix_info_t *info = PMIx_Info_create(count);
    pmix_info_t *next = info;

    if (info == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if (has_context) {
        PMIx_Load_key(next->key, PMIX_GROUP_CONTEXT_ID);
        next->value = (pmix_value_t){ .type = PMIX_SIZE, .data.size = group->head.context_id };
        next++;
    }
    pmix_status_t rc = members_load(group, next);

    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_load(next + 1, PMIX_GROUP_ID, sx_membership_name(group), PMIX_STRING);
    }
    if (rc != PMIX_SUCCESS) {
        PMIX_INFO_FREE(info, count);
        return rc;
    }
    op->info = info;
    op->ninfo = count;
    return PMIX_SUCCESS;
}

bool sx_group_op_finish(struct sx_op *op)
{
    const struct sx_group_op *const group = SX_CONTAINER(op, struct sx_group_op, op);
    struct sx_members_look look;

    if (op->status == PMIX_SUCCESS) {
        sx_at_hand_joined();
    }
    if (op->subject == 0 || !group->wants_results) {
        return true;
    }
    pmix_status_t rc = sx_members_open_subject(op->link, op->subject, &look);

    if (rc == PMIX_SUCCESS) {
        rc = results_load(&look.found, op);
        sx_members_close(&look);
    }
    op->status = rc == PMIX_SUCCESS ? op->status : rc;
    return true;
}

void sx_group_op_told(struct sx_op *op)
{
    if (op->info != NULL) {
        PMIX_INFO_FREE(op->info, op->ninfo);
    }
}

void sx_group_op_give(const struct sx_group_op *group, pmix_info_t **ret_results,
                      size_t *ret_nresults)
{
    if (group->wants_results) {
        *ret_results = group->op.info;
        *ret_nresults = group->op.ninfo;
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_upcall.c - the infos that a host gets with a call: the server's, then the members'. */
#include "server/collective/collective_upcall.h"

#include <stdlib.h>

#define OWN_INFOS 2u /* plus one for a fence, and one for members here */

pmix_status_t sx_joint_upcall(struct sx_server *server, enum sx_upcall_kind kind,
                              struct sx_joint *joint)
{
    const pmix_status_t local = joint->is_partial ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS;
    const bool yes = true;
    const size_t own = OWN_INFOS + (kind == SX_UPCALL_FENCE_NB) + (joint->here != NULL);
    pmix_data_array_t here = { .type = PMIX_PROC, .size = joint->here_count, .array = joint->here };
    struct sx_merged_infos none;
    struct sx_upcall up = {
        .told = joint->told,
        .asker = joint->asker,
        .procs = joint->procs,
        .nprocs = joint->proc_count,
        .text = joint->name,
        .status = joint->operation,
        .bytes = joint->blob.bytes,
        .size = joint->blob.size,
    };
    pmix_info_t *at;

    sx_merged_infos_init(&none);
    up.info = sx_merged_infos_take(joint->wishes != NULL ? joint->wishes : &none, own, &up.ninfo);
    joint->blob = (struct sx_blob){ 0 };
    if (up.info == NULL) {
        free(up.bytes);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    at = up.info;
    /* A fence always has data, at least a header: some hosts make no barrier without.  This info is
     * the first because other hosts read only the first one. */
    if (kind == SX_UPCALL_FENCE_NB) {
        PMIX_INFO_LOAD(at, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
        at++;
    }
    PMIX_INFO_LOAD(&at[0], PMIX_LOCAL_COLLECTIVE_STATUS, &local, PMIX_STATUS);
    PMIX_INFO_LOAD(&at[1], PMIX_SORTED_PROC_ARRAY, &yes, PMIX_BOOL);
    if (joint->here != NULL) {
        PMIX_INFO_LOAD(&at[2], PMIX_LOCAL_PARTICIPANTS, &here, PMIX_DATA_ARRAY);
    }
    const pmix_status_t rc = sx_upcall(server, kind, &up);

    free(up.info);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_leave.c - PMIx_Group_leave, blocking or not: one request, which waits for no other
 * process. */
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "client/data/at_hand.h"
#include "client/group/group_results.h"
#include "client/link/process.h"
#include "client/link/request.h"
#include "control/message.h"

static pmix_status_t arguments_judge(const char *group, const pmix_info_t directives[],
                                     size_t ndirs)
{
    const pmix_status_t rc = sx_group_name_check(group);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    return directives == NULL && ndirs != 0
               ? PMIX_ERR_BAD_PARAM
               : sx_options_read(SX_OF_GROUP_LEAVE, directives, ndirs, NULL);
}

static pmix_status_t leave(const char *group, const pmix_info_t directives[], size_t ndirs,
                           struct sx_callback callback)
{
    static const struct sx_op_kind kind = { .size = sizeof(struct sx_op),
                                            .request = SX_MSG_GROUP_LEAVE,
                                            .finish = sx_at_hand_parted };
    struct sx_op op = SX_OP_INIT(&kind, sx_primary(), .callback = callback);
    struct sx_group_leave head = { 0 };
    struct sx_draft draft = { .head = &head };
    const pmix_status_t rc = arguments_judge(group, directives, ndirs);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    memcpy(head.group, group, strlen(group));
    sx_at_hand_joined();
    return sx_op_ask(&op, &draft);
}

pmix_status_t PMIx_Group_leave(const char *grp, const pmix_info_t *directives, size_t ndirs)
{
    return leave(grp, directives, ndirs, SX_CALLBACK_NONE);
}

pmix_status_t PMIx_Group_leave_nb(const char *grp, const pmix_info_t *directives, size_t ndirs,
                                  pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    return cbfunc != NULL
               ? leave(grp, directives, ndirs, SX_CALLBACK(SX_SHAPE_OP, op, cbfunc, cbdata))
               : sx_process_misused();
}

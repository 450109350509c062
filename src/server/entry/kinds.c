/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* kinds.c - a row for each kind of collective operation.
 *
 * It stands here, above all chapters that its rows point into; the engine is given it at init. */
#include "server/collective/collective.h"

#include "ring/record.h"
#include "server/group/group.h"
#include "server/group/group_construct.h"

/* A member may not end, unless it has left the group by which it was named. */
#define NOBODY_MAY_END(withdrew_)                                             \
    {                                                                         \
        .died = PMIX_ERR_LOST_CONNECTION, .left = PMIX_ERR_PROC_TERM_WO_SYNC, \
        .departed = PMIX_ERR_PROC_TERM_WO_SYNC, .withdrew = (withdrew_),      \
    }
#define NOBODY_MAY_GO NOBODY_MAY_END(PMIX_ERR_PROC_TERM_WO_SYNC)

const struct sx_kind sx_kinds[SX_COLLECTIVE_KINDS] = {
    /* A member that has arrived counts, even if it ends.  A good-bye is not an end. */
    [SX_COLLECTIVE_FENCE] = {
        .number = SX_COLLECTIVE_FENCE,
        .function = SX_OF_FENCE,
        .known_by_meaning = true,
        .awaits_unknown = true,
        .before = { .died = PMIX_ERR_LOST_CONNECTION,
                    .departed = PMIX_ERR_PARTIAL_SUCCESS,
                    .withdrew = PMIX_ERR_PARTIAL_SUCCESS },
        .incomplete = PMIX_ERR_PARTIAL_SUCCESS,
        .aim = sx_ranks_aim,
        .nspace_added = sx_ranks_nspace_added,
        .conclude = sx_connect_fenced,
        .host_reaches = sx_fence_host_reaches,
        .host_ask = sx_fence_host_ask,
        .host_answered = sx_fence_host_answered,
        .pack = sx_fence_contribute,
    },
    [SX_COLLECTIVE_CONNECT] = {
        .number = SX_COLLECTIVE_CONNECT,
        .function = SX_OF_CONNECT,
        .before = NOBODY_MAY_GO,
        .after = NOBODY_MAY_GO,
        .aim = sx_ranks_aim,
        .arrived = sx_connect_arrived,
        .conclude = sx_connect_conclude,
        .admits_unknown = true,
        .awaits_unknown = true,
        .nspace_added = sx_ranks_nspace_added,
        .host_reaches = sx_agree_reaches,
        .host_always = sx_connects_host_always,
        .host_ask = sx_connects_host_ask,
        .host_answered = sx_connect_host_answered,
        .contribute = sx_connect_contribute,
        .commits = true,
    },
    /* A member that has called is free to go. */
    [SX_COLLECTIVE_DISCONNECT] = {
        .number = SX_COLLECTIVE_DISCONNECT,
        .function = SX_OF_DISCONNECT,
        .before = NOBODY_MAY_GO,
        .known_by_list = true,
        .aim = sx_disconnect_aim,
        .arrived = sx_disconnect_arrived,
        .conclude = sx_disconnect_conclude,
        .host_reaches = sx_agree_reaches,
        .host_always = sx_connects_host_always,
        .host_ask = sx_connects_host_ask,
        .host_answered = sx_disconnect_host_answered,
        .contribute = sx_disconnect_contribute,
        .commits = true,
    },
    [SX_COLLECTIVE_GROUP_CONSTRUCT] = {
        .number = SX_COLLECTIVE_GROUP_CONSTRUCT,
        .function = SX_OF_GROUP_CONSTRUCT,
        .before = NOBODY_MAY_GO,
        .after = NOBODY_MAY_GO,
        .known_by_id = true,
        .prepare = sx_group_construct_prepare,
        .aim = sx_group_construct_aim,
        .takes = sx_group_construct_takes,
        .awaits_more = sx_group_bootstrap_awaits,
        .lost = sx_group_construct_lost,
        .conclude = sx_group_construct_conclude,
        .admits_unknown = true,
        .awaits_unknown = true,
        .nspace_added = sx_group_construct_nspace_added,
        .host_reaches = sx_agree_reaches,
        .host_always = sx_group_construct_host_always,
        .host_ask = sx_group_construct_host_ask,
        .host_answered = sx_group_construct_host_answered,
        .host_cancel = sx_group_construct_host_cancel,
        .contribute = sx_group_construct_contribute,
        .plan_free = sx_group_plan_free,
        .commits = true,
    },
    /* A member that has called is free to go. */
    [SX_COLLECTIVE_GROUP_DESTRUCT] = {
        .number = SX_COLLECTIVE_GROUP_DESTRUCT,
        .function = SX_OF_GROUP_DESTRUCT,
        .before = NOBODY_MAY_END(PMIX_ERR_PARTIAL_SUCCESS),
        .known_by_list = true,
        .aim = sx_group_destruct_aim,
        .conclude = sx_group_destruct_conclude,
        .host_reaches = sx_agree_reaches,
        .host_ask = sx_group_destruct_host_ask,
        .host_cancel = sx_group_destruct_host_cancel,
        .host_answered = sx_disconnect_host_answered,
        .contribute = sx_disconnect_contribute,
        .commits = true,
    },
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_calls.h - the members of rounds.h call the construct and the destruct of groups. */
#ifndef SX_TEST_GROUP_CALLS_H
#define SX_TEST_GROUP_CALLS_H

#include "rounds.h"

struct group_call {
    const char *name;
    bool destructs, fences; /* else it constructs */
    bool backwards, wants_context, here_only, notifies, goes_on;
    size_t local_cid; /* 0: it gives none */
    size_t leaders;   /* of a bootstrap, to which it adds all the others; 0: it is none */
    uint32_t seconds; /* a limit; 0: none */
    uint32_t extra;   /* one more rank that is a member; 0: none */
};

static void group_called(struct node *node, const void *arg)
{
    const struct group_call *const call = arg;
    const bool yes = true;
    const bool constructs = !call->destructs && !call->fences;
    const struct sx_lane_arrive head = { .kind = call->destructs ? SX_COLLECTIVE_GROUP_DESTRUCT
                                                 : call->fences  ? SX_COLLECTIVE_FENCE
                                                                 : SX_COLLECTIVE_GROUP_CONSTRUCT,
                                         .op = ++node->calls };
    _Alignas(8) char message[2048];
    pmix_proc_t procs[NODES_MAX + 1], others[NODES_MAX + 1];
    pmix_data_array_t added = { .type = PMIX_PROC, .size = node_count, .array = others };
    pmix_info_t info[8];
    size_t count = constructs ? node_count : 1, ninfo = 0, size;

    PMIx_Load_procid(&procs[0], call->name, PMIX_RANK_WILDCARD);
    for (unsigned i = 0; constructs && i < node_count; i++) {
        PMIx_Load_procid(&procs[call->backwards ? node_count - 1 - i : i], jobs[i], i);
    }
    if (call->extra != 0) {
        PMIx_Load_procid(&procs[count++], jobs[0], call->extra);
    }
    memcpy(others, procs, sizeof(procs));
    if (call->here_only || call->leaders != 0) {
        PMIx_Load_procid(&procs[0], node->job->name, node->member->rank);
        count = 1;
    }
    if (constructs) {
        PMIx_Info_load(&info[ninfo++], PMIX_GROUP_ID, call->name, PMIX_STRING);
    }
    if (call->wants_context) {
        PMIx_Info_load(&info[ninfo++], PMIX_GROUP_ASSIGN_CONTEXT_ID, &yes, PMIX_BOOL);
    }
    if (call->notifies) {
        PMIx_Info_load(&info[ninfo++], PMIX_GROUP_NOTIFY_TERMINATION, &yes, PMIX_BOOL);
    }
    if (call->goes_on) {
        PMIx_Info_load(&info[ninfo++], PMIX_GROUP_FT_COLLECTIVE, &yes, PMIX_BOOL);
    }
    if (call->local_cid != 0) {
        PMIx_Info_load(&info[ninfo++], PMIX_GROUP_LOCAL_CID, &call->local_cid, PMIX_SIZE);
    }
    if (call->leaders != 0) {
        PMIx_Info_load(&info[ninfo++], PMIX_GROUP_BOOTSTRAP, &call->leaders, PMIX_SIZE);
        PMIx_Info_load(&info[ninfo++], PMIX_GROUP_ADD_MEMBERS, &added, PMIX_DATA_ARRAY);
    }
    if (call->seconds != 0) {
        PMIx_Info_load(&info[ninfo++], PMIX_TIMEOUT, &call->seconds, PMIX_UINT32);
    }
    struct sx_draft draft = {
        .signature = &sx_arrive_body,
        .head = &head,
        .nspace = "",
        .parts = { [SX_ARRIVE_PROCS] = { procs, count }, [SX_ARRIVE_INFOS] = { info, ninfo } }
    };

    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    cr_assert_leq(size, sizeof(message));
    cr_assert_eq(sx_body_write(&draft, message), PMIX_SUCCESS);
    cr_assert_eq(sx_collective_arrive(&node->server, node->member,
                                      opened(&sx_arrive_body, message, size)),
                 PMIX_SUCCESS);
    for (size_t i = 0; i < ninfo; i++) {
        PMIx_Info_destruct(&info[i]);
    }
}

static inline void calls(unsigned node, const struct group_call *call)
{
    node_run(&nodes[node], group_called, call);
}

static inline void rounds_end(void)
{
    while (host_can_answer()) {
        host_answers(PMIX_SUCCESS);
    }
}

#endif

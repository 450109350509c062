/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_plan.h - what the callers of a construct have said: the order of the members, and what each
 * gives to the others.
 *
 * All write the same members.  The order that counts is that of the caller who is first by
 * namespace and rank, so that it does not matter who comes when, and where: of those who say which
 * order is final, if there are any. */
#ifndef SX_SERVER_GROUP_GROUP_PLAN_H
#define SX_SERVER_GROUP_GROUP_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "server/group/leader_failover.h"
#include "server/model/proc_list.h"

struct sx_arrival;
struct sx_client;
struct sx_membership_head;
struct sx_server;

/* What one member gives. */
struct sx_group_gift {
    pmix_proc_t proc;
    pmix_info_t *info;
    size_t ninfo;
};

struct sx_group_plan {
    pmix_proc_t *order; /* of the members, in the order of their ranks */
    size_t order_count;
    bool is_final;        /* somebody has said so */
    pmix_proc_t by;       /* whose order it is ... */
    pmix_proc_t *written; /* ... and as he wrote it: names of lists and wildcards among them */
    size_t written_count;
    /* Of one whose members do not know of each other: group_bootstrap.h */
    bool is_bootstrap;
    uint32_t leaders, leaders_come; /* 0: no leader has come */
    struct sx_proc_list named;      /* the leaders that have come, and those whom they add ... */
    struct sx_proc_list final;      /* ... some of whom are the first, in this order */
    struct sx_group_lead lead;      /* what is said when a member ends */
    struct sx_group_gift *gifts;
    size_t gift_count, gift_capacity;
    uint64_t context_id; /* the host's, or that of the servers of several nodes; 0: none yet */
};

/* Take out of @arrival what @client says.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_plan_take(struct sx_group_plan *plan, struct sx_client *client,
                                 struct sx_arrival *arrival);

/* Bring those of @order who are in @final before the others, in its order.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_plan_arrange(pmix_proc_t *order, size_t count, const pmix_proc_t *final,
                                    size_t final_count);

/* Whether @arrival names the members in the words of the caller whose order counts so far, and
 * these are all of them. */
bool sx_group_plan_knows(const struct sx_group_plan *plan, const struct sx_arrival *arrival);

/* Let everybody get what the members of @group give.  Return: as sx_group_gift_give. */
pmix_status_t sx_group_plan_give(struct sx_server *server, const struct sx_group_plan *plan,
                                 const struct sx_membership_head *group);

/* Takes what @gift holds.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_plan_gift(struct sx_group_plan *plan, struct sx_group_gift *gift);

/* Its order and gifts are as in the beginning. */
void sx_group_plan_forget(struct sx_group_plan *plan);
void sx_group_plan_free(struct sx_group_plan *plan);

#endif

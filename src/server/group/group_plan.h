/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_plan.h - what the callers of a construct have sent: the order of the members, and the data
 * that each gives to the others.
 *
 * All write the same members.  The order of the caller that is first by namespace and rank counts,
 * so it does not matter when and where each calls.  If some callers have sent a final order, the
 * first of those callers counts. */
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

/* The data of one member. */
struct sx_group_gift {
    pmix_proc_t proc;
    pmix_info_t *info;
    size_t ninfo;
};

struct sx_group_plan {
    pmix_proc_t *order; /* members in the order of their ranks */
    size_t order_count;
    bool is_final;        /* a caller has sent a final order */
    pmix_proc_t by;       /* the caller that the order is from ... */
    pmix_proc_t *written; /* ... and as it was written: may hold names of lists and wildcards */
    size_t written_count;
    /* A construct whose callers have no list of members: group_bootstrap.h */
    bool is_bootstrap;
    uint32_t leaders, leaders_come; /* 0: no leader has called */
    struct sx_proc_list named;      /* leaders that have called, and processes that they add ... */
    struct sx_proc_list final;      /* ... some of which are first, in this order */
    struct sx_group_lead lead;      /* decides how to continue when a member ends */
    struct sx_group_gift *gifts;
    size_t gift_count, gift_capacity;
    uint64_t context_id; /* of the host, or of the servers of several nodes; 0: none yet */
};

/* Take what @client has sent out of @arrival.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_plan_take(struct sx_group_plan *plan, struct sx_client *client,
                                 struct sx_arrival *arrival);

/* Move the processes of @order that are in @final to the front, in the order of @final.  Return:
 * PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_plan_arrange(pmix_proc_t *order, size_t count, const pmix_proc_t *final,
                                    size_t final_count);

/* Return: whether @arrival writes the members exactly as the caller whose order counts so far, and
 * these are all members. */
bool sx_group_plan_knows(const struct sx_group_plan *plan, const struct sx_arrival *arrival);

/* Make the data of the members of @group available to all.  Return: as sx_group_gift_give. */
pmix_status_t sx_group_plan_give(struct sx_server *server, const struct sx_group_plan *plan,
                                 const struct sx_membership_head *group);

/* Add @gift, whose contents @plan takes over.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_plan_gift(struct sx_group_plan *plan, struct sx_group_gift *gift);

/* Reset the order and the gifts of @plan to their initial state. */
void sx_group_plan_forget(struct sx_group_plan *plan);
void sx_group_plan_free(struct sx_group_plan *plan);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_construct.h - a construct under way: what its callers have sent, here and on other nodes.
 *
 * This is the order of the members, and the data that each gives to the others.  All write the same
 * members.  The order of the caller that is first by namespace and rank counts, so it does not
 * matter when and where each calls.  If some callers have sent a final order, the first of those
 * callers counts. */
#ifndef SX_SERVER_GROUP_GROUP_CONSTRUCT_H
#define SX_SERVER_GROUP_GROUP_CONSTRUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

#include "base/call/directive_tables.h"
#include "base/message/signature.h"
#include "server/collective/collective.h"
#include "server/group/group.h"
#include "server/group/leader_failover.h"
#include "server/model/blob.h"
#include "server/model/proc_list.h"

/* ---- the plan -------------------------------------------------------------------------------- */

/* The data of one member. */
struct sx_group_gift {
    pmix_proc_t proc;
    pmix_info_t *info;
    size_t ninfo;
};

struct sx_group_plan {
    pmix_proc_t *order; /* members in the order of their ranks */
    size_t order_count;
    struct sx_users users;          /* of those that have called: the name is theirs */
    bool is_final;                  /* a caller has sent a final order */
    pmix_proc_t by;                 /* the caller that the order is from ... */
    struct sx_procs_digest written; /* ... and of what it has written: that may hold names of ... */
    size_t written_count;           /* ... lists and wildcards */
    /* A construct whose callers have no list of members: group_bootstrap.c */
    bool is_bootstrap;
    uint32_t leaders, leaders_come; /* 0: no leader has called */
    struct sx_proc_list named;      /* leaders that have called, and processes that they add ... */
    struct sx_proc_list final;      /* ... some of which are first, in this order */
    struct sx_group_lead lead;      /* decides how to continue when a member ends */
    /* The order while it is read anew, in steps: sx_group_construct_nspace_added */
    struct {
        unsigned done;          /* steps */
        uint64_t registrations; /* what the server counted at the first one */
        struct sx_proc_list listed, sorted;
    } reread;
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

/* The order of @plan is about to change: it is read anew from the first step on. */
void sx_group_plan_reread_restart(struct sx_group_plan *plan);
/* Reset the order and the gifts of @plan to their initial state. */
void sx_group_plan_forget(struct sx_group_plan *plan);
void sx_group_plan_free(struct sx_group_plan *plan);

/* ---- data for the others --------------------------------------------------------------------- */

/* Data that a member of a group gives to the others: PMIX_GROUP_INFO, PMIX_GROUP_LOCAL_CID,
 * PMIX_GROUP_ENDPT_DATA.
 *
 * Each info is a value of its own.  All processes can get it once the group exists, and for a while
 * after the group has ended (group_values.c).  It is qualified by the context id, if there is
 * one. */

/* Move the infos that a member gives, which @options point to, behind the *count infos at *all.
 * PMIX_INFO_FREE frees *all.  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_gift_take(const struct sx_collective_options *options, pmix_info_t **all,
                                 size_t *count);

/* Make the infos that @proc gives in @group available to all.  Return: PMIX_SUCCESS;
 * PMIX_ERR_OUT_OF_RESOURCE; as sx_modex_give. */
pmix_status_t sx_group_gift_give(struct sx_server *server, const pmix_proc_t *proc,
                                 const pmix_info_t info[], size_t ninfo,
                                 const struct sx_membership_head *group);

/* ---- callers that do not have the list of members -------------------------------------------- */

/* A construct whose callers do not have the list of its members.
 *
 *     GATHERING --so many leaders have come, and all whom they have named--> as any construct
 *
 * A leader gives the number of leaders (PMIX_GROUP_BOOTSTRAP) and the processes that it adds
 * (PMIX_GROUP_ADD_MEMBERS).  A process that is added gives the name of the group and no processes.
 * Callers may call in any order: each is expected, and so are the processes that it names.  The
 * ranks follow namespaces and ranks.  All are on this node, and of one user: they find each other
 * by the name alone, which each user has for itself. */

/* Replace the processes of @arrival, if it is a call of such a construct, by @client and the
 * processes that it adds.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, logged, for a caller that
 * names others in another way; PMIX_ERR_NO_PERMISSIONS, logged, for a process of another user;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_bootstrap_read(struct sx_server *server, struct sx_client *client,
                                      struct sx_arrival *arrival);

/* Return: whether both @open and @arrival are of such a construct. */
bool sx_group_bootstrap_both(const struct sx_collective *open, const struct sx_arrival *arrival);

/* Expect the processes of @arrival as well.  Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, logged, for
 * one leader too many; PMIX_ERR_NOT_SUPPORTED, logged, for processes that are not here;
 * PMIX_ERR_OUT_OF_RESOURCE.  For a process that has ended, the status with which this ends the
 * construct for all. */
pmix_status_t sx_group_bootstrap_expect(struct sx_collective *open,
                                        const struct sx_arrival *arrival);

/* Make the plan of @collective, if there is none, and add what @arrival gives about leaders.
 * Return: PMIX_SUCCESS; PMIX_ERR_BAD_PARAM, logged, when only some of the calls are of such a
 * construct; PMIX_ERR_NOT_SUPPORTED, logged, when it names processes of other nodes;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_bootstrap_take(struct sx_collective *collective,
                                      const struct sx_arrival *arrival);
bool sx_group_bootstrap_awaits(const struct sx_collective *collective);
/* All have called: the processes that were named are the members.  Return: PMIX_SUCCESS;
 * PMIX_ERR_BAD_PARAM, logged, when a process has called that no leader has named. */
pmix_status_t sx_group_bootstrap_settle(struct sx_collective *collective);

/* ---- the contribution of each server --------------------------------------------------------- */

/* The contribution of each server to a group over several nodes, as bytes.
 *
 *   said: struct sx_group_agreement, the order, whose order it is, gifts
 *   gift: struct sx_group_agreement_gift, the member, its infos
 *
 * Each server merges the contributions of all servers, its own included, in any order.  All servers
 * then have the same plan: the order and the context id of the caller that is first by namespace
 * and rank.  If some callers have sent a final order, the first of those callers counts. */

#define SX_GROUP_GIFT_HEAP_MAX (UINT64_C(1) << 20) /* of one member, once unpacked */

struct sx_group_agreement {
    uint64_t context_id;
    uint32_t group; /* SX_GROUP_*, of all callers of that server */
    uint32_t order_count, by_count;
    uint8_t is_final; /* such an order precedes those that are not final */
    uint8_t reserved[3];
    uint64_t gifts_size;
};
static_assert(sizeof(struct sx_group_agreement) == 32, "fixed by blob version 1");
enum { SX_GROUP_AGREEMENT_ORDER, SX_GROUP_AGREEMENT_BY, SX_GROUP_AGREEMENT_GIFTS };
extern const struct sx_signature sx_group_agreement_body;

struct sx_group_agreement_gift {
    uint32_t proc_count;
    uint8_t reserved[4];
    uint64_t info_size;
};
static_assert(sizeof(struct sx_group_agreement_gift) == 16, "fixed by blob version 1");
enum { SX_GROUP_GIFT_PROC, SX_GROUP_GIFT_INFOS };
extern const struct sx_signature sx_group_agreement_gift_body;

/* Append the contribution that @plan makes; @group: SX_GROUP_*.  Return: as sx_agreement_add. */
pmix_status_t sx_group_agreement_write(const struct sx_group_plan *plan, uint8_t group,
                                       struct sx_blob *blob);

/* Merge the contribution of one server into @plan, which is in its initial state the first time.
 * *group gets the directives of the contribution too.  Return: PMIX_SUCCESS;
 * PMIX_ERR_UNPACK_FAILURE; PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_group_agreement_read(struct sx_group_plan *plan, const struct sx_opened_part *said,
                                      uint8_t *group);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_agreement.h - the contribution of each server to a group over several nodes, as bytes.
 *
 *   said: struct sx_group_agreement, the order, whose order it is, gifts
 *   gift: struct sx_group_agreement_gift, the member, its infos
 *
 * Each server merges the contributions of all servers, its own included, in any order.  All servers
 * then have the same plan: the order and the context id of the caller that is first by namespace
 * and rank.  If some callers have sent a final order, the first of those callers counts. */
#ifndef SX_SERVER_GROUP_GROUP_AGREEMENT_H
#define SX_SERVER_GROUP_GROUP_AGREEMENT_H

#include "base/message/signature.h"
#include "server/group/group_plan.h"
#include "server/model/blob.h"

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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_agreement.c - a plan as bytes, and the plans of several servers merged into one. */
#include "server/group/group_agreement.h"

#include <stdlib.h>
#include <string.h>

#include "base/value/value.h"
#include "server/collective/agreement.h"

const struct sx_signature sx_group_agreement_body = {
    .head_size = sizeof(struct sx_group_agreement),
    .parts = { [SX_GROUP_AGREEMENT_ORDER] = SX_PROCS_PART(struct sx_group_agreement, order_count,
                                                          1),
               [SX_GROUP_AGREEMENT_BY] = SX_PROCS_PART(struct sx_group_agreement, by_count, 1),
               [SX_GROUP_AGREEMENT_GIFTS] = SX_ARRAY_PART(struct sx_group_agreement, gifts_size,
                                                          char, 0) },
};

const struct sx_signature sx_group_agreement_gift_body = {
    .head_size = sizeof(struct sx_group_agreement_gift),
    .parts = { [SX_GROUP_GIFT_PROC] = SX_PROCS_PART(struct sx_group_agreement_gift, proc_count, 1),
               [SX_GROUP_GIFT_INFOS] = SX_INFOS_PART(struct sx_group_agreement_gift, info_size) },
    .heap_max = SX_GROUP_GIFT_HEAP_MAX,
};

/* ---- writing --------------------------------------------------------------------------------- */

static pmix_status_t gift_write(const struct sx_group_gift *gift, struct sx_blob *blob)
{
    const struct sx_group_agreement_gift head = { 0 };
    struct sx_draft draft = { .signature = &sx_group_agreement_gift_body,
                              .head = &head,
                              .nspace = "",
                              .parts = { [SX_GROUP_GIFT_PROC] = { &gift->proc, 1 },
                                         [SX_GROUP_GIFT_INFOS] = { gift->info, gift->ninfo } } };

    return sx_agreement_add(blob, &draft);
}

pmix_status_t sx_group_agreement_write(const struct sx_group_plan *plan, uint8_t group,
                                       struct sx_blob *blob)
{
    const struct sx_group_agreement head = { .context_id = plan->context_id,
                                             .group = group,
                                             .is_final = plan->is_final };
    struct sx_blob gifts = { 0 };
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < plan->gift_count && rc == PMIX_SUCCESS; i++) {
        rc = gift_write(&plan->gifts[i], &gifts);
    }
    if (rc == PMIX_SUCCESS) {
        struct sx_draft draft = {
            .signature = &sx_group_agreement_body,
            .head = &head,
            .nspace = "",
            .parts = { [SX_GROUP_AGREEMENT_ORDER] = { plan->order, plan->order_count },
                       [SX_GROUP_AGREEMENT_BY] = { &plan->by, 1 },
                       [SX_GROUP_AGREEMENT_GIFTS] = { gifts.bytes, gifts.size } }
        };

        rc = sx_agreement_add(blob, &draft);
    }
    sx_blob_clear(&gifts);
    return rc;
}

/* ---- reading --------------------------------------------------------------------------------- */

static pmix_status_t gift_read(struct sx_group_plan *plan, const struct sx_opened *body)
{
    struct sx_group_gift gift = { .ninfo = 0 };
    pmix_proc_t *proc;
    pmix_status_t rc = body->parts[SX_GROUP_GIFT_PROC].count == 1 ? PMIX_SUCCESS
                                                                  : PMIX_ERR_UNPACK_FAILURE;

    if (rc == PMIX_SUCCESS) {
        rc = sx_part_procs(&body->parts[SX_GROUP_GIFT_PROC], &proc);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    gift.proc = *proc;
    free(proc);
    rc = sx_body_infos(body, SX_GROUP_GIFT_INFOS, &gift.info, &gift.ninfo);
    return rc == PMIX_SUCCESS ? sx_group_plan_gift(plan, &gift) : rc;
}

static pmix_status_t gifts_read(struct sx_group_plan *plan, const struct sx_opened_part *gifts)
{
    const uint8_t *at = gifts->at;
    size_t left = gifts->size;
    pmix_status_t rc = PMIX_SUCCESS;
    struct sx_opened gift;

    while (rc == PMIX_SUCCESS && left > 0) {
        rc = sx_body_next(&gift, &sx_group_agreement_gift_body, &at, &left) != NULL
                 ? PMIX_ERR_UNPACK_FAILURE
                 : gift_read(plan, &gift);
    }
    return rc;
}

/* The order of the first caller of all counts, and what was sent with it. */
static pmix_status_t order_read(struct sx_group_plan *plan, const struct sx_opened *body)
{
    const struct sx_group_agreement *const head = body->head;
    pmix_proc_t *by, *order;
    pmix_status_t rc = body->parts[SX_GROUP_AGREEMENT_BY].count == 1
                           ? sx_part_procs(&body->parts[SX_GROUP_AGREEMENT_BY], &by)
                           : PMIX_ERR_UNPACK_FAILURE;

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const bool is_final = head->is_final != 0;

    if (plan->order == NULL ||
        (plan->is_final != is_final ? is_final : sx_proc_order(by, &plan->by) < 0)) {
        rc = sx_part_procs(&body->parts[SX_GROUP_AGREEMENT_ORDER], &order);
        if (rc == PMIX_SUCCESS) {
            free(plan->order);
            plan->order = order;
            plan->order_count = body->parts[SX_GROUP_AGREEMENT_ORDER].count;
            plan->by = *by;
            plan->is_final = is_final;
            plan->context_id = head->context_id;
        }
    }
    free(by);
    return rc;
}

pmix_status_t sx_group_agreement_read(struct sx_group_plan *plan, const struct sx_opened_part *said,
                                      uint8_t *group)
{
    const uint8_t *at = said->at;
    size_t left = said->size;
    struct sx_opened body;

    if (left == 0 || sx_body_next(&body, &sx_group_agreement_body, &at, &left) != NULL ||
        left != 0) {
        return PMIX_ERR_UNPACK_FAILURE;
    }
    *group |= (uint8_t)((const struct sx_group_agreement *)body.head)->group;
    const pmix_status_t rc = order_read(plan, &body);

    return rc == PMIX_SUCCESS ? gifts_read(plan, &body.parts[SX_GROUP_AGREEMENT_GIFTS]) : rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_nodes.c - a group over several nodes: the entry of the host, its context id, and the plan
 * that the servers agree on. */
#include "server/group/group_construct.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/status.h"
#include "base/value/value.h"
#include "server/collective/collective.h"

static pmix_status_t ask(struct sx_collective *collective, const char *name, int operation,
                         sx_answered_fn answered)
{
    const struct sx_agree_entry entry = { .kind = SX_UPCALL_GROUP,
                                          .is_asked = collective->members.server->module.group !=
                                                      NULL,
                                          .name = name,
                                          .operation = operation };

    return sx_agree_ask(collective, &entry, answered);
}

/* The host's answer to this call is ignored. */
static void cancel(const struct sx_collective *collective, const char *name)
{
    const struct sx_members *const members = &collective->members;
    struct sx_joint joint = { .name = name,
                              .operation = PMIX_GROUP_CANCEL,
                              .procs = members->real.all,
                              .proc_count = members->real.count,
                              .made = members->real.made };

    if (members->server->module.group != NULL) {
        joint.here = sx_agree_members_here(members, &joint.here_count);
        (void)sx_joint_upcall(members->server, SX_UPCALL_GROUP, &joint);
        free(joint.here);
    }
}

/* ---- construct ------------------------------------------------------------------------------- */

bool sx_group_construct_host_always(const struct sx_collective *collective)
{
    const uint8_t group = collective->group & (SX_GROUP_CONTEXT | SX_GROUP_LOCAL_ONLY);

    return collective->members.server->module.group != NULL && group == SX_GROUP_CONTEXT;
}

pmix_status_t sx_group_construct_host_ask(struct sx_collective *collective, sx_answered_fn answered)
{
    return ask(collective, collective->id, PMIX_GROUP_CONSTRUCT, answered);
}

/* If the host gives no context id, the servers choose one. */
static void context_id_take(struct sx_group_plan *plan, const struct sx_host_answer *answer)
{
    for (size_t i = 0; i < answer->ninfo; i++) {
        const pmix_value_t *const value = &answer->info[i].value;
        size_t id;

        if (!PMIx_Check_key(answer->info[i].key, PMIX_GROUP_CONTEXT_ID)) {
            continue;
        }
        if (PMIx_Value_get_number(value, &id, PMIX_SIZE) == PMIX_SUCCESS) {
            plan->context_id = id;
        } else {
            sx_log(SX_LOG_WARN,
                   "the \"%s\" that the host's entry for groups gives is no number (%s): the "
                   "servers give one",
                   PMIX_GROUP_CONTEXT_ID, PMIx_Data_type_string(value->type));
        }
    }
}

static pmix_status_t on_said(const struct sx_opened_part *said, void *arg)
{
    struct sx_collective *const collective = arg;

    return sx_group_agreement_read(collective->plan, said, &collective->group);
}

bool sx_group_construct_host_answered(struct sx_collective *collective,
                                      const struct sx_host_answer *answer,
                                      pmix_status_t *ret_status)
{
    if (answer->status == PMIX_SUCCESS && answer->size == 0) {
        context_id_take(collective->plan, answer);
    }
    if (sx_agree_goes_on(collective, answer, ret_status)) {
        return false;
    }
    if (*ret_status == PMIX_SUCCESS && answer->size > 0) {
        sx_group_plan_forget(collective->plan);
        *ret_status = sx_agree_read(collective, answer, on_said);
    }
    return true;
}

void sx_group_construct_host_cancel(const struct sx_collective *collective)
{
    cancel(collective, collective->id);
}

pmix_status_t sx_group_construct_contribute(struct sx_collective *collective, struct sx_blob *blob)
{
    struct sx_group_plan *const plan = collective->plan;
    struct sx_blob said = { 0 };

    if (plan->context_id == 0) {
        plan->context_id = sx_group_context_id(collective->members.server);
    }
    pmix_status_t rc = sx_group_agreement_write(plan, collective->group, &said);

    if (rc == PMIX_SUCCESS) {
        rc = sx_agree_contribute(collective, collective->id, &said, blob);
    }
    sx_blob_clear(&said);
    return rc;
}

/* ---- destruct -------------------------------------------------------------------------------- */

pmix_status_t sx_group_destruct_host_ask(struct sx_collective *collective, sx_answered_fn answered)
{
    return ask(collective, collective->members.procs[0].nspace, PMIX_GROUP_DESTRUCT, answered);
}

void sx_group_destruct_host_cancel(const struct sx_collective *collective)
{
    cancel(collective, collective->members.procs[0].nspace);
}

/* ---- the contribution of each server --------------------------------------------------------- */

/* A plan as bytes, and the plans of several servers merged into one. */

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

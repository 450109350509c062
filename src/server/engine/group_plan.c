/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_plan.c - infos change their owner; each becomes a value in the store. */
#include "server/engine/group_plan.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/value.h"
#include "server/engine/modex.h"
#include "server/model/arrival.h"

#define GIFTS_FIRST 8u

/* ---- what a caller says ---------------------------------------------------------------------- */

static void gift_clear(struct sx_group_gift *gift)
{
    if (gift->info != NULL) {
        PMIX_INFO_FREE(gift->info, gift->ninfo);
    }
}

void sx_group_plan_forget(struct sx_group_plan *plan)
{
    for (size_t i = 0; i < plan->gift_count; i++) {
        gift_clear(&plan->gifts[i]);
    }
    free(plan->gifts);
    free(plan->order);
    free(plan->written);
    plan->gifts = NULL;
    plan->order = plan->written = NULL;
    plan->gift_count = plan->gift_capacity = plan->order_count = plan->written_count = 0;
}

void sx_group_plan_free(struct sx_group_plan *plan)
{
    sx_group_plan_forget(plan);
    sx_group_lead_clear(&plan->lead);
    sx_proc_list_clear(&plan->named);
    free(plan);
}

/* Room for one more. */
static bool gifts_reserve(struct sx_group_plan *plan)
{
    if (plan->gift_count == plan->gift_capacity) {
        const size_t larger = plan->gift_capacity == 0 ? GIFTS_FIRST : 2 * plan->gift_capacity;
        struct sx_group_gift *const grown = realloc(plan->gifts, larger * sizeof(*grown));

        if (grown == NULL) {
            return false;
        }
        plan->gifts = grown;
        plan->gift_capacity = larger;
    }
    return true;
}

/* Move @count infos out of the array @from, which is ours, behind those of @gift. */
static void infos_move(struct sx_group_gift *gift, const pmix_info_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pmix_info_t *const info = (pmix_info_t *)(uintptr_t)&from[i];

        gift->info[gift->ninfo++] = *info;
        PMIx_Info_construct(info);
    }
}

pmix_status_t sx_group_plan_gift(struct sx_group_plan *plan, struct sx_group_gift *gift)
{
    if (!gifts_reserve(plan)) {
        gift_clear(gift);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    plan->gifts[plan->gift_count++] = *gift;
    return PMIX_SUCCESS;
}

static pmix_status_t gift_take(struct sx_group_plan *plan, struct sx_client *client,
                               const struct sx_collective_options *options)
{
    const size_t cid_count = options->local_cid != NULL;
    const size_t data_count = options->endpoint_data != NULL;
    const size_t count = options->group_info.count + cid_count + data_count;

    if (count == 0) {
        return PMIX_SUCCESS;
    }
    struct sx_group_gift gift = { .proc = sx_nspace_proc(client->nspace, client->rank),
                                  .info = PMIx_Info_create(count) };

    if (gift.info == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    infos_move(&gift, options->group_info.all, options->group_info.count);
    infos_move(&gift, options->local_cid, cid_count);
    infos_move(&gift, options->endpoint_data, data_count);
    return sx_group_plan_gift(plan, &gift);
}

bool sx_group_plan_knows(const struct sx_group_plan *plan, const struct sx_arrival *arrival)
{
    size_t same = 0;

    if (plan->is_bootstrap || arrival->options.leaders.given ||
        plan->written_count != arrival->proc_count) {
        return false;
    }
    while (same < plan->written_count &&
           sx_proc_order(&plan->written[same], &arrival->procs[same]) == 0) {
        same++;
    }
    return same == plan->written_count;
}

/* Who has no order of his own has written the one that counts. */
static void order_take(struct sx_group_plan *plan, const struct sx_client *client,
                       struct sx_arrival *arrival)
{
    const pmix_proc_t self = sx_nspace_proc(client->nspace, client->rank);

    if (plan->order != NULL && sx_proc_order(&self, &plan->by) > 0) {
        return;
    }
    plan->by = self;
    if (arrival->order != NULL) {
        free(plan->order);
        free(plan->written);
        plan->order = arrival->order;
        plan->order_count = arrival->order_count;
        plan->written = arrival->written;
        plan->written_count = arrival->written_count;
        arrival->order = arrival->written = NULL;
    }
}

pmix_status_t sx_group_plan_take(struct sx_group_plan *plan, struct sx_client *client,
                                 struct sx_arrival *arrival)
{
    const pmix_status_t rc = gift_take(plan, client, &arrival->options);

    if (rc == PMIX_SUCCESS) {
        order_take(plan, client, arrival);
    }
    return rc;
}

/* ---- what the others get --------------------------------------------------------------------- */

static pmix_status_t give_value(struct sx_server *server, const pmix_proc_t *proc, const char *key,
                                const pmix_value_t *value)
{
    struct sx_nspace *const nspace = sx_nspace_find(server, proc->nspace);

    if (nspace == NULL || !nspace->has_store) {
        return PMIX_SUCCESS; /* it has gone */
    }
    struct sx_client *const client = sx_client_find(nspace, proc->rank);

    return client != NULL ? sx_modex_give(server, client, key, value)
                          : sx_modex_give_elsewhere(nspace, proc->rank, key, value);
}

static pmix_status_t give(struct sx_server *server, const pmix_proc_t *proc,
                          const pmix_info_t *info, uint64_t context_id)
{
    pmix_info_t infos[2] = { *info, { .flags = PMIX_INFO_QUALIFIER } };
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 2, .array = infos };
    const pmix_value_t qualified = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    if (context_id == 0) {
        return give_value(server, proc, info->key, &info->value);
    }
    memcpy(infos[1].key, PMIX_GROUP_CONTEXT_ID, sizeof(PMIX_GROUP_CONTEXT_ID));
    infos[1].value = (pmix_value_t){ .type = PMIX_SIZE, .data.size = context_id };
    return give_value(server, proc, PMIX_QUALIFIED_VALUE, &qualified);
}

pmix_status_t sx_group_plan_give(struct sx_server *server, const struct sx_group_plan *plan,
                                 uint64_t context_id)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < plan->gift_count && rc == PMIX_SUCCESS; i++) {
        const struct sx_group_gift *const gift = &plan->gifts[i];

        for (size_t n = 0; n < gift->ninfo && rc == PMIX_SUCCESS; n++) {
            rc = give(server, &gift->proc, &gift->info[n], context_id);
        }
    }
    return rc;
}

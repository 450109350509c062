/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_plan.c - what each caller has sent, until all have called. */
#include "server/group/group_plan.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/value/value.h"
#include "server/collective/arrival.h"
#include "server/group/group_info.h"
#include "server/model/state.h"

#define GIFTS_FIRST 8u

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
    plan->is_final = false;
}

void sx_group_plan_free(struct sx_group_plan *plan)
{
    sx_group_plan_forget(plan);
    sx_group_lead_clear(&plan->lead);
    sx_proc_list_clear(&plan->named);
    sx_proc_list_clear(&plan->final);
    free(plan);
}

/* Reserve space for one more gift. */
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
    struct sx_group_gift gift = { .proc = sx_nspace_proc(client->nspace, client->rank) };
    const pmix_status_t rc = sx_group_gift_take(options, &gift.info, &gift.ninfo);

    return rc == PMIX_SUCCESS && gift.ninfo > 0 ? sx_group_plan_gift(plan, &gift) : rc;
}

bool sx_group_plan_knows(const struct sx_group_plan *plan, const struct sx_arrival *arrival)
{
    size_t same = 0;

    if (plan->is_bootstrap || arrival->options.leaders.given || arrival->options.final.count > 0 ||
        plan->written_count != arrival->proc_count) {
        return false;
    }
    while (same < plan->written_count &&
           sx_proc_order(&plan->written[same], &arrival->procs[same]) == 0) {
        same++;
    }
    return same == plan->written_count;
}

pmix_status_t sx_group_plan_arrange(pmix_proc_t *order, size_t count, const pmix_proc_t *final,
                                    size_t final_count)
{
    struct sx_proc_list sorted = { .all = NULL }, arranged = { .all = NULL };
    bool *const placed = calloc(count + 1, sizeof(*placed));
    bool ok = placed != NULL && sx_proc_list_append(&sorted, order, count);

    sx_proc_list_sort(&sorted);
    for (size_t i = 0; i < final_count + count && ok; i++) {
        const pmix_proc_t *const proc = i < final_count ? &final[i] : &order[i - final_count];
        const pmix_proc_t *const found = bsearch(proc, sorted.all, sorted.count, sizeof(*found),
                                                 sx_proc_order);

        if (found != NULL && !placed[found - sorted.all]) {
            placed[found - sorted.all] = true;
            ok = sx_proc_list_add(&arranged, proc->nspace, proc->rank);
        }
    }
    if (ok && arranged.count == count) { /* @order has no duplicates */
        memcpy(order, arranged.all, count * sizeof(*order));
    }
    sx_proc_list_clear(&sorted);
    sx_proc_list_clear(&arranged);
    free(placed);
    return ok ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* The members of a bootstrap are unknown until all have called. */
static pmix_status_t final_take(struct sx_group_plan *plan, const struct sx_client *client,
                                struct sx_arrival *arrival)
{
    const struct sx_some_procs *const final = &arrival->options.final;
    struct sx_proc_list list = { .all = NULL };
    bool ok = true;

    for (size_t i = 0; i < final->count && ok; i++) {
        const char *const nspace = final->all[i].nspace;

        ok = sx_proc_list_add(&list, nspace[0] != '\0' ? nspace : client->nspace->name,
                              final->all[i].rank);
    }
    pmix_status_t rc = ok ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;

    if (ok && plan->is_bootstrap) {
        sx_proc_list_clear(&plan->final);
        plan->final = list;
        return PMIX_SUCCESS;
    }
    if (ok && list.count > 0) {
        rc = sx_group_plan_arrange(arrival->order, arrival->order_count, list.all, list.count);
    }
    sx_proc_list_clear(&list);
    return rc;
}

/* A caller without an order of its own has written the order that counts. */
static pmix_status_t order_take(struct sx_group_plan *plan, const struct sx_client *client,
                                struct sx_arrival *arrival)
{
    const pmix_proc_t self = sx_nspace_proc(client->nspace, client->rank);
    const bool is_final = arrival->options.final.count > 0;

    if (plan->order != NULL &&
        (plan->is_final != is_final ? plan->is_final : sx_proc_order(&self, &plan->by) > 0)) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = final_take(plan, client, arrival);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    plan->is_final = is_final;
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
    return PMIX_SUCCESS;
}

pmix_status_t sx_group_plan_take(struct sx_group_plan *plan, struct sx_client *client,
                                 struct sx_arrival *arrival)
{
    const pmix_status_t rc = gift_take(plan, client, &arrival->options);

    return rc == PMIX_SUCCESS ? order_take(plan, client, arrival) : rc;
}

pmix_status_t sx_group_plan_give(struct sx_server *server, const struct sx_group_plan *plan,
                                 const struct sx_membership_head *group)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < plan->gift_count && rc == PMIX_SUCCESS; i++) {
        const struct sx_group_gift *const gift = &plan->gifts[i];

        rc = sx_group_gift_give(server, &gift->proc, gift->info, gift->ninfo, group);
    }
    return rc;
}

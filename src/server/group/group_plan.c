/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_plan.c - what each caller has sent, until all have called. */
#include "server/group/group_construct.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/array.h"
#include "base/value/value.h"
#include "server/collective/collective.h"
#include "server/data/data.h"
#include "server/model/state.h"
#include "shmem/qualified.h"

#define GIFTS_FIRST 8u

static void gift_clear(struct sx_group_gift *gift)
{
    if (gift->info != NULL) {
        PMIX_INFO_FREE(gift->info, gift->ninfo);
    }
}

void sx_group_plan_reread_restart(struct sx_group_plan *plan)
{
    sx_proc_list_clear(&plan->reread.listed);
    sx_proc_list_clear(&plan->reread.sorted);
    plan->reread.done = 0;
}

void sx_group_plan_forget(struct sx_group_plan *plan)
{
    sx_group_plan_reread_restart(plan);
    for (size_t i = 0; i < plan->gift_count; i++) {
        gift_clear(&plan->gifts[i]);
    }
    free(plan->gifts);
    free(plan->order);
    plan->gifts = NULL;
    plan->order = NULL;
    plan->gift_count = plan->gift_capacity = plan->order_count = plan->written_count = 0;
    plan->is_final = false;
}

void sx_group_plan_free(struct sx_group_plan *plan)
{
    sx_group_plan_forget(plan);
    sx_group_lead_clear(&plan->lead);
    sx_proc_list_clear(&plan->named);
    sx_proc_list_clear(&plan->final);
    sx_users_clear(&plan->users);
    free(plan);
}

/* Reserve space for one more gift. */
static bool gifts_reserve(struct sx_group_plan *plan)
{
    return SX_ARRAY_RESERVE(plan->gifts, plan->gift_count, plan->gift_capacity, GIFTS_FIRST);
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
    return !plan->is_bootstrap && !arrival->options.leaders.given &&
           arrival->options.final.count == 0 && plan->written_count == arrival->written_count &&
           memcmp(&plan->written, &arrival->written, sizeof(plan->written)) == 0;
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
        sx_group_plan_reread_restart(plan);
        free(plan->order);
        plan->order = arrival->order;
        plan->order_count = arrival->order_count;
        plan->written = arrival->written;
        plan->written_count = arrival->written_count;
        arrival->order = NULL;
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

/* ---- data for the others --------------------------------------------------------------------- */

/* Infos get a new owner; each becomes a value in the store. */

/* Move @count infos out of the array @from, which this server owns, to @to, behind *ret_count. */
static void infos_move(pmix_info_t *to, size_t *ret_count, const pmix_info_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pmix_info_t *const info = (pmix_info_t *)(uintptr_t)&from[i];

        to[(*ret_count)++] = *info;
        PMIx_Info_construct(info);
    }
}

/* Open an element of PMIX_GROUP_INFO_ARRAY, which is an info or an array of infos.  Return: how
 * many. */
static size_t element_open(const pmix_info_t *element, const pmix_info_t **ret_infos)
{
    const pmix_data_array_t *const array = element->value.type == PMIX_DATA_ARRAY
                                               ? element->value.data.darray
                                               : NULL;
    const bool nests = PMIx_Check_key(element->key, PMIX_GROUP_INFO) && array != NULL &&
                       array->type == PMIX_INFO;

    *ret_infos = nests ? array->array : element;
    return nests ? array->size : 1;
}

static size_t elements_count(const struct sx_some_infos *elements)
{
    const pmix_info_t *infos;
    size_t count = 0;

    for (size_t i = 0; i < elements->count; i++) {
        count += element_open(&elements->all[i], &infos);
    }
    return count;
}

static void elements_move(pmix_info_t *to, size_t *ret_count, const struct sx_some_infos *elements)
{
    const pmix_info_t *infos;

    for (size_t i = 0; i < elements->count; i++) {
        const size_t count = element_open(&elements->all[i], &infos);

        infos_move(to, ret_count, infos, count);
    }
}

pmix_status_t sx_group_gift_take(const struct sx_collective_options *options, pmix_info_t **all,
                                 size_t *count)
{
    const size_t cid_count = options->local_cid != NULL;
    const size_t data_count = options->endpoint_data != NULL;
    const size_t more = options->group_info.count + elements_count(&options->group_infos) +
                        cid_count + data_count;
    size_t moved = 0;

    if (more == 0) {
        return PMIX_SUCCESS;
    }
    pmix_info_t *const grown = PMIx_Info_create(*count + more);

    if (grown == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    infos_move(grown, &moved, *all, *count);
    infos_move(grown, &moved, options->group_info.all, options->group_info.count);
    elements_move(grown, &moved, &options->group_infos);
    infos_move(grown, &moved, options->local_cid, cid_count);
    infos_move(grown, &moved, options->endpoint_data, data_count);
    if (*all != NULL) {
        PMIX_INFO_FREE(*all, *count);
    }
    *all = grown;
    *count = moved;
    return PMIX_SUCCESS;
}

static pmix_status_t give_value(struct sx_server *server, struct sx_nspace *nspace, uint32_t rank,
                                const char *key, const pmix_value_t *value)
{
    struct sx_client *const client = sx_client_find(nspace, rank);

    return client != NULL ? sx_modex_give(server, client, key, value)
                          : sx_modex_give_elsewhere(nspace, rank, key, value);
}

/* Give a value that has been noted (sx_group_values_expect).  Return: PMIX_SUCCESS, and in
 * *ret_bytes how much of the store it takes. */
static pmix_status_t give_measured(struct sx_server *server, struct sx_nspace *nspace,
                                   uint32_t rank, const pmix_value_t *value, uint64_t *ret_bytes)
{
    const struct sx_store_writer *const store = &nspace->store;
    const uint64_t generation = store->generation, before = store->heap.next_off;
    pmix_status_t rc = give_value(server, nspace, rank, PMIX_QUALIFIED_VALUE, value);
    size_t size = 0;

    if (rc == PMIX_SUCCESS && store->generation != generation) {
        rc = sx_flat_size(value, &size); /* another store has replaced it meanwhile */
    }
    *ret_bytes = size != 0 ? size : store->heap.next_off - before;
    return rc;
}

/* Give one value per context, and note each, since it may have to be removed again. */
static pmix_status_t give_qualified(struct sx_server *server, struct sx_nspace *nspace,
                                    uint32_t rank, const pmix_value_t *value, uint64_t subject)
{
    struct sx_qualified qualified;
    uint64_t bytes;
    pmix_status_t rc = sx_qualified_read(&qualified, value);

    if (rc == PMIX_SUCCESS) {
        rc = sx_group_values_expect(nspace, subject, rank, qualified.name);
    }
    if (rc == PMIX_SUCCESS) {
        rc = give_measured(server, nspace, rank, value, &bytes);
    }
    if (rc == PMIX_SUCCESS) {
        sx_group_values_add(server, nspace, bytes);
    }
    return rc;
}

static pmix_status_t give(struct sx_server *server, const pmix_proc_t *proc,
                          const pmix_info_t *info, const struct sx_membership_head *group)
{
    struct sx_nspace *const nspace = sx_nspace_find(server, proc->nspace);
    pmix_info_t infos[2] = { *info, { .flags = PMIX_INFO_QUALIFIER } };
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 2, .array = infos };
    const pmix_value_t qualified = { .type = PMIX_DATA_ARRAY, .data.darray = &array };

    if (nspace == NULL || !nspace->has_store) {
        return PMIX_SUCCESS; /* the namespace is gone */
    }
    if (group->context_id == 0) {
        return give_value(server, nspace, proc->rank, info->key, &info->value);
    }
    memcpy(infos[1].key, PMIX_GROUP_CONTEXT_ID, sizeof(PMIX_GROUP_CONTEXT_ID));
    infos[1].value = (pmix_value_t){ .type = PMIX_SIZE, .data.size = group->context_id };
    return give_qualified(server, nspace, proc->rank, &qualified, group->subject);
}

pmix_status_t sx_group_gift_give(struct sx_server *server, const pmix_proc_t *proc,
                                 const pmix_info_t info[], size_t ninfo,
                                 const struct sx_membership_head *group)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        rc = give(server, proc, &info[i], group);
    }
    return rc;
}

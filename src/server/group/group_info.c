/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_info.c - infos get a new owner; each becomes a value in the store. */
#include "server/group/group_info.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/value/value.h"
#include "server/data/data.h"
#include "server/group/group_values.h"
#include "shmem/qualified.h"

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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_upcall.c - the infos that a host gets with a call: the server's, then the members'. */
#include "server/collective/operation.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <pmix.h>

#include "base/util.h"

#define OWN_INFOS 2u /* plus one for a fence, and one for members here */

pmix_status_t sx_joint_upcall(struct sx_server *server, enum sx_upcall_kind kind,
                              struct sx_joint *joint)
{
    const pmix_status_t complete = joint->is_partial ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS;
    const pmix_status_t local = joint->failed != PMIX_SUCCESS ? joint->failed : complete;
    const bool yes = true;
    const size_t own = OWN_INFOS + (kind == SX_UPCALL_FENCE_NB) + (joint->here != NULL);
    pmix_data_array_t here = { .type = PMIX_PROC, .size = joint->here_count, .array = joint->here };
    struct sx_merged_infos none;
    struct sx_upcall up = {
        .answered = joint->answered,
        .asker = joint->asker,
        .procs = joint->procs,
        .nprocs = joint->proc_count,
        .made = joint->made,
        .text = joint->name,
        .status = joint->operation,
        .bytes = joint->blob.bytes,
        .size = joint->blob.size,
    };
    pmix_info_t *at;

    sx_merged_infos_init(&none);
    up.info = sx_merged_infos_take(joint->wishes != NULL ? joint->wishes : &none, own, &up.ninfo);
    joint->blob = (struct sx_blob){ 0 };
    if (up.info == NULL) {
        free(up.bytes);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    at = up.info;
    /* A fence always has data, at least a header: some hosts make no barrier without.  This info is
     * the first because other hosts read only the first one. */
    if (kind == SX_UPCALL_FENCE_NB) {
        PMIX_INFO_LOAD(at, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
        at++;
    }
    PMIX_INFO_LOAD(&at[0], PMIX_LOCAL_COLLECTIVE_STATUS, &local, PMIX_STATUS);
    PMIX_INFO_LOAD(&at[1], PMIX_SORTED_PROC_ARRAY, &yes, PMIX_BOOL);
    if (joint->here != NULL) {
        PMIX_INFO_LOAD(&at[2], PMIX_LOCAL_PARTICIPANTS, &here, PMIX_DATA_ARRAY);
    }
    const pmix_status_t rc = sx_upcall(server, kind, &up);

    free(up.info);
    return rc;
}

/* ---- infos of the members -------------------------------------------------------------------- */

/* Infos change their owner and are never copied. */

struct wish {
    struct sx_list link;
    struct sx_table_node node;
    pmix_info_t info;
};

void sx_merged_infos_init(struct sx_merged_infos *wishes)
{
    *wishes = (struct sx_merged_infos){ 0 };
    sx_list_init(&wishes->all);
}

void sx_merged_infos_clear(struct sx_merged_infos *wishes)
{
    struct sx_list *it;

    while ((it = sx_list_pop(&wishes->all)) != NULL) {
        struct wish *wish = SX_LIST_ENTRY(it, struct wish, link);

        PMIx_Info_destruct(&wish->info);
        free(wish);
    }
    sx_table_deinit(&wishes->keys);
    wishes->count = 0;
}

static bool is_the_servers(const char *key)
{
    static const char *const keys[] = {
        PMIX_COLLECT_DATA,
        PMIX_LOCAL_COLLECTIVE_STATUS,
        PMIX_SORTED_PROC_ARRAY,
    };
    size_t i = 0;

    while (i < SX_COUNT(keys) && strcmp(keys[i], key) != 0) {
        i++;
    }
    return i < SX_COUNT(keys);
}

static bool is_there(const struct sx_merged_infos *wishes, const char *key, uint64_t hash)
{
    struct sx_table_node *node = sx_table_first(&wishes->keys, hash);

    while (node != NULL && strcmp(SX_CONTAINER(node, struct wish, node)->info.key, key) != 0) {
        node = sx_table_next(&wishes->keys, node);
    }
    return node != NULL;
}

pmix_status_t sx_merged_infos_add(struct sx_merged_infos *wishes, pmix_info_t *info, size_t ninfo,
                                  uint64_t seed)
{
    for (size_t i = 0; i < ninfo; i++) {
        const uint64_t hash = XXH3_64bits_withSeed(info[i].key, strlen(info[i].key), seed);
        struct wish *wish;

        if (info[i].key[0] == '\0' || is_the_servers(info[i].key) ||
            is_there(wishes, info[i].key, hash)) {
            continue;
        }
        wish = malloc(sizeof(*wish));
        if (wish == NULL || !sx_table_add(&wishes->keys, &wish->node, hash)) {
            free(wish);
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        wish->info = info[i];
        PMIx_Info_construct(&info[i]);
        sx_list_append(&wishes->all, &wish->link);
        wishes->count++;
    }
    return PMIX_SUCCESS;
}

pmix_info_t *sx_merged_infos_take(struct sx_merged_infos *wishes, size_t before, size_t *ret_count)
{
    pmix_info_t *info = PMIx_Info_create(before + wishes->count);
    size_t n = before;

    if (info == NULL) {
        return NULL;
    }
    SX_LIST_EACH(it, &wishes->all) {
        struct wish *wish = SX_LIST_ENTRY(it, struct wish, link);

        info[n++] = wish->info;
        PMIx_Info_construct(&wish->info);
    }
    sx_merged_infos_clear(wishes);
    *ret_count = n;
    return info;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobinfo_collect.c - turn cells back into infos: those of the job, then an array for each row. */
#include "server/job/job.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/array.h"
#include "base/value/value.h"

/* Keys that describe the server's own node; the server of another node sets its own. */
static const char *const of_this_node[] = {
    PMIX_AVAIL_PHYS_MEMORY, PMIX_HOSTNAME,    PMIX_LOCALITY,      PMIX_LOCALLDR,
    PMIX_LOCAL_CPUSETS,     PMIX_LOCAL_PEERS, PMIX_LOCAL_PROCS,   PMIX_LOCAL_SIZE,
    PMIX_LOCAL_TOPO,        PMIX_NODEID,      PMIX_NODE_SIZE,     PMIX_NSDIR,
    PMIX_SERVER_NSPACE,     PMIX_SERVER_RANK, PMIX_SERVER_TMPDIR, PMIX_SERVER_URI,
    PMIX_TDIR_RMCLEAN,      PMIX_TMPDIR,      PMIX_TOPOLOGY2,
};

struct infos {
    const struct sx_nspace *nspace;
    enum sx_realm realm;
    uint32_t row;
    pmix_info_t *all;
    size_t count, capacity;
    pmix_status_t status;
};

/* Return: an info to fill, NULL when memory is out. */
static pmix_info_t *infos_extend(struct infos *infos)
{
    if (!SX_ARRAY_RESERVE(infos->all, infos->count, infos->capacity, 32)) {
        infos->status = PMIX_ERR_OUT_OF_RESOURCE;
        return NULL;
    }
    pmix_info_t *const info = &infos->all[infos->count++];

    PMIx_Info_construct(info);
    return info;
}

static bool travels(const struct infos *infos, const char *key)
{
    size_t i = 0;

    if (strncmp(key, "pmix.hwloc", strlen("pmix.hwloc")) == 0) {
        return false;
    }
    if (infos->realm != SX_REALM_JOB) {
        return true;
    }
    while (i < SX_COUNT(of_this_node) && strcmp(of_this_node[i], key) != 0) {
        i++;
    }
    return i == SX_COUNT(of_this_node);
}

/* Add one key of the row.  A value that is valid only in this process, such as a pointer, is left
 * out. */
static bool collect(void *arg, const char *key, const struct sx_item *item)
{
    struct infos *const infos = arg;
    pmix_value_t value;
    size_t size;

    (void)item;
    if (!travels(infos, key) || sx_store_get(&infos->nspace->store.view, infos->realm, infos->row,
                                             key, &value) != PMIX_SUCCESS) {
        return true;
    }
    pmix_info_t *const info = sx_flat_size(&value, &size) == PMIX_SUCCESS ? infos_extend(infos)
                                                                          : NULL;

    if (info == NULL) {
        sx_value_destruct(&value);
        return infos->status == PMIX_SUCCESS;
    }
    PMIx_Load_key(info->key, key);
    info->value = value;
    return true;
}

static void collect_row(struct infos *infos, enum sx_realm realm, uint32_t row)
{
    infos->realm = realm;
    infos->row = row;
    sx_store_each(&infos->nspace->store.view, realm, row, collect, infos);
}

/* Add a row as the array that stands for it, with its number. */
static void collect_array(struct infos *infos, enum sx_realm realm, uint32_t row, const char *key,
                          const char *id_key)
{
    struct infos inner = { .nspace = infos->nspace, .status = PMIX_SUCCESS };
    pmix_info_t *info = infos_extend(&inner);
    pmix_data_array_t *array;

    if (info != NULL) {
        PMIX_INFO_LOAD(info, id_key, &row, PMIX_UINT32);
        collect_row(&inner, realm, row);
    }
    array = malloc(sizeof(*array));
    info = array != NULL && inner.status == PMIX_SUCCESS && inner.count > 1 ? infos_extend(infos)
                                                                            : NULL;
    if (info != NULL) {
        *array = (pmix_data_array_t){ .type = PMIX_INFO, .size = inner.count, .array = inner.all };
        PMIx_Load_key(info->key, key);
        info->value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
        return;
    }
    infos->status = array == NULL                   ? PMIX_ERR_OUT_OF_RESOURCE
                    : infos->status == PMIX_SUCCESS ? inner.status
                                                    : infos->status;
    free(array);
    PMIX_INFO_FREE(inner.all, inner.count);
}

/* Return: the number of rows of a realm, by this key of the job; 0: the key is not set. */
static uint32_t rows_of(const struct sx_nspace *nspace, const char *key)
{
    pmix_value_t value;
    uint64_t count = 0;

    if (sx_store_get(&nspace->store.view, SX_REALM_JOB, SX_ROW_JOB, key, &value) == PMIX_SUCCESS) {
        if (sx_value_get_uint(&value, &count) != PMIX_SUCCESS || count > SX_STORE_ROW_MAX) {
            count = 0;
        }
        sx_value_destruct(&value);
    }
    return (uint32_t)count;
}

pmix_status_t sx_jobinfo_collect(const struct sx_nspace *nspace, pmix_info_t **ret_info,
                                 size_t *ret_ninfo)
{
    struct infos infos = { .nspace = nspace, .status = PMIX_SUCCESS };
    const uint32_t nodes = rows_of(nspace, PMIX_NUM_NODES);
    const uint32_t apps = rows_of(nspace, PMIX_JOB_NUM_APPS);

    collect_row(&infos, SX_REALM_JOB, SX_ROW_JOB);
    for (uint32_t node = 0; node < nodes && infos.status == PMIX_SUCCESS; node++) {
        collect_array(&infos, SX_REALM_NODE, node, PMIX_NODE_INFO_ARRAY, PMIX_NODEID);
    }
    for (uint32_t app = 0; app < apps && infos.status == PMIX_SUCCESS; app++) {
        collect_array(&infos, SX_REALM_APP, app, PMIX_APP_INFO_ARRAY, PMIX_APPNUM);
    }
    if (infos.status != PMIX_SUCCESS) {
        PMIX_INFO_FREE(infos.all, infos.count);
        return infos.status;
    }
    *ret_info = infos.all;
    *ret_ninfo = infos.count;
    return PMIX_SUCCESS;
}

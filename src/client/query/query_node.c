/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_node.c - devices as the topology has them, and usage as PMIx_Process_monitor reports it. */
#include "client/query/query_node.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "client/data/hostname.h"
#include "client/link/process.h"
#include "client/manage/usage.h"

/* ---- devices --------------------------------------------------------------------------------- */

/* The qualifiers that select devices; the others are not about devices.  Return: NULL when memory
 * is out. */
static pmix_info_t *filters_pick(const pmix_query_t *query, size_t *ret_count)
{
    pmix_info_t *const picked = calloc(query->nqual + 1, sizeof(*picked));

    for (size_t i = 0; picked != NULL && i < query->nqual; i++) {
        if (PMIx_Check_key(query->qualifiers[i].key, PMIX_DEVICE_TYPE) ||
            PMIx_Check_key(query->qualifiers[i].key, PMIX_DEVICE_ID)) {
            picked[(*ret_count)++] = query->qualifiers[i];
        }
    }
    return picked;
}

/* The properties that the query returns of a device are in its distance. */
static pmix_status_t devices_move(pmix_device_distance_t *distances, size_t count,
                                  pmix_value_t *ret)
{
    pmix_data_array_t *const array = PMIx_Data_array_create(count, PMIX_DEVICE);

    if (array == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; i < count; i++) {
        ((pmix_device_t *)array->array)[i] = (pmix_device_t){ .uuid = distances[i].uuid,
                                                              .osname = distances[i].osname,
                                                              .type = distances[i].type };
        distances[i].uuid = distances[i].osname = NULL;
    }
    *ret = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = array };
    return PMIX_SUCCESS;
}

pmix_status_t sx_query_devices(const struct sx_question *question, pmix_value_t *ret)
{
    pmix_device_distance_t *distances = NULL;
    size_t count = 0, filter_count = 0;
    pmix_info_t *const filters = filters_pick(question->query, &filter_count);

    if (filters == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pmix_status_t rc = PMIx_Compute_distances(NULL, NULL, filters, filter_count, &distances,
                                              &count);

    free(filters);
    if (rc == PMIX_SUCCESS) {
        rc = devices_move(distances, count, ret);
        PMIx_Device_distance_free(distances, count);
    }
    return rc == PMIX_SUCCESS || rc == PMIX_ERR_OUT_OF_RESOURCE ? rc : PMIX_ERR_NOT_FOUND;
}

/* ---- usage ----------------------------------------------------------------------------------- */

pmix_status_t sx_query_usage(const struct sx_question *question, const char *node,
                             pmix_value_t *ret)
{
    const bool of_node = PMIx_Check_key(question->key, PMIX_QUERY_NODE_RESOURCE_USAGE);
    const pmix_proc_t target = sx_query_proc(question->options, &sx_process.self);
    char hostname[256];

    sx_hostname(hostname, sizeof(hostname));
    if (node != NULL && strcmp(node, hostname) != 0) {
        return PMIX_ERR_NOT_FOUND;
    }
    return sx_usage_report(of_node ? PMIX_MONITOR_NODE_RESOURCE_USAGE
                                   : PMIX_MONITOR_PROC_RESOURCE_USAGE,
                           &target, question->ask, ret);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* inventory.c - the inventory of this node, and of others.
 *
 *     collect --> one PMIX_NODE_INFO_ARRAY: PMIX_HOSTNAME, and hwloc's XML of the hardware, devices
 *                 included (PMIX_HWLOC_XML_V2)
 *     deliver --> such arrays, of any node, are data of that node in every job (resources.c)
 *
 * The machine is probed on the host's thread, once per process; the loop continues meanwhile. */
#include <stdlib.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/status.h"
#include "base/system/topology.h"
#include "server/job/job.h"
#include "server/model/state.h"

/* ---- collecting ----------------------------------------------------------------------------- */

struct collection {
    pmix_info_cbfunc_t cbfunc;
    void *cbdata;
    pmix_info_t *info; /* one; owned by the host from the callback until it calls list_released */
};

static void list_released(void *cbdata)
{
    pmix_info_t *const info = cbdata;

    PMIx_Info_free(info, 1);
}

/* Describe this node in the infos that a host gets. */
static pmix_status_t node_describe(const struct sx_server *server, pmix_info_t **ret)
{
    pmix_info_t *const parts = PMIx_Info_create(2);
    pmix_info_t *const info = PMIx_Info_create(1);
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 1, .array = parts };
    char *xml = NULL;
    pmix_status_t rc = parts == NULL || info == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;

    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_load(&parts[0], PMIX_HOSTNAME, server->hostname, PMIX_STRING);
    }
    if (rc == PMIX_SUCCESS && sx_topology_node(&xml) == PMIX_SUCCESS) { /* else the node has only a
                                                                         * name */
        rc = PMIx_Info_load(&parts[array.size++], PMIX_HWLOC_XML_V2, xml, PMIX_STRING);
        free(xml);
    }
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_load(info, PMIX_NODE_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
    }
    if (parts != NULL) {
        PMIx_Info_free(parts, 2);
    }
    if (rc != PMIX_SUCCESS && info != NULL) {
        PMIx_Info_free(info, 1);
    } else {
        *ret = info;
    }
    return rc;
}

static pmix_status_t nothing_to_do(struct sx_server *server, void *arg)
{
    (void)server;
    (void)arg;
    return PMIX_SUCCESS;
}

static void collected(pmix_status_t status, void *cbdata)
{
    struct collection *const collection = cbdata;

    collection->cbfunc(status, collection->info, 1, collection->cbdata, list_released,
                       collection->info);
    free(collection);
}

pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[], size_t ndirs,
                                            pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_server *const server = sx_server_get();

    if (server == NULL) {
        return PMIX_ERR_INIT;
    }
    if (cbfunc == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_options_read(SX_OF_COLLECT_INVENTORY, directives, ndirs, NULL);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct collection *const collection = malloc(sizeof(*collection));

    if (collection == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *collection = (struct collection){ .cbfunc = cbfunc, .cbdata = cbdata };
    rc = node_describe(server, &collection->info);
    if (rc == PMIX_SUCCESS) {
        rc = sx_server_submit(server, nothing_to_do, NULL, NULL, collected, collection);
        if (rc != PMIX_SUCCESS) {
            list_released(collection->info);
        }
    }
    if (rc != PMIX_SUCCESS) {
        free(collection);
    }
    return rc;
}

/* ---- delivering ----------------------------------------------------------------------------- */

/* The host's arrays, which it keeps until the callback. */
struct delivery {
    const pmix_info_t *info;
    size_t ninfo;
};

static pmix_status_t deliver(struct sx_server *server, void *arg)
{
    const struct delivery *const delivery = arg;

    return sx_resources_deliver(server, delivery->info, delivery->ninfo);
}

pmix_status_t PMIx_server_deliver_inventory(pmix_info_t info[], size_t ninfo,
                                            pmix_info_t directives[], size_t ndirs,
                                            pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    if (info == NULL && ninfo != 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = sx_options_read(SX_OF_DELIVER_INVENTORY, directives, ndirs, NULL);

    if (rc == PMIX_SUCCESS) {
        rc = sx_jobinfo_judge(info, ninfo);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct delivery *const delivery = malloc(sizeof(*delivery));

    if (delivery == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *delivery = (struct delivery){ .info = info, .ninfo = ninfo };
    return sx_server_submit(sx_server_get(), deliver, delivery, free, cbfunc, cbdata);
}

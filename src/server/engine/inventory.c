/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* inventory.c - what a server tells its host of the devices of the nodes: nothing.
 *
 * A host that collects the inventory before it starts its first job gets an empty list, and
 * success; what it delivers from other nodes is not kept, as nothing here reads it. */
#include <stdlib.h>

#include "base/options.h"
#include "server/model/state.h"

struct collection {
    pmix_info_cbfunc_t cbfunc;
    void *cbdata;
};

/* What a host calls when it has used the list: nothing was allocated. */
static void list_released(void *cbdata)
{
    (void)cbdata;
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

    collection->cbfunc(status, NULL, 0, collection->cbdata, list_released, NULL);
    free(collection);
}

pmix_status_t PMIx_server_collect_inventory(pmix_info_t directives[], size_t ndirs,
                                            pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    if (sx_server_get() == NULL) {
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
    rc = sx_server_submit(sx_server_get(), nothing_to_do, NULL, NULL, collected, collection);
    if (rc != PMIX_SUCCESS) {
        free(collection);
    }
    return rc;
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
    const pmix_status_t rc = sx_options_read(SX_OF_DELIVER_INVENTORY, directives, ndirs, NULL);

    return rc != PMIX_SUCCESS
               ? rc
               : sx_server_submit(sx_server_get(), nothing_to_do, NULL, NULL, cbfunc, cbdata);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* application.c - what a job needs before it starts: nothing beyond its registration.
 *
 * Data stay in the memory of one node.  So there is no fabric to prepare, and no environment to
 * carry to other nodes.  A host that asks gets an empty list and success. */
#include <stdlib.h>

#include "base/options.h"
#include "base/value.h"
#include "server/model/state.h"

/* Return: PMIX_ERR_INIT; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOT_SUPPORTED for what is required. */
static pmix_status_t arguments_judge(enum sx_function function, const char *nspace,
                                     const pmix_info_t info[], size_t ninfo)
{
    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    if (nspace == NULL || nspace[0] == '\0' ||
        sx_name_len(nspace, PMIX_MAX_NSLEN + 1) > PMIX_MAX_NSLEN) {
        return PMIX_ERR_BAD_PARAM;
    }
    return sx_options_read(function, info, ninfo, NULL);
}

/* ---- on the node of the launcher ------------------------------------------------------------ */

struct setup {
    pmix_setup_application_cbfunc_t cbfunc;
    void *cbdata;
};

/* What a host calls when it has used the list: nothing was allocated. */
static void list_released(pmix_status_t status, void *cbdata)
{
    (void)status;
    (void)cbdata;
}

static pmix_status_t nothing_to_do(struct sx_server *server, void *arg)
{
    (void)server;
    (void)arg;
    return PMIX_SUCCESS;
}

static void setup_done(pmix_status_t status, void *cbdata)
{
    struct setup *setup = cbdata;

    setup->cbfunc(status, NULL, 0, setup->cbdata, list_released, NULL);
    free(setup);
}

pmix_status_t PMIx_server_setup_application(const pmix_nspace_t nspace, pmix_info_t info[],
                                            size_t ninfo, pmix_setup_application_cbfunc_t cbfunc,
                                            void *cbdata)
{
    pmix_status_t rc = arguments_judge(SX_OF_SETUP_APPLICATION, nspace, info, ninfo);

    if (rc != PMIX_SUCCESS || cbfunc == NULL) {
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_BAD_PARAM;
    }
    struct setup *setup = malloc(sizeof(*setup));

    if (setup == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *setup = (struct setup){ .cbfunc = cbfunc, .cbdata = cbdata };
    rc = sx_server_submit(sx_server_get(), nothing_to_do, NULL, NULL, setup_done, setup);
    if (rc != PMIX_SUCCESS) {
        free(setup);
    }
    return rc;
}

/* ---- on every node -------------------------------------------------------------------------- */

pmix_status_t PMIx_server_setup_local_support(const pmix_nspace_t nspace, pmix_info_t info[],
                                              size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    const pmix_status_t rc = arguments_judge(SX_OF_SETUP_LOCAL_SUPPORT, nspace, info, ninfo);

    return rc != PMIX_SUCCESS
               ? rc
               : sx_server_submit(sx_server_get(), nothing_to_do, NULL, NULL, cbfunc, cbdata);
}

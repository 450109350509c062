/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* application.c - what a job needs before it starts: variables of the node of its launcher.
 *
 *     launcher: setup_application --PMIX_ADD_ENVAR of each--> the host carries them
 *         --> every node: setup_local_support --> setup_env.h --> setup_fork of the job's processes
 *
 * Data stay in the memory of one node, so there is no fabric to prepare. */
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/value/value.h"
#include "server/model/setup_env.h"
#include "server/model/state.h"

extern char **environ;

/* A tool without a server can ask for the contents of its environment, and for nothing else.
 * Return: PMIX_ERR_INIT; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOT_SUPPORTED for what is required. */
static pmix_status_t arguments_judge(enum sx_function function, const char *nspace,
                                     const pmix_info_t info[], size_t ninfo,
                                     struct sx_setup_options *ret)
{
    *ret = (struct sx_setup_options){ .envars = false };
    if (sx_server_get() == NULL && !(function == SX_OF_SETUP_APPLICATION && PMIx_Initialized())) {
        return PMIX_ERR_INIT;
    }
    if (nspace == NULL || nspace[0] == '\0' ||
        sx_name_len(nspace, PMIX_MAX_NSLEN + 1) > PMIX_MAX_NSLEN) {
        return PMIX_ERR_BAD_PARAM;
    }
    return sx_options_read(function, info, ninfo, ret);
}

/* ---- on the node of the launcher ------------------------------------------------------------ */

/* Settings of this library and of the MPIs: a name begins with one of these ... */
static const char *const sent[] = { "SHMIX_", "OMPI_MCA_", "MPIR_CVAR_" };
/* ... and not with one of these: the way to a server. */
static const char *const kept[] = { "SHMIX_SERVER_", "OMPI_MCA_ess", "OMPI_MCA_orte_" };

struct setup {
    pmix_setup_application_cbfunc_t cbfunc;
    void *cbdata;
    pmix_info_t *all; /* malloc'ed */
    size_t count;
};

static bool begins_with(const char *entry, const char *const names[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(entry, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_sent(const char *entry)
{
    return begins_with(entry, sent, SX_COUNT(sent)) && !begins_with(entry, kept, SX_COUNT(kept)) &&
           strchr(entry, '=') != NULL;
}

static pmix_status_t envar_load(pmix_info_t *info, const char *entry)
{
    const size_t len = strcspn(entry, "=");
    char *const name = strndup(entry, len);
    pmix_envar_t envar = { .envar = name, .value = (char *)(uintptr_t)(entry + len + 1) };
    const pmix_status_t rc = name == NULL
                                 ? PMIX_ERR_OUT_OF_RESOURCE
                                 : PMIx_Info_load(info, PMIX_ADD_ENVAR, &envar, PMIX_ENVAR);

    free(name);
    return rc;
}

static pmix_status_t harvest(struct setup *setup)
{
    pmix_status_t rc = PMIX_SUCCESS;
    size_t count = 0;

    for (char **at = environ; at != NULL && *at != NULL; at++) {
        count += is_sent(*at);
    }
    setup->all = count == 0 ? NULL : calloc(count, sizeof(*setup->all));
    if (count > 0 && setup->all == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (char **at = environ; setup->count < count && rc == PMIX_SUCCESS; at++) {
        if (is_sent(*at)) {
            rc = envar_load(&setup->all[setup->count], *at);
            setup->count += rc == PMIX_SUCCESS;
        }
    }
    return rc;
}

static void setup_free(struct setup *setup)
{
    sx_elements_destruct(setup->all, setup->count, PMIX_INFO);
    free(setup->all);
    free(setup);
}

/* The host calls this function when it has used the list. */
static void list_released(pmix_status_t status, void *cbdata)
{
    (void)status;
    setup_free(cbdata);
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

    setup->cbfunc(status, setup->all, setup->count, setup->cbdata, list_released, setup);
}

pmix_status_t PMIx_server_setup_application(const char *nspace, pmix_info_t info[], size_t ninfo,
                                            pmix_setup_application_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_setup_options options;
    pmix_status_t rc = arguments_judge(SX_OF_SETUP_APPLICATION, nspace, info, ninfo, &options);

    if (rc != PMIX_SUCCESS || cbfunc == NULL) {
        return rc != PMIX_SUCCESS ? rc : PMIX_ERR_BAD_PARAM;
    }
    struct setup *setup = malloc(sizeof(*setup));

    if (setup == NULL) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *setup = (struct setup){ .cbfunc = cbfunc, .cbdata = cbdata };
    rc = options.envars ? harvest(setup) : PMIX_SUCCESS;
    if (rc == PMIX_SUCCESS && sx_server_get() == NULL) {
        setup_done(PMIX_SUCCESS, setup);
        return PMIX_SUCCESS;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_server_submit(sx_server_get(), nothing_to_do, NULL, NULL, setup_done, setup);
    }
    if (rc != PMIX_SUCCESS) {
        setup_free(setup);
    }
    return rc;
}

/* ---- on every node -------------------------------------------------------------------------- */

/* The data that a host has carried here. */
struct support {
    pmix_nspace_t nspace;
    pmix_info_t *all; /* copies */
    size_t count;
};

static void support_free(void *arg)
{
    struct support *const support = arg;

    sx_elements_destruct(support->all, support->count, PMIX_INFO);
    free(support->all);
    free(support);
}

static pmix_status_t support_keep(struct sx_server *server, void *arg)
{
    const struct support *const support = arg;

    return sx_setup_env_add(&server->carried, support->nspace, support->all, support->count);
}

/* Return: NULL when memory is out. */
static struct support *support_new(const char *nspace, const pmix_info_t info[], size_t ninfo)
{
    struct support *const support = calloc(1, sizeof(*support));

    if (support == NULL) {
        return NULL;
    }
    PMIx_Load_nspace(support->nspace, nspace);
    support->all = ninfo == 0 ? NULL : calloc(ninfo, sizeof(*support->all));
    while (support->count < ninfo && support->all != NULL &&
           PMIx_Info_xfer(&support->all[support->count], &info[support->count]) == PMIX_SUCCESS) {
        support->count++;
    }
    if (support->count < ninfo) {
        support_free(support);
        return NULL;
    }
    return support;
}

pmix_status_t PMIx_server_setup_local_support(const char *nspace, pmix_info_t info[], size_t ninfo,
                                              pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_setup_options options;
    const pmix_status_t rc = arguments_judge(SX_OF_SETUP_LOCAL_SUPPORT, nspace, info, ninfo,
                                             &options);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    struct support *const support = support_new(nspace, info, ninfo);

    return support == NULL ? PMIX_ERR_OUT_OF_RESOURCE
                           : sx_server_submit(sx_server_get(), support_keep, support, support_free,
                                              cbfunc, cbdata);
}

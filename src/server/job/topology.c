/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* topology.c - one text for all namespaces, and the host's calls about locality.
 *
 *     CLOSED --PMIx_server_init--> OPEN --prepare--> READY: the text exists, or cannot be obtained
 *        ^-----------------PMIx_server_finalize--------/
 *
 * Each namespace's store holds the text under two keys, because programs ask for either.  Its size
 * is 12 KiB here and 106 KiB on 128 processors, once for all ranks. */
#include "server/job/job.h"

#include <hwloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/call/directive_tables.h"
#include "base/status.h"
#include "base/system/locality.h"
#include "base/system/topology.h"
#include "base/util.h"
#include "base/value/opaque.h"
#include "server/model/state.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_ready, is_private; /* under lock */
static char *text;                /* under lock; NULL: none */
static hwloc_topology_t parsed;   /* under lock; parsed from text at its first use */

/* ---- the text ----------------------------------------------------------------------------- */

/* Under the lock. */
static void ready_make(void)
{
    if (!is_ready && sx_topology_node(&text) != PMIX_SUCCESS) {
        sx_log(SX_LOG_WARN, "ranks of this node will find no topology");
    }
    is_ready = true;
}

/* The host's own topology, in any of its forms.  Return: NULL with PMIX_SUCCESS when there is
 * none. */
static pmix_status_t given_find(const struct sx_server_options *options, hwloc_topology_t *ret)
{
    const pmix_info_t *const raw = options->topology;
    const pmix_info_t *const sourced = options->topology_of_source;

    *ret = NULL;
    if (sourced != NULL) {
        if (sourced->value.type != PMIX_TOPO && sourced->value.type != PMIX_POINTER) {
            return SX_RAISE(PMIX_ERR_BAD_PARAM, "\"%s\" is no topology", PMIX_TOPOLOGY2);
        }
        const pmix_topology_t *const topo = sourced->value.data.ptr;

        if (topo != NULL && sx_opaque_is_hwloc(topo->source)) {
            *ret = topo->topology;
        }
    } else if (raw != NULL) {
        if (raw->value.type != PMIX_POINTER) {
            return SX_RAISE(PMIX_ERR_BAD_PARAM, "\"%s\" is no pointer", PMIX_TOPOLOGY);
        }
        *ret = raw->value.data.ptr;
    }
    return PMIX_SUCCESS;
}

/* Its text is made at once, as the host may free the topology at any time. */
static void given_take(hwloc_topology_t topology)
{
    char *xml = NULL;

    if (hwloc_topology_abi_check(topology) != 0 ||
        sx_topology_write(topology, &xml) != PMIX_SUCCESS) {
        sx_log(SX_LOG_WARN, "the host's topology cannot be used; the machine is looked at again");
    }
    sx_topology_node_give(xml);
}

pmix_status_t sx_server_topology_open(const struct sx_server_options *options)
{
    hwloc_topology_t topology;
    const pmix_status_t rc = given_find(options, &topology);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    if (topology != NULL) {
        given_take(topology);
    }
    pthread_mutex_lock(&lock);
    is_private = options->share_topology == SX_SAID_NO;
    if (options->share_topology == SX_SAID_YES) {
        ready_make();
    }
    pthread_mutex_unlock(&lock);
    return PMIX_SUCCESS;
}

void sx_server_topology_close(void)
{
    sx_topology_node_give(NULL);
    pthread_mutex_lock(&lock);
    if (parsed != NULL) {
        hwloc_topology_destroy(parsed);
    }
    parsed = NULL;
    free(text);
    text = NULL;
    is_ready = is_private = false;
    pthread_mutex_unlock(&lock);
}

/* ---- namespaces --------------------------------------------------------------------------- */

/* Return: whether the job's info contains a text under one of the keys. */
static bool info_has_text(const pmix_info_t info[], size_t ninfo, bool nested)
{
    for (size_t i = 0; i < ninfo; i++) {
        const pmix_value_t *const value = &info[i].value;

        if (sx_topology_is_key(info[i].key) && value->type == PMIX_STRING &&
            value->data.string != NULL) {
            return true;
        }
        if (!nested && strncmp(info[i].key, PMIX_JOB_INFO_ARRAY, sizeof(info[i].key)) == 0 &&
            value->type == PMIX_DATA_ARRAY && value->data.darray != NULL &&
            value->data.darray->type == PMIX_INFO && value->data.darray->array != NULL &&
            info_has_text(value->data.darray->array, value->data.darray->size, true)) {
            return true;
        }
    }
    return false;
}

void sx_server_topology_prepare(int local_count, const struct sx_nspace_options *options,
                                const pmix_info_t info[], size_t ninfo)
{
    if (local_count <= 0 || options->no_data || info_has_text(info, ninfo, false)) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (!is_private) {
        ready_make();
    }
    pthread_mutex_unlock(&lock);
}

pmix_status_t sx_server_topology_publish(struct sx_nspace *nspace)
{
    bool missing[SX_TOPOLOGY_KEY_COUNT];
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t k = 0; k < SX_TOPOLOGY_KEY_COUNT; k++) {
        struct sx_item item;

        missing[k] = sx_store_find(&nspace->store.view, SX_REALM_JOB, SX_ROW_JOB,
                                   sx_topology_keys[k], &item) != PMIX_SUCCESS;
        if (!missing[k] && (item.cell.flags & SX_CELL_NULL) == 0) {
            return PMIX_SUCCESS;
        }
    }
    pthread_mutex_lock(&lock);
    const pmix_value_t value = { .type = PMIX_STRING, .data.string = text };

    for (size_t k = 0;
         text != NULL && !is_private && k < SX_TOPOLOGY_KEY_COUNT && rc == PMIX_SUCCESS; k++) {
        if (missing[k]) {
            rc = sx_store_put(&nspace->store, SX_REALM_JOB, SX_ROW_JOB, sx_topology_keys[k],
                              PMIX_GLOBAL, &value);
        }
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

/* ---- the host's calls ---------------------------------------------------------------------- */

/* Under the lock.  Where the host shares nothing with ranks it may still call for itself. */
static pmix_status_t parsed_make(void)
{
    if (parsed != NULL) {
        return PMIX_SUCCESS;
    }
    ready_make();
    return text == NULL ? PMIX_ERR_NOT_FOUND : sx_topology_read(text, strlen(text) + 1, &parsed);
}

pmix_status_t PMIx_server_generate_locality_string(const pmix_cpuset_t *cpuset, char **locality)
{
    char *places;

    sx_results_none(locality, NULL);
    if (cpuset == NULL || cpuset->source == NULL || cpuset->bitmap == NULL || locality == NULL) {
        return PMIX_ERR_BAD_PARAM;
    }
    if (!sx_opaque_is_hwloc(cpuset->source)) {
        return PMIX_ERR_NOT_SUPPORTED;
    }
    if (sx_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    pthread_mutex_lock(&lock);
    pmix_status_t rc = parsed_make();
    if (rc == PMIX_SUCCESS) {
        rc = sx_locality_write(parsed, cpuset->bitmap, &places);
    }
    pthread_mutex_unlock(&lock);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    char *whole;
    const int len = asprintf(&whole, "%s:%s", SX_OPAQUE_HWLOC, places);

    free(places);
    if (len < 0) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    *locality = whole;
    return PMIX_SUCCESS;
}

pmix_status_t PMIx_server_generate_cpuset_string(const pmix_cpuset_t *cpuset, char **cpuset_string)
{
    sx_results_none(cpuset_string, NULL);
    return cpuset == NULL || cpuset_string == NULL
               ? PMIX_ERR_BAD_PARAM
               : sx_locality_cpuset_write(cpuset, cpuset_string);
}

pmix_status_t PMIx_server_generate_cpuset(const char *cpuset_string, pmix_cpuset_t *cpuset)
{
    return cpuset_string == NULL || cpuset == NULL ? PMIX_ERR_BAD_PARAM
                                                   : sx_locality_cpuset_read(cpuset_string, cpuset);
}

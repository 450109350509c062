/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobinfo.c - from the host's info array to cells: given keys first, derived ones where missing.
 *
 * The forms hosts use: flat keys for the job; PMIX_PROC_INFO_ARRAY per rank (PMIX_RANK or
 * PMIX_PROCID first or anywhere); PMIX_JOB_INFO_ARRAY, PMIX_APP_INFO_ARRAY, PMIX_NODE_INFO_ARRAY
 * and PMIX_SESSION_INFO_ARRAY with the id of their realm inside, or within each other.  The job's
 * own keys are stored first: a node can be named instead of numbered, no matter where the map
 * is. */
#include "server/job/job.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/status.h"
#include "base/value/value.h"
#include "shmem/qualified.h"
#include "shmem/wanted.h"

uint32_t sx_jobinfo_job_size(const pmix_info_t info[], size_t ninfo)
{
    const pmix_info_t *size = sx_info_find(info, ninfo, PMIX_JOB_SIZE);
    uint64_t number = 0;
    size_t count = 0;

    if (size == NULL) {
        const pmix_info_t *job = sx_info_find(info, ninfo, PMIX_JOB_INFO_ARRAY);
        const pmix_info_t *inner = job == NULL ? NULL : sx_jobinfo_array(&job->value, &count);

        size = sx_info_find(inner, count, PMIX_JOB_SIZE);
    }
    if (size == NULL || sx_value_get_uint(&size->value, &number) != PMIX_SUCCESS ||
        number > SX_STORE_ROW_MAX) {
        return 0;
    }
    return (uint32_t)number;
}

uint64_t sx_jobinfo_session(const pmix_info_t info[], size_t ninfo)
{
    static const char *const arrays[] = { PMIX_SESSION_INFO_ARRAY, PMIX_JOB_INFO_ARRAY };
    const pmix_info_t *id = sx_info_find(info, ninfo, PMIX_SESSION_ID);
    uint64_t number = 0;

    for (size_t i = 0; i < SX_COUNT(arrays) && id == NULL; i++) {
        const pmix_info_t *array = sx_info_find(info, ninfo, arrays[i]);
        size_t count = 0;
        const pmix_info_t *inner = array == NULL ? NULL : sx_jobinfo_array(&array->value, &count);

        id = sx_info_find(inner, count, PMIX_SESSION_ID);
    }
    return id != NULL && sx_value_get_uint(&id->value, &number) == PMIX_SUCCESS &&
                   number <= UINT32_MAX
               ? number
               : SX_SESSION_NONE;
}

/* ---- given keys ---------------------------------------------------------------------------- */

/* A registration in progress. */
struct reading {
    struct sx_server *server;
    struct sx_nspace *nspace;
    enum sx_jobinfo_way way;
    struct sx_nodemap map; /* without nodes: not read yet, or none given */
    uint32_t node_count;   /* rows of nodes given so far, by any array or map */
    uint32_t rank_count;   /* highest rank given, plus 1 */
    /* The name with which an array has named its node; the node keeps the name that it has. */
    const pmix_info_t *node_name;
    bool has_changed; /* a value of the store, by a resource */
};

/* Remove the value unless it has changed since. */
static pmix_status_t put_back(struct reading *reading, enum sx_realm realm, uint32_t row,
                              const pmix_info_t *info)
{
    struct sx_nspace *const nspace = reading->nspace;
    pmix_value_t value;
    pmix_status_t rc = sx_store_get(&nspace->store.view, realm, row, info->key, &value);

    if (rc == PMIX_SUCCESS) {
        if (sx_value_compare(&value, &info->value) == 0) {
            rc = sx_store_unset(&nspace->store, realm, row, info->key);
            reading->has_changed = true;
        }
        sx_value_destruct(&value);
    }
    return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
}

/* Store a qualified value of a process or the job, which only their registration may give. */
static pmix_status_t put_qualified(const struct reading *reading, enum sx_realm realm, uint32_t row,
                                   const pmix_info_t *info)
{
    struct sx_nspace *nspace = reading->nspace;

    if (realm != SX_REALM_JOB || reading->way != SX_JOBINFO_GIVE) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "\"%s\" of %s: only jobs and processes have qualified values", info->key,
                        nspace->name);
    }
    return sx_qualified_put(&nspace->store, row, PMIX_GLOBAL, &info->value, NULL);
}

/* Keys that identify the node, application, session or process of a row stay with the row. */
static bool is_rows_name(enum sx_realm realm, const char *key)
{
    return realm != SX_REALM_JOB && sx_jobinfo_names_row(key);
}

static pmix_status_t put(struct reading *reading, enum sx_realm realm, uint32_t row,
                         const pmix_info_t *info)
{
    struct sx_nspace *nspace = reading->nspace;
    struct sx_item item;

    if (strcmp(info->key, PMIX_QUALIFIED_VALUE) == 0) {
        return put_qualified(reading, realm, row, info);
    }
    if (reading->way == SX_JOBINFO_REMOVE) {
        return is_rows_name(realm, info->key) ? PMIX_SUCCESS : put_back(reading, realm, row, info);
    }
    if ((reading->way == SX_JOBINFO_FILL || info == reading->node_name) &&
        sx_store_find(&nspace->store.view, realm, row, info->key, &item) == PMIX_SUCCESS) {
        return PMIX_SUCCESS;
    }
    reading->has_changed = true;
    const pmix_status_t rc = sx_store_put(&nspace->store, realm, row, info->key, PMIX_GLOBAL,
                                          &info->value);

    if (rc != PMIX_SUCCESS) {
        sx_log(SX_LOG_ERROR, "job info \"%.64s\" of %s cannot be stored: %s", info->key,
               nspace->name, PMIx_Error_string(rc));
    }
    return rc;
}

static struct sx_site site_of(const struct sx_nspace *nspace)
{
    return (struct sx_site){ .shared = &nspace->store.view, .self = PMIX_RANK_INVALID };
}

/* Return: the row of the node with the name @name, a new one if it was not given before. */
static uint32_t node_named(const struct reading *reading, const char *name)
{
    const struct sx_site site = site_of(reading->nspace);

    for (uint32_t node = 0; node < reading->map.node_count; node++) {
        if (strcmp(reading->map.nodes[node], name) == 0) {
            return node;
        }
    }
    return sx_site_node(&site, reading->node_count, name);
}

/* Find the row of an array without a number.  A process may be named by PMIX_PROCID.  A node is
 * found by its name, and without a name it is this one.  Without a number there is only one
 * application and session.  Return: UINT64_MAX when the number is needed. */
static uint64_t row_without_id(struct reading *reading, enum sx_realm realm,
                               const pmix_info_t *inner, size_t count)
{
    const pmix_info_t *name = sx_info_find(inner, count, PMIX_HOSTNAME);

    if (realm == SX_REALM_JOB) {
        return sx_jobinfo_procid(reading->nspace->name, inner, count);
    }
    if (realm != SX_REALM_NODE) {
        return 0;
    }
    if (name != NULL && name->value.type == PMIX_STRING && name->value.data.string != NULL) {
        reading->node_name = name;
        return node_named(reading, name->value.data.string);
    }
    const uint32_t own = sx_derive_own_node(reading->server, reading->nspace, &reading->map);
    return own != UINT32_MAX ? own : 0;
}

/* The row that @id names.  Return: UINT64_MAX when it is not a number that is valid there. */
static uint64_t row_of_id(const struct reading *reading, enum sx_realm realm,
                          const pmix_value_t *id)
{
    const struct sx_site site = site_of(reading->nspace);
    uint64_t number;
    uint32_t row;

    if (sx_value_get_uint(id, &number) != PMIX_SUCCESS) {
        return UINT64_MAX;
    }
    if (realm != SX_REALM_SESSION) {
        return number;
    }
    if (number > UINT32_MAX ||
        (!sx_session_row(&site, (uint32_t)number, &row) && row == SX_SESSION_COUNT_MAX)) {
        return UINT64_MAX;
    }
    return row;
}

static pmix_status_t given_list(struct reading *reading, const pmix_info_t *infos, size_t count,
                                enum sx_realm realm, uint32_t row, unsigned depth);

/* An array of a realm: its id selects the row. */
static pmix_status_t given_array(struct reading *reading, const pmix_info_t *info,
                                 const struct sx_realm_form *form, unsigned depth)
{
    size_t count = 0;
    const pmix_info_t *inner;
    const pmix_status_t rc = sx_jobinfo_array_judge(reading->nspace->name, info, depth, &inner,
                                                    &count);

    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const pmix_info_t *id = sx_info_find(inner, count, form->id_key);
    const uint64_t row = id == NULL ? row_without_id(reading, form->realm, inner, count)
                                    : row_of_id(reading, form->realm, &id->value);
    if (row >= SX_STORE_ROW_MAX && (form->realm != SX_REALM_JOB || row != SX_ROW_JOB)) {
        return sx_jobinfo_row_refuse(reading->nspace->name, info, form);
    }
    if (form->realm == SX_REALM_NODE && row >= reading->node_count) {
        reading->node_count = (uint32_t)row + 1;
    }
    if (form->realm == SX_REALM_JOB && row != SX_ROW_JOB && row >= reading->rank_count) {
        reading->rank_count = (uint32_t)row + 1;
    }
    return given_list(reading, inner, count, form->realm, (uint32_t)row, depth + 1);
}

static pmix_status_t given_list(struct reading *reading, const pmix_info_t *infos, size_t count,
                                enum sx_realm realm, uint32_t row, unsigned depth)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        if (sx_name_len(infos[i].key, sizeof(infos[i].key)) >= sizeof(infos[i].key)) {
            return SX_RAISE(PMIX_ERR_BAD_PARAM, "a key of %s is longer than %d bytes",
                            reading->nspace->name, PMIX_MAX_KEYLEN);
        }
        const struct sx_realm_form *form = sx_jobinfo_form(infos[i].key);

        rc = form != NULL ? given_array(reading, &infos[i], form, depth)
                          : put(reading, realm, row, &infos[i]);
    }
    return rc;
}

/* Store the keys of the job itself, which the arrays of the second pass may need. */
static pmix_status_t given_job(struct reading *reading, const pmix_info_t *info)
{
    size_t count = 0;
    const pmix_info_t *inner;
    pmix_status_t rc = PMIX_SUCCESS;

    if (strcmp(info->key, PMIX_JOB_INFO_ARRAY) != 0) {
        return sx_jobinfo_form(info->key) != NULL ? PMIX_SUCCESS
                                                  : put(reading, SX_REALM_JOB, SX_ROW_JOB, info);
    }
    rc = sx_jobinfo_array_judge(reading->nspace->name, info, 0, &inner, &count);
    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        if (sx_name_len(inner[i].key, sizeof(inner[i].key)) < sizeof(inner[i].key) &&
            sx_jobinfo_form(inner[i].key) == NULL) {
            rc = put(reading, SX_REALM_JOB, SX_ROW_JOB, &inner[i]);
        }
    }
    return rc;
}

static pmix_status_t given_arrays(struct reading *reading, const pmix_info_t *info)
{
    const struct sx_realm_form *form = sx_jobinfo_form(info->key);
    size_t count = 0;
    pmix_status_t rc = PMIX_SUCCESS;

    if (form != NULL) {
        return given_array(reading, info, form, 0);
    }
    if (strcmp(info->key, PMIX_JOB_INFO_ARRAY) == 0) {
        const pmix_info_t *inner = sx_jobinfo_array(&info->value, &count);

        for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
            form = sx_name_len(inner[i].key, sizeof(inner[i].key)) < sizeof(inner[i].key)
                       ? sx_jobinfo_form(inner[i].key)
                       : NULL;
            rc = form != NULL ? given_array(reading, &inner[i], form, 1) : PMIX_SUCCESS;
        }
    }
    return rc;
}

/* ---- the maps ------------------------------------------------------------------------------- */

/* The ranks of each node, without the nodes: no rank is put anywhere. */
static void map_judge(struct sx_nspace *nspace)
{
    pmix_value_t value;

    if (nspace->map_logged || sx_store_get(&nspace->store.view, SX_REALM_JOB, SX_ROW_JOB,
                                           PMIX_PROC_MAP, &value) != PMIX_SUCCESS) {
        return;
    }
    sx_value_destruct(&value);
    nspace->map_logged = true;
    sx_log(SX_LOG_WARN,
           "PMIX_PROC_MAP of %s is not read: there is no PMIX_NODE_MAP, so its lists of ranks have "
           "no nodes; give the host's PMIx_server_register_nspace both",
           nspace->name);
}

static pmix_status_t maps_read(struct reading *reading)
{
    struct sx_nspace *const nspace = reading->nspace;
    const pmix_status_t rc = sx_jobinfo_maps(nspace->name, nspace, NULL, 0, &reading->map);

    if (rc == PMIX_SUCCESS && reading->map.node_count == 0) {
        map_judge(nspace);
    }
    if (reading->map.node_count > reading->node_count) {
        reading->node_count = (uint32_t)reading->map.node_count;
    }
    return rc;
}

/* A rank reads the size as it was given, while servers count by the map. */
static void size_judge(const struct reading *reading)
{
    struct sx_nspace *const nspace = reading->nspace;
    const uint32_t mapped = reading->map.rank_count;
    uint64_t size = mapped;
    pmix_value_t value;

    if (mapped == 0 || nspace->size_logged ||
        sx_store_get(&nspace->store.view, SX_REALM_JOB, SX_ROW_JOB, PMIX_JOB_SIZE, &value) !=
            PMIX_SUCCESS) {
        return;
    }
    if (sx_value_get_uint(&value, &size) == PMIX_SUCCESS && size != mapped) {
        nspace->size_logged = true;
        sx_log(SX_LOG_WARN,
               "PMIX_JOB_SIZE of %s is %llu, and its PMIX_PROC_MAP has the ranks 0 to %u: give "
               "the host's PMIx_server_register_nspace the same number in both",
               nspace->name, (unsigned long long)size, mapped - 1);
    }
    sx_value_destruct(&value);
}

/* Return: how many ranks the map has on @node. */
static uint32_t mapped_on(const struct sx_nodemap *map, uint32_t node)
{
    uint32_t count = 0;

    for (uint32_t rank = 0; rank < map->rank_count; rank++) {
        count += map->node_of_rank[rank] == node;
    }
    return count;
}

/* Without a map there is one number to compare with: no more can be here than there are. */
static void here_size_judge(struct sx_nspace *nspace)
{
    if (nspace->job_size == 0 || nspace->local_count <= nspace->job_size || nspace->here_logged) {
        return;
    }
    nspace->here_logged = true;
    sx_log(SX_LOG_WARN,
           "nlocalprocs of %s is %u, and its PMIX_JOB_SIZE is %u: its fences and events wait for "
           "a process that cannot come; give the host's PMIx_server_register_nspace no more than "
           "the size",
           nspace->name, nspace->local_count, nspace->job_size);
}

/* The host has said how many processes are here, and its map says it, too. */
static void here_judge(const struct reading *reading)
{
    struct sx_nspace *const nspace = reading->nspace;
    const uint32_t own = sx_derive_own_node(reading->server, nspace, &reading->map);

    if (reading->map.rank_count == 0) {
        here_size_judge(nspace);
        return;
    }
    if (own == UINT32_MAX || nspace->local_count == 0 || nspace->here_logged) {
        return;
    }
    const uint32_t mapped = mapped_on(&reading->map, own);

    if (mapped != nspace->local_count) {
        nspace->here_logged = true;
        sx_log(SX_LOG_WARN,
               "nlocalprocs of %s is %u, and its PMIX_PROC_MAP has %u ranks on this node, %s: give "
               "the host's PMIx_server_register_nspace the same number in both",
               nspace->name, nspace->local_count, mapped, reading->map.nodes[own]);
    }
}

/* Both passes. */
static pmix_status_t given_all(struct reading *reading, const pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (sx_name_len(info[i].key, sizeof(info[i].key)) >= sizeof(info[i].key)) {
            return SX_RAISE(PMIX_ERR_BAD_PARAM, "a key of %s is longer than %d bytes",
                            reading->nspace->name, PMIX_MAX_KEYLEN);
        }
        rc = given_job(reading, &info[i]);
    }
    if (rc == PMIX_SUCCESS) {
        rc = maps_read(reading);
    }
    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        rc = given_arrays(reading, &info[i]);
    }
    return rc;
}

static pmix_status_t states_store(struct reading *reading, const pmix_info_t info[], size_t ninfo)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        rc = given_arrays(reading, &info[i]);
    }
    return rc;
}

pmix_status_t sx_jobinfo_store(struct sx_server *server, struct sx_nspace *nspace,
                               const pmix_info_t info[], size_t ninfo)
{
    struct reading reading = { .server = server, .nspace = nspace };

    if (sx_jobinfo_derives_nothing(nspace, info, ninfo)) { /* else it takes as long as the job */
        return states_store(&reading, info, ninfo);
    }
    pmix_status_t rc = given_all(&reading, info, ninfo);

    nspace->is_derived = false;
    if (rc == PMIX_SUCCESS) {
        size_judge(&reading);
        here_judge(&reading);
    }
    if (rc == PMIX_SUCCESS && nspace->job_size == 0 && reading.map.rank_count == 0) {
        nspace->job_size = reading.rank_count;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_derive(server, nspace, &reading.map, reading.node_count);
        nspace->is_derived = rc == PMIX_SUCCESS;
        nspace->derived_local_count = nspace->local_count;
    }
    sx_nodemap_clear(&reading.map);
    return rc;
}

pmix_status_t sx_jobinfo_apply(struct sx_server *server, struct sx_nspace *nspace,
                               const pmix_info_t info[], size_t ninfo, enum sx_jobinfo_way way)
{
    const struct sx_site site = site_of(nspace);
    struct reading reading = { .server = server,
                               .nspace = nspace,
                               .way = way,
                               .node_count = sx_site_count(&site, PMIX_NUM_NODES) };
    const pmix_status_t rc = given_all(&reading, info, ninfo);

    if (reading.has_changed) {
        nspace->is_derived = false; /* the next registration derives what follows from it */
    }
    sx_nodemap_clear(&reading.map);
    return rc;
}

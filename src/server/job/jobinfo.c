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
#include "base/value/names.h"
#include "base/value/value.h"
#include "shmem/qualified.h"
#include "shmem/wanted.h"

/* Return: the infos inside a DATA_ARRAY value; NULL when it is not such a value. */
static const pmix_info_t *array_infos(const pmix_value_t *value, size_t *ret_count)
{
    const pmix_data_array_t *array = value->data.darray;

    if (value->type != PMIX_DATA_ARRAY || array == NULL || array->type != PMIX_INFO ||
        (array->array == NULL && array->size > 0)) {
        return NULL;
    }
    *ret_count = array->size;
    return array->array;
}

#define SX_JOBINFO_DEPTH_MAX 4u /* arrays inside arrays */

/* Keys with which the library computes, or whose type MPI libraries rely on.  A number may have any
 * integer type: hosts give PMIX_APPNUM as int, and -1. */
enum form { FORM_NUMBER, FORM_TEXT, FORM_MAP };
static const struct typed_key {
    const char *key;
    enum form form;
} typed_keys[] = {
    { PMIX_JOB_SIZE, FORM_NUMBER },     { PMIX_UNIV_SIZE, FORM_NUMBER },
    { PMIX_MAX_PROCS, FORM_NUMBER },    { PMIX_LOCAL_SIZE, FORM_NUMBER },
    { PMIX_NODE_SIZE, FORM_NUMBER },    { PMIX_NUM_NODES, FORM_NUMBER },
    { PMIX_APP_SIZE, FORM_NUMBER },     { PMIX_JOB_NUM_APPS, FORM_NUMBER },
    { PMIX_RANK, FORM_NUMBER },         { PMIX_LOCAL_RANK, FORM_NUMBER },
    { PMIX_NODE_RANK, FORM_NUMBER },    { PMIX_GLOBAL_RANK, FORM_NUMBER },
    { PMIX_APP_RANK, FORM_NUMBER },     { PMIX_APPNUM, FORM_NUMBER },
    { PMIX_APPLDR, FORM_NUMBER },       { PMIX_LOCALLDR, FORM_NUMBER },
    { PMIX_NODEID, FORM_NUMBER },       { PMIX_SESSION_ID, FORM_NUMBER },
    { PMIX_NPROC_OFFSET, FORM_NUMBER }, { PMIX_HOSTNAME, FORM_TEXT },
    { PMIX_LOCAL_PEERS, FORM_TEXT },    { PMIX_LOCALITY_STRING, FORM_TEXT },
    { PMIX_NODE_MAP, FORM_MAP },        { PMIX_PROC_MAP, FORM_MAP },
};
static const char *const form_names[] = {
    [FORM_NUMBER] = "an integer",
    [FORM_TEXT] = "PMIX_STRING",
    [FORM_MAP] = "PMIX_STRING or PMIX_REGEX (PMIx_generate_regex, PMIx_generate_ppn)",
};

static bool has_form(const pmix_value_t *value, enum form form)
{
    uint64_t number;
    int64_t negative;

    switch (form) {
    case FORM_NUMBER:
        return sx_value_get_uint(value, &number) == PMIX_SUCCESS ||
               sx_value_get_int(value, &negative) == PMIX_SUCCESS;
    case FORM_MAP:
        return value->type == PMIX_STRING || value->type == PMIX_REGEX ||
               value->type == PMIX_REGEX2;
    default:
        return value->type == PMIX_STRING;
    }
}

static pmix_status_t judge_type(const pmix_info_t *info)
{
    for (size_t i = 0; i < SX_COUNT(typed_keys); i++) {
        const struct typed_key *const row = &typed_keys[i];
        const size_t at = sizeof("pmix.") - 1; /* the offset at which keys begin to differ */

        if (info->key[at] == row->key[at] && strcmp(info->key, row->key) == 0 &&
            !has_form(&info->value, row->form)) {
            return SX_RAISE(PMIX_ERR_TYPE_MISMATCH, "%s (\"%s\") has the type %s: it must be %s",
                            sx_attribute_name(row->key), row->key,
                            PMIx_Data_type_string(info->value.type), form_names[row->form]);
        }
    }
    return PMIX_SUCCESS;
}

static pmix_status_t judge_list(const pmix_info_t info[], size_t ninfo, unsigned depth)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        size_t count = 0;
        const pmix_info_t *const inner = array_infos(&info[i].value, &count);

        if (sx_name_len(info[i].key, sizeof(info[i].key)) >= sizeof(info[i].key)) {
            rc = SX_RAISE(PMIX_ERR_BAD_PARAM, "info %zu has a key without an end", i);
        } else if ((info[i].flags & PMIX_INFO_REQD) != 0 && depth == 0 &&
                   sx_attribute_name(info[i].key) == NULL) {
            rc = SX_RAISE(
                PMIX_ERR_NOT_SUPPORTED,
                "\"%s\" is required and no attribute of PMIx: leave the mark out, and it is "
                "stored for who gets it",
                info[i].key);
        } else if (inner != NULL && depth < SX_JOBINFO_DEPTH_MAX) {
            rc = judge_list(inner, count, depth + 1);
        } else {
            rc = judge_type(&info[i]);
        }
    }
    return rc;
}

pmix_status_t sx_jobinfo_judge(const pmix_info_t info[], size_t ninfo)
{
    return judge_list(info, ninfo, 0);
}

uint32_t sx_jobinfo_job_size(const pmix_info_t info[], size_t ninfo)
{
    const pmix_info_t *size = sx_info_find(info, ninfo, PMIX_JOB_SIZE);
    uint64_t number = 0;
    size_t count = 0;

    if (size == NULL) {
        const pmix_info_t *job = sx_info_find(info, ninfo, PMIX_JOB_INFO_ARRAY);
        const pmix_info_t *inner = job == NULL ? NULL : array_infos(&job->value, &count);

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
        const pmix_info_t *inner = array == NULL ? NULL : array_infos(&array->value, &count);

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
};

/* Remove the value unless it has changed since. */
static pmix_status_t put_back(struct sx_nspace *nspace, enum sx_realm realm, uint32_t row,
                              const pmix_info_t *info)
{
    pmix_value_t value;
    pmix_status_t rc = sx_store_get(&nspace->store.view, realm, row, info->key, &value);

    if (rc == PMIX_SUCCESS) {
        if (sx_value_compare(&value, &info->value) == 0) {
            rc = sx_store_unset(&nspace->store, realm, row, info->key);
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

/* The arrays that stand for one row of a realm, and the key that identifies the row. */
static const struct realm_form {
    const char *key;
    enum sx_realm realm;
    const char *id_key;
} realm_forms[] = {
    { PMIX_PROC_DATA, SX_REALM_JOB, PMIX_RANK },
    { PMIX_NODE_INFO_ARRAY, SX_REALM_NODE, PMIX_NODEID },
    { PMIX_APP_INFO_ARRAY, SX_REALM_APP, PMIX_APPNUM },
    { PMIX_SESSION_INFO_ARRAY, SX_REALM_SESSION, PMIX_SESSION_ID },
};

bool sx_jobinfo_names_row(const char *key)
{
    bool names = strcmp(key, PMIX_HOSTNAME) == 0 || strcmp(key, PMIX_PROCID) == 0;

    for (size_t i = 0; i < SX_COUNT(realm_forms) && !names; i++) {
        names = strcmp(key, realm_forms[i].id_key) == 0;
    }
    return names;
}

/* Keys that identify the node, application, session or process of a row stay with the row. */
static bool is_rows_name(enum sx_realm realm, const char *key)
{
    return realm != SX_REALM_JOB && sx_jobinfo_names_row(key);
}

static pmix_status_t put(const struct reading *reading, enum sx_realm realm, uint32_t row,
                         const pmix_info_t *info)
{
    struct sx_nspace *nspace = reading->nspace;
    struct sx_item item;

    if (strcmp(info->key, PMIX_QUALIFIED_VALUE) == 0) {
        return put_qualified(reading, realm, row, info);
    }
    if (reading->way == SX_JOBINFO_REMOVE) {
        return is_rows_name(realm, info->key) ? PMIX_SUCCESS : put_back(nspace, realm, row, info);
    }
    if ((reading->way == SX_JOBINFO_FILL || info == reading->node_name) &&
        sx_store_find(&nspace->store.view, realm, row, info->key, &item) == PMIX_SUCCESS) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = sx_store_put(&nspace->store, realm, row, info->key, PMIX_GLOBAL,
                                          &info->value);

    if (rc != PMIX_SUCCESS) {
        sx_log(SX_LOG_ERROR, "job info \"%.64s\" of %s cannot be stored: %s", info->key,
               nspace->name, PMIx_Error_string(rc));
    }
    return rc;
}

static const struct realm_form *form_of(const char *key)
{
    for (size_t i = 0; i < SX_COUNT(realm_forms); i++) {
        if (strcmp(key, realm_forms[i].key) == 0) {
            return &realm_forms[i];
        }
    }
    return NULL;
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

/* Return: the rank of the process of @nspace that an array names by PMIX_PROCID; UINT64_MAX:
 * none. */
static uint64_t rank_of_procid(const struct sx_nspace *nspace, const pmix_info_t *inner,
                               size_t count)
{
    const pmix_info_t *id = sx_info_find(inner, count, PMIX_PROCID);
    const pmix_proc_t *proc = id != NULL && id->value.type == PMIX_PROC ? id->value.data.proc
                                                                        : NULL;

    return proc != NULL && sx_name_len(proc->nspace, sizeof(proc->nspace)) < sizeof(proc->nspace) &&
                   strcmp(proc->nspace, nspace->name) == 0
               ? proc->rank
               : UINT64_MAX;
}

/* Find the row of an array without a number.  A process may be named by PMIX_PROCID.  A node is
 * found by its name, and without a name it is this one.  Without a number there is only one
 * application and session.  Return: UINT64_MAX when the number is needed. */
static uint64_t row_without_id(struct reading *reading, enum sx_realm realm,
                               const pmix_info_t *inner, size_t count)
{
    const pmix_info_t *name = sx_info_find(inner, count, PMIX_HOSTNAME);

    if (realm == SX_REALM_JOB) {
        return rank_of_procid(reading->nspace, inner, count);
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

static pmix_status_t row_refuse(const struct reading *reading, const pmix_info_t *info,
                                const struct realm_form *form)
{
    if (form->realm == SX_REALM_SESSION) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "\"%s\" of %s needs a number of 32 bits under \"%s\", and there may be %u "
                        "of them",
                        info->key, reading->nspace->name, form->id_key, SX_SESSION_COUNT_MAX);
    }
    return SX_RAISE(PMIX_ERR_BAD_PARAM, "\"%s\" of %s needs a number below %u under \"%s\"%s",
                    info->key, reading->nspace->name, SX_STORE_ROW_MAX, form->id_key,
                    form->realm == SX_REALM_JOB
                        ? ", or a process of this namespace under \"" PMIX_PROCID "\""
                        : "");
}

static pmix_status_t given_list(struct reading *reading, const pmix_info_t *infos, size_t count,
                                enum sx_realm realm, uint32_t row, unsigned depth);

/* An array of a realm: its id selects the row. */
static pmix_status_t given_array(struct reading *reading, const pmix_info_t *info,
                                 const struct realm_form *form, unsigned depth)
{
    size_t count = 0;
    const pmix_info_t *inner = array_infos(&info->value, &count);
    const pmix_info_t *id = sx_info_find(inner, count, form->id_key);

    if (inner == NULL || depth >= SX_JOBINFO_DEPTH_MAX) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "\"%s\" of %s is no array of infos%s", info->key,
                        reading->nspace->name, inner != NULL ? ", or nested too deep" : "");
    }
    const uint64_t row = id == NULL ? row_without_id(reading, form->realm, inner, count)
                                    : row_of_id(reading, form->realm, &id->value);
    if (row >= SX_STORE_ROW_MAX && (form->realm != SX_REALM_JOB || row != SX_ROW_JOB)) {
        return row_refuse(reading, info, form);
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
        const struct realm_form *form = form_of(infos[i].key);

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
        return form_of(info->key) != NULL ? PMIX_SUCCESS
                                          : put(reading, SX_REALM_JOB, SX_ROW_JOB, info);
    }
    inner = array_infos(&info->value, &count);
    if (inner == NULL) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "\"%s\" of %s is no array of infos", info->key,
                        reading->nspace->name);
    }
    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        if (sx_name_len(inner[i].key, sizeof(inner[i].key)) < sizeof(inner[i].key) &&
            form_of(inner[i].key) == NULL) {
            rc = put(reading, SX_REALM_JOB, SX_ROW_JOB, &inner[i]);
        }
    }
    return rc;
}

static pmix_status_t given_arrays(struct reading *reading, const pmix_info_t *info)
{
    const struct realm_form *form = form_of(info->key);
    size_t count = 0;
    pmix_status_t rc = PMIX_SUCCESS;

    if (form != NULL) {
        return given_array(reading, info, form, 0);
    }
    if (strcmp(info->key, PMIX_JOB_INFO_ARRAY) == 0) {
        const pmix_info_t *inner = array_infos(&info->value, &count);

        for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
            form = sx_name_len(inner[i].key, sizeof(inner[i].key)) < sizeof(inner[i].key)
                       ? form_of(inner[i].key)
                       : NULL;
            rc = form != NULL ? given_array(reading, &inner[i], form, 1) : PMIX_SUCCESS;
        }
    }
    return rc;
}

/* ---- the maps ------------------------------------------------------------------------------- */

/* A map as the host gave it: a string; a regex, bytes with their NUL; or a value with its method
 * name.  The caller owns *ret, which is NULL when there is no map. */
static pmix_status_t map_text(const struct sx_nspace *nspace, const char *key, char **ret)
{
    pmix_value_t value;
    pmix_status_t rc = sx_store_get(&nspace->store.view, SX_REALM_JOB, SX_ROW_JOB, key, &value);

    *ret = NULL;
    if (rc != PMIX_SUCCESS) {
        return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
    }
    if (value.type == PMIX_REGEX2) {
        rc = PMIx_parse_regex2(value.data.regex2, NULL, 0, ret);
    } else if (value.type == PMIX_STRING && value.data.string != NULL) {
        *ret = value.data.string;
        value.data.string = NULL;
    } else if (value.type == PMIX_REGEX && value.data.bo.bytes != NULL) {
        *ret = strndup(value.data.bo.bytes, value.data.bo.size);
        rc = *ret != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
    }
    sx_value_destruct(&value);
    return rc;
}

static pmix_status_t maps_read(struct reading *reading)
{
    char *nodes, *ranks = NULL;
    pmix_status_t rc = map_text(reading->nspace, PMIX_NODE_MAP, &nodes);

    if (rc == PMIX_SUCCESS && nodes != NULL) {
        rc = map_text(reading->nspace, PMIX_PROC_MAP, &ranks);
        rc = rc == PMIX_SUCCESS ? sx_nodemap_read(&reading->map, nodes, ranks) : rc;
    }
    if (reading->map.node_count > reading->node_count) {
        reading->node_count = (uint32_t)reading->map.node_count;
    }
    free(nodes);
    free(ranks);
    if (rc != PMIX_SUCCESS) {
        return SX_RAISE(rc,
                        "the node or process map of %s cannot be read: PMIX_NODE_MAP names nodes "
                        "(\"a,b\"), PMIX_PROC_MAP has the ranks of each (\"0,1;2,3\")",
                        reading->nspace->name);
    }
    return PMIX_SUCCESS;
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

/* The host has said how many processes are here, and its map says it, too. */
static void here_judge(const struct reading *reading)
{
    struct sx_nspace *const nspace = reading->nspace;
    const uint32_t own = sx_derive_own_node(reading->server, nspace, &reading->map);

    if (reading->map.rank_count == 0 || own == UINT32_MAX || nspace->local_count == 0 ||
        nspace->here_logged) {
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

pmix_status_t sx_jobinfo_store(struct sx_server *server, struct sx_nspace *nspace,
                               const pmix_info_t info[], size_t ninfo)
{
    struct reading reading = { .server = server, .nspace = nspace };
    pmix_status_t rc = given_all(&reading, info, ninfo);

    if (rc == PMIX_SUCCESS) {
        size_judge(&reading);
        here_judge(&reading);
    }
    if (rc == PMIX_SUCCESS && nspace->job_size == 0 && reading.map.rank_count == 0) {
        nspace->job_size = reading.rank_count;
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_derive(server, nspace, &reading.map, reading.node_count);
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

    sx_nodemap_clear(&reading.map);
    return rc;
}

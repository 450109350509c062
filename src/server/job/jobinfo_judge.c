/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobinfo_judge.c - whether the host's infos about a job can be stored, asked before the first of
 * them is: what is refused has changed nothing.
 *
 *     sx_jobinfo_judge  what depends on the infos alone: keys, types, sizes.  On the host's thread
 *     sx_jobinfo_check  what depends on the job, too: its name, its maps, its sessions.  On the
 *                       loop thread */
#include "server/job/job.h"

#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/status.h"
#include "base/value/flat.h"
#include "base/value/names.h"
#include "base/value/value.h"
#include "shmem/nspace_read.h"
#include "shmem/qualified.h"
#include "shmem/wanted.h"

/* ---- the forms ------------------------------------------------------------------------------- */

const pmix_info_t *sx_jobinfo_array(const pmix_value_t *value, size_t *ret_count)
{
    const pmix_data_array_t *array = value->data.darray;

    if (value->type != PMIX_DATA_ARRAY || array == NULL || array->type != PMIX_INFO ||
        (array->array == NULL && array->size > 0)) {
        return NULL;
    }
    *ret_count = array->size;
    return array->array;
}

pmix_status_t sx_jobinfo_array_judge(const char *name, const pmix_info_t *info, unsigned depth,
                                     const pmix_info_t **ret_infos, size_t *ret_count)
{
    *ret_count = 0;
    *ret_infos = sx_jobinfo_array(&info->value, ret_count);
    if (*ret_infos != NULL && depth < SX_JOBINFO_DEPTH_MAX) {
        return PMIX_SUCCESS;
    }
    return SX_RAISE(PMIX_ERR_BAD_PARAM, "\"%s\" of %s is no array of infos%s", info->key, name,
                    *ret_infos != NULL ? ", or nested too deep" : "");
}

static const struct sx_realm_form realm_forms[] = {
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

const struct sx_realm_form *sx_jobinfo_form(const char *key)
{
    for (size_t i = 0; i < SX_COUNT(realm_forms); i++) {
        if (strcmp(key, realm_forms[i].key) == 0) {
            return &realm_forms[i];
        }
    }
    return NULL;
}

uint64_t sx_jobinfo_procid(const char *name, const pmix_info_t *inner, size_t count)
{
    const pmix_info_t *id = sx_info_find(inner, count, PMIX_PROCID);
    const pmix_proc_t *proc = id != NULL && id->value.type == PMIX_PROC ? id->value.data.proc
                                                                        : NULL;

    return proc != NULL && sx_name_len(proc->nspace, sizeof(proc->nspace)) < sizeof(proc->nspace) &&
                   strcmp(proc->nspace, name) == 0
               ? proc->rank
               : UINT64_MAX;
}

pmix_status_t sx_jobinfo_row_refuse(const char *name, const pmix_info_t *info,
                                    const struct sx_realm_form *form)
{
    if (form->realm == SX_REALM_SESSION) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "\"%s\" of %s needs a number of 32 bits under \"%s\", and there may be %u "
                        "of them",
                        info->key, name, form->id_key, SX_SESSION_COUNT_MAX);
    }
    return SX_RAISE(PMIX_ERR_BAD_PARAM, "\"%s\" of %s needs a number below %u under \"%s\"%s",
                    info->key, name, SX_STORE_ROW_MAX, form->id_key,
                    form->realm == SX_REALM_JOB
                        ? ", or a process of this namespace under \"" PMIX_PROCID "\""
                        : "");
}

/* ---- the infos themselves -------------------------------------------------------------------- */

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

/* Ranks are rows of the job's store. */
static pmix_status_t judge_job_size(const pmix_info_t *info)
{
    uint64_t number;

    if (sx_value_get_uint(&info->value, &number) == PMIX_SUCCESS && number <= SX_STORE_ROW_MAX) {
        return PMIX_SUCCESS;
    }
    return SX_RAISE(PMIX_ERR_BAD_PARAM, "PMIX_JOB_SIZE (\"%s\") must be a number from 0 to %u",
                    info->key, SX_STORE_ROW_MAX);
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
    return strcmp(info->key, PMIX_JOB_SIZE) == 0 ? judge_job_size(info) : PMIX_SUCCESS;
}

static pmix_status_t judge_list(const pmix_info_t info[], size_t ninfo, unsigned depth)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        size_t count = 0;
        const pmix_info_t *const inner = sx_jobinfo_array(&info[i].value, &count);

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

/* ---- the maps ------------------------------------------------------------------------------- */

/* The text of a map: a string; a regex, bytes with their NUL; or a value with its method name.  The
 * caller owns *ret, which is NULL when there is no text. */
static pmix_status_t text_of(const pmix_value_t *value, char **ret)
{
    *ret = NULL;
    if (value->type == PMIX_REGEX2) {
        return PMIx_parse_regex2(value->data.regex2, NULL, 0, ret);
    }
    if (value->type == PMIX_STRING && value->data.string != NULL) {
        *ret = strdup(value->data.string);
    } else if (value->type == PMIX_REGEX && value->data.bo.bytes != NULL) {
        *ret = strndup(value->data.bo.bytes, value->data.bo.size);
    } else {
        return PMIX_SUCCESS;
    }
    return *ret != NULL ? PMIX_SUCCESS : PMIX_ERR_OUT_OF_RESOURCE;
}

/* Return: the last value of @key that @info gives the job; NULL: none. */
static const pmix_value_t *last_given(const pmix_info_t info[], size_t ninfo, const char *key)
{
    const pmix_value_t *last = NULL;
    size_t count = 0;

    for (size_t i = 0; i < ninfo; i++) {
        if (strcmp(info[i].key, key) == 0) {
            last = &info[i].value;
        } else if (strcmp(info[i].key, PMIX_JOB_INFO_ARRAY) == 0) {
            const pmix_info_t *const inner = sx_jobinfo_array(&info[i].value, &count);
            const pmix_value_t *const own = inner != NULL ? last_given(inner, count, key) : NULL;

            last = own != NULL ? own : last;
        }
    }
    return last;
}

/* The map that @info gives, or else the one that @nspace (it may be NULL) has.  As text_of. */
static pmix_status_t map_text(const struct sx_nspace *nspace, const pmix_info_t info[],
                              size_t ninfo, const char *key, char **ret)
{
    const pmix_value_t *const given = last_given(info, ninfo, key);
    pmix_value_t value;

    *ret = NULL;
    if (given != NULL || nspace == NULL || !nspace->has_store) {
        return given != NULL ? text_of(given, ret) : PMIX_SUCCESS;
    }
    pmix_status_t rc = sx_store_get(&nspace->store.view, SX_REALM_JOB, SX_ROW_JOB, key, &value);

    if (rc != PMIX_SUCCESS) {
        return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
    }
    rc = text_of(&value, ret);
    sx_value_destruct(&value);
    return rc;
}

pmix_status_t sx_jobinfo_maps(const char *name, const struct sx_nspace *nspace,
                              const pmix_info_t info[], size_t ninfo, struct sx_nodemap *ret)
{
    char *nodes, *ranks = NULL;
    pmix_status_t rc = map_text(nspace, info, ninfo, PMIX_NODE_MAP, &nodes);

    if (rc == PMIX_SUCCESS && nodes != NULL) {
        rc = map_text(nspace, info, ninfo, PMIX_PROC_MAP, &ranks);
        rc = rc == PMIX_SUCCESS ? sx_nodemap_read(ret, nodes, ranks) : rc;
    }
    free(nodes);
    free(ranks);
    if (rc != PMIX_SUCCESS) {
        return SX_RAISE(rc,
                        "the node or process map of %s cannot be read: PMIX_NODE_MAP names nodes "
                        "(\"a,b\"), PMIX_PROC_MAP has the ranks of each (\"0,1;2,3\")",
                        name);
    }
    return PMIX_SUCCESS;
}

/* ---- states of processes --------------------------------------------------------------------- */

/* Hosts report these one after the other while the job runs. */
static bool is_state_key(const char *key)
{
    static const char *const keys[] = { PMIX_RANK,         PMIX_PROCID,    PMIX_PROC_STATE_STATUS,
                                        PMIX_EXIT_CODE,    SX_STARTED_PID, PMIX_PROC_PID,
                                        PMIX_REINCARNATION };
    bool is_one = false;

    for (size_t i = 0; i < SX_COUNT(keys) && !is_one; i++) {
        is_one = strcmp(key, keys[i]) == 0;
    }
    return is_one;
}

bool sx_jobinfo_derives_nothing(const struct sx_nspace *nspace, const pmix_info_t info[],
                                size_t ninfo)
{
    bool is_nothing = nspace->is_derived && nspace->derived_local_count == nspace->local_count &&
                      nspace->job_size != 0;

    for (size_t i = 0; i < ninfo && is_nothing; i++) {
        size_t count = 0;
        const pmix_info_t *const inner = strcmp(info[i].key, PMIX_PROC_DATA) == 0
                                             ? sx_jobinfo_array(&info[i].value, &count)
                                             : NULL;

        is_nothing = inner != NULL;
        for (size_t k = 0; k < count && is_nothing; k++) {
            is_nothing = is_state_key(inner[k].key);
        }
    }
    return is_nothing;
}

/* ---- the infos and their job ----------------------------------------------------------------- */

/* A check in progress. */
struct check {
    const char *name;                        /* of the job */
    const struct sx_nspace *nspace;          /* NULL: it has no data yet */
    uint32_t sessions[SX_SESSION_COUNT_MAX]; /* those that @nspace does not have */
    uint32_t session_count;
};

/* Whether there is a row for the session @id, a new one if it has none. */
static bool session_fits(struct check *check, uint64_t id)
{
    uint32_t row, known = 0, left = SX_SESSION_COUNT_MAX;

    if (id > UINT32_MAX) {
        return false;
    }
    if (check->nspace != NULL) {
        const struct sx_site site = { .shared = &check->nspace->store.view,
                                      .self = PMIX_RANK_INVALID };

        if (sx_session_row(&site, (uint32_t)id, &row)) {
            return true;
        }
        left -= row;
    }
    while (known < check->session_count && check->sessions[known] != id) {
        known++;
    }
    if (known == check->session_count && known < left) {
        check->sessions[check->session_count++] = (uint32_t)id;
    }
    return known < left;
}

/* Whether the array names a row of its realm, as it must. */
static bool row_fits(struct check *check, const struct sx_realm_form *form,
                     const pmix_info_t *inner, size_t count)
{
    const pmix_info_t *const id = sx_info_find(inner, count, form->id_key);
    uint64_t row = 0;

    if (id == NULL) {
        row = form->realm == SX_REALM_JOB ? sx_jobinfo_procid(check->name, inner, count) : 0;
    } else if (sx_value_get_uint(&id->value, &row) != PMIX_SUCCESS) {
        return false;
    } else if (form->realm == SX_REALM_SESSION) {
        return session_fits(check, row);
    }
    return row < SX_STORE_ROW_MAX || (form->realm == SX_REALM_JOB && row == SX_ROW_JOB);
}

/* Whether the value can be stored. */
static pmix_status_t check_value(const struct check *check, enum sx_realm realm,
                                 const pmix_info_t *info)
{
    struct sx_qualified qualified;
    const pmix_value_t *value = &info->value;
    pmix_status_t rc = info->key[0] != '\0' ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
    size_t size;

    if (rc == PMIX_SUCCESS && strcmp(info->key, PMIX_QUALIFIED_VALUE) == 0) {
        rc = realm == SX_REALM_JOB ? sx_qualified_read(&qualified, value) : PMIX_ERR_NOT_SUPPORTED;
        value = rc == PMIX_SUCCESS ? qualified.value : value;
    }
    if (rc == PMIX_SUCCESS) {
        rc = value->type != PMIX_UNDEF ? sx_flat_size(value, &size) : PMIX_ERR_BAD_PARAM;
    }
    return rc == PMIX_SUCCESS
               ? rc
               : SX_RAISE(rc, "job info \"%.64s\" of %s, of the type %u, cannot be stored: %s",
                          info->key, check->name, value->type, PMIx_Error_string(rc));
}

/* An array of a realm at @depth, or else a value. */
static pmix_status_t check_info(struct check *check, enum sx_realm realm, const pmix_info_t *info,
                                unsigned depth)
{
    const struct sx_realm_form *const form = sx_jobinfo_form(info->key);
    const pmix_info_t *inner;
    size_t count;

    if (form == NULL) {
        return check_value(check, realm, info);
    }
    pmix_status_t rc = sx_jobinfo_array_judge(check->name, info, depth, &inner, &count);

    if (rc == PMIX_SUCCESS && !row_fits(check, form, inner, count)) {
        rc = sx_jobinfo_row_refuse(check->name, info, form);
    }
    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        rc = check_info(check, form->realm, &inner[i], depth + 1);
    }
    return rc;
}

static pmix_status_t check_job_info(struct check *check, const pmix_info_t *info)
{
    const pmix_info_t *inner;
    size_t count;

    if (strcmp(info->key, PMIX_JOB_INFO_ARRAY) != 0) {
        return check_info(check, SX_REALM_JOB, info, 0);
    }
    pmix_status_t rc = sx_jobinfo_array_judge(check->name, info, 0, &inner, &count);

    for (size_t i = 0; i < count && rc == PMIX_SUCCESS; i++) {
        rc = check_info(check, SX_REALM_JOB, &inner[i], 1);
    }
    return rc;
}

pmix_status_t sx_jobinfo_check(const char *name, const struct sx_nspace *nspace,
                               const pmix_info_t info[], size_t ninfo)
{
    struct check check = { .name = name, .nspace = nspace };
    struct sx_nodemap map = { .text = NULL };
    pmix_status_t rc = nspace != NULL && sx_jobinfo_derives_nothing(nspace, info, ninfo)
                           ? PMIX_SUCCESS
                           : sx_jobinfo_maps(name, nspace, info, ninfo, &map);

    sx_nodemap_clear(&map);
    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        rc = check_job_info(&check, &info[i]);
    }
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* session_control.c - PMIx_Session_control: the directives of job control, for all jobs of a
 * session.
 *
 * The host's own entry for sessions lies behind the 28 members of its module, where releases
 * differ.  So its `job_control` is called, for each job of the session that the server has
 * registered. */
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/call/role.h"
#include "base/status.h"
#include "base/util.h"
#include "client/link/link.h"

/* ---- directives ------------------------------------------------------------------------------ */

static const struct {
    const char *of_session, *of_job;
} directives_of[] = {
    { PMIX_SESSION_CTRL_ID, PMIX_JOB_CTRL_ID },
    { PMIX_SESSION_PAUSE, PMIX_JOB_CTRL_PAUSE },
    { PMIX_SESSION_RESUME, PMIX_JOB_CTRL_RESUME },
    { PMIX_SESSION_TERMINATE, PMIX_JOB_CTRL_TERMINATE },
    { PMIX_SESSION_SIGNAL, PMIX_JOB_CTRL_SIGNAL },
};

/* Return: the key of job control that does the same; NULL for none. */
static const char *job_key(const char *key)
{
    for (size_t i = 0; i < SX_COUNT(directives_of); i++) {
        if (PMIx_Check_key(key, directives_of[i].of_session)) {
            return directives_of[i].of_job;
        }
    }
    return NULL;
}

/* Any other key of sessions: only a scheduler creates, extends and ends sessions, and gives them
 * nodes. */
static bool is_schedulers(const char *key)
{
    return job_key(key) == NULL && strncmp(key, "pmix.ssn.", strlen("pmix.ssn.")) == 0;
}

/* The directives of job control, borrowed.  Return: PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED (logged);
 * PMIX_ERR_BAD_PARAM; PMIX_ERR_OUT_OF_RESOURCE. */
static pmix_status_t directives_translate(const pmix_info_t info[], size_t ninfo,
                                          pmix_info_t **ret_info, size_t *ret_ninfo)
{
    pmix_status_t rc = PMIX_SUCCESS;
    size_t count = 0;

    for (size_t i = 0; i < ninfo && rc == PMIX_SUCCESS; i++) {
        if (is_schedulers(info[i].key)) {
            rc = SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                          "PMIx_Session_control with \"%.*s\": that is for a scheduler; a session "
                          "here can be paused, resumed, terminated and sent a signal",
                          PMIX_MAX_KEYLEN, info[i].key);
        }
    }
    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_SESSION_CONTROL, info, ninfo, NULL);
    }
    pmix_info_t *const made = rc == PMIX_SUCCESS ? calloc(ninfo, sizeof(*made)) : NULL;

    for (size_t i = 0; made != NULL && i < ninfo; i++) {
        const char *const key = job_key(info[i].key);

        if (key != NULL) {
            made[count] = info[i];
            PMIx_Load_key(made[count++].key, key);
        }
    }
    *ret_info = made;
    *ret_ninfo = count;
    return rc != PMIX_SUCCESS ? rc : made == NULL ? PMIX_ERR_OUT_OF_RESOURCE : PMIX_SUCCESS;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static bool is_in(const char *nspace, uint32_t session)
{
    const bool yes = true;
    pmix_proc_t proc;
    pmix_info_t info;
    pmix_value_t *value = NULL;
    uint32_t its = 0;

    if (session == UINT32_MAX) {
        return true;
    }
    PMIx_Load_procid(&proc, nspace, PMIX_RANK_WILDCARD);
    PMIx_Info_load(&info, PMIX_IMMEDIATE, &yes, PMIX_BOOL);
    const pmix_status_t rc = PMIx_Get(&proc, PMIX_SESSION_ID, &info, 1, &value);
    const bool found = rc == PMIX_SUCCESS &&
                       PMIx_Value_get_number(value, &its, PMIX_UINT32) == PMIX_SUCCESS &&
                       its == session;

    if (rc == PMIX_SUCCESS) {
        PMIx_Value_free(value, 1);
    }
    return found;
}

/* All jobs of @session that the server has registered, malloc'ed. */
static pmix_status_t jobs_find(uint32_t session, pmix_proc_t **ret, size_t *ret_count)
{
    static char key[] = PMIX_QUERY_NAMESPACES;
    char *keys[] = { key, NULL };
    pmix_query_t query = { .keys = keys };
    pmix_info_t *info = NULL;
    size_t ninfo = 0, count = 0;
    pmix_status_t rc = PMIx_Query_info(&query, 1, &info, &ninfo);
    char **const names = rc == PMIX_SUCCESS && info->value.type == PMIX_STRING
                             ? PMIx_Argv_split(info->value.data.string, ',')
                             : NULL;
    pmix_proc_t *const procs = calloc((size_t)PMIx_Argv_count(names) + 1, sizeof(*procs));

    for (size_t i = 0; procs != NULL && names != NULL && names[i] != NULL; i++) {
        if (is_in(names[i], session)) {
            PMIx_Load_procid(&procs[count++], names[i], PMIX_RANK_WILDCARD);
        }
    }
    PMIx_Argv_free(names);
    PMIx_Info_free(info, ninfo);
    rc = rc != PMIX_SUCCESS ? rc
         : procs == NULL    ? PMIX_ERR_OUT_OF_RESOURCE
         : count == 0       ? PMIX_ERR_NOT_FOUND
                            : PMIX_SUCCESS;
    if (rc != PMIX_SUCCESS) {
        free(procs);
        return rc;
    }
    *ret = procs;
    *ret_count = count;
    return PMIX_SUCCESS;
}

/* ---- the call -------------------------------------------------------------------------------- */

pmix_status_t PMIx_Session_control(uint32_t session_id, const pmix_info_t *directives, size_t ndirs,
                                   pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    pmix_info_t *info = NULL;
    pmix_proc_t *jobs = NULL;
    size_t ninfo = 0, count = 0;

    if (!sx_process_ready() && sx_role_server_get() == NULL) {
        return PMIX_ERR_INIT;
    }
    if (directives == NULL || ndirs == 0) {
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_status_t rc = directives_translate(directives, ndirs, &info, &ninfo);

    if (rc == PMIX_SUCCESS && ninfo == 0) {
        rc = PMIX_ERR_NOT_SUPPORTED; /* no directive that job control has */
    }
    if (rc == PMIX_SUCCESS) {
        rc = jobs_find(session_id, &jobs, &count);
    }
    if (rc == PMIX_SUCCESS) {
        rc = cbfunc != NULL ? PMIx_Job_control_nb(jobs, count, info, ninfo, cbfunc, cbdata)
                            : PMIx_Job_control(jobs, count, info, ninfo, NULL, NULL);
    }
    free(jobs);
    free(info);
    return rc;
}

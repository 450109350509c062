/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* spawn.c - PMIx_Spawn, blocking or not: the host starts a job, or a tool without a server does
 * (forkexec.c), and its namespace is the answer.
 *
 * The applications are sent as one info, whose value is an array of PMIX_APP.  The answer is an
 * info, too: PMIX_NSPACE.  An application without a folder gets the caller's. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/call/role.h"
#include "base/status.h"
#include "base/util.h"
#include "base/value/value.h"
#include "client/link/link.h"
#include "client/link/op.h"
#include "client/manage/manage.h"
#include "control/message.h"

/* ---- the answer ------------------------------------------------------------------------------ */

static bool has_name(const struct sx_op *op)
{
    return op->ninfo > 0 && PMIx_Check_key(op->info[0].key, PMIX_NSPACE) &&
           op->info[0].value.type == PMIX_STRING && op->info[0].value.data.string != NULL &&
           strlen(op->info[0].value.data.string) <= PMIX_MAX_NSLEN;
}

static bool spawn_finish(struct sx_op *op)
{
    (void)sx_results_finish(op);
    if (op->status == PMIX_SUCCESS && !has_name(op)) {
        op->status = PMIX_ERR_NOT_FOUND;
    }
    return true;
}

static const struct sx_op_kind spawn_kind = { .size = sizeof(struct sx_results_op),
                                              .request = SX_MSG_SPAWN,
                                              .answered = sx_results_answered,
                                              .finish = spawn_finish,
                                              .release = sx_results_release };

/* ---- the environment ------------------------------------------------------------------------- */

extern char **environ;

/* Variables that identify the caller as a process of its job: not for others. */
static bool is_own(const char *variable)
{
    static const char *const own[] = { "PMIX_", "PMI_", "OMPI_COMM_WORLD_", "SHMIX_SERVER" };
    bool is = false;

    for (size_t i = 0; i < SX_COUNT(own); i++) {
        is = is || strncmp(variable, own[i], strlen(own[i])) == 0;
    }
    return is && strncmp(variable, "PMIX_MCA_", 9) != 0;
}

static bool has_name_of(char *const *env, const char *variable)
{
    const size_t len = strcspn(variable, "=");

    for (size_t i = 0; env != NULL && env[i] != NULL; i++) {
        if (strncmp(env[i], variable, len) == 0 && env[i][len] == '=') {
            return true;
        }
    }
    return false;
}

/* The variables of @env, and those of ours that @env does not set.  Return: an array to be freed,
 * whose strings are borrowed; NULL: there is no memory. */
static char **env_with_ours(char **env)
{
    size_t count = 0, room = 1;

    for (size_t i = 0; env != NULL && env[i] != NULL; i++) {
        room++;
    }
    for (size_t i = 0; environ[i] != NULL; i++) {
        room++;
    }
    char **const all = calloc(room, sizeof(*all));

    for (size_t i = 0; all != NULL && env != NULL && env[i] != NULL; i++) {
        all[count++] = env[i];
    }
    for (size_t i = 0; all != NULL && environ[i] != NULL; i++) {
        if (!is_own(environ[i]) && !has_name_of(env, environ[i])) {
            all[count++] = environ[i];
        }
    }
    return all;
}

/* ---- the folder ------------------------------------------------------------------------------ */

static bool has_folder(const pmix_info_t *info, size_t ninfo)
{
    return sx_info_find(info, ninfo, PMIX_WDIR) != NULL ||
           sx_info_find(info, ninfo, PMIX_SET_SESSION_CWD) != NULL;
}

/* Return: the caller's folder in @room, for applications of a job that names no folder; NULL if the
 * job names one, or the caller's folder has no path. */
static char *folder_for(const pmix_info_t *info, size_t ninfo, char room[PATH_MAX])
{
    return has_folder(info, ninfo) ? NULL : getcwd(room, PATH_MAX);
}

/* ---- defaults of applications ---------------------------------------------------------------- */

static void apps_drop(pmix_app_t *apps, size_t napps, bool forwards)
{
    for (size_t i = 0; forwards && apps != NULL && i < napps; i++) {
        free(apps[i].env);
    }
    free(apps);
}

/* The applications with the folder @folder (NULL: none) if they name none, and with our environment
 * if @forwards.  Return: an array for apps_drop; NULL: there is no memory. */
static pmix_app_t *apps_with_ours(const pmix_app_t *apps, size_t napps, char *folder, bool forwards)
{
    pmix_app_t *const with = calloc(napps, sizeof(*with));

    for (size_t i = 0; with != NULL && i < napps; i++) {
        with[i] = apps[i];
        if (folder != NULL && (apps[i].cwd == NULL || apps[i].cwd[0] == '\0') &&
            !has_folder(apps[i].info, apps[i].ninfo)) {
            with[i].cwd = folder;
        }
        with[i].env = forwards ? env_with_ours(apps[i].env) : apps[i].env;
        if (forwards && with[i].env == NULL) {
            apps_drop(with, i, forwards);
            return NULL;
        }
    }
    return with;
}

/* ---- requests -------------------------------------------------------------------------------- */

static pmix_status_t apps_judge(const pmix_app_t *apps, size_t napps)
{
    if (apps == NULL || napps == 0) {
        return sx_process_misused();
    }
    if (napps > SX_SPAWN_APPS_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "a call of PMIx_Spawn may start %u applications, and this one names %zu: "
                        "make several calls",
                        SX_SPAWN_APPS_MAX, napps);
    }
    for (size_t i = 0; i < napps; i++) {
        if (apps[i].cmd == NULL || apps[i].cmd[0] == '\0') {
            return SX_RAISE(PMIX_ERR_BAD_PARAM, "application %zu of a spawn has no command", i);
        }
        struct sx_spawn_options of_app = { 0 };
        const pmix_status_t rc = sx_options_read(SX_OF_SPAWN, apps[i].info, apps[i].ninfo, &of_app);

        if (rc != PMIX_SUCCESS) {
            return rc;
        }
    }
    return PMIX_SUCCESS;
}

static pmix_status_t apps_send(struct sx_results_op *results, const pmix_info_t job_info[],
                               size_t ninfo, const pmix_app_t *apps, size_t napps)
{
    pmix_data_array_t array = { .type = PMIX_APP, .size = napps, .array = (void *)(uintptr_t)apps };
    const pmix_info_t all = { .value = { .type = PMIX_DATA_ARRAY, .data.darray = &array } };
    struct sx_draft draft = {
        .head = &(struct sx_spawn){ 0 },
        .parts = { [SX_SPAWN_JOB] = { job_info, ninfo }, [SX_SPAWN_APPS] = { &all, 1 } }
    };

    return sx_op_ask(&results->op, &draft);
}

/* A tool that has no server starts them itself. */
static bool is_alone(void)
{
    return sx_process.is_tool && sx_link_is_singleton(sx_primary());
}

static pmix_status_t apps_start(struct sx_results_op *results, const pmix_info_t job_info[],
                                size_t ninfo, const pmix_app_t *apps, size_t napps)
{
    struct sx_op *op = &results->op;
    pmix_nspace_t nspace;
    pmix_status_t rc = sx_role_may_wait();

    if (rc == PMIX_SUCCESS) {
        rc = sx_op_open(&op);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    op->info = PMIx_Info_create(1);
    rc = op->info != NULL ? sx_forkexec_spawn(job_info, ninfo, apps, napps, nspace)
                          : PMIX_ERR_OUT_OF_RESOURCE;
    op->ninfo = op->info != NULL;
    if (rc == PMIX_SUCCESS) {
        rc = PMIx_Info_load(op->info, PMIX_NSPACE, nspace, PMIX_STRING);
    }
    return sx_op_answer(op, rc);
}

static pmix_status_t spawn(struct sx_results_op *results, const pmix_info_t job_info[],
                           size_t ninfo, const pmix_app_t *apps, size_t napps)
{
    struct sx_spawn_options options = { 0 };
    char folder[PATH_MAX];
    pmix_status_t rc;

    if (!sx_process_ready()) {
        return PMIX_ERR_INIT;
    }
    rc = apps_judge(apps, napps);
    if (rc == PMIX_SUCCESS) {
        rc = sx_options_read(SX_OF_SPAWN, job_info, ninfo, &options);
    }
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    const bool forwards = options.forwards || is_alone();
    pmix_app_t *const with = apps_with_ours(apps, napps, folder_for(job_info, ninfo, folder),
                                            forwards);

    rc = with == NULL ? PMIX_ERR_OUT_OF_RESOURCE
         : is_alone() ? apps_start(results, job_info, ninfo, with, napps)
                      : apps_send(results, job_info, ninfo, with, napps);
    apps_drop(with, napps, forwards);
    return rc;
}

pmix_status_t PMIx_Spawn(const pmix_info_t *job_info, size_t ninfo, const pmix_app_t *apps,
                         size_t napps, pmix_nspace_t nspace)
{
    struct sx_results_op results = { .op = SX_OP_INIT(&spawn_kind, sx_primary()) };
    const pmix_status_t rc = spawn(&results, job_info, ninfo, apps, napps);

    if (nspace != NULL) { /* a caller without interest in it has started a job all the same */
        PMIx_Load_nspace(nspace, rc == PMIX_SUCCESS ? results.op.info[0].value.data.string : "");
    }
    sx_results_release(&results.op);
    return rc;
}

pmix_status_t PMIx_Spawn_nb(const pmix_info_t *job_info, size_t ninfo, const pmix_app_t *apps,
                            size_t napps, pmix_spawn_cbfunc_t cbfunc, void *cbdata)
{
    const struct sx_callback callback = SX_CALLBACK(SX_SHAPE_SPAWN, spawn, cbfunc, cbdata);
    struct sx_results_op results = { .op = SX_OP_INIT(&spawn_kind, sx_primary(),
                                                      .callback = callback) };

    return cbfunc != NULL ? spawn(&results, job_info, ninfo, apps, napps) : sx_process_misused();
}

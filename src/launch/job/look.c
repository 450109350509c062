/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* look.c - find the processes, folders, files and programs that a spawn names.  Any of these calls
 * may wait for ever, in a process that has nothing else to do. */
#include "launch/job/looker.h"

#include <fcntl.h>
#include <limits.h>
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/system/process.h"
#include "base/value/value.h"
#include "launch/common/say.h"

/* Return: how many ranks @proc means; 0: no such rank exists. */
static uint32_t ranks_of(const struct sx_look_scene *scene, const pmix_proc_t *proc)
{
    for (size_t i = 0; i < scene->job_count; i++) {
        const pmix_proc_t *const job = &scene->jobs[i];

        if (PMIx_Check_nspace(job->nspace, proc->nspace)) {
            return proc->rank == PMIX_RANK_WILDCARD ? job->rank : proc->rank < job->rank;
        }
    }
    return 0;
}

/* Return: PMIX_SUCCESS, and the number of ranks that @procs mean; PMIX_ERR_NOT_FOUND with a line in
 * @message that names the purpose. */
static pmix_status_t ranks_find(const struct sx_look_scene *scene,
                                const struct sx_some_procs *procs, const char *what_for,
                                uint32_t *ret_count, char *message)
{
    uint32_t all = 0;

    for (size_t i = 0; i < procs->count; i++) {
        const pmix_proc_t *const proc = &procs->all[i];
        const uint32_t count = ranks_of(scene, proc);

        if (count == 0) {
            char rank[32] = "";

            if (proc->rank != PMIX_RANK_WILDCARD) {
                snprintf(rank, sizeof(rank), "rank %u of a ", proc->rank);
            }
            snprintf(message, SX_RUN_MESSAGE_MAX, "there is no %sjob '%.200s' %s", rank,
                     proc->nspace, what_for);
            return PMIX_ERR_NOT_FOUND;
        }
        all = all > UINT32_MAX - count ? UINT32_MAX : all + count;
    }
    *ret_count = all;
    return PMIX_SUCCESS;
}

/* Find the processes that a debugger's daemons examine, and those beside which ranks are to be
 * placed. */
static pmix_status_t others_find(const struct sx_look_scene *scene, struct sx_run_request *request,
                                 char *message)
{
    const pmix_status_t rc = ranks_find(scene, &request->said.target, "to look at",
                                        &request->target_count, message);

    return rc == PMIX_SUCCESS ? ranks_find(scene, &request->said.beside, "to be beside",
                                           &request->beside_count, message)
                              : rc;
}

/* Wait for the file system that has @path, up to what its pattern leaves open. */
static void folder_await(const char *path)
{
    if (path == NULL) {
        return;
    }
    char *const folder = sx_cli_strdup(path);
    struct stat st;

    folder[strcspn(folder, "%")] = '\0';
    do { /* the first one that there is: the launcher makes the others */
        if (fstatat(AT_FDCWD, folder, &st, 0) == 0) {
            break;
        }
        folder[strrchr(folder, '/') == NULL ? 0 : strrchr(folder, '/') - folder] = '\0';
    } while (folder[0] != '\0');
    free(folder);
}

/* The launcher opens these itself, later.  Whether it may is seen then; a file system that does not
 * answer is noticed here. */
static void outputs_await(const struct sx_run_request *request)
{
    const struct sx_output_options *const output = &request->options.output;
    const pmix_info_t *const to = sx_info_find(request->info, request->ninfo, SX_RUN_PROCTABLE_TO);

    folder_await(output->file);
    folder_await(output->rank_file);
    folder_await(output->dir);
    folder_await(to == NULL || to->value.type != PMIX_STRING ? NULL : to->value.data.string);
}

/* A spawn may have 10,000 applications, and each gets an environment of its own. */
#define ENVIRONMENTS_BYTES_MAX ((size_t)128 << 20)

static pmix_status_t judge_size(const struct sx_run_program *program, size_t *sum, char *message)
{
    if (!sx_run_program_fits(program, message)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0; program->env[i] != NULL; i++) {
        *sum += strlen(program->env[i]) + 1;
    }
    if (*sum > ENVIRONMENTS_BYTES_MAX) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "the environments of its applications have more than %zu MiB: spawn them in "
                 "several calls",
                 ENVIRONMENTS_BYTES_MAX >> 20);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    return PMIX_SUCCESS;
}

/* The program is searched along the PATH of its own environment. */
static pmix_status_t program_find(struct sx_run_program *program, struct sx_run_app *app,
                                  char *const *env, char *message)
{
    const char *const path = sx_run_env_get(env, "PATH");
    int code;

    if (path != NULL) {
        app->env = sx_cli_realloc(app->env, app->env_count + 1, sizeof(*app->env));
        app->env[app->env_count++] = sx_cli_printf("PATH=%s", path);
    }
    code = sx_run_program_init(program, app, message);
    return code == 0                        ? PMIX_SUCCESS
           : code == SX_EXIT_NOT_FOUND      ? PMIX_ERR_JOB_EXE_NOT_FOUND
           : code == SX_EXIT_NOT_EXECUTABLE ? PMIX_ERR_JOB_APP_NOT_EXECUTABLE
                                            : PMIX_ERR_JOB_WDIR_NOT_FOUND;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Whether application @index has the program of the one before it: files are looked up once. */
static bool is_found(const struct sx_run_request *request, uint32_t index, char *const *env,
                     const char *path_before)
{
    const struct sx_run_app *const app = &request->options.apps[index];

    return index > 0 && is_same(app->program[0], app[-1].program[0]) &&
           is_same(app->wdir, app[-1].wdir) && is_same(app->search, app[-1].search) &&
           is_same(sx_run_env_get(env, "PATH"), path_before);
}

/* As the launcher makes it later; whether there are more ranks than CPUs is not known here. */
static pmix_status_t env_make(const struct sx_look_scene *scene,
                              const struct sx_run_request *request, uint32_t index, char ***ret_env,
                              char *message)
{
    *ret_env = sx_run_env_build(scene->env, &request->options.apps[index], scene->lib_dir, true);
    const pmix_status_t rc = sx_run_request_env(request, index, ret_env);

    if (rc != PMIX_SUCCESS) {
        snprintf(message, SX_RUN_MESSAGE_MAX, "a directive for its environment: %s",
                 PMIx_Error_string(rc));
    }
    return rc;
}

static pmix_status_t programs_find(const struct sx_look_scene *scene,
                                   struct sx_run_request *request, struct sx_run_program *programs,
                                   char *message)
{
    pmix_status_t rc = PMIX_SUCCESS;
    char **before = NULL;
    size_t bytes = 0;

    for (uint32_t i = 0; i < request->options.app_count && rc == PMIX_SUCCESS; i++) {
        struct sx_run_app *const app = &request->options.apps[i];
        char **env = NULL;

        rc = env_make(scene, request, i, &env, message);
        if (rc == PMIX_SUCCESS &&
            is_found(request, i, env, i == 0 ? NULL : sx_run_env_get(before, "PATH"))) {
            sx_run_program_set(&programs[i], app, programs[i - 1].path, &programs[i - 1].image,
                               false);
            programs[i].is_searched = programs[i - 1].is_searched;
        } else if (rc == PMIX_SUCCESS) {
            rc = program_find(&programs[i], app, env, message);
        }
        if (rc == PMIX_SUCCESS) {
            programs[i].env = env;
            rc = judge_size(&programs[i], &bytes, message);
            programs[i].env = NULL; /* the launcher makes it again */
        }
        sx_run_env_free(before);
        before = env;
    }
    sx_run_env_free(before);
    return rc;
}

pmix_status_t sx_look_all(const struct sx_look_scene *scene, struct sx_run_request *request,
                          struct sx_run_program **ret_programs, char message[SX_RUN_MESSAGE_MAX])
{
    char host[HOST_NAME_MAX + 1];
    pmix_status_t rc = others_find(scene, request, message);

    sx_process_nodename(host);
    if (rc == PMIX_SUCCESS) {
        rc = sx_run_request_judge(request, host, message);
    }
    if (rc == PMIX_SUCCESS) {
        outputs_await(request);
        sx_run_request_set_cwd(request, scene->dir);
        *ret_programs = sx_cli_calloc(request->options.app_count, sizeof(**ret_programs));
        rc = programs_find(scene, request, *ret_programs, message);
    }
    return rc;
}

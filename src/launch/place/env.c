/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* env.c - start from the launcher's environment, take the outer job out, and add this job. */
#include "launch/place/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "launch/common/say.h"

#ifndef SX_CLI_MULTIARCH
#if defined(__x86_64__)
#define SX_CLI_MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define SX_CLI_MULTIARCH "aarch64-linux-gnu"
#else
#define SX_CLI_MULTIARCH "."
#endif
#endif

/* Variables that only a launcher sets, for its ranks; a name with '*' at its end is a prefix. */
static const char *const outer_names[] = {
    "PMIX_*",
    "SHMIX_SERVER_*",
    "OMPI_COMM_WORLD_*",
    "OMPI_APP_CTX_NUM_PROCS",
    "OMPI_FIRST_RANKS",
    "OMPI_NUM_APP_CTX",
    "OMPI_UNIVERSE_SIZE",
    "OMPI_FILE_LOCATION",
    "OMPI_COMMAND",
    "OMPI_ARGV",
    "ORTE_SCHIZO_DETECTION",
    /* how other launchers lead to a server; Open MPI and others would try these first */
    "PMI_*",
    "SLURM_STEP_ID",
    "SLURM_STEPID",
    "SLURM_PMIX*",
};

static const char *const kept_names[] = {
    "PMIX_MCA_*",
};

/* Variables that mpirun sets, and a user might set: they are removed only when OMPI_COMM_WORLD_RANK
 * shows that mpirun did. */
static const char *const mpirun_names[] = {
    "OMPI_MCA_ess",
    "OMPI_MCA_ess_base_jobid",
    "OMPI_MCA_ess_base_vpid",
    "OMPI_MCA_initial_wdir",
    "OMPI_MCA_mpi_oversubscribe",
    "OMPI_MCA_orte_*",
    "OMPI_MCA_pmix",
    "OMPI_MCA_schizo",
    "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
};

static size_t name_len(const char *entry)
{
    return strcspn(entry, "=");
}

static bool name_in(const char *entry, const char *const *names, size_t count)
{
    const size_t len = name_len(entry);

    for (size_t i = 0; i < count; i++) {
        const size_t want = strlen(names[i]);

        if (names[i][want - 1] == '*' ? len >= want - 1 && strncmp(entry, names[i], want - 1) == 0
                                      : len == want && strncmp(entry, names[i], want) == 0) {
            return true;
        }
    }
    return false;
}

char **sx_run_env_copy(char *const *env)
{
    size_t count = 0;
    char **copy;

    while (env[count] != NULL) {
        count++;
    }
    copy = sx_cli_calloc(count + 1, sizeof(*copy));
    for (size_t i = 0; i < count; i++) {
        copy[i] = sx_cli_strdup(env[i]);
    }
    return copy;
}

char **sx_run_env_free(char **env)
{
    for (size_t i = 0; env != NULL && env[i] != NULL; i++) {
        free(env[i]);
    }
    free(env);
    return NULL;
}

static char *const *find(char *const *env, const char *name, size_t len)
{
    for (; *env != NULL; env++) {
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=') {
            break;
        }
    }
    return env;
}

const char *sx_run_env_get(char *const *env, const char *name)
{
    char *const *entry = find(env, name, strlen(name));

    return *entry == NULL ? NULL : *entry + strlen(name) + 1;
}

void sx_run_env_put(char ***env, const char *name, const char *value)
{
    const size_t at = (size_t)(find(*env, name, strlen(name)) - *env);
    const bool append = (*env)[at] == NULL;

    if (append) {
        *env = sx_cli_realloc(*env, at + 2, sizeof(**env));
        (*env)[at + 1] = NULL;
    } else {
        free((*env)[at]);
    }
    (*env)[at] = sx_cli_printf("%s=%s", name, value);
}

char **sx_run_env_join(char *const *shared, char *const *own)
{
    size_t shared_count = 0, own_count = 0, used = 0;

    while (shared[shared_count] != NULL) {
        shared_count++;
    }
    while (own[own_count] != NULL) {
        own_count++;
    }
    char **const both = sx_cli_calloc(shared_count + own_count + 1, sizeof(*both));

    for (size_t i = 0; i < shared_count; i++) {
        if (*find(own, shared[i], name_len(shared[i])) == NULL) {
            both[used++] = shared[i];
        }
    }
    memcpy(&both[used], own, own_count * sizeof(*both));
    return both;
}

void sx_run_env_drop_outer(char **env)
{
    const bool in_mpirun = sx_run_env_get(env, "OMPI_COMM_WORLD_RANK") != NULL;
    size_t kept = 0;

    for (size_t i = 0; env[i] != NULL; i++) {
        const bool drop = name_in(env[i], outer_names, SX_COUNT(outer_names)) ||
                          (in_mpirun && name_in(env[i], mpirun_names, SX_COUNT(mpirun_names)));

        if (drop && !name_in(env[i], kept_names, SX_COUNT(kept_names))) {
            free(env[i]);
        } else {
            env[kept++] = env[i];
        }
    }
    env[kept] = NULL;
}

static void unset(char **env, const char *name)
{
    const size_t at = (size_t)(find(env, name, strlen(name)) - env);

    if (env[at] != NULL) {
        free(env[at]);
        for (size_t i = at; env[i] != NULL; i++) {
            env[i] = env[i + 1];
        }
    }
}

/* @word is the character and NAME=VALUE; @before: put VALUE before the present value. */
static void put_joined(char ***env, const char *word, bool before)
{
    const size_t len = name_len(word + 1);
    char *const name = sx_cli_printf("%.*s", (int)len, word + 1);
    const char *const value = word + 1 + len + 1, *const former = sx_run_env_get(*env, name);
    char *const both = former == NULL || former[0] == '\0'
                           ? sx_cli_strdup(value)
                           : sx_cli_printf("%s%c%s", before ? value : former, word[0],
                                           before ? former : value);

    sx_run_env_put(env, name, both);
    free(both);
    free(name);
}

/* Apply a word of an application.  A name alone takes its value from @outer, if it has one
 * there. */
static void put_word(char ***env, char *const *outer, const char *word)
{
    if (word[0] == SX_RUN_ENV_UNSET) {
        unset(*env, word + 1);
        return;
    }
    if (word[0] == SX_RUN_ENV_PREPEND || word[0] == SX_RUN_ENV_APPEND) {
        put_joined(env, word + 1, word[0] == SX_RUN_ENV_PREPEND);
        return;
    }
    const size_t len = name_len(word);
    char *name = sx_cli_printf("%.*s", (int)len, word);
    const char *value = word[len] == '=' ? word + len + 1 : sx_run_env_get(outer, name);

    if (value != NULL) {
        sx_run_env_put(env, name, value);
    }
    free(name);
}

void sx_run_app_env_add(struct sx_run_app *app, char *word)
{
    app->env = sx_cli_realloc(app->env, app->env_count + 1, sizeof(*app->env));
    app->env[app->env_count++] = word;
}

char *sx_run_env_value(const struct sx_run_app *app, const char *name)
{
    const char *value = getenv(name);
    char **env = sx_cli_calloc(1, sizeof(*env));

    if (value != NULL) {
        sx_run_env_put(&env, name, value);
    }
    for (size_t i = 0; i < app->env_count; i++) {
        const char *const word = app->env[i];
        const size_t before = word[0] == SX_RUN_ENV_UNSET                                     ? 1
                              : word[0] == SX_RUN_ENV_PREPEND || word[0] == SX_RUN_ENV_APPEND ? 2
                                                                                              : 0;

        if (name_len(word + before) == strlen(name) &&
            strncmp(word + before, name, strlen(name)) == 0) {
            put_word(&env, environ, word);
        }
    }
    value = sx_run_env_get(env, name);
    char *const copy = value == NULL ? NULL : sx_cli_strdup(value);

    sx_run_env_free(env);
    return copy;
}

static void put_default(char ***env, const char *name, const char *value)
{
    if (sx_run_env_get(*env, name) == NULL) {
        sx_run_env_put(env, name, value);
    }
}

/* Put the directory @dir first in LD_LIBRARY_PATH, once: ranks inherit the variable from ranks that
 * spawn. */
static void put_lib_dir(char ***env, const char *dir)
{
    const char *const former = sx_run_env_get(*env, "LD_LIBRARY_PATH");
    const size_t len = strlen(dir);

    if (former == NULL || former[0] == '\0') {
        sx_run_env_put(env, "LD_LIBRARY_PATH", dir);
    } else if (strncmp(former, dir, len) != 0 || (former[len] != ':' && former[len] != '\0')) {
        char *const path = sx_cli_printf("%s:%s", dir, former);

        sx_run_env_put(env, "LD_LIBRARY_PATH", path);
        free(path);
    }
}

char **sx_run_env_build(char *const *outer, const struct sx_run_app *app, const char *lib_dir,
                        bool oversubscribed)
{
    char **env = sx_run_env_copy(outer);

    sx_run_env_drop_outer(env);
    /* Open MPI 4.1 guesses its launcher from the variables of its own launcher, of Slurm and of
     * others; without them it takes a rank for a singleton.  The guessing is done by its schizo
     * components, except "ompi".  Its ess component "pmi" is the client of a PMIx server. */
    put_default(&env, "OMPI_MCA_ess", "pmi");
    put_default(&env, "OMPI_MCA_schizo", "ompi");
    /* MPICH 5 refuses to choose between PMI-1 and PMIx, so choose here. */
    put_default(&env, "MPIR_CVAR_PMI_VERSION", "1");
    if (oversubscribed) {
        /* Otherwise ranks without a CPU of their own spin while the rank that they wait for cannot
         * run. */
        put_default(&env, "OMPI_MCA_mpi_oversubscribe", "1");
    }
    for (size_t i = 0; i < app->env_count; i++) {
        put_word(&env, outer, app->env[i]);
    }
    put_lib_dir(&env, lib_dir);
    return env;
}

void sx_run_env_put_number(char ***env, const char *name, uint32_t number)
{
    char text[16];

    snprintf(text, sizeof(text), "%" PRIu32, number);
    sx_run_env_put(env, name, text);
}

/* Put one number for each application, with blanks between them. */
static void put_numbers(char ***env, const char *name, const struct sx_run_job *job,
                        uint32_t (*number_of)(const struct sx_run_app *app))
{
    char *text = sx_cli_calloc(job->app_count, 12), *end = text;

    for (uint32_t i = 0; i < job->app_count; i++) {
        end += sprintf(end, "%s%" PRIu32, i > 0 ? " " : "", number_of(&job->apps[i]));
    }
    sx_run_env_put(env, name, text);
    free(text);
}

static uint32_t first_rank_of(const struct sx_run_app *app)
{
    return app->first_rank;
}

static uint32_t rank_count_of(const struct sx_run_app *app)
{
    return app->rank_count;
}

#define VARIABLE_BYTES_MAX ((size_t)32 * 4096) /* of the kernel: NAME=VALUE with its NUL */

/* The arguments behind the program's name, with blanks between them.  Return: NULL when there are
 * none, or too many for a variable: the kernel would not execute the program with it. */
static char *arguments_join(char *const *program)
{
    size_t size = 0, used = 0;

    for (size_t i = 1; program[0] != NULL && program[i] != NULL; i++) {
        size += strlen(program[i]) + 1;
    }
    if (size <= 1 || size > VARIABLE_BYTES_MAX - sizeof("OMPI_ARGV")) {
        return NULL;
    }
    char *const text = sx_cli_calloc(size, 1);

    for (size_t i = 1; program[i] != NULL; i++) {
        const size_t len = strlen(program[i]);

        memcpy(text + used, program[i], len);
        used += len + 1;
        text[used - 1] = program[i + 1] == NULL ? '\0' : ' ';
    }
    return text;
}

void sx_run_env_put_job(char ***env, const struct sx_run_job *job, const struct sx_run_app *app,
                        uint32_t universe)
{
    char *const arguments = arguments_join(app->program);

    sx_run_env_put_number(env, "OMPI_COMM_WORLD_SIZE", job->rank_count);
    sx_run_env_put_number(env, "OMPI_COMM_WORLD_LOCAL_SIZE", job->rank_count);
    sx_run_env_put_number(env, "OMPI_UNIVERSE_SIZE", universe);
    sx_run_env_put_number(env, "OMPI_NUM_APP_CTX", job->app_count);
    put_numbers(env, "OMPI_FIRST_RANKS", job, first_rank_of);
    put_numbers(env, "OMPI_APP_CTX_NUM_PROCS", job, rank_count_of);
    sx_run_env_put(env, "OMPI_COMMAND", app->program[0]);
    if (arguments != NULL) {
        sx_run_env_put(env, "OMPI_ARGV", arguments);
    }
    free(arguments);
}

void sx_run_env_put_rank(char ***env, uint32_t rank, uint32_t place)
{
    sx_run_env_put_number(env, "OMPI_COMM_WORLD_RANK", rank);
    sx_run_env_put_number(env, "OMPI_COMM_WORLD_LOCAL_RANK", rank);
    sx_run_env_put_number(env, "OMPI_COMM_WORLD_NODE_RANK", place);
}

char *sx_run_env_lib_dir(const char *exe, char message[SX_RUN_MESSAGE_MAX])
{
    /* The folder that was configured is first: a package has it below one with another libpmix. */
    static const char *const places[] = { SX_CLI_LIB_DIR, "lib", ("lib/" SX_CLI_MULTIARCH),
                                          "lib64" };
    char *bin = sx_cli_strdup(exe), *slash = strrchr(bin, '/');
    int head = slash == NULL ? 0 : (int)(slash - bin);

    while (head > 0 && bin[head - 1] != '/') {
        head--; /* from .../bin to its parent */
    }
    for (size_t i = 0; i < SX_COUNT(places); i++) {
        char *dir = sx_cli_printf("%.*s%s", head, bin, places[i]);
        char *file = sx_cli_printf("%s/libpmix.so.2", dir);
        struct stat st;
        const bool there = stat(file, &st) == 0 && S_ISREG(st.st_mode);

        free(file);
        if (there) {
            free(bin);
            return dir;
        }
        free(dir);
    }
    snprintf(message, SX_RUN_MESSAGE_MAX,
             "libpmix.so.2 of this build is in neither %.*s%s, lib, lib/%s nor lib64: "
             "install the library and the command into one prefix",
             head > 200 ? 200 : head, bin, SX_CLI_LIB_DIR, SX_CLI_MULTIARCH);
    free(bin);
    return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_spawn.c - a row for each word of a spawn, and one for each key of MPI_Info. */
#include "launch/pmi/pmi1_line.h"

#include <inttypes.h>
#include <pmix.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "base/value/value.h"
#include "launch/ask/spawn_request.h"
#include "launch/common/options.h"
#include "launch/common/say.h"
#include "launch/job/state.h"

#define WORD_COST 64 /* of each word, besides its text */

/* ---- life ------------------------------------------------------------------------------------ */

struct sx_run_pmi1_spawn *sx_run_pmi1_spawn_new(void)
{
    struct sx_run_pmi1_spawn *const spawn = sx_cli_calloc(1, sizeof(*spawn));

    sx_run_pmi1_words_init(&spawn->preputs, 1);
    return spawn;
}

static void drop(struct sx_run_pmi1_spawn *spawn)
{
    sx_elements_destruct(spawn->apps, spawn->app_count, PMIX_APP);
    free(spawn->apps);
    free(spawn->key);
    free(spawn->path);
    sx_run_pmi1_words_deinit(&spawn->preputs);
    spawn->apps = NULL;
    spawn->key = spawn->path = NULL;
    spawn->app_count = 0;
}

struct sx_run_pmi1_spawn *sx_run_pmi1_spawn_free(struct sx_run_pmi1_spawn *spawn)
{
    if (spawn != NULL) {
        drop(spawn);
        free(spawn);
    }
    return NULL;
}

/* @word is for the rank; the rest is for the user.  The first reason is kept. */
__attribute__((format(printf, 3, 4))) static void refuse(struct sx_run_pmi1_spawn *spawn,
                                                         const char *word, const char *fmt, ...)
{
    va_list args;

    if (spawn->wrong == NULL) {
        spawn->wrong = word;
        va_start(args, fmt);
        vsnprintf(spawn->message, sizeof(spawn->message), fmt, args);
        va_end(args);
        drop(spawn);
    }
}

void sx_run_pmi1_spawn_long(struct sx_run_pmi1_spawn *spawn)
{
    refuse(spawn, "a_line_is_too_long", "a line of it has more than %u bytes",
           SX_RUN_PMI1_SPAWN_LINE_MAX);
}

void sx_run_pmi1_spawn_begin(struct sx_run_pmi1_spawn *spawn, const char *folder)
{
    if (spawn->app_count == SX_RUN_PMI1_SPAWN_COMMANDS_MAX) {
        refuse(spawn, "too_many_commands", "it has more than %u commands",
               SX_RUN_PMI1_SPAWN_COMMANDS_MAX);
    }
    if (spawn->wrong == NULL) {
        spawn->apps = sx_cli_realloc(spawn->apps, spawn->app_count + 1, sizeof(*spawn->apps));
        spawn->apps[spawn->app_count++] = (pmix_app_t){
            .maxprocs = 1, .cwd = folder == NULL ? NULL : sx_cli_strdup(folder)
        };
        spawn->arg_count = 0;
        spawn->bytes += sizeof(*spawn->apps) + (folder == NULL ? 0 : strlen(folder));
    }
}

bool sx_run_pmi1_spawn_is_whole(const struct sx_run_pmi1_spawn *spawn)
{
    return spawn->so_far >= spawn->total;
}

/* ---- keys of MPI_Info ------------------------------------------------------------------------ */

static pmix_app_t *last(const struct sx_run_pmi1_spawn *spawn)
{
    return &spawn->apps[spawn->app_count - 1];
}

static void put_text(char **at, const char *value)
{
    free(*at);
    *at = sx_cli_strdup(value);
}

static void put_info(pmix_app_t *app, const char *key, const char *value)
{
    app->info = sx_cli_realloc(app->info, app->ninfo + 1, sizeof(*app->info));
    memset(&app->info[app->ninfo], 0, sizeof(*app->info));
    PMIx_Info_load(&app->info[app->ninfo++], key, value, PMIX_STRING);
}

static void key_wdir(struct sx_run_pmi1_spawn *spawn, const char *value)
{
    put_text(&last(spawn)->cwd, value);
}

static void key_path(struct sx_run_pmi1_spawn *spawn, const char *value)
{
    put_text(&spawn->path, value);
}

static void key_host(struct sx_run_pmi1_spawn *spawn, const char *value)
{
    put_info(last(spawn), PMIX_HOST, value);
}

static void key_hostfile(struct sx_run_pmi1_spawn *spawn, const char *value)
{
    put_info(last(spawn), PMIX_HOSTFILE, value);
}

/* NAME=VALUE; a key occurs once, and a value has one line. */
static void key_env(struct sx_run_pmi1_spawn *spawn, const char *value)
{
    pmix_app_t *const app = last(spawn);

    if (strchr(value, '=') == NULL || value[0] == '=') {
        refuse(spawn, "no_environment", "its key 'env' has no NAME=VALUE but '%.100s'", value);
        return;
    }
    if (app->env == NULL) {
        app->env = sx_cli_calloc(2, sizeof(*app->env));
    }
    put_text(&app->env[0], value);
}

static const struct {
    const char *key;
    void (*fn)(struct sx_run_pmi1_spawn *spawn, const char *value);
} info_keys[] = {
    { "wdir", key_wdir },  { "path", key_path },         { "host", key_host },
    { "hosts", key_host }, { "hostfile", key_hostfile }, { "env", key_env },
};

/* ---- words of a command ---------------------------------------------------------------------- */

static void word_ranks(struct sx_run_pmi1_spawn *spawn, const char *value)
{
    int64_t number;

    if (sx_cli_number(value, 1, SX_RUN_RANKS_MAX, &number)) {
        last(spawn)->maxprocs = (int)number;
    } else {
        refuse(spawn, "so_many_ranks_cannot_be", "%.20s ranks are wanted; possible are 1 to %u",
               value, SX_RUN_RANKS_MAX);
    }
}

static void word_program(struct sx_run_pmi1_spawn *spawn, const char *value)
{
    put_text(&last(spawn)->cmd, value);
}

static void word_argument(struct sx_run_pmi1_spawn *spawn, const char *value)
{
    pmix_app_t *const app = last(spawn);

    /* Leave room for the program's name in front of the arguments. */
    app->argv = sx_cli_realloc(app->argv, spawn->arg_count + 3, sizeof(*app->argv));
    if (spawn->arg_count == 0) {
        app->argv[0] = sx_cli_strdup("");
    }
    app->argv[++spawn->arg_count] = sx_cli_strdup(value);
    app->argv[spawn->arg_count + 1] = NULL;
}

static void word_key(struct sx_run_pmi1_spawn *spawn, const char *value)
{
    put_text(&spawn->key, value);
}

/* Keys of other implementations are accepted without effect, as MPI requires. */
static void word_info(struct sx_run_pmi1_spawn *spawn, const char *value)
{
    for (size_t i = 0; i < SX_COUNT(info_keys) && spawn->key != NULL; i++) {
        if (strcmp(spawn->key, info_keys[i].key) == 0) {
            info_keys[i].fn(spawn, value);
            break;
        }
    }
    free(spawn->key);
    spawn->key = NULL;
}

static void word_preput(struct sx_run_pmi1_spawn *spawn, const char *value)
{
    const char *const key = spawn->key;

    if (key == NULL || strlen(key) >= SX_RUN_PMI1_KEY_MAX_BYTES ||
        strlen(value) >= SX_RUN_PMI1_VALUE_MAX_BYTES) {
        refuse(spawn, "a_word_is_too_long",
               "what it puts for the new ranks has a key of %u bytes or more, or a value of %u",
               SX_RUN_PMI1_KEY_MAX_BYTES, SX_RUN_PMI1_VALUE_MAX_BYTES);
    } else if (strchr(key, ' ') != NULL || strchr(value, ' ') != NULL) {
        refuse(spawn, "a_word_has_a_blank",
               "what it puts for the new ranks has a blank, and no answer could carry it");
    } else if (!sx_run_pmi1_words_put(&spawn->preputs, 0, key, value)) {
        refuse(spawn, "no_room", "what it puts for the new ranks takes more than %u bytes",
               SX_RUN_PMI1_RANK_BYTES_MAX);
    }
    free(spawn->key);
    spawn->key = NULL;
}

static const struct {
    const char *name;
    bool numbered; /* a number follows */
    void (*fn)(struct sx_run_pmi1_spawn *spawn, const char *value);
} words[] = {
    { "nprocs", false, word_ranks },  { "execname", false, word_program },
    { "arg", true, word_argument },   { "preput_key_", true, word_key },
    { "info_key_", true, word_key },  { "preput_val_", true, word_preput },
    { "info_val_", true, word_info },
};

/* Whether @key is the word @name, with a number behind it if @numbered. */
static bool is_word(const char *key, const char *name, bool numbered)
{
    const size_t len = strlen(name);

    return strncmp(key, name, len) == 0 && (key[len] != '\0') == numbered &&
           key[len + strspn(key + len, "0123456789")] == '\0';
}

/* Words that announce counts are ignored: the items themselves are counted. */
static void take_word(struct sx_run_pmi1_spawn *spawn, const char *key, const char *value)
{
    spawn->bytes += strlen(value) + WORD_COST;
    if (spawn->bytes > SX_RUN_PMI1_SPAWN_BYTES_MAX) {
        refuse(spawn, "too_much", "it has more than %u bytes, %u a word included",
               SX_RUN_PMI1_SPAWN_BYTES_MAX, WORD_COST);
    }
    for (size_t i = 0; i < SX_COUNT(words) && spawn->wrong == NULL; i++) {
        if (is_word(key, words[i].name, words[i].numbered)) {
            words[i].fn(spawn, value);
            return;
        }
    }
}

/* Return: false when @key is neither of the two. */
static bool take_count(struct sx_run_pmi1_spawn *spawn, const char *key, const char *value)
{
    const bool total = strcmp(key, "totspawns") == 0;

    if (!total && strcmp(key, "spawnssofar") != 0) {
        return false;
    }
    if (!sx_cli_number(value, 1, INT32_MAX, total ? &spawn->total : &spawn->so_far)) {
        refuse(spawn, "no_number", "it has no number in '%s=%.20s'", key, value);
    }
    if (spawn->total > SX_RUN_PMI1_SPAWN_COMMANDS_MAX) {
        refuse(spawn, "too_many_commands", "it has %" PRId64 " commands; possible are 1 to %u",
               spawn->total, SX_RUN_PMI1_SPAWN_COMMANDS_MAX);
    }
    return true;
}

/* `path` names the directories that are searched first for a program without a directory, later and
 * not by this thread. */
static void command_end(struct sx_run_pmi1_spawn *spawn)
{
    pmix_app_t *const app = spawn->wrong == NULL ? last(spawn) : NULL;

    if (app != NULL && spawn->path != NULL) {
        put_info(app, SX_RUN_SEARCH, spawn->path);
    }
    if (app != NULL && app->argv != NULL) {
        put_text(&app->argv[0], app->cmd == NULL ? "" : app->cmd);
    }
    free(spawn->path);
    spawn->path = NULL;
}

bool sx_run_pmi1_spawn_line(struct sx_run_pmi1_spawn *spawn, char *text)
{
    char *const equals = strchr(text, '=');

    if (strcmp(text, "endcmd") == 0) {
        command_end(spawn);
        return true;
    }
    if (equals == NULL || equals == text) {
        refuse(spawn, "a_line_has_no_word",
               "a line of it is no NAME=VALUE: '%.100s'; PMI-1 cannot carry an argument of several "
               "lines",
               text);
        return false;
    }
    *equals = '\0';
    if (!take_count(spawn, text, equals + 1)) {
        take_word(spawn, text, equals + 1);
    }
    return false;
}

/* ---- the job --------------------------------------------------------------------------------- */

const char *sx_run_pmi1_spawn_start(struct sx_run_pmi1_spawn *spawn, struct sx_run_job *job,
                                    uint32_t rank, pmix_spawn_cbfunc_t fn, void *arg)
{
    struct sx_run_request *request;
    pmix_proc_t parent;
    pmix_status_t rc;

    if (spawn->wrong != NULL) {
        sx_run_say_caused(job->run, "cannot spawn for rank %" PRIu32 " of %s: %s", rank,
                          job->nspace, spawn->message);
        return spawn->wrong;
    }
    PMIx_Load_procid(&parent, job->nspace, rank);
    rc = sx_run_request_ask(&request, sx_run_job_root(job), &parent, NULL, 0, spawn->apps,
                            spawn->app_count);
    if (rc != PMIX_SUCCESS) {
        sx_run_say_caused(job->run, "cannot spawn for rank %" PRIu32 " of %s: %s", rank,
                          job->nspace, PMIx_Error_string(rc));
        return PMIx_Error_string(rc);
    }
    request->fn = fn;
    request->arg = arg;
    request->over_pmi1 = true;
    request->preputs = spawn->preputs; /* ownership moves */
    spawn->preputs = (struct sx_run_pmi1_words){ .used = NULL };
    job->run->acts->spawn(job->run, request, job);
    return NULL;
}

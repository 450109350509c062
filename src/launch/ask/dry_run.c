/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* dry_run.c - write each word as a shell would read it; "unset NAME" stands for a variable that
 * ranks do not inherit. */
#include "launch/ask/dry_run.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "launch/common/json.h"
#include "launch/common/say.h"
#include "launch/place/env.h"
#include "launch/place/program.h"

extern char **environ;

static const struct sx_run_program *program_of(const struct sx_run_job *job, uint32_t rank)
{
    return &job->programs[sx_run_job_app(job, rank) - job->apps];
}

/* ---- variables ------------------------------------------------------------------------------- */

static char **env_of(const struct sx_run_job *job, uint32_t rank)
{
    char **env = sx_run_env_copy(program_of(job, rank)->env);

    sx_run_env_put_rank(&env, rank, job->first + rank);
    return env;
}

static const char *value_of(char *const *env, const char *word)
{
    char *const name = sx_cli_printf("%.*s", (int)strcspn(word, "="), word);
    const char *const value = sx_run_env_get(env, name);

    free(name);
    return value;
}

/* Whether the variable of @word is set here, and not in @env. */
static bool goes(char *const *env, const char *word)
{
    return value_of(env, word) == NULL;
}

/* Whether a rank's variable is not set here, or has another value.  Return: its value, or NULL. */
static const char *differs(const char *word)
{
    const char *const value = strchr(word, '='), *const here = value_of(environ, word);

    return value != NULL && (here == NULL || strcmp(here, value + 1) != 0) ? value + 1 : NULL;
}

/* ---- for a shell ----------------------------------------------------------------------------- */

static void word_write(const char *word, FILE *to)
{
    bool plain = word[0] != '\0';

    for (const char *at = word; *at != '\0' && plain; at++) {
        plain = isalnum((unsigned char)*at) || strchr("_-+./:=,@%^", *at) != NULL;
    }
    if (plain) {
        fputs(word, to);
        return;
    }
    putc('\'', to);
    for (const char *at = word; *at != '\0'; at++) {
        fputs(*at == '\'' ? "'\\''" : (const char[]){ *at, '\0' }, to);
    }
    putc('\'', to);
}

static void env_write(char *const *env, FILE *to)
{
    for (size_t i = 0; environ[i] != NULL; i++) {
        if (goes(env, environ[i])) {
            fprintf(to, "  unset %.*s\n", (int)strcspn(environ[i], "="), environ[i]);
        }
    }
    for (size_t i = 0; env[i] != NULL; i++) {
        const char *const value = differs(env[i]);

        if (value != NULL) {
            fprintf(to, "  export %.*s", (int)(value - env[i]), env[i]);
            word_write(value, to);
            putc('\n', to);
        }
    }
}

static void program_write(const struct sx_run_program *program, FILE *to)
{
    if (program->wdir != NULL) {
        fputs("  cd ", to);
        word_write(program->wdir, to);
        putc('\n', to);
    }
    fputs("  exec ", to);
    word_write(program->path, to);
    for (size_t i = 1; program->argv[i] != NULL; i++) {
        putc(' ', to);
        word_write(program->argv[i], to);
    }
    putc('\n', to);
}

void sx_run_dry_write(const struct sx_run_job *job, uint32_t rank, FILE *to)
{
    char **const env = env_of(job, rank);

    env_write(env, to);
    program_write(program_of(job, rank), to);
    sx_run_env_free(env);
}

/* ---- for a program --------------------------------------------------------------------------- */

/* Add an element to an array or an object. */
static void element_json(bool *first, const char *text, size_t len, FILE *to)
{
    if (!*first) {
        putc(',', to);
    }
    *first = false;
    sx_json_string_to(to, text, len);
}

static void env_json(char *const *env, FILE *to)
{
    bool first = true;

    fputs(",\"unset\":[", to);
    for (size_t i = 0; environ[i] != NULL; i++) {
        if (goes(env, environ[i])) {
            element_json(&first, environ[i], strcspn(environ[i], "="), to);
        }
    }
    fputs("],\"env\":{", to);
    first = true;
    for (size_t i = 0; env[i] != NULL; i++) {
        const char *const value = differs(env[i]);

        if (value != NULL) {
            element_json(&first, env[i], (size_t)(value - 1 - env[i]), to);
            putc(':', to);
            sx_json_string_to(to, value, strlen(value));
        }
    }
    putc('}', to);
}

void sx_run_dry_json(const struct sx_run_job *job, uint32_t rank, FILE *to)
{
    const struct sx_run_program *const program = program_of(job, rank);
    char **const env = env_of(job, rank);
    bool first = true;

    env_json(env, to);
    if (program->wdir != NULL) {
        fputs(",\"wdir\":", to);
        sx_json_string_to(to, program->wdir, strlen(program->wdir));
    }
    fputs(",\"path\":", to);
    sx_json_string_to(to, program->path, strlen(program->path));
    fputs(",\"argv\":[", to);
    for (size_t i = 0; program->argv[i] != NULL; i++) {
        element_json(&first, program->argv[i], strlen(program->argv[i]), to);
    }
    putc(']', to);
    sx_run_env_free(env);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* dry.c - each word as a shell would read it; a variable that was here and is not passed on comes
 * as "unset NAME". */
#include "cli/run/dry.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/display.h"
#include "cli/run/env.h"
#include "cli/run/program.h"
#include "cli/say.h"

extern char **environ;

static void word_print(const char *word)
{
    bool plain = word[0] != '\0';

    for (const char *at = word; *at != '\0' && plain; at++) {
        plain = isalnum((unsigned char)*at) || strchr("_-+./:=,@%^", *at) != NULL;
    }
    if (plain) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (const char *at = word; *at != '\0'; at++) {
        fputs(*at == '\'' ? "'\\''" : (const char[]){ *at, '\0' }, stdout);
    }
    putchar('\'');
}

static const char *value_of(char *const *env, const char *word)
{
    char *const name = sx_cli_printf("%.*s", (int)strcspn(word, "="), word);
    const char *const value = sx_run_env_get(env, name);

    free(name);
    return value;
}

static void env_print(char *const *env)
{
    for (size_t i = 0; environ[i] != NULL; i++) {
        if (value_of(env, environ[i]) == NULL) {
            printf("  unset %.*s\n", (int)strcspn(environ[i], "="), environ[i]);
        }
    }
    for (size_t i = 0; env[i] != NULL; i++) {
        const char *const value = strchr(env[i], '='), *const here = value_of(environ, env[i]);

        if (value != NULL && (here == NULL || strcmp(here, value + 1) != 0)) {
            printf("  export %.*s", (int)(value + 1 - env[i]), env[i]);
            word_print(value + 1);
            putchar('\n');
        }
    }
}

static void program_print(const struct sx_run_program *program)
{
    if (program->wdir != NULL) {
        fputs("  cd ", stdout);
        word_print(program->wdir);
        putchar('\n');
    }
    fputs("  exec ", stdout);
    word_print(program->path);
    for (size_t i = 1; program->argv[i] != NULL; i++) {
        putchar(' ');
        word_print(program->argv[i]);
    }
    putchar('\n');
}

void sx_run_dry_print(const struct sx_run_options *options, const struct sx_run_machine *machine,
                      const struct sx_run_job *job, uint32_t rank)
{
    const struct sx_run_app *const app = sx_run_job_app(job, rank);
    const struct sx_run_program *const program = &job->programs[app - job->apps];
    char **env = sx_run_env_copy(program->env);
    char *const line = sx_run_display_map(options, machine, job, rank);

    sx_run_env_put_rank(&env, rank, job->first + rank);
    puts(line);
    env_print(env);
    program_print(program);
    free(line);
    sx_run_env_free(env);
}

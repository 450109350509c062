/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* completion.c - `shmix completion SHELL`: a script for a shell, made of the verbs' own tables, so
 * that it has the options that are there. */
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

#include "launch/common/say.h"

struct wish {
    const char *shell;
};

static const struct sx_option rows[] = {
    { "SHELL", NULL, NULL, NULL, "bash, zsh or fish", "for which shell: bash, zsh or fish",
      sx_option_text, offsetof(struct wish, shell), false },
};

static const char about[] =
    "usage: shmix completion SHELL\n"
    "\n"
    "Print a script by which SHELL completes verbs, options, and names of running jobs.\n"
    "\n";

static const char more[] =
    "\n"
    "examples:\n"
    "  . <(shmix completion bash)                                       in ~/.bashrc\n"
    "  shmix completion zsh > ~/.zfunc/_shmix                           a folder of $fpath\n"
    "  shmix completion fish > ~/.config/fish/completions/shmix.fish\n";

const struct sx_verb sx_completion_verb = {
    .name = "shmix completion",
    .try_begin = "shmix completion",
    .try_end = "",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
};

/* ---- rows of tables -------------------------------------------------------------------------- */

/* "run" of "shmix run". */
static const char *name_of(const struct sx_verb *verb)
{
    return verb->name + strlen("shmix ");
}

static bool is_option(const struct sx_option *row)
{
    return row->name != NULL && row->name[0] == '-';
}

/* "procs" of "shmix ls procs": a word that only stands in the help. */
static bool is_thing(const struct sx_option *row)
{
    return row->name != NULL && row->set == NULL && row->name[0] != '-' &&
           strpbrk(row->name, "[ ,") == NULL;
}

/* Options that every verb has, too. */
static const struct sx_option common[] = {
    { .name = "--help", .alias = "-h", .help = "this text" },
    { .name = "--version", .alias = "-V", .help = "the version" },
};

/* The row @i of @verb and of those above.  Return: NULL behind the last. */
static const struct sx_option *row_of(const struct sx_verb *verb, size_t i)
{
    return i < verb->option_count                      ? &verb->options[i]
           : i - verb->option_count < SX_COUNT(common) ? &common[i - verb->option_count]
                                                       : NULL;
}

/* Print the help of a row, without the characters in @bad, which mean something to the
 * shell. */
static void help_print(const struct sx_option *row, const char *bad)
{
    const char *const text = row->help != NULL ? row->help : row->wants;

    for (const char *at = text != NULL ? text : ""; *at != '\0'; at++) {
        if (strchr(bad, *at) == NULL) {
            putchar(*at);
        }
    }
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void bash_verb(const struct sx_verb *verb)
{
    const struct sx_option *row;

    printf("  %s) words='", name_of(verb));
    for (size_t i = 0; (row = row_of(verb, i)) != NULL; i++) {
        if (is_option(row)) {
            printf("%s %s%s", row->name, row->alias != NULL ? row->alias : "",
                   row->alias != NULL ? " " : "");
        }
    }
    printf("' things='");
    for (size_t i = 0; i < verb->option_count; i++) {
        if (is_thing(&verb->options[i])) {
            printf("%s ", verb->options[i].name);
        }
    }
    printf("' ;;\n");
}

static void bash_print(const struct sx_cli_verb *verbs, size_t count)
{
    printf("# shmix completion bash: verbs and options of shmix " SHMIX_VERSION "\n"
           "_shmix() {\n"
           "  local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words= things=\n"
           "  COMPREPLY=()\n"
           "  if [ \"$COMP_CWORD\" -eq 1 ] && [[ $word != -* ]]; then\n"
           "    COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < count; i++) {
        printf("%s ", name_of(verbs[i].verb));
    }
    printf("help version' -- \"$word\"))\n"
           "    return\n"
           "  fi\n"
           "  [[ $verb == -* ]] && verb=run\n"
           "  case $verb in\n");
    for (size_t i = 0; i < count; i++) {
        bash_verb(verbs[i].verb);
    }
    printf("  esac\n"
           "  if [[ $word == -* ]]; then\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "  elif [ \"$verb\" = run ]; then\n"
           "    COMPREPLY=($(compgen -c -- \"$word\"))\n"
           "  elif [ \"$verb\" = completion ]; then\n"
           "    COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$word\"))\n"
           "  else\n"
           "    COMPREPLY=($(compgen -W \"$things$(shmix ls jobs --json 2>/dev/null |\n"
           "      sed -n 's/.*\"nspace\":\"\\([A-Za-z0-9._-]*\\)\".*/\\1/p')\" -- \"$word\"))\n"
           "  fi\n"
           "}\n"
           "complete -o default -F _shmix shmix\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void zsh_row(const char *name, const struct sx_option *row)
{
    printf("      '%s:", name);
    help_print(row, "':\\");
    printf("'\n");
}

static void zsh_verb(const struct sx_verb *verb)
{
    const struct sx_option *row;

    printf("    %s) words=(\n", name_of(verb));
    for (size_t i = 0; (row = row_of(verb, i)) != NULL; i++) {
        if (is_option(row)) {
            zsh_row(row->name, row);
        }
        if (is_option(row) && row->alias != NULL) {
            zsh_row(row->alias, row);
        }
    }
    printf("    ) ;;\n");
}

static void zsh_print(const struct sx_cli_verb *verbs, size_t count)
{
    printf("#compdef shmix\n"
           "# shmix completion zsh: verbs and options of shmix " SHMIX_VERSION "\n"
           "_shmix() {\n"
           "  local verb=${words[2]}\n"
           "  local -a words\n"
           "  if (( CURRENT == 2 )); then\n"
           "    words=(");
    for (size_t i = 0; i < count; i++) {
        printf("%s ", name_of(verbs[i].verb));
    }
    printf("help version)\n"
           "    _describe verb words\n"
           "    return\n"
           "  fi\n"
           "  case $verb in\n");
    for (size_t i = 0; i < count; i++) {
        zsh_verb(verbs[i].verb);
    }
    printf("  esac\n"
           "  if [[ $PREFIX == -* ]]; then\n"
           "    _describe option words\n"
           "  elif [[ $verb == run ]]; then\n"
           "    _command_names -e\n"
           "    _files\n"
           "  else\n"
           "    compadd -- $(shmix ls jobs --json 2>/dev/null |\n"
           "      sed -n 's/.*\"nspace\":\"\\([A-Za-z0-9._-]*\\)\".*/\\1/p')\n"
           "  fi\n"
           "}\n"
           "_shmix \"$@\"\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */

/* One name of an option: -l for "--name", -s for "-n", -o for "-name". */
static void fish_name(const char *name)
{
    if (strncmp(name, "--", 2) == 0) {
        printf(" -l %s", name + 2);
    } else {
        printf(" -%c %s", strlen(name) == 2 ? 's' : 'o', name + 1);
    }
}

static void fish_verb(const struct sx_verb *verb)
{
    const struct sx_option *row;

    for (size_t i = 0; (row = row_of(verb, i)) != NULL; i++) {
        if (!is_option(row) || strcmp(row->name, "--") == 0) {
            continue;
        }
        printf("complete -c shmix -n '__fish_seen_subcommand_from %s'", name_of(verb));
        fish_name(row->name);
        if (row->alias != NULL) {
            fish_name(row->alias);
        }
        printf("%s -d '", row->value != NULL && row->value[0] != '[' ? " -r" : "");
        help_print(row, "'\\");
        printf("'\n");
    }
}

static void fish_print(const struct sx_cli_verb *verbs, size_t count)
{
    printf("# shmix completion fish: verbs and options of shmix " SHMIX_VERSION "\n"
           "complete -c shmix -n __fish_use_subcommand -f -a '");
    for (size_t i = 0; i < count; i++) {
        printf("%s ", name_of(verbs[i].verb));
    }
    printf("help version'\n");
    for (size_t i = 0; i < count; i++) {
        fish_verb(verbs[i].verb);
    }
    printf("complete -c shmix -n 'not __fish_use_subcommand; and not __fish_seen_subcommand_from "
           "run' -a '(shmix ls jobs --json 2>/dev/null | string match -rg "
           "\\'\"nspace\":\"([A-Za-z0-9._-]*)\"\\')'\n");
}

/* ---- the command ----------------------------------------------------------------------------- */

int sx_cli_completion(char **words, const struct sx_cli_verb *verbs, size_t count)
{
    static const struct {
        const char *name;
        void (*print)(const struct sx_cli_verb *verbs, size_t count);
    } shells[] = { { "bash", bash_print }, { "zsh", zsh_print }, { "fish", fish_print } };
    struct wish wish = { .shell = NULL };
    const int code = sx_options_take(&sx_completion_verb, &wish, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    for (size_t i = 0; i < SX_COUNT(shells); i++) {
        if (strcmp(wish.shell, shells[i].name) == 0) {
            shells[i].print(verbs, count);
            return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
        }
    }
    return sx_options_refuse_unknown(&sx_completion_verb, "shell", wish.shell, strlen(wish.shell));
}

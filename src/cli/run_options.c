/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run_options.c - one table of options, one setter each, and a guess for the misspelt. */
#include "cli/run_options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "cli/say.h"

#define WORD_MAX 64 /* longer words are not compared for likeness */

static const char *const bind_names[] = {
    [SX_RUN_BIND_NONE] = "none",
    [SX_RUN_BIND_CORE] = "core",
    [SX_RUN_BIND_NUMA] = "numa",
};

const char *sx_run_bind_name(enum sx_run_bind bind)
{
    return (size_t)bind < SX_COUNT(bind_names) ? bind_names[bind] : "?";
}

__attribute__((format(printf, 2, 3)))
static bool refuse(char message[SX_RUN_MESSAGE_MAX], const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(message, SX_RUN_MESSAGE_MAX, fmt, args);
    va_end(args);
    return false;
}

/* Digits only: strtoull would take signs, blanks and what follows the number. */
static bool parse_number(const char *text, uint64_t max, uint64_t *ret)
{
    uint64_t number = 0;

    if (*text == '\0') {
        return false;
    }
    for (; *text != '\0'; text++) {
        if (!isdigit((unsigned char)*text)) {
            return false;
        }
        number = number * 10 + (uint64_t)(*text - '0');
        if (number > max) {
            return false;
        }
    }
    *ret = number;
    return true;
}

static bool set_ranks(struct sx_run_options *options, const char *value, char *message)
{
    uint64_t number;

    if (!parse_number(value, SX_RUN_RANKS_MAX, &number) || number == 0) {
        return refuse(message, "-n wants a number of ranks from 1 to %u, not '%.80s'",
                      SX_RUN_RANKS_MAX, value);
    }
    options->rank_count = (uint32_t)number;
    return true;
}

static bool set_bind(struct sx_run_options *options, const char *value, char *message)
{
    for (size_t i = 0; i < SX_COUNT(bind_names); i++) {
        if (strcmp(value, bind_names[i]) == 0) {
            options->bind = (enum sx_run_bind)i;
            return true;
        }
    }
    return refuse(message, "--bind-to knows none, core and numa, not '%.80s'", value);
}

static bool set_env(struct sx_run_options *options, const char *value, char *message)
{
    if (value[0] == '\0' || value[0] == '=') {
        return refuse(message, "--env wants NAME or NAME=VALUE, not '%.80s'", value);
    }
    if (strchr(value, '=') == NULL && getenv(value) == NULL) {
        return refuse(message, "--env %.80s: this variable is not set here, so there is nothing to "
                      "pass on; give it a value (--env %.80s=VALUE)", value, value);
    }
    options->env = sx_cli_realloc(options->env, options->env_count + 1, sizeof(*options->env));
    options->env[options->env_count++] = value;
    return true;
}

static bool set_wdir(struct sx_run_options *options, const char *value, char *message)
{
    if (value[0] == '\0') {
        return refuse(message, "--wdir wants the directory in which the ranks start");
    }
    options->wdir = value;
    return true;
}

static bool set_timeout(struct sx_run_options *options, const char *value, char *message)
{
    char *end = NULL;
    double seconds;

    errno = 0;
    seconds = isdigit((unsigned char)value[0]) || value[0] == '.' ? strtod(value, &end) : 0.0;
    if (end == NULL || *end != '\0' || errno != 0 || !isfinite(seconds) || seconds < 0.001 ||
        seconds > (double)SX_RUN_TIMEOUT_SEC_MAX) {
        return refuse(message, "--timeout wants seconds, from 0.001 to %u, not '%.80s'",
                      SX_RUN_TIMEOUT_SEC_MAX, value);
    }
    options->timeout_ns = (uint64_t)(seconds * (double)SX_NS_PER_SEC);
    return true;
}

static bool set_stdin(struct sx_run_options *options, const char *value, char *message)
{
    uint64_t number;

    if (strcmp(value, "all") == 0) {
        options->stdin_mode = SX_RUN_STDIN_ALL;
    } else if (strcmp(value, "none") == 0) {
        options->stdin_mode = SX_RUN_STDIN_NONE;
    } else if (parse_number(value, SX_RUN_RANKS_MAX - 1, &number)) {
        options->stdin_mode = SX_RUN_STDIN_RANK;
        options->stdin_rank = (uint32_t)number;
    } else {
        return refuse(message, "--stdin wants a rank, 'all' or 'none', not '%.80s'", value);
    }
    return true;
}

static bool set_tag_output(struct sx_run_options *options, const char *value, char *message)
{
    (void)value;
    (void)message;
    options->tag_output = true;
    return true;
}

static bool set_help(struct sx_run_options *options, const char *value, char *message)
{
    (void)value;
    (void)message;
    options->help = true;
    return true;
}

static bool set_version(struct sx_run_options *options, const char *value, char *message)
{
    (void)value;
    (void)message;
    options->version = true;
    return true;
}

static const struct option_row {
    const char *name;
    bool has_value;
    bool (*set)(struct sx_run_options *options, const char *value, char *message);
} option_rows[] = {
    { "-n", true, set_ranks },
    { "--bind-to", true, set_bind },
    { "--env", true, set_env },
    { "--wdir", true, set_wdir },
    { "--timeout", true, set_timeout },
    { "--stdin", true, set_stdin },
    { "--tag-output", false, set_tag_output },
    { "--help", false, set_help },
    { "--version", false, set_version },
    { "-h", false, set_help },
    { "-V", false, set_version },
};

/* What users of mpirun and srun type out of habit. */
static const struct habit {
    const char *word, *meant;
} habits[] = {
    { "-c", "-n" },        { "-np", "-n" },          { "--np", "-n" },
    { "--n", "-n" },       { "--ntasks", "-n" },     { "-x", "--env" },
    { "--export", "--env" }, { "-wd", "--wdir" },    { "-wdir", "--wdir" },
    { "--chdir", "--wdir" }, { "-D", "--wdir" },     { "-t", "--timeout" },
    { "--time", "--timeout" }, { "-l", "--tag-output" }, { "--label", "--tag-output" },
    { "-stdin", "--stdin" }, { "--input", "--stdin" }, { "-i", "--stdin" },
    { "--cpu-bind", "--bind-to" }, { "-bind-to", "--bind-to" },
};

/* Levenshtein's distance in one row, for words of at most WORD_MAX bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t row[WORD_MAX + 1];
    const size_t b_len = strlen(b);

    for (size_t j = 0; j <= b_len; j++) {
        row[j] = j;
    }
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];

        row[0] = i + 1;
        for (size_t j = 0; j < b_len; j++) {
            const size_t change = diagonal + (a[i] != b[j]);
            size_t best = row[j] < row[j + 1] ? row[j] + 1 : row[j + 1] + 1;

            diagonal = row[j + 1];
            row[j + 1] = change < best ? change : best;
        }
    }
    return row[b_len];
}

const char *sx_run_suggest(const char *word, const char *const *list, size_t count)
{
    const char *best = NULL;
    size_t best_distance = SIZE_MAX;

    if (strlen(word) > WORD_MAX) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t far = distance(word, list[i]);

        /* More than a third of the letters wrong is another word, not a slip. */
        if (far < best_distance && far * 3 <= strlen(list[i]) + 1) {
            best = list[i];
            best_distance = far;
        }
    }
    return best;
}

static bool refuse_unknown(const char *word, size_t name_len, char *message)
{
    const char *names[SX_COUNT(option_rows)], *meant = NULL;
    char name[WORD_MAX + 1];

    snprintf(name, sizeof(name), "%.*s", (int)(name_len < WORD_MAX ? name_len : WORD_MAX), word);
    for (size_t i = 0; i < SX_COUNT(habits) && meant == NULL; i++) {
        meant = strcmp(name, habits[i].word) == 0 ? habits[i].meant : NULL;
    }
    for (size_t i = 0; i < SX_COUNT(option_rows); i++) {
        names[i] = option_rows[i].name;
    }
    if (meant == NULL) {
        meant = sx_run_suggest(name, names, SX_COUNT(names));
    }
    if (meant != NULL) {
        return refuse(message, "unknown option '%s'; did you mean '%s'? ('shmix run --help' lists "
                      "all options)", name, meant);
    }
    return refuse(message, "unknown option '%s'; 'shmix run --help' lists all options, and '--' "
                  "ends them", name);
}

/* One option at argv[*at]; *at moves behind it. */
static bool take_option(struct sx_run_options *options, char **argv, size_t *at, char *message)
{
    const char *word = argv[*at], *equals = strchr(word, '=');
    const size_t name_len = equals == NULL ? strlen(word) : (size_t)(equals - word);

    if (word[0] == '-' && word[1] == 'n' && isdigit((unsigned char)word[2])) {
        (*at)++;
        return set_ranks(options, word + 2, message);
    }
    for (size_t i = 0; i < SX_COUNT(option_rows); i++) {
        const struct option_row *row = &option_rows[i];
        const char *value = equals == NULL ? NULL : equals + 1;

        if (strncmp(row->name, word, name_len) != 0 || row->name[name_len] != '\0') {
            continue;
        }
        if (!row->has_value && value != NULL) {
            return refuse(message, "%s takes no value ('%.80s')", row->name, word);
        }
        (*at)++;
        if (row->has_value && value == NULL) {
            value = argv[*at];
            if (value == NULL) {
                return refuse(message, "%s wants a value; see 'shmix run --help'", row->name);
            }
            (*at)++;
        }
        return row->set(options, value, message);
    }
    return refuse_unknown(word, name_len, message);
}

bool sx_run_options_init(struct sx_run_options *options, char **argv,
                         char message[SX_RUN_MESSAGE_MAX])
{
    size_t at = 0;

    *options = (struct sx_run_options){ .rank_count = 1 };
    while (argv[at] != NULL && argv[at][0] == '-' && argv[at][1] != '\0') {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (!take_option(options, argv, &at, message)) {
            return false;
        }
        if (options->help || options->version) {
            return true;
        }
    }
    options->program = &argv[at];
    if (argv[at] == NULL || argv[at][0] == '\0') {
        return refuse(message, "no program given; try 'shmix run -n 2 hostname', or 'shmix run "
                      "--help'");
    }
    if (options->stdin_mode == SX_RUN_STDIN_RANK && options->stdin_rank >= options->rank_count) {
        return refuse(message, "--stdin %u: there is no such rank; the job has ranks 0 to %u",
                      options->stdin_rank, options->rank_count - 1);
    }
    return true;
}

void sx_run_options_deinit(struct sx_run_options *options)
{
    free(options->env);
    options->env = NULL;
    options->env_count = 0;
}

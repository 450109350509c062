/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* options.c - one table of options, one setter each, and a guess for the misspelt. */
#include "cli/run/options.h"

#include <ctype.h>
#include <pmix_common.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "cli/run/words.h"
#include "cli/say.h"
#include "cli/seconds.h"

#define KILL_GRACE_NS (100 * SX_NS_PER_MS) /* for --kill-grace */

static const struct {
    const char *name, *noun;
} levels[] = {
    [SX_RUN_LEVEL_NONE] = { "none", "nothing" },
    [SX_RUN_LEVEL_HWTHREAD] = { "hwthread", "hardware thread" },
    [SX_RUN_LEVEL_CORE] = { "core", "core" },
    [SX_RUN_LEVEL_L3CACHE] = { "l3cache", "L3 cache" },
    [SX_RUN_LEVEL_NUMA] = { "numa", "NUMA node" },
    [SX_RUN_LEVEL_PACKAGE] = { "package", "package" },
    [SX_RUN_LEVEL_NODE] = { "node", "node" },
};

const char *sx_run_level_name(enum sx_run_level level)
{
    return (size_t)level < SX_COUNT(levels) ? levels[level].name : "?";
}

const char *sx_run_map_name(enum sx_run_level map)
{
    return map == SX_RUN_LEVEL_NONE ? "slot" : sx_run_level_name(map);
}

const char *sx_run_level_noun(enum sx_run_level level)
{
    return (size_t)level < SX_COUNT(levels) ? levels[level].noun : "?";
}

__attribute__((format(printf, 2, 3))) static bool refuse(char message[SX_RUN_MESSAGE_MAX],
                                                         const char *fmt, ...)
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

/* The application whose options are being read. */
static struct sx_run_app *app_of(struct sx_run_options *options)
{
    return &options->apps[options->app_count - 1];
}

static bool set_ranks(struct sx_run_options *options, const char *value, char *message)
{
    uint64_t number;

    if (!parse_number(value, SX_RUN_RANKS_MAX, &number) || number == 0) {
        return refuse(message, "-n wants a number of ranks from 1 to %u, not '%.80s'",
                      SX_RUN_RANKS_MAX, value);
    }
    app_of(options)->rank_count = (uint32_t)number;
    return true;
}

/* Levels from the second to the one before @end.  Return: SX_RUN_LEVEL_NONE for any other word. */
static enum sx_run_level parse_level(const char *value, enum sx_run_level end)
{
    if (strcmp(value, "socket") == 0) {
        return SX_RUN_LEVEL_PACKAGE;
    }
    for (int i = SX_RUN_LEVEL_NONE + 1; i < (int)end; i++) {
        if (strcmp(value, levels[i].name) == 0) {
            return (enum sx_run_level)i;
        }
    }
    return SX_RUN_LEVEL_NONE;
}

static bool set_map(struct sx_run_options *options, const char *value, char *message)
{
    options->map = parse_level(value, SX_RUN_LEVEL_NODE + 1);
    if (options->map == SX_RUN_LEVEL_NONE && strcmp(value, "slot") != 0) {
        return refuse(message,
                      "--map-by knows slot, hwthread, core, l3cache, numa, package (or "
                      "socket) and node, without modifiers, not '%.80s'",
                      value);
    }
    if (!options->bind_given) {
        options->bind = options->map == SX_RUN_LEVEL_NODE ? SX_RUN_LEVEL_NONE : options->map;
    }
    return true;
}

static bool set_bind(struct sx_run_options *options, const char *value, char *message)
{
    options->bind = parse_level(value, SX_RUN_LEVEL_NODE);
    options->bind_given = true;
    if (options->bind == SX_RUN_LEVEL_NONE && strcmp(value, "none") != 0) {
        return refuse(message,
                      "--bind-to knows none, hwthread, core, l3cache, numa and package "
                      "(or socket), not '%.80s'",
                      value);
    }
    return true;
}

static void add_env(struct sx_run_app *app, char *word)
{
    app->env = sx_cli_realloc(app->env, app->env_count + 1, sizeof(*app->env));
    app->env[app->env_count++] = word;
}

static bool set_env(struct sx_run_options *options, const char *value, char *message)
{
    if (value[0] == '\0' || value[0] == '=') {
        return refuse(message, "--env wants NAME or NAME=VALUE, not '%.80s'", value);
    }
    if (strchr(value, '=') == NULL && getenv(value) == NULL) {
        return refuse(message,
                      "--env %.80s: this variable is not set here, so there is nothing to "
                      "pass on; give it a value (--env %.80s=VALUE)",
                      value, value);
    }
    add_env(app_of(options), sx_cli_strdup(value));
    return true;
}

/* --mca KEY VALUE.  Values of one key are a list, as mpirun has it. */
static bool set_mca(struct sx_run_options *options, const char *key, const char *value,
                    char *message)
{
    struct sx_run_app *app = app_of(options);
    char *head;

    if (key[0] == '\0' || strchr(key, '=') != NULL || value == NULL) {
        return refuse(message,
                      "--mca wants KEY VALUE (it is --env OMPI_MCA_KEY=VALUE), not '%.80s%s%.80s'",
                      key, value == NULL ? "" : " ", value == NULL ? "" : value);
    }
    head = sx_cli_printf("OMPI_MCA_%s=", key);
    for (size_t i = 0; i < app->env_count; i++) {
        if (strncmp(app->env[i], head, strlen(head)) == 0) {
            char *const both = sx_cli_printf("%s,%s", app->env[i], value);

            free(app->env[i]);
            app->env[i] = both;
            free(head);
            return true;
        }
    }
    add_env(app, sx_cli_printf("%s%s", head, value));
    free(head);
    return true;
}

static bool set_wdir(struct sx_run_options *options, const char *value, char *message)
{
    if (value[0] == '\0') {
        return refuse(message, "--wdir wants the directory in which the ranks start");
    }
    app_of(options)->wdir = value;
    return true;
}

static bool set_pset(struct sx_run_options *options, const char *value, char *message)
{
    if (value[0] == '\0' || strlen(value) > PMIX_MAX_KEYLEN) {
        return refuse(message,
                      "--pset wants a name of 1 to %d characters for a process set, not "
                      "'%.80s'",
                      PMIX_MAX_KEYLEN, value);
    }
    app_of(options)->pset = value;
    return true;
}

static bool set_timeout(struct sx_run_options *options, const char *value, char *message)
{
    uint64_t ns = 0;

    if (!sx_cli_seconds(value, &ns) || ns < SX_NS_PER_MS) {
        return refuse(message, "--timeout wants seconds, from 0.001 to %u, not '%.80s'",
                      SX_CLI_SECONDS_MAX, value);
    }
    options->timeout_ns = ns;
    return true;
}

static bool set_kill_grace(struct sx_run_options *options, const char *value, char *message)
{
    if (!sx_cli_seconds(value, &options->kill_grace_ns)) {
        return refuse(message,
                      "--kill-grace wants seconds, from 0 (do not wait for handlers of events) to "
                      "%u, not '%.80s'",
                      SX_CLI_SECONDS_MAX, value);
    }
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

static bool set_on_failure(struct sx_run_options *options, const char *value, char *message)
{
    if (strcmp(value, "abort") == 0) {
        options->on_failure = SX_RUN_ON_FAILURE_ABORT;
    } else if (strcmp(value, "notify") == 0) {
        options->on_failure = SX_RUN_ON_FAILURE_NOTIFY;
    } else {
        return refuse(message,
                      "--on-failure wants abort (end the job when a rank fails) or notify "
                      "(tell the others, which go on), not '%.80s'",
                      value);
    }
    return true;
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && strncmp(text, word, len) == 0;
}

static bool set_display(struct sx_run_options *options, const char *value, char *message)
{
    for (const char *at = value;; at++) {
        const size_t len = strcspn(at, ",");

        if (is_word(at, len, "map")) {
            options->display_map = true;
        } else if (is_word(at, len, "bindings") || is_word(at, len, "bind")) {
            options->display_bindings = true;
        } else {
            return refuse(message,
                          "--display knows map and bindings, and both with a comma "
                          "between them, not '%.80s'",
                          value);
        }
        at += len;
        if (*at == '\0') {
            return true;
        }
    }
}

/* What is so in any case: more ranks than CPUs are allowed, and so is root. */
static bool set_nothing(struct sx_run_options *options, const char *value, char *message)
{
    (void)options;
    (void)value;
    (void)message;
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
    bool of_app; /* else of the job */
    bool (*set)(struct sx_run_options *options, const char *value, char *message);
    bool (*set_pair)(struct sx_run_options *options, const char *key, const char *value,
                     char *message); /* instead, of an option with two words behind it */
} option_rows[] = {
    { "-n", true, true, set_ranks, NULL },
    { "--np", true, true, set_ranks, NULL },
    { "--env", true, true, set_env, NULL },
    { "-x", true, true, set_env, NULL },
    { "--mca", true, true, NULL, set_mca },
    { "--wdir", true, true, set_wdir, NULL },
    { "--pset", true, true, set_pset, NULL },
    { "--map-by", true, false, set_map, NULL },
    { "--bind-to", true, false, set_bind, NULL },
    { "--on-failure", true, false, set_on_failure, NULL },
    { "--kill-grace", true, false, set_kill_grace, NULL },
    { "--timeout", true, false, set_timeout, NULL },
    { "--stdin", true, false, set_stdin, NULL },
    { "--tag-output", false, false, set_tag_output, NULL },
    { "--display", true, false, set_display, NULL },
    { "--oversubscribe", false, true, set_nothing, NULL },
    { "--allow-run-as-root", false, true, set_nothing, NULL },
    { "--help", false, false, set_help, NULL },
    { "--version", false, false, set_version, NULL },
    { "-h", false, false, set_help, NULL },
    { "-V", false, false, set_version, NULL },
};

static bool refuse_unknown(const char *word, size_t name_len, char *message)
{
    const char *names[SX_COUNT(option_rows)], *meant, *answer;
    char name[SX_RUN_WORD_MAX + 1];

    snprintf(name, sizeof(name), "%.*s",
             (int)(name_len < SX_RUN_WORD_MAX ? name_len : SX_RUN_WORD_MAX), word);
    answer = sx_run_words_answer(name);
    if (answer != NULL) {
        return refuse(message, "'%s' %s", name, answer);
    }
    for (size_t i = 0; i < SX_COUNT(option_rows); i++) {
        names[i] = option_rows[i].name;
    }
    meant = sx_run_words_habit(name);
    if (meant == NULL) {
        meant = sx_run_suggest(name, names, SX_COUNT(names));
    }
    if (meant != NULL) {
        return refuse(message,
                      "unknown option '%s'; did you mean '%s'? ('shmix run --help' lists "
                      "all options)",
                      name, meant);
    }
    return refuse(message,
                  "unknown option '%s'; 'shmix run --help' lists all options, and '--' "
                  "ends them",
                  name);
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

        if (!sx_run_words_name(row->name, word, name_len)) {
            continue;
        }
        if (!row->of_app && options->app_count > 1) {
            return refuse(message, "%s is for the whole job: put it before the first program",
                          row->name);
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
        if (row->set_pair != NULL) {
            return row->set_pair(options, value, argv[*at] == NULL ? NULL : argv[(*at)++], message);
        }
        return row->set(options, value, message);
    }
    return refuse_unknown(word, name_len, message);
}

/* ---- applications ---------------------------------------------------------------------------- */

static void app_begin(struct sx_run_options *options)
{
    options->apps = sx_cli_realloc(options->apps, options->app_count + 1, sizeof(*options->apps));
    options->apps[options->app_count++] = (struct sx_run_app){ .rank_count = 1 };
}

static bool refuse_no_program(const struct sx_run_options *options, const char *word, char *message)
{
    if (options->app_count > 1 || (word != NULL && word[0] == ':')) {
        return refuse(message,
                      "there is no program %s, where number %u should be; write "
                      "'[options] PROGRAM [ARGS] : [options] PROGRAM [ARGS]'",
                      word != NULL ? "before a ':'" : "behind the last ':'", options->app_count);
    }
    return refuse(message, "no program given; try 'shmix run -n 2 hostname', or 'shmix run "
                           "--help'");
}

/* The options at argv[*at] up to a program; *at moves to it. */
static bool take_options(struct sx_run_options *options, char **argv, size_t *at, char *message)
{
    while (argv[*at] != NULL && argv[*at][0] == '-' && argv[*at][1] != '\0') {
        if (strcmp(argv[*at], "--") == 0) {
            (*at)++;
            return true;
        }
        if (!take_option(options, argv, at, message)) {
            return false;
        }
        if (options->help || options->version) {
            return true;
        }
    }
    return true;
}

/* The program at argv[*at] and its arguments; *at moves to the ':' behind it, or to the end. */
static bool take_program(struct sx_run_options *options, char **argv, size_t *at, char *message)
{
    struct sx_run_app *app = app_of(options);
    const char *word = argv[*at];

    if (word == NULL || word[0] == '\0' || strcmp(word, ":") == 0) {
        return refuse_no_program(options, word, message);
    }
    if (app->rank_count > SX_RUN_RANKS_MAX - options->rank_count) {
        return refuse(message,
                      "-n %u for program %u: with those before it the job would have %u "
                      "ranks, and at most %u are possible",
                      app->rank_count, options->app_count, options->rank_count + app->rank_count,
                      SX_RUN_RANKS_MAX);
    }
    app->first_rank = options->rank_count;
    options->rank_count += app->rank_count;
    app->program = &argv[*at];
    while (argv[*at] != NULL && strcmp(argv[*at], ":") != 0) {
        (*at)++;
    }
    return true;
}

bool sx_run_options_init(struct sx_run_options *options, char **argv,
                         char message[SX_RUN_MESSAGE_MAX])
{
    bool more = true;

    *options = (struct sx_run_options){ .kill_grace_ns = KILL_GRACE_NS };
    for (size_t at = 0; more; at++) {
        app_begin(options);
        if (!take_options(options, argv, &at, message)) {
            return false;
        }
        if (options->help || options->version) {
            return true;
        }
        if (!take_program(options, argv, &at, message)) {
            return false;
        }
        more = argv[at] != NULL;
        argv[at] = NULL;
    }
    if (options->stdin_mode == SX_RUN_STDIN_RANK && options->stdin_rank >= options->rank_count) {
        return refuse(message, "--stdin %u: there is no such rank; the job has ranks 0 to %u",
                      options->stdin_rank, options->rank_count - 1);
    }
    return true;
}

void sx_run_options_deinit(struct sx_run_options *options)
{
    for (uint32_t i = 0; i < options->app_count; i++) {
        for (size_t k = 0; k < options->apps[i].env_count; k++) {
            free(options->apps[i].env[k]);
        }
        free(options->apps[i].env);
    }
    free(options->apps);
    *options = (struct sx_run_options){ .app_count = 0 };
}

const struct sx_run_app *sx_run_options_app(const struct sx_run_options *options, uint32_t rank)
{
    uint32_t low = 0, high = options->app_count - 1;

    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;

        if (options->apps[middle].first_rank <= rank) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return &options->apps[low];
}

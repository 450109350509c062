/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* policy.c - the levels of the machine by their names, and the policies that are made of them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "launch/common/options.h"
#include "launch/common/say.h"
#include "launch/place/place.h"

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

bool sx_run_level_is_cpu(enum sx_run_level level)
{
    return level == SX_RUN_LEVEL_CORE || level == SX_RUN_LEVEL_HWTHREAD;
}

bool sx_run_bind_default(struct sx_run_options *options)
{
    if (options->bind == SX_RUN_BIND_NOT_GIVEN) {
        options->bind = options->hwthreads && options->cpus_each > 0 ? SX_RUN_LEVEL_HWTHREAD
                        : options->cpus_each > 0 && !sx_run_level_is_cpu(options->map)
                            ? SX_RUN_LEVEL_CORE
                        : options->map == SX_RUN_LEVEL_NODE ? SX_RUN_LEVEL_NONE
                                                            : options->map;
    }
    return options->cpus_each == 0 || sx_run_level_is_cpu(options->bind);
}

/* A level before @end; @none is the word for no level. */
static bool level_read(enum sx_run_level *at, const char *value, const char *none, int end)
{
    if (strcmp(value, "socket") == 0) {
        value = "package";
    }
    for (int i = SX_RUN_LEVEL_NONE; i < end; i++) {
        if (strcmp(value, i == SX_RUN_LEVEL_NONE ? none : levels[i].name) == 0) {
            *at = (enum sx_run_level)i;
            return true;
        }
    }
    return false;
}

bool sx_run_map_read(const char *word, enum sx_run_level *ret_map)
{
    return level_read(ret_map, word, "slot", SX_RUN_LEVEL_NODE + 1);
}

bool sx_run_bind_read(const char *word, enum sx_run_level *ret_bind)
{
    return level_read(ret_bind, word, "none", SX_RUN_LEVEL_NODE);
}

/* Each modifier is a row. */

static char *small(const char *text)
{
    char *const copy = sx_cli_strdup(text);

    for (char *at = copy; *at != '\0'; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    return copy;
}

/* ---- modifiers ------------------------------------------------------------------------------- */

static bool cpus_each_take(struct sx_run_options *options, const char *value)
{
    int64_t number;

    if (!sx_cli_number(value, 1, SX_RUN_RANKS_MAX, &number)) {
        return false;
    }
    options->cpus_each = (uint32_t)number;
    return true;
}

static bool cpus_take(struct sx_run_options *options, const char *value)
{
    free(options->cpus);
    options->cpus = sx_cli_strdup(value);
    return value[0] != '\0';
}

static bool not_over_take(struct sx_run_options *options, const char *value)
{
    (void)value;
    options->not_over = true;
    return true;
}

static bool hwthreads_take(struct sx_run_options *options, const char *value)
{
    (void)value;
    options->hwthreads = true;
    return true;
}

static bool overload_take(struct sx_run_options *options, const char *value)
{
    (void)value;
    options->overload = true;
    return true;
}

static bool report_take(struct sx_run_options *options, const char *value)
{
    (void)value;
    options->display.bindings = true;
    return true;
}

struct modifier {
    const char *word; /* "pe=" is followed by a value */
    bool (*take)(struct sx_run_options *options, const char *value); /* NULL: it is the default */
};

static const struct modifier of_map[] = {
    { "pe=", cpus_each_take },     { "pe-list=", cpus_take }, { "nooversubscribe", not_over_take },
    { "hwtcpus", hwthreads_take }, { "oversubscribe", NULL }, { "corecpus", NULL },
    { "ordered", NULL },           { "span", NULL },          { "inherit", NULL },
    { "noinherit", NULL },
};

static const struct modifier of_bind[] = {
    { "overload-allowed", overload_take },
    { "overload", overload_take },
    { "report", report_take },
    { "no-overload", NULL },
    { "if-supported", NULL },
    { "ordered", NULL },
};

/* Return: the row of @word, or NULL. */
static const struct modifier *modifier_find(const struct modifier *rows, size_t count,
                                            const char *word)
{
    for (size_t i = 0; i < count; i++) {
        const size_t len = strlen(rows[i].word);

        if (rows[i].word[len - 1] == '=' ? strncmp(word, rows[i].word, len) == 0
                                         : strcmp(word, rows[i].word) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

/* Take the modifiers of @words, up to the next colon. */
static bool modifiers_take(struct sx_run_options *options, const struct modifier *rows,
                           size_t count, char *words, char *message)
{
    const bool is_list = strncmp(words, "pe-list=", strlen("pe-list=")) == 0; /* has commas */
    const char *word;

    while ((word = is_list ? words : strsep(&words, ",")) != NULL) {
        const struct modifier *const row = modifier_find(rows, count, word);
        const char *const value = strchr(word, '=');

        if (row == NULL ||
            (row->take != NULL && !row->take(options, value == NULL ? NULL : value + 1))) {
            snprintf(message, SX_RUN_MESSAGE_MAX, "'%.80s' is %s", word,
                     row == NULL ? "not a modifier here" : "not a number or a list of CPUs");
            return false;
        }
        if (is_list) {
            break;
        }
    }
    return true;
}

/* ---- policies -------------------------------------------------------------------------------- */

/* "N:node" means N ranks on each node, "N:LEVEL" N on each part of the level; Open MPI 4.1 writes
 * "N:n". */
static bool ppr_take(struct sx_run_options *options, char **rest)
{
    const char *const count = strsep(rest, ":"), *const part = strsep(rest, ":");
    int64_t number;

    if (count == NULL || part == NULL || !sx_cli_number(count, 1, SX_RUN_RANKS_MAX, &number)) {
        return false;
    }
    if (strcmp(part, "node") == 0 || strcmp(part, "n") == 0) {
        options->per_node = (uint32_t)number;
        options->per_node_by_map = true;
        return true;
    }
    options->per_part = (uint32_t)number;
    return sx_run_map_read(part, &options->map) && options->map != SX_RUN_LEVEL_NONE;
}

bool sx_run_policy_map(struct sx_run_options *options, const char *text,
                       char message[SX_RUN_MESSAGE_MAX])
{
    char *const copy = small(text), *rest = copy, *const policy = strsep(&rest, ":"), *words;
    bool good = true;

    message[0] = '\0';
    if (strcmp(policy, "ppr") == 0) {
        good = ppr_take(options, &rest);
    } else if (strcmp(policy, "seq") == 0 || strncmp(policy, "rankfile", 8) == 0) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "a place for each rank from a file: each rank is a program, -n 1 taskset -c CPUS "
                 "PROGRAM : -n 1 taskset -c CPUS PROGRAM");
        good = false;
    } else if (strncmp(policy, "pe-list=", 8) == 0) {
        good = cpus_take(options, policy + 8);
    } else if (policy[0] != '\0' || rest == NULL) {
        good = sx_run_map_read(policy, &options->map);
    }
    while (good && (words = strsep(&rest, ":")) != NULL) {
        good = modifiers_take(options, of_map, SX_COUNT(of_map), words, message);
    }
    free(copy);
    return good;
}

bool sx_run_policy_bind(struct sx_run_options *options, const char *text,
                        char message[SX_RUN_MESSAGE_MAX])
{
    char *const copy = small(text), *rest = copy, *words = strsep(&rest, ":");
    bool good = true;

    message[0] = '\0';
    if (modifier_find(of_bind, SX_COUNT(of_bind), words) != NULL) {
        good = modifiers_take(options, of_bind, SX_COUNT(of_bind), words, message);
    } else if (words[0] != '\0' || rest == NULL) {
        good = sx_run_bind_read(words, &options->bind);
    }
    while (good && (words = strsep(&rest, ":")) != NULL) {
        good = modifiers_take(options, of_bind, SX_COUNT(of_bind), words, message);
    }
    free(copy);
    return good;
}

/* Ranks are numbered in the order in which they are mapped; mapped in order, one core after the
 * other. */
bool sx_run_policy_rank(const struct sx_run_options *options, const char *text,
                        char message[SX_RUN_MESSAGE_MAX])
{
    char *const word = small(text);
    const bool in_order = options->map == SX_RUN_LEVEL_NONE || options->map == SX_RUN_LEVEL_NODE;
    enum sx_run_level level = SX_RUN_LEVEL_NONE;
    const bool by_level = sx_run_map_read(word, &level), fills = strcmp(word, "fill") == 0;
    const bool good = strcmp(word, "slot") == 0 || strcmp(word, "node") == 0 ||
                      (fills && in_order) ||
                      (by_level &&
                       (level == options->map || (in_order && sx_run_level_is_cpu(level))));

    message[0] = '\0';
    if ((by_level || fills) && !good) {
        snprintf(message, SX_RUN_MESSAGE_MAX,
                 "ranks are numbered in the order in which --map-by deals them out: --map-by %s",
                 level == SX_RUN_LEVEL_NONE ? "slot" : sx_run_map_name(level));
    }
    free(word);
    return good;
}

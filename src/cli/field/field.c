/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* field.c - each name is a table of options, and a function that translates them into the words of
 * a verb.  The options by which such a name and a verb name a server stand once. */

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix_common.h>

#include "base/util.h"
#include "cli/verbs.h"
#include "launch/common/options.h"
#include "launch/common/say.h"
#include "launch/serve/serve.h"

/* A growing list that ends with NULL and owns its words; a zeroed one is empty. */
struct words {
    char **all;
    size_t count;
};

/* The options by which tools of PMIx name a server. */
struct server {
    const char *pid, *uri, *nspace, *wait, *tmpdir; /* NULL: not given */
    bool is_system, is_verbose;
};

#define SERVER_OF(type, member, part) offsetof(type, member) + offsetof(struct server, part), false

/* The braces of a row: written out here, each word would get a line of its own. */
#define SERVER_ROW(...) \
    {                   \
        __VA_ARGS__     \
    }

#define SERVER_ROWS(type, member)                                                                 \
    SERVER_ROW(.help =                                                                            \
                   "which server (not named: the system server, else the only one of yours):"),   \
        SERVER_ROW("--pid", NULL, "PID", "4711", "the process id of a server",                    \
                   "the server with this process id", sx_option_text,                             \
                   SERVER_OF(type, member, pid)),                                                 \
        SERVER_ROW("--uri", NULL, "URI", "file:uri.txt", "NSPACE.RANK;unix:..., or file:PATH",    \
                   NULL, sx_option_text, SERVER_OF(type, member, uri)),                           \
        SERVER_ROW("--namespace", "--nspace", "NAMESPACE", "prterun-4711",                        \
                   "the namespace of a server", "the server with this namespace of its own",      \
                   sx_option_text, SERVER_OF(type, member, nspace)),                              \
        SERVER_ROW("--system-server", "--system-server-only", NULL, NULL, NULL,                   \
                   "the system server of this node, and no other", sx_option_flag,                \
                   SERVER_OF(type, member, is_system)),                                           \
        SERVER_ROW("--system-server-first", NULL, NULL, NULL, NULL, "is so in any case", NULL, 0, \
                   false),                                                                        \
        SERVER_ROW("--wait-to-connect", NULL, "SECONDS", "10", "a number of seconds",             \
                   "look again for so long while there is no such server", sx_option_text,        \
                   SERVER_OF(type, member, wait)),                                                \
        SERVER_ROW("--tmpdir", NULL, "DIRECTORY", "/tmp", "a directory",                          \
                   "where servers have their files, TMPDIR", sx_option_text,                      \
                   SERVER_OF(type, member, tmpdir)),                                              \
        SERVER_ROW(.help = "and:"),                                                               \
        SERVER_ROW("--verbose", "-v", NULL, NULL, NULL,                                           \
                   "print what the library logs, SHMIX_LOG=info", sx_option_flag,                 \
                   SERVER_OF(type, member, is_verbose))

/* ---- words ----------------------------------------------------------------------------------- */

static void words_add(struct words *words, const char *word)
{
    words->all = sx_cli_realloc(words->all, words->count + 2, sizeof(*words->all));
    words->all[words->count++] = sx_cli_strdup(word);
    words->all[words->count] = NULL;
}

/* Add an option and its value; nothing when there is no value. */
static void words_add_value(struct words *words, const char *option, const char *value)
{
    if (value != NULL) {
        words_add(words, option);
        words_add(words, value);
    }
}

static void words_clear(struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        free(words->all[i]);
    }
    free(words->all);
    *words = (struct words){ .all = NULL };
}

/* Add the server in the words of this command's verbs (cli/attach.h), and set the environment. */
static void server_add(struct words *words, const struct server *server)
{
    words_add_value(words, "--pid", server->pid);
    words_add_value(words, "--uri", server->uri);
    words_add_value(words, "--server", server->nspace);
    words_add_value(words, "--wait", server->wait);
    if (server->is_system) {
        words_add(words, "--system");
    }
    if (server->tmpdir != NULL) {
        setenv("TMPDIR", server->tmpdir, 1);
    }
    if (server->is_verbose) {
        setenv("SHMIX_LOG", "info", 1);
    }
}

#define OF(type, member) offsetof(type, member), false

/* ---- pquery ---------------------------------------------------------------------------------- */

struct pquery {
    struct server server;
    const char *keys;
};

static const struct sx_option pquery_rows[] = {
    { "KEYS", NULL, NULL, NULL, "what is asked for",
      "keys with commas between them, as KEY or KEY[QUALIFIER=VALUE;...]", sx_option_text,
      OF(struct pquery, keys) },
    SERVER_ROWS(struct pquery, server),
};

static const struct sx_verb pquery_verb = {
    .name = "pquery",
    .try_begin = "pquery",
    .try_end = " PMIX_QUERY_NAMESPACES",
    .about = "usage: pquery [options] KEYS\n\n"
             "Ask a server what it knows under each key: shmix query, with other words.\n\n",
    .more = "\nexamples:\n  pquery 'PMIX_QUERY_PROC_TABLE[PMIX_NSPACE=shmix-4711-a1b2c3]'\n",
    .options = pquery_rows,
    .option_count = SX_COUNT(pquery_rows),
};

/* The end of the key that begins at @at; commas between brackets belong to its qualifiers. */
static const char *key_end(const char *at)
{
    bool inside = false;

    while (*at != '\0' && (inside || *at != ',')) {
        inside = *at == '[' || (inside && *at != ']');
        at++;
    }
    return at;
}

/* Ask for the key of @len bytes at @at. */
static int key_ask(const char *at, size_t len, const struct server *server)
{
    struct words words = { .all = NULL };
    char *const copy = sx_cli_printf("%.*s", (int)len, at);
    char *rest = strchr(copy, '[');
    const char *word;

    if (rest != NULL) {
        *rest++ = '\0';
        rest[strcspn(rest, "]")] = '\0';
    }
    words_add(&words, copy);
    while ((word = strsep(&rest, ";")) != NULL) {
        words_add_value(&words, "--qualifier", word);
    }
    server_add(&words, server);
    const int code = sx_cli_query(words.all);

    words_clear(&words);
    free(copy);
    return code;
}

static int pquery(char **words)
{
    struct pquery wish = { .keys = NULL };
    int code = sx_options_take(&pquery_verb, &wish, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    code = 0;
    for (const char *at = wish.keys, *end; *at != '\0'; at = *end == ',' ? end + 1 : end) {
        end = key_end(at);
        const int one = key_ask(at, (size_t)(end - at), &wish.server);

        code = one != 0 ? one : code;
    }
    return code;
}

/* ---- pattrs ---------------------------------------------------------------------------------- */

struct pattrs {
    struct server server;
    const char *client, *of_server, *tool, *host;
    bool client_fns, server_fns, tool_fns, host_fns;
};

static const struct sx_option pattrs_rows[] = {
    { .help = "what (at least one):" },
    { "--client", NULL, "FUNCTIONS", "PMIx_Get", "functions with commas between them, or all",
      "the attributes that these functions of clients support", sx_option_text,
      OF(struct pattrs, client) },
    { "--server", NULL, "FUNCTIONS", "all", "functions with commas between them, or all",
      "the same of servers", sx_option_text, OF(struct pattrs, of_server) },
    { "--tool", NULL, "FUNCTIONS", "all", "functions with commas between them, or all",
      "the same of tools", sx_option_text, OF(struct pattrs, tool) },
    { "--host", NULL, "FUNCTIONS", "all", "functions with commas between them, or all",
      "the same of the server's host", sx_option_text, OF(struct pattrs, host) },
    { "--client-fns", NULL, NULL, NULL, NULL, "the functions of clients", sx_option_flag,
      OF(struct pattrs, client_fns) },
    { "--server-fns", NULL, NULL, NULL, NULL, "those of servers", sx_option_flag,
      OF(struct pattrs, server_fns) },
    { "--tool-fns", NULL, NULL, NULL, NULL, "those of tools", sx_option_flag,
      OF(struct pattrs, tool_fns) },
    { "--host-fns", NULL, NULL, NULL, NULL, "those of the server's host", sx_option_flag,
      OF(struct pattrs, host_fns) },
    SERVER_ROWS(struct pattrs, server),
};

static const struct sx_verb pattrs_verb = {
    .name = "pattrs",
    .try_begin = "pattrs",
    .try_end = "",
    .about = "usage: pattrs [options]\n\n"
             "Print which functions and attributes are supported: shmix query of\n"
             "PMIX_QUERY_ATTRIBUTE_SUPPORT, with other words.\n\n",
    .more = "\nexamples:\n  pattrs --client PMIx_Get,PMIx_Fence\n",
    .options = pattrs_rows,
    .option_count = SX_COUNT(pattrs_rows),
};

static void functions_add(struct words *words, const char *key, const char *functions)
{
    if (functions != NULL) {
        char *const qualifier = sx_cli_printf("%s=%s", key, functions);

        words_add_value(words, "--qualifier", qualifier);
        free(qualifier);
    }
}

static int pattrs(char **given)
{
    struct pattrs wish = { .client = NULL };
    struct words words = { .all = NULL };
    int code = sx_options_take(&pattrs_verb, &wish, NULL, &given);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    words_add(&words, "PMIX_QUERY_ATTRIBUTE_SUPPORT");
    functions_add(&words, "PMIX_CLIENT_ATTRIBUTES", wish.client);
    functions_add(&words, "PMIX_SERVER_ATTRIBUTES", wish.of_server);
    functions_add(&words, "PMIX_TOOL_ATTRIBUTES", wish.tool);
    functions_add(&words, "PMIX_HOST_ATTRIBUTES", wish.host);
    words_add_value(&words, "--qualifier", wish.client_fns ? "PMIX_CLIENT_FUNCTIONS" : NULL);
    words_add_value(&words, "--qualifier", wish.server_fns ? "PMIX_SERVER_FUNCTIONS" : NULL);
    words_add_value(&words, "--qualifier", wish.tool_fns ? "PMIX_TOOL_FUNCTIONS" : NULL);
    words_add_value(&words, "--qualifier", wish.host_fns ? "PMIX_HOST_FUNCTIONS" : NULL);
    if (words.count == 1) {
        code = sx_options_refuse(&pattrs_verb, NULL, "nothing is asked for, as --client-fns");
    } else {
        server_add(&words, &wish.server);
        code = sx_cli_query(words.all);
    }
    words_clear(&words);
    return code;
}

/* ---- pps ------------------------------------------------------------------------------------- */

struct pps {
    const char *pid;
    bool json;
};

static const struct sx_option pps_rows[] = {
    { "--pid", NULL, "PID", "4711", "the process id of a server",
      "processes of this server's jobs alone", sx_option_text, OF(struct pps, pid) },
    { "--nodes", "-n", NULL, NULL, NULL, "name their nodes, as is done in any case", NULL, 0,
      false },
    { "--parsable", "--parseable", NULL, NULL, NULL, "one JSON object a line", sx_option_flag,
      OF(struct pps, json) },
};

static const struct sx_verb pps_verb = {
    .name = "pps",
    .try_begin = "pps",
    .try_end = "",
    .about = "usage: pps [options]\n\n"
             "List the processes of running jobs: shmix ls procs, with other words. It reads the\n"
             "servers' memory and asks none of them.\n\n",
    .more = "\nexamples:\n  pps --pid 4711\n",
    .options = pps_rows,
    .option_count = SX_COUNT(pps_rows),
};

static int pps(char **given)
{
    struct pps wish = { .pid = NULL };
    struct words words = { .all = NULL };
    int code = sx_options_take(&pps_verb, &wish, NULL, &given);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    words_add(&words, "procs");
    if (wish.json) {
        words_add(&words, "--json");
    }
    if (wish.pid != NULL) {
        words_add(&words, wish.pid);
    }
    code = sx_cli_ls(words.all);
    words_clear(&words);
    return code;
}

/* ---- pctrl ----------------------------------------------------------------------------------- */

struct pctrl {
    struct server server;
    const char *targets, *id;
    const char *cancel, *signal, *restart, *checkpoint, *pset;
    bool pause, resume, kill, terminate;
};

static const struct sx_option pctrl_rows[] = {
    { .help = "what is done (one of these):" },
    { "--pause", NULL, NULL, NULL, NULL, "stop them", sx_option_flag, OF(struct pctrl, pause) },
    { "--resume", NULL, NULL, NULL, NULL, "let them go on", sx_option_flag,
      OF(struct pctrl, resume) },
    { "--kill", NULL, NULL, NULL, NULL, "kill them", sx_option_flag, OF(struct pctrl, kill) },
    { "--terminate", NULL, NULL, NULL, NULL, "end them by SIGTERM", sx_option_flag,
      OF(struct pctrl, terminate) },
    { "--signal", NULL, "SIGNAL", "SIGUSR1", "a signal, as SIGUSR1 or 10",
      "send them a signal, as SIGUSR1 or 10", sx_option_text, OF(struct pctrl, signal) },
    { "--cancel", NULL, "ID", "all", "the id of a request, or all", NULL, sx_option_text,
      OF(struct pctrl, cancel) },
    { "--restart", NULL, "ID", "c1", "the id of a checkpoint",
      "the host restarts them from this checkpoint", sx_option_text, OF(struct pctrl, restart) },
    { "--checkpoint", NULL, "ID", "c1", "an id for the checkpoint",
      "the host makes a checkpoint of them", sx_option_text, OF(struct pctrl, checkpoint) },
    { "--pset", NULL, "NAME", "ocean", "a name for the set", "make them a process set",
      sx_option_text, OF(struct pctrl, pset) },
    { .help = "to whom, and how:" },
    { "--targets", NULL, "NAMESPACE:RANK,...", "shmix-4711-a1b2c3:0",
      "processes of one job, as NAMESPACE:RANK or NAMESPACE:*", NULL, sx_option_text,
      OF(struct pctrl, targets) },
    { "--request-id", NULL, "ID", "backup", "an id", "the id of this request", sx_option_text,
      OF(struct pctrl, id) },
    SERVER_ROWS(struct pctrl, server),
};

static const struct sx_verb pctrl_verb = {
    .name = "pctrl",
    .try_begin = "pctrl --pause",
    .try_end = "",
    .about = "usage: pctrl [options] --targets NAMESPACE:RANK,...\n\n"
             "Act on processes of a running job: shmix ctl, with other words.\n\n",
    .more = "\nexamples:\n  pctrl --pause --targets 'shmix-4711-a1b2c3:*'\n",
    .options = pctrl_rows,
    .option_count = SX_COUNT(pctrl_rows),
};

/* Return: how many actions were given. */
static unsigned actions_add(struct words *words, const struct pctrl *wish)
{
    const struct {
        const char *action, *word;
        bool wished;
    } actions[] = {
        { "pause", NULL, wish->pause },
        { "resume", NULL, wish->resume },
        { "kill", NULL, wish->kill },
        { "term", NULL, wish->terminate },
        { "signal", wish->signal, wish->signal != NULL },
        { "cancel", wish->cancel, wish->cancel != NULL },
        { "restart", wish->restart, wish->restart != NULL },
        { "checkpoint", wish->checkpoint, wish->checkpoint != NULL },
        { "define-set", wish->pset, wish->pset != NULL },
    };
    unsigned count = 0;

    for (size_t i = 0; i < SX_COUNT(actions); i++) {
        const char *const word = actions[i].word;

        if (!actions[i].wished) {
            continue;
        }
        count++;
        words_add(words, actions[i].action);
        if (word != NULL && (actions[i].word != wish->cancel || strcmp(word, "all") != 0)) {
            words_add(words, word);
        }
    }
    return count;
}

/* Return: false when the targets are not of one job. */
static bool targets_add(struct words *words, const char *targets)
{
    char *const copy = sx_cli_strdup(targets), *rest = copy, *target;
    char *const ranks = sx_cli_calloc(strlen(targets) + 2, 1);
    const char *nspace = NULL;
    bool good = true, all = false;

    while (good && (target = strsep(&rest, ",")) != NULL) {
        char *const colon = strrchr(target, ':');

        good = colon != NULL && colon != target;
        if (good) {
            *colon = '\0';
            nspace = nspace != NULL ? nspace : target;
            good = strcmp(nspace, target) == 0;
            all = all || strcmp(colon + 1, "*") == 0;
            strcat(ranks, ranks[0] != '\0' ? "," : "");
            strcat(ranks, colon + 1);
        }
    }
    if (good) {
        words_add_value(words, "--nspace", nspace);
        words_add_value(words, "--rank", all ? NULL : ranks);
    }
    free(ranks);
    free(copy);
    return good;
}

static int pctrl(char **given)
{
    struct pctrl wish = { .targets = NULL };
    struct words words = { .all = NULL };
    int code = sx_options_take(&pctrl_verb, &wish, NULL, &given);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (actions_add(&words, &wish) != 1) {
        code = sx_options_refuse(&pctrl_verb, NULL, "one thing is done at a time, as --pause");
    } else if (wish.targets != NULL && !targets_add(&words, wish.targets)) {
        code = sx_options_refuse(&pctrl_verb, "--targets",
                                 "--targets wants processes of one job, as NAMESPACE:RANK or "
                                 "NAMESPACE:*, and got '%.80s'",
                                 wish.targets);
    } else {
        words_add_value(&words, "--id", wish.id);
        server_add(&words, &wish.server);
        code = sx_cli_ctl(words.all);
    }
    words_clear(&words);
    return code;
}

/* ---- pevent ---------------------------------------------------------------------------------- */

struct pevent {
    const char *event, *range, *pid;
};

static const struct sx_option pevent_rows[] = {
    { "EVENT", NULL, NULL, NULL, "a number, or the name of a status",
      "a number or the name of a status", sx_option_text, OF(struct pevent, event) },
    { "--range", NULL, "RANGE", "PMIX_RANGE_LOCAL", "the name of a range",
      "for whom it is, as PMIX_RANGE_LOCAL or local (global)", sx_option_text,
      OF(struct pevent, range) },
    { "--pid", NULL, "PID", "4711", "the process id of a server", "the server with this process id",
      sx_option_text, OF(struct pevent, pid) },
};

static const struct sx_verb pevent_verb = {
    .name = "pevent",
    .try_begin = "pevent",
    .try_end = " PMIX_ERR_JOB_TERMINATED",
    .about = "usage: pevent [options] EVENT\n\n"
             "Publish an event: shmix events inject, with other words.\n\n",
    .more = "\nexamples:\n  pevent --range PMIX_RANGE_LOCAL -3100\n",
    .options = pevent_rows,
    .option_count = SX_COUNT(pevent_rows),
};

/* "PMIX_RANGE_LOCAL", "PMIX_GLOBAL" or "global" as "local" and "global". */
static char *range_of(const char *range)
{
    static const char *const fronts[] = { "PMIX_RANGE_", "PMIX_" };
    char *name;

    for (size_t i = 0; i < SX_COUNT(fronts); i++) {
        range += strncasecmp(range, fronts[i], strlen(fronts[i])) == 0 ? strlen(fronts[i]) : 0;
    }
    name = sx_cli_strdup(range);
    for (char *at = name; *at != '\0'; at++) {
        *at = *at == '_' ? '-' : (char)tolower((unsigned char)*at);
    }
    return name;
}

static int pevent(char **given)
{
    struct pevent wish = { .range = "global" };
    struct words words = { .all = NULL };
    int code = sx_options_take(&pevent_verb, &wish, NULL, &given);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    char *const range = range_of(wish.range);

    words_add(&words, "inject");
    words_add(&words, wish.event);
    words_add_value(&words, "--range", range);
    if (wish.pid != NULL) {
        words_add(&words, wish.pid);
    }
    code = sx_cli_events(words.all);
    words_clear(&words);
    free(range);
    return code;
}

/* ---- names ----------------------------------------------------------------------------------- */

int (*sx_field_find(const char *path))(char **words)
{
    static const struct {
        const char *name;
        int (*fn)(char **words);
    } names[] = {
        { "pquery", pquery },    { "pattrs", pattrs },     { "pps", pps },
        { "pctrl", pctrl },      { "pevent", pevent },     { "pmix_info", sx_field_info },
        { "mpirun", sx_submit }, { "mpiexec", sx_submit },
    };
    const char *const slash = path != NULL ? strrchr(path, '/') : NULL;
    const char *const name = slash != NULL ? slash + 1 : path;

    for (size_t i = 0; name != NULL && i < SX_COUNT(names); i++) {
        if (strcmp(name, names[i].name) == 0) {
            return names[i].fn;
        }
    }
    return NULL;
}

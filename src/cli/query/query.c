/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query.c - one PMIx_Query_info with all keys.
 *
 *     words --> the library itself --no answer--> attach as a tool --> the server --> print
 *
 * The library answers some keys without a server (about its versions). */
#include "cli/query/query.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/call/directive_tables.h"
#include "base/util.h"
#include "base/value/names.h"
#include "cli/attach.h"
#include "cli/value.h"
#include "cli/verbs.h"
#include "launch/common/options.h"
#include "launch/common/say.h"

/* ---- qualifier ------------------------------------------------------------------------------- */

/* The types are those of the table of directives.  For other keys, as the host's, the
 * value suggests the type. */

const char *sx_query_key(const char *word)
{
    const char *const key = sx_attribute_string(word);

    if (key != NULL) {
        return key;
    }
    return word[0] != '\0' && strlen(word) <= PMIX_MAX_KEYLEN && strncmp(word, "PMIX_", 5) != 0
               ? word
               : NULL;
}

static enum sx_directive_kind kind_of(const char *key)
{
    const struct sx_directives *const table = &sx_directives_of[SX_OF_QUERY];

    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].key, key) == 0) {
            return (enum sx_directive_kind)table->rows[i].kind;
        }
    }
    return SX_DIRECTIVE_NOTHING;
}

static bool flag_load(pmix_info_t *ret, const char *key, const char *value)
{
    const bool flag = value == NULL || strcmp(value, "true") == 0;

    return (flag || strcmp(value, "false") == 0) &&
           PMIx_Info_load(ret, key, &flag, PMIX_BOOL) == PMIX_SUCCESS;
}

static bool number_load(pmix_info_t *ret, const char *key, const char *value)
{
    int64_t number;

    if (value == NULL || !sx_cli_number(value, 0, UINT32_MAX, &number)) {
        return false;
    }
    const uint32_t narrow = (uint32_t)number;

    return PMIx_Info_load(ret, key, &narrow, PMIX_UINT32) == PMIX_SUCCESS;
}

static bool text_load(pmix_info_t *ret, const char *key, const char *value)
{
    return value != NULL && value[0] != '\0' &&
           PMIx_Info_load(ret, key, value, PMIX_STRING) == PMIX_SUCCESS;
}

/* NAMESPACE.RANK, or NAMESPACE.* */
static bool proc_load(pmix_info_t *ret, const char *key, const char *value)
{
    const char *const dot = value == NULL ? NULL : strrchr(value, '.');
    int64_t rank = PMIX_RANK_WILDCARD;
    pmix_proc_t proc;

    if (dot == NULL || dot == value || dot - value > PMIX_MAX_NSLEN ||
        (strcmp(dot, ".*") != 0 && !sx_cli_number(dot + 1, 0, PMIX_RANK_VALID, &rank))) {
        return false;
    }
    memset(&proc, 0, sizeof(proc));
    memcpy(proc.nspace, value, (size_t)(dot - value));
    proc.rank = (pmix_rank_t)rank;
    return PMIx_Info_load(ret, key, &proc, PMIX_PROC) == PMIX_SUCCESS;
}

bool sx_query_qualifier(pmix_info_t *ret, const char *key, const char *value)
{
    const char *const string = sx_query_key(key);

    if (string == NULL) {
        return false;
    }
    switch (kind_of(string)) {
    case SX_DIRECTIVE_BOOL:
        return flag_load(ret, string, value);
    case SX_DIRECTIVE_NUMBER:
        return number_load(ret, string, value);
    case SX_DIRECTIVE_STRING:
        return text_load(ret, string, value);
    case SX_DIRECTIVE_PROCS:
        return proc_load(ret, string, value);
    default:
        return flag_load(ret, string, value) || number_load(ret, string, value) ||
               text_load(ret, string, value);
    }
}

#define SX_EXIT_PARTIAL 3 /* some keys have an answer, and others have none */

#define KEYS_MAX 256
#define QUALIFIERS_MAX 64

struct wish {
    struct sx_attach attach;
    pmix_info_t qualifiers[QUALIFIERS_MAX];
    size_t qualifier_count;
    const char *keys[KEYS_MAX + 1]; /* the keys as strings; ends with NULL */
    size_t key_count;
    bool list, json;
};

/* ---- options --------------------------------------------------------------------------------- */

static bool qualifier_add(struct wish *wish, const char *key, const char *value)
{
    return wish->qualifier_count < QUALIFIERS_MAX &&
           sx_query_qualifier(&wish->qualifiers[wish->qualifier_count], key, value) &&
           ++wish->qualifier_count > 0;
}

/* A query about a process set or a group is sent to the server that has it. */
static void target_note(struct sx_attach *attach, const char *key, const char *value)
{
    const char *const string = sx_query_key(key);

    if (value != NULL && string != NULL && strcmp(string, PMIX_PSET_NAME) == 0) {
        attach->set = value;
    } else if (value != NULL && string != NULL && strcmp(string, PMIX_GROUP_ID) == 0) {
        attach->group = value;
    }
}

static bool qualifier_set(void *at, const char *value)
{
    struct wish *const wish = at;
    const char *const is = strchr(value, '=');
    char *const key = sx_cli_printf("%.*s", (int)(is != NULL ? is - value : (long)strlen(value)),
                                    value);
    const bool taken = qualifier_add(wish, key, is != NULL ? is + 1 : NULL);

    if (taken) {
        target_note(&wish->attach, key, is != NULL ? is + 1 : NULL);
    }
    free(key);
    return taken;
}

static bool nspace_set(void *at, const char *value)
{
    struct wish *const wish = at;

    return sx_whose_nspace_set(&wish->attach.whose.nspace, value) &&
           qualifier_add(wish, PMIX_NSPACE, value);
}

static bool rank_set(void *at, const char *value)
{
    return qualifier_add(at, PMIX_RANK, value);
}

static const struct sx_option rows[] = {
    { "KEY...", NULL, NULL, NULL, NULL, "keys as PMIX_QUERY_NAMESPACES or pmix.qry.ns", NULL, 0,
      false },
    { .name = "[NAMESPACE | PID]",
      .help = "behind the keys: the name of a job, or the process id of a server" },
    { "--list", NULL, NULL, "--json", NULL, "the keys that are known there", sx_option_flag,
      offsetof(struct wish, list), false },
    { "--json", NULL, NULL, NULL, NULL, "one JSON object a line", sx_option_flag,
      offsetof(struct wish, json), false },
    { .help = "about whom:" },
    { "--nspace", NULL, "NAMESPACE", "shmix-4711-a1b2c3", "the namespace of a job",
      "the job with this namespace", nspace_set, 0, false },
    { "--rank", NULL, "N", "0", "the rank of a process", NULL, rank_set, 0, false },
    { "--qualifier", NULL, "KEY[=VALUE]", "PMIX_PSET_NAME=ocean",
      "a key and a value that suits it, true if there is none",
      "another qualifier of the question; a process is NAMESPACE.RANK", qualifier_set, 0, false },
    SX_ATTACH_ROWS(struct wish, attach),
    { .help = "and:" },
};

static const char about[] =
    "usage: shmix query KEY... [NAMESPACE | PID] [--rank N] [--qualifier KEY[=VALUE]] [--json]\n"
    "       shmix query --list [PID]\n"
    "\n"
    "Ask a server what it knows under each KEY, as a tool with PMIx_Query_info, and print the\n"
    "answers. Exits with 3 when some keys have no answer, with 1 when none has.\n"
    "\n";

static const char more[] = "\n"
                           "examples:\n"
                           "  shmix query PMIX_QUERY_NAMESPACES   of your only server\n"
                           "  shmix query PMIX_QUERY_PROC_TABLE shmix-4711-a1b2c3 --json\n"
                           "  shmix query PMIX_QUERY_PSET_MEMBERSHIP --qualifier "
                           "PMIX_PSET_NAME=ocean\n"
                           "  shmix query --list 4711\n";

const struct sx_verb sx_query_verb = {
    .name = "shmix query",
    .try_begin = "shmix query",
    .try_end = " PMIX_QUERY_NAMESPACES",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
};

static int key_take(struct wish *wish, const char *word)
{
    const char *const key = sx_query_key(word);

    if (wish->key_count == KEYS_MAX) {
        return sx_options_refuse(&sx_query_verb, NULL, "more than %d keys", KEYS_MAX);
    }
    if (key == NULL) {
        return sx_options_refuse(&sx_query_verb, NULL,
                                 "'%.80s' is no key; --list names those that a server knows", word);
    }
    wish->keys[wish->key_count++] = key;
    return SX_OPTIONS_TAKEN;
}

/* Whether @word names a job that runs, and is not a key of the Standard: a host may have keys of
 * any name. */
static bool is_job(const char *word)
{
    struct sx_whose_found found = { .count = 0 };

    if (sx_attribute_name(word) == NULL && sx_attribute_string(word) == NULL) {
        sx_whose_find(SX_WHOSE_JOB, word, &found);
    }
    return found.count > 0;
}

/* A number is a process, and the last word behind a key may be a job. */
static int word_take(struct wish *wish, const char *word, bool is_last)
{
    if (word[0] != '\0' && word[strspn(word, "0123456789")] == '\0') {
        return sx_whose_pid_set(&wish->attach.whose.pid, word)
                   ? SX_OPTIONS_TAKEN
                   : sx_options_refuse(&sx_query_verb, NULL, "'%.80s' is no process id", word);
    }
    if (is_last && (wish->key_count > 0 || wish->list) && is_job(word)) {
        return nspace_set(wish, word)
                   ? SX_OPTIONS_TAKEN
                   : sx_options_refuse(&sx_query_verb, NULL, "more than %d qualifiers",
                                       QUALIFIERS_MAX);
    }
    return key_take(wish, word);
}

static int words_take(struct wish *wish, char **words)
{
    int code = sx_options_take(&sx_query_verb, wish, NULL, &words);

    while (code == SX_OPTIONS_TAKEN && *words != NULL) {
        const char *const word = *words++;

        code = word_take(wish, word, *words == NULL || **words == '-');
        if (code == SX_OPTIONS_TAKEN) {
            code = sx_options_take(&sx_query_verb, wish, NULL, &words);
        }
    }
    if (code == SX_OPTIONS_TAKEN && wish->list != (wish->key_count == 0)) {
        return sx_options_refuse(&sx_query_verb, NULL,
                                 wish->list ? "--list asks for all keys: give no other"
                                            : "a KEY is missing: what is asked for");
    }
    return code;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void answer_print(const pmix_info_t *info, bool json)
{
    if (json) {
        printf("{");
        sx_cli_item_print(info->key, &info->value);
        printf("}\n");
    } else {
        sx_cli_key_print(info->key, false);
        putchar(' ');
        sx_cli_value_print(&info->value, false);
        putchar('\n');
    }
}

/* Print keys that are one text with commas. */
static void keys_print(const pmix_value_t *value, bool json)
{
    char *const copy = sx_cli_strdup(
        value->type == PMIX_STRING && value->data.string != NULL ? value->data.string : "");
    char *rest = copy;
    const char *key;

    while ((key = strsep(&rest, ",")) != NULL) {
        if (json) {
            printf("{\"key\":");
            sx_json_string(key, strlen(key));
            printf(",\"name\":");
            sx_cli_key_print(key, true);
            printf("}\n");
        } else {
            sx_cli_key_print(key, false);
            putchar('\n');
        }
    }
    free(copy);
}

static bool is_answered(const char *key, const pmix_info_t *info, size_t ninfo)
{
    size_t i = 0;

    while (i < ninfo && !PMIx_Check_key(info[i].key, key)) {
        i++;
    }
    return i < ninfo;
}

/* The advice for a key called @name; NULL: the Standard has no such name. */
static const char *remedy(const struct wish *wish, const char *name)
{
    if (name != NULL && strncmp(name, "PMIX_QUERY_", strlen("PMIX_QUERY_")) != 0) {
        return "; 'shmix get' prints what is stored";
    }
    for (size_t i = 0; i < wish->qualifier_count; i++) {
        if (PMIx_Check_key(wish->qualifiers[i].key, PMIX_NSPACE)) {
            return "";
        }
    }
    return wish->list     ? ""
           : name == NULL ? "; 'shmix query --list' names the keys"
                          : "; if it is about a job, give its name behind the key";
}

static int results_print(const struct wish *wish, pmix_status_t rc, const pmix_info_t *info,
                         size_t ninfo)
{
    for (size_t i = 0; i < ninfo; i++) {
        if (wish->list) {
            keys_print(&info[i].value, wish->json);
        } else {
            answer_print(&info[i], wish->json);
        }
    }
    const bool written = fflush(stdout) == 0;

    for (size_t i = 0; i < wish->key_count; i++) {
        if (!is_answered(wish->keys[i], info, ninfo)) {
            const char *const name = sx_attribute_name(wish->keys[i]);

            const bool is_unknown = rc == PMIX_ERR_NOT_FOUND || ninfo > 0;

            sx_say("no answer to %s%s%s%s", name != NULL ? name : wish->keys[i],
                   is_unknown ? "" : ": ", is_unknown ? "" : PMIx_Error_string(rc),
                   is_unknown ? remedy(wish, name) : "");
        }
    }
    return !written || ninfo == 0 ? SX_EXIT_FAILURE : rc == PMIX_SUCCESS ? 0 : SX_EXIT_PARTIAL;
}

static int ask(struct wish *wish)
{
    pmix_query_t query = { .keys = (char **)(uintptr_t)wish->keys,
                           .qualifiers = wish->qualifiers,
                           .nqual = wish->qualifier_count };
    pmix_info_t *info = NULL;
    size_t ninfo = 0;
    /* This call is made before attaching. */
    pmix_status_t rc = PMIx_Query_info(&query, 1, &info, &ninfo);
    const bool by_server = rc == PMIX_ERR_INIT;

    if (by_server) {
        const int code = sx_attach_begin(&wish->attach);

        if (code != 0) {
            return code;
        }
        rc = PMIx_Query_info(&query, 1, &info, &ninfo);
    }
    const int code = results_print(wish, rc, info, ninfo);

    if (info != NULL) {
        PMIX_INFO_FREE(info, ninfo);
    }
    if (by_server) {
        sx_attach_end();
    }
    return code;
}

int sx_cli_query(char **words)
{
    struct wish *const wish = sx_cli_calloc(1, sizeof(*wish));
    int code = words_take(wish, words);

    if (code == SX_OPTIONS_TAKEN) {
        if (wish->list) {
            wish->keys[wish->key_count++] = PMIX_QUERY_SUPPORTED_KEYS;
        }
        code = ask(wish);
    }
    for (size_t i = 0; i < wish->qualifier_count; i++) {
        PMIX_INFO_DESTRUCT(&wish->qualifiers[i]);
    }
    free(wish);
    return code;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* log.c - one call of PMIx_Log for the text, or for each line of stdin as it arrives.
 *
 * A line is logged whole or not at all; LINE_MAX_BYTES is the bound. */
#include "cli/verbs.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "base/util.h"
#include "base/value/value.h"
#include "cli/attach.h"
#include "launch/common/options.h"
#include "launch/common/say.h"

#define LINE_MAX_BYTES (960u * 1024u) /* the server's limit for one process, less a margin */
#define PRIORITY_NONE (-1)

enum channel { TO_STDOUT, TO_STDERR, TO_SYSLOG, TO_GLOBAL_SYSLOG, TO_RECORD, TO_STORE, CHANNELS };

static const char *const keys[CHANNELS] = {
    [TO_STDOUT] = PMIX_LOG_STDOUT,     [TO_STDERR] = PMIX_LOG_STDERR,
    [TO_SYSLOG] = PMIX_LOG_SYSLOG,     [TO_GLOBAL_SYSLOG] = PMIX_LOG_GLOBAL_SYSLOG,
    [TO_RECORD] = PMIX_LOG_JOB_RECORD, [TO_STORE] = PMIX_LOG_GLOBAL_DATASTORE,
};

struct wish {
    struct sx_attach attach;
    bool to[CHANNELS];
    const char *text; /* NULL: the lines of stdin */
    int64_t priority;
    bool once, tag, stamp, json;
};

struct call {
    pmix_info_t data[CHANNELS], directives[4];
    size_t ndata, ndirs;
};

/* ---- options --------------------------------------------------------------------------------- */

/* In the order of their numbers in syslog.h. */
static const char *const priorities[] = { "emerg",   "alert",  "crit", "err",
                                          "warning", "notice", "info", "debug" };

static bool priority_set(void *at, const char *value)
{
    for (size_t i = 0; i < SX_COUNT(priorities); i++) {
        if (strcmp(value, priorities[i]) == 0) {
            *(int64_t *)at = (int64_t)i;
            return true;
        }
    }
    return sx_cli_number(value, 0, SX_COUNT(priorities) - 1, at);
}

#define OF(member) offsetof(struct wish, member), false
#define FLAG(name, member, help)                                       \
    {                                                                  \
        name, NULL, NULL, NULL, NULL, help, sx_option_flag, OF(member) \
    }

static const struct sx_option rows[] = {
    { "[TEXT]", NULL, NULL, NULL, "a text", "what to log; without it, each line of stdin",
      sx_option_text, OF(text) },
    SX_WHOSE_WORD_ROW(struct wish, attach.whose),
    SX_WHOSE_NSPACE_ROW(struct wish, attach.whose),
    { .help = "where to (not said: --stderr):" },
    FLAG("--stdout", to[TO_STDOUT], "the stdout of the job's launcher"),
    FLAG("--stderr", to[TO_STDERR], "its stderr"),
    FLAG("--syslog", to[TO_SYSLOG], "the system log of the node"),
    FLAG("--global-syslog", to[TO_GLOBAL_SYSLOG], "the system log that is for all nodes"),
    FLAG("--record", to[TO_RECORD], "the record of jobs: for shmix run, the file of its --log"),
    FLAG("--datastore", to[TO_STORE], "the data store of the system: for shmix run, the same file"),
    FLAG("--once", once, "the first of these that works, and no other"),
    { .help = "how:" },
    { "--priority", NULL, "PRIORITY", "info",
      "emerg, alert, crit, err, warning, notice, info or debug, or a number from 0 to 7",
      "of a system log: emerg, alert, crit, err (the default), warning, notice, info or debug",
      priority_set, OF(priority) },
    FLAG("--tag", tag, "on a stream, say from whom it is"),
    FLAG("--timestamp", stamp, "on a stream, say when it was logged"),
    FLAG("--json", json, "print what became of it as one JSON object"),
    SX_ATTACH_ROWS(struct wish, attach),
};

static const char about[] =
    "usage: shmix log [options] [TEXT [NAMESPACE | PID]]\n"
    "\n"
    "Log TEXT, or each line of stdin as it comes, where processes of a running job log with\n"
    "PMIx_Log. Ends when it has been written. You must be the user of the server, or root.\n"
    "\n";

static const char more[] =
    "\n"
    "examples:\n"
    "  shmix log 'the third phase begins'     a line on the job's stderr\n"
    "  shmix log 'phase 3' shmix-4711-a1b2c3  the same, of several jobs this one\n"
    "  shmix log --record 'phase 3'           a line of JSON in the file of shmix run --log\n"
    "  tail -f app.log | shmix log --syslog --priority info\n"
    "\n"
    "Exit code: 0 when all of it has been logged; 1 when not; 2 for a wrong option.\n";

const struct sx_verb sx_log_verb = {
    .name = "shmix log",
    .try_begin = "shmix log",
    .try_end = " hello",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
};

/* ---- one call -------------------------------------------------------------------------------- */

static void flag_load(struct call *call, bool wanted, const char *key)
{
    const bool yes = true;

    if (wanted) {
        PMIx_Info_load(&call->directives[call->ndirs++], key, &yes, PMIX_BOOL);
    }
}

static pmix_status_t line_log(const struct wish *wish, const char *text)
{
    struct call call = { .ndata = 0 };

    for (int i = 0; i < CHANNELS; i++) {
        if (wish->to[i]) { /* a stream takes lines, and an empty text has none */
            const bool is_blank = text[0] == '\0' && (i == TO_STDOUT || i == TO_STDERR);

            PMIx_Info_load(&call.data[call.ndata++], keys[i], is_blank ? "\n" : text, PMIX_STRING);
        }
    }
    flag_load(&call, wish->once, PMIX_LOG_ONCE);
    flag_load(&call, wish->tag, PMIX_LOG_TAG_OUTPUT);
    flag_load(&call, wish->stamp, PMIX_LOG_TIMESTAMP_OUTPUT);
    if (wish->priority != PRIORITY_NONE) {
        const int priority = (int)wish->priority;

        PMIx_Info_load(&call.directives[call.ndirs++], PMIX_LOG_SYSLOG_PRI, &priority, PMIX_INT);
    }
    const pmix_status_t rc = PMIx_Log(call.data, call.ndata, call.directives, call.ndirs);

    sx_elements_destruct(call.data, call.ndata, PMIX_INFO);
    sx_elements_destruct(call.directives, call.ndirs, PMIX_INFO);
    return rc;
}

/* ---- the lines ------------------------------------------------------------------------------- */

static void refusal_say(const struct wish *wish, pmix_status_t rc, uint64_t lines)
{
    char *const where = wish->text != NULL ? sx_cli_strdup("")
                                           : sx_cli_printf("line %" PRIu64 ": ", lines + 1);

    switch (rc) {
    case PMIX_ERR_NOT_SUPPORTED:
        sx_say("%snobody takes what is logged there; %s", where,
               wish->to[TO_SYSLOG] || wish->to[TO_GLOBAL_SYSLOG]
                   ? "the job's node has no system log at /dev/log, or at SHMIX_SYSLOG of its "
                     "launcher"
                   : "'shmix run --log FILE' takes records");
        break;
    case PMIX_ERR_PARTIAL_SUCCESS:
        sx_say("%snot all of the places took it; each one by itself says which", where);
        break;
    case PMIX_ERR_LOST_CONNECTION:
        sx_say("%sthe server has ended", where);
        break;
    default:
        sx_say("%snot logged: %s", where, PMIx_Error_string(rc));
        break;
    }
    free(where);
}

static_assert(LINE_MAX_BYTES == 983040, "what is said below");

/* Read a line without its end.  Return: 1; 0 after the last line; -1 on an error, with a
 * message. */
static int line_read(char line[LINE_MAX_BYTES + 1], uint64_t lines)
{
    size_t len = 0;
    int c;

    while ((c = getc_unlocked(stdin)) != EOF && c != '\n') {
        if (c == '\0' || len == LINE_MAX_BYTES) {
            sx_say("line %" PRIu64 " %s", lines + 1,
                   c == '\0' ? "has a zero byte, and what is logged is text"
                             : "is longer than 983040 bytes; break it, as with fold");
            return -1;
        }
        line[len++] = (char)c;
    }
    line[len] = '\0';
    if (ferror(stdin)) {
        sx_say("cannot read stdin");
        return -1;
    }
    return c != EOF || len > 0;
}

/* Return: the status of the last call; *ret_lines: how many lines have been logged. */
static pmix_status_t stdin_log(const struct wish *wish, uint64_t *ret_lines)
{
    char *const line = sx_cli_calloc(1, LINE_MAX_BYTES + 1);
    pmix_status_t rc = PMIX_SUCCESS;
    int got = 0;

    while (rc == PMIX_SUCCESS && (got = line_read(line, *ret_lines)) == 1) {
        rc = line_log(wish, line);
        if (rc == PMIX_SUCCESS) {
            ++*ret_lines;
        } else {
            refusal_say(wish, rc, *ret_lines);
        }
    }
    free(line);
    return got < 0 ? PMIX_ERR_BAD_PARAM : rc;
}

static int log_all(const struct wish *wish)
{
    uint64_t lines = 0;
    pmix_status_t rc;

    if (wish->text == NULL) {
        rc = stdin_log(wish, &lines);
    } else {
        rc = line_log(wish, wish->text);
        lines = rc == PMIX_SUCCESS;
        if (rc != PMIX_SUCCESS) {
            refusal_say(wish, rc, 0);
        }
    }
    if (wish->json) {
        printf("{\"status\":\"%s\",\"logged\":%" PRIu64 "}\n", PMIx_Error_string(rc), lines);
    }
    return rc == PMIX_SUCCESS && fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

/* ---- the command ----------------------------------------------------------------------------- */

int sx_cli_log(char **words)
{
    struct wish wish = { .priority = PRIORITY_NONE, .attach = { .has_to_have = true } };
    int code = sx_options_take(&sx_log_verb, &wish, NULL, &words);
    bool anywhere = false;

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    for (int i = 0; i < CHANNELS; i++) {
        anywhere = anywhere || wish.to[i];
    }
    wish.to[TO_STDERR] = wish.to[TO_STDERR] || !anywhere;
    code = sx_attach_begin(&wish.attach);
    if (code == 0) {
        code = log_all(&wish);
        sx_attach_end();
    }
    return code;
}

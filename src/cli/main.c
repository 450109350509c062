/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* main.c - the command's verbs. */
#include <string.h>

#include "base/util.h"
#include "cli/bench/bench.h"
#include "cli/ctl/ctl.h"
#include "cli/events/events.h"
#include "cli/field/field.h"
#include "cli/get/get.h"
#include "cli/log/log.h"
#include "cli/ls/ls.h"
#include "cli/mem/mem.h"
#include "cli/options.h"
#include "cli/outside.h"
#include "cli/query/query.h"
#include "cli/run/run.h"
#include "cli/say.h"

static const struct sx_option rows[] = {
    { .help = "verbs:" },
    { .name = "run", .help = "start a job on this node" },
    { .name = "events", .help = "follow the events of a running job" },
    { .name = "ls", .help = "list servers, jobs, groups, and who is missing in which operation" },
    { .name = "get", .help = "print what is stored of running jobs, by key" },
    { .name = "query", .help = "ask a server what it knows of jobs, processes, and itself" },
    { .name = "ctl", .help = "act on running processes: pause, resume, signal or end them" },
    { .name = "log", .help = "log something where processes of a job log" },
    { .name = "mem", .help = "look into the shared memory of running jobs" },
    { .name = "bench", .help = "measure this library beside another, and draw a report" },
    { .help = "options ('shmix VERB --help' and 'shmix help VERB' explain those of a verb, with "
              "examples):" },
};

static const struct {
    const char *name;
    int (*fn)(char **words);
} verbs[] = {
    { "run", sx_cli_run }, { "events", sx_cli_events }, { "ls", sx_cli_ls },
    { "get", sx_cli_get }, { "query", sx_cli_query },   { "ctl", sx_cli_ctl },
    { "log", sx_cli_log }, { "mem", sx_cli_mem },       { "bench", sx_cli_bench },
};

/* All but the launcher only look at what servers have. */
static int verb_call(int (*fn)(char **words), char **words)
{
    if (fn != sx_cli_run) {
        sx_cli_outside_quiet();
    }
    return fn(words);
}

static const struct sx_verb command = {
    .name = "shmix",
    .try_begin = "shmix",
    .try_end = " --help",
    .about = "usage: shmix VERB [options]\n"
             "       shmix [options] PROGRAM ...   (an option in place of the verb: shmix run)\n\n"
             "shmix is a PMIx library for one node whose data lies in shared memory.\n",
    .more = "\ntry:\n  shmix run -n 2 hostname\n",
    .options = rows,
    .option_count = SX_COUNT(rows),
};

static int verb_run(const char *name, char **words)
{
    for (size_t i = 0; i < SX_COUNT(verbs); i++) {
        if (strcmp(name, verbs[i].name) == 0) {
            return verb_call(verbs[i].fn, words);
        }
    }
    return sx_options_refuse_unknown(&command, "verb", name, strlen(name));
}

int main(int argc, char **argv)
{
    static char help[] = "--help", version[] = "--version";
    char **words = argv + (argc > 0), *asked[] = { help, NULL };
    int (*const named)(char **words) = argc > 0 ? sx_field_find(argv[0]) : NULL;

    if (named != NULL) {
        return verb_call(named, words);
    }
    if (words[0] != NULL && words[0][0] == '-' && !sx_options_every_verb_has(words[0])) {
        return sx_cli_run(words);
    }
    if (words[0] != NULL && strcmp(words[0], "help") == 0 && words[1] != NULL) {
        return verb_run(words[1], asked);
    }
    if (words[0] != NULL && strcmp(words[0], "help") == 0) {
        words[0] = help;
    } else if (words[0] != NULL && strcmp(words[0], "version") == 0) {
        words[0] = version;
    }
    const int code = sx_options_take(&command, NULL, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (words[0] == NULL) {
        sx_options_help(&command);
        return SX_EXIT_USAGE;
    }
    return verb_run(words[0], words + 1);
}

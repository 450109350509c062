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
    { .help = "options ('shmix VERB --help' explains those of a verb, with examples):" },
};

static const struct {
    const char *name;
    int (*fn)(char **words);
} verbs[] = {
    { "run", sx_cli_run }, { "events", sx_cli_events }, { "ls", sx_cli_ls },
    { "get", sx_cli_get }, { "query", sx_cli_query },   { "ctl", sx_cli_ctl },
    { "log", sx_cli_log }, { "mem", sx_cli_mem },       { "bench", sx_cli_bench },
};

static const struct sx_verb command = {
    .name = "shmix",
    .try_begin = "shmix",
    .try_end = " --help",
    .about = "usage: shmix VERB [options]\n\n"
             "shmix is a PMIx library for one node whose data lies in shared memory.\n",
    .more = "\ntry:\n  shmix run -n 2 hostname\n",
    .options = rows,
    .option_count = SX_COUNT(rows),
};

int main(int argc, char **argv)
{
    char **words = argv + (argc > 0);
    int (*const named)(char **words) = argc > 0 ? sx_field_find(argv[0]) : NULL;

    if (named != NULL) {
        return named(words);
    }
    const int code = sx_options_take(&command, NULL, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (words[0] == NULL || strcmp(words[0], "help") == 0) {
        sx_options_help(&command);
        return words[0] == NULL ? SX_EXIT_USAGE : 0;
    }
    for (size_t i = 0; i < SX_COUNT(verbs); i++) {
        if (strcmp(words[0], verbs[i].name) == 0) {
            return verbs[i].fn(words + 1);
        }
    }
    return sx_options_refuse_unknown(&command, "verb", words[0], strlen(words[0]));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* main.c - the command's verbs. */
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "cli/events/events.h"
#include "cli/mem/mem.h"
#include "cli/run/help.h"
#include "cli/run/run.h"
#include "cli/run/words.h"
#include "cli/say.h"

static const struct verb {
    const char *name, *does;
    int (*fn)(int argc, char **argv);
} verbs[] = {
    { "run", "start a job on this node", sx_cli_run },
    { "events", "follow the events of a running job", sx_cli_events },
    { "mem", "look into the shared memory of running jobs", sx_cli_mem },
};

static int help(void)
{
    printf("usage: shmix VERB [options]\n\n"
           "shmix is a PMIx library for one node whose data lies in shared memory.\n\nverbs:\n");
    for (size_t i = 0; i < SX_COUNT(verbs); i++) {
        printf("  %-6s %s\n", verbs[i].name, verbs[i].does);
    }
    printf("\n  shmix VERB --help     what it does, with examples\n"
           "  shmix --version       the version\n\n"
           "try:\n  shmix run -n 2 hostname\n");
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

static int unknown(const char *word)
{
    const char *names[SX_COUNT(verbs)], *meant;

    for (size_t i = 0; i < SX_COUNT(verbs); i++) {
        names[i] = verbs[i].name;
    }
    meant = sx_run_suggest(word, names, SX_COUNT(names));
    sx_say_set_name("shmix");
    if (meant != NULL) {
        sx_say("there is no verb '%.80s'; did you mean 'shmix %s'?", word, meant);
    } else {
        sx_say("there is no verb '%.80s'; 'shmix --help' lists them", word);
    }
    return SX_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help();
        return SX_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        return help();
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        return sx_run_version();
    }
    for (size_t i = 0; i < SX_COUNT(verbs); i++) {
        if (strcmp(argv[1], verbs[i].name) == 0) {
            return verbs[i].fn(argc - 1, argv + 1);
        }
    }
    return unknown(argv[1]);
}

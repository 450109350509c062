/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ls.c - a table of the things that can be listed, each with a file of its own. */
#include "cli/ls/ls.h"

#include <stddef.h>
#include <string.h>

#include "cli/ls/clients.h"
#include "cli/ls/collectives.h"
#include "cli/ls/groups.h"
#include "cli/ls/jobs.h"
#include "cli/ls/procs.h"
#include "cli/ls/servers.h"
#include "cli/outside.h"
#include "cli/proc.h"
#include "cli/say.h"

static const struct {
    const char *name;
    int (*list)(const struct sx_ls_wish *wish);
    bool can_watch;
} things[] = {
    { "servers", sx_ls_servers, false },
    { "jobs", sx_ls_jobs, false },
    { "procs", sx_ls_procs, false },
    { "clients", sx_ls_clients, false },
    { "collectives", sx_ls_collectives, false },
    { "groups", sx_ls_groups, true },
    { "sets", sx_ls_sets, true },
};

#define OF(member) offsetof(struct sx_ls_wish, member), false

static const struct sx_option rows[] = {
    { .help = "things:" },
    { .name = "servers", .help = "servers: how many jobs and clients they have, and since when" },
    { .name = "jobs", .help = "jobs: how large they are, whose they are, and what they run" },
    { .name = "procs",
      .help = "processes of jobs: where they run, in which state, and how they have ended" },
    { .name = "clients",
      .help = "connected processes of servers: as what, who they are, and since when" },
    { .name = "collectives",
      .help = "fences, connects and the like that are open: who is missing, and since when" },
    { .name = "groups",
      .help = "connected namespaces, groups and process sets: who is in them, and since when" },
    { .name = "sets", .help = "process sets alone" },
    { .help = "whose, and how:" },
    { "THING", NULL, NULL, NULL, "what to list, as collectives", "one of these things",
      sx_option_text, OF(thing) },
    SX_WHOSE_WORD_ROW(struct sx_ls_wish, whose),
    SX_WHOSE_ROWS(struct sx_ls_wish, whose),
    { "--json", NULL, NULL, NULL, NULL, "one JSON object a line", sx_option_flag, OF(json) },
    { "--watch", NULL, NULL, NULL, NULL, "go on with a line for each change (of groups and sets)",
      sx_option_flag, OF(watch) },
};

static const char about[] =
    "usage: shmix ls THING [--json] [--watch] [NAMESPACE | PID]\n"
    "\n"
    "List what the servers of running jobs have: that of the job NAMESPACE, the server PID, or\n"
    "all that you may look into. Reads memory only, so a server that hangs or is stopped can be\n"
    "looked at.\n";

static const char more[] =
    "\n"
    "examples:\n"
    "  shmix ls jobs                   what runs on this node\n"
    "  shmix ls procs                  where each process of it is, and how it is\n"
    "  shmix ls collectives            who is missing in what is open\n"
    "  shmix ls collectives 4711       the same, of the server 4711\n"
    "  shmix ls collectives --json | jq .missing\n"
    "  shmix ls groups                 who is in which group\n"
    "  shmix ls groups --watch         and who joins and leaves from now on\n";

const struct sx_verb sx_ls_verb = {
    .name = "shmix ls",
    .try_begin = "shmix ls",
    .try_end = " groups",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
};

/* What could not be read matters when nothing is named. */
static int list(struct sx_ls_wish *wish, int (*fn)(const struct sx_ls_wish *wish))
{
    if (!sx_proc_check() || !sx_whose_server(&wish->whose, &wish->server)) {
        return SX_EXIT_FAILURE;
    }
    const int code = fn(wish);

    if (wish->whose.pid == 0 && wish->whose.nspace == NULL) {
        (void)sx_cli_outside_say(0);
    }
    return code;
}

int sx_cli_ls(char **words)
{
    struct sx_ls_wish wish = { .thing = NULL };
    const int code = sx_options_take(&sx_ls_verb, &wish, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    for (size_t i = 0; i < SX_COUNT(things); i++) {
        if (strcmp(wish.thing, things[i].name) == 0) {
            if (wish.watch && !things[i].can_watch) {
                return sx_options_refuse(&sx_ls_verb, NULL,
                                         "--watch is for groups and sets, not for %s", wish.thing);
            }
            return list(&wish, things[i].list);
        }
    }
    struct sx_verb verb = sx_ls_verb;

    verb.try_end = ""; /* what was meant stands where an option would */
    return sx_options_refuse_unknown(&verb, "thing", wish.thing, strlen(wish.thing));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* stack.c - the verb. */
#include "cli/stack/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/util.h"
#include "cli/verbs.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"

struct wish {
    const char *ranks, *tool; /* NULL: all ranks, any tool */
    uint64_t timeout_ns, within_ns;
    int64_t frames;
    bool json, servers;
};

static bool ranks_set(void *at, const char *value)
{
    *(const char **)at = value;
    return sx_stack_ranks_are(value);
}

static bool tool_set(void *at, const char *value)
{
    *(const char **)at = value;
    return strcmp(value, "gdb") == 0 || strcmp(value, "eu-stack") == 0;
}

static bool frames_set(void *at, const char *value)
{
    return sx_cli_number(value, 1, SX_STACK_FRAMES_MAX, at);
}

static bool timeout_set(void *at, const char *value)
{
    uint64_t *const timeout_ns = at;

    return sx_cli_seconds(at, value) && *timeout_ns > 0;
}

#define OF(member) offsetof(struct wish, member), false

static const struct sx_option rows[] = {
    { .name = "[JOB | JOB.RANKS | PID]...",
      .help = "a job, ranks of it (shmix-4711-a1b2c3.0-3,7), a process, or a server (all of its "
              "ranks); without one: all jobs that you may inspect" },
    { "--rank", NULL, "RANKS", "0-3,7", "ranks as 0-3,7", "only these ranks of each job", ranks_set,
      OF(ranks) },
    { "--servers", NULL, NULL, NULL, NULL, "the servers of the jobs as well", sx_option_flag,
      OF(servers) },
    { "--frames", NULL, "N", "64", "a number from 1 to 1000",
      "of each thread show the N innermost functions (64)", frames_set, OF(frames) },
    { "--timeout", NULL, "SECONDS", "5", "a number of seconds",
      "give up a process that has shown nothing after so long (10)", timeout_set, OF(timeout_ns) },
    { "--within", NULL, "SECONDS", "60", "a number of seconds",
      "look at no more processes after so long in all (60)", timeout_set, OF(within_ns) },
    { "--tool", NULL, "TOOL", "gdb", "gdb or eu-stack", "use this one (eu-stack if it is there)",
      tool_set, OF(tool) },
    { "--json", NULL, NULL, NULL, NULL, "one JSON object a line, for each group of equal stacks",
      sx_option_flag, OF(json) },
};

static const char about[] =
    "usage: shmix stack [--rank RANKS] [--json] [JOB | JOB.RANKS | PID]...\n"
    "\n"
    "Show in which functions the threads of ranks are. Threads of several ranks with the same\n"
    "stack are shown once. Each process is stopped for that moment; a tool does it, gdb or\n"
    "eu-stack, whichever is installed. No server is asked, so one that hangs may have the job.\n"
    "\n";

static const char more[] =
    "\n"
    "examples:\n"
    "  shmix stack                             all ranks of your jobs\n"
    "  shmix stack shmix-4711-a1b2c3           of this job\n"
    "  shmix stack shmix-4711-a1b2c3.0-3,7     of these ranks of it\n"
    "  shmix stack 4711 4712                   of these processes\n"
    "  shmix stack --json | jq -r 'select(.main) | .ranks'\n"
    "\n"
    "Exit code: 0 when all stacks were shown, 1 when one was not, or when there is no such job.\n";

static const struct sx_habit habits[] = {
    { "-p --pid", "is not needed: the process id is a word, 'shmix stack 4711'", false },
    { "-j", "--json", true },
    { "-r --ranks", "--rank", true },
    { "-n", "--frames", true },
    { "-t", "--timeout", true },
    { "--nspace --job", "is not needed: the job is a word, 'shmix stack shmix-4711-a1b2c3'",
      false },
    { NULL, NULL, false },
};

const struct sx_verb sx_stack_verb = {
    .name = "shmix stack",
    .try_begin = "shmix stack",
    .try_end = "",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
    .habits = habits,
};

/* ---- the command ----------------------------------------------------------------------------- */

static int show(const struct wish *wish, struct sx_stack_tool *tool, struct sx_stack_list *list)
{
    if (!sx_stack_tool_find(wish->tool, tool)) {
        return SX_EXIT_FAILURE;
    }
    tool->frames_max = (uint32_t)wish->frames;
    tool->limit_ns = wish->timeout_ns;
    tool->patience_ns = sx_deadline_ns(sx_now_ns(), SX_NS_PER_SEC);
    tool->deadline_ns = sx_deadline_ns(sx_now_ns(), wish->within_ns);
    sx_stack_tool_run(tool, list);
    const size_t problems = sx_stack_print(list, wish->json);

    if (list->left_out > 0) {
        sx_say("%zu more processes are left out, only %u are looked at: name ranks, as with "
               "--rank 0-%u",
               list->left_out, SX_STACK_PROCESSES_MAX, SX_STACK_PROCESSES_MAX - 1);
    }
    return fflush(stdout) == 0 && problems == 0 ? 0 : SX_EXIT_FAILURE;
}

static int of_list(const struct wish *wish, struct sx_stack_list *list)
{
    struct sx_stack_tool tool = { .path = NULL };

    if (list->count == 0) {
        if (!sx_cli_outside_say(0)) {
            sx_say("no rank of a job that you may inspect runs on this node");
        }
        return 0;
    }
    const int code = show(wish, &tool, list);

    free(tool.path);
    return code;
}

int sx_cli_stack(char **words)
{
    struct wish wish = { .timeout_ns = 10 * SX_NS_PER_SEC,
                         .within_ns = 60 * SX_NS_PER_SEC,
                         .frames = 64 };
    struct sx_stack_list list = { .count = 0 };
    char **named = words;
    size_t count = 0;
    int code = SX_OPTIONS_TAKEN;

    do { /* the words are moved to the front: options behind them count for all */
        code = sx_options_take(&sx_stack_verb, &wish, NULL, &words);
        if (code != SX_OPTIONS_TAKEN) {
            return code;
        }
        named[count] = *words;
    } while (*words != NULL && words++ != NULL && ++count > 0);
    if (!sx_proc_check()) {
        return SX_EXIT_FAILURE;
    }
    bool found = count > 0 || sx_stack_list_add(&list, NULL, wish.ranks, wish.servers);

    for (size_t i = 0; i < count; i++) {
        found = sx_stack_list_add(&list, named[i], wish.ranks, wish.servers) && found;
    }
    code = found || list.count > 0 ? of_list(&wish, &list) : SX_EXIT_FAILURE;
    sx_stack_list_free(&list);
    return found ? code : SX_EXIT_FAILURE;
}

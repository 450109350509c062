/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ls.c - a table of the things that can be listed, each with a file of its own. */
#include "cli/ls/ls.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/target.h"
#include "cli/verbs.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"

static const struct {
    const char *name;
    int (*list)(const struct sx_ls_wish *wish);
    bool follows; /* --watch prints each change by itself */
} things[] = {
    { "jobs", sx_ls_jobs, false },
    { "procs", sx_ls_procs, false },
    { "servers", sx_ls_servers, false },
    { "clients", sx_ls_clients, false },
    { "groups", sx_ls_groups, true },
    { "sets", sx_ls_sets, true },
    { "collectives", sx_ls_collectives, false },
};

static bool watch_set(void *at, const char *value)
{
    uint64_t *const watch_ns = at;

    *watch_ns = SX_NS_PER_SEC;
    return value == NULL || (sx_cli_seconds(at, value) && *watch_ns > 0);
}

static bool metrics_set(void *at, const char *value)
{
    struct sx_ls_wish *const wish = at;

    wish->metrics = true;
    wish->metrics_path = value;
    return value == NULL || value[0] != '\0';
}

static bool count_set(void *at, const char *value)
{
    return sx_cli_number(value, 1, INT64_MAX, at);
}

#define OF(member) offsetof(struct sx_ls_wish, member), false

static const struct sx_option rows[] = {
    { .help = "things:" },
    { .name = "jobs", .help = "jobs: whose they are, since when, how large, and what they run" },
    { .name = "procs",
      .help = "processes of jobs: where they run, in which state, what they use, how they ended" },
    { .name = "servers", .help = "servers: how many jobs and clients they have, and since when" },
    { .name = "clients",
      .help = "connected processes of servers: as what, who they are, and since when" },
    { .name = "collectives",
      .help = "fences, connects and the like that are open: who is missing, and since when" },
    { .name = "groups",
      .help = "connected namespaces, groups and process sets: who is in them, and since when" },
    { .name = "sets", .help = "process sets alone" },
    { .help = "whose, and how:" },
    { "[THING]", NULL, NULL, NULL, "what to list, as collectives", "one of these things (jobs)",
      sx_option_text, OF(thing) },
    SX_WHOSE_WORD_ROW(struct sx_ls_wish, whose),
    SX_WHOSE_ROWS(struct sx_ls_wish, whose),
    { "--json", NULL, NULL, NULL, NULL, "one JSON object a line", sx_option_flag, OF(json) },
    { "--metrics", NULL, "[FILE]", "--metrics", "the name of a file",
      "figures of all servers and jobs as OpenMetrics text, as Prometheus reads it; FILE is "
      "replaced "
      "when all is written",
      metrics_set, 0, false },
    { "--watch", NULL, "[SECONDS]", "--watch", "a number of seconds",
      "list again every second, or SECONDS, until the server or the job ends; of the groups and "
      "sets of one server: a line for each change",
      watch_set, OF(watch_ns) },
    { "--count", NULL, "N", "--watch --count 1", "a number from 1 on",
      "with --watch: end after N lists or changes", count_set, OF(count) },
    { "--timeout", NULL, "SECONDS", "--watch --timeout 10", "a number of seconds",
      "with --watch: end after this time", sx_cli_seconds, OF(timeout_ns) },
};

static const char about[] =
    "usage: shmix ls [THING] [--json] [--watch[=SECONDS]] [NAMESPACE | PID]\n"
    "\n"
    "List jobs, or what else the servers of running jobs have: that of the job NAMESPACE, the\n"
    "server PID, or all that you may inspect. Reads memory only, so a server that hangs or is\n"
    "stopped can be listed.\n";

static const char more[] =
    "\n"
    "examples:\n"
    "  shmix ls                        the jobs of this node\n"
    "  shmix ls procs                  where each process of them is, and how it is\n"
    "  shmix ls procs --watch=5 4711   the same of the server 4711, every five seconds\n"
    "  shmix ls collectives            who is missing in what is open\n"
    "  shmix ls collectives 4711       the same, of the server 4711\n"
    "  shmix ls collectives --json | jq .missing\n"
    "  shmix ls groups                 who is in which group\n"
    "  shmix ls groups --watch         and who joins and leaves from now on\n"
    "  shmix ls --metrics=/var/lib/prometheus/node-exporter/shmix.prom\n";

static const struct sx_habit habits[] = {
    { "processes ranks tasks", "are called procs here: 'shmix ls procs'", false },
    { "nodes hosts", "are not listed, as all is on this one: 'shmix ls procs' has their names",
      false },
    { "events", "are followed by 'shmix events'", false },
    { "segments memory mem", "is what 'shmix mem' lists", false },
    { "-j", "--json", true },
    { "-w", "--watch", true },
    { "-n", "--nspace", true },
    { "-p", "--pid", true },
    { "-o --format --output", "is --json here, or a table without it", false },
    { "-a --all -A -e -ef -l", "is not needed: all that you may inspect is listed", false },
    { NULL, NULL, false },
};

const struct sx_verb sx_ls_verb = {
    .name = "shmix ls",
    .try_begin = "shmix ls",
    .try_end = " groups",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
    .habits = habits,
};

/* ---- repeating ------------------------------------------------------------------------------- */

/* On a terminal replace the former list; else print behind it. */
static void page_begin(const struct sx_ls_wish *wish)
{
    if (isatty(STDOUT_FILENO)) {
        fputs("\033[H\033[2J", stdout);
    } else if (wish->again && !wish->json) {
        putchar('\n');
    }
}

static void sleep_until(uint64_t deadline_ns)
{
    const struct timespec until = { .tv_sec = (time_t)(deadline_ns / SX_NS_PER_SEC),
                                    .tv_nsec = (long)(deadline_ns % SX_NS_PER_SEC) };

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

/* List until the listed things end, or as often and as long as the options allow. */
static int watch(struct sx_ls_wish *wish, int (*fn)(const struct sx_ls_wish *wish))
{
    const uint64_t end_ns = wish->timeout_ns == 0 ? SX_DEADLINE_NEVER
                                                  : sx_deadline_ns(sx_now_ns(), wish->timeout_ns);

    wish->pages = true;
    for (int64_t looks = 1;; looks++) {
        const uint64_t next_ns = sx_deadline_ns(sx_now_ns(), wish->watch_ns);

        page_begin(wish);
        const int code = fn(wish);

        if (fflush(stdout) != 0) {
            return SX_EXIT_FAILURE;
        }
        if (code != 0) {
            return wish->again ? 0 : code; /* the listed things have ended, or never existed */
        }
        if (looks == wish->count) {
            return 0;
        }
        sleep_until(next_ns < end_ns ? next_ns : end_ns);
        if (next_ns >= end_ns) {
            return 0;
        }
        wish->again = true;
    }
}

/* Changes are followed for one server only. */
static bool is_one_server(const struct sx_ls_wish *wish)
{
    struct sx_cli_board found;

    sx_cli_board_find(wish->server, &found);
    sx_board_deinit(&found.board);
    return found.count <= 1;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Without a target, report segments that could not be read. */
static int list(struct sx_ls_wish *wish, size_t thing)
{
    int code = SX_EXIT_FAILURE;

    if (!sx_proc_check() || !sx_whose_server(&wish->whose, &wish->server)) {
        return SX_EXIT_FAILURE;
    }
    if (wish->watch_ns != 0 && (!things[thing].follows || !is_one_server(wish))) {
        code = watch(wish, things[thing].list);
    } else {
        code = things[thing].list(wish);
    }
    if (wish->whose.pid == 0 && wish->whose.nspace == NULL) {
        (void)sx_cli_outside_say(0);
    }
    return code;
}

static bool target_take(struct sx_ls_wish *wish)
{
    return wish->whose.pid == 0 && wish->whose.nspace == NULL &&
           sx_whose_set(&wish->whose, wish->thing);
}

/* A number, or a job, in the place of a thing is a target whose jobs are listed.  Names of things
 * have no digits, and namespaces usually have one. */
static bool is_target(struct sx_ls_wish *wish)
{
    struct sx_whose_found found = { .count = 0 };
    const bool has_digit = wish->thing[strcspn(wish->thing, "0123456789")] != '\0';

    if (!has_digit) {
        sx_whose_find(SX_WHOSE_JOB, wish->thing, &found);
    }
    return (has_digit || found.count > 0) && target_take(wish);
}

static int unknown_refuse(const struct sx_ls_wish *wish)
{
    struct sx_verb verb = sx_ls_verb;

    verb.try_end = ""; /* the target is in the place of an option */
    return sx_options_refuse_unknown(&verb, "thing or job", wish->thing, strlen(wish->thing));
}

static bool is_thing(const char *word)
{
    size_t i = 0;

    while (i < SX_COUNT(things) && strcmp(word, things[i].name) != 0) {
        i++;
    }
    return i < SX_COUNT(things);
}

static int metrics(struct sx_ls_wish *wish)
{
    struct sx_verb verb = sx_ls_verb;

    verb.try_end = ""; /* no thing follows it */
    if (wish->json || wish->watch_ns != 0) {
        return sx_options_refuse(&verb, "--metrics",
                                 "--metrics is a form of its own, of one look: leave %s out",
                                 wish->json ? "--json" : "--watch");
    }
    if (wish->thing != things[0].name && (is_thing(wish->thing) || !target_take(wish))) {
        return sx_options_refuse(&verb, "--metrics",
                                 "--metrics is of all things: leave '%.80s' out", wish->thing);
    }
    return !sx_proc_check() || !sx_whose_server(&wish->whose, &wish->server) ? SX_EXIT_FAILURE
                                                                             : sx_ls_metrics(wish);
}

int sx_cli_ls(char **words)
{
    struct sx_ls_wish wish = { .thing = things[0].name };
    const int code = sx_options_take(&sx_ls_verb, &wish, NULL, &words);

    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (wish.watch_ns == 0 && (wish.count != 0 || wish.timeout_ns != 0)) {
        return sx_options_refuse(&sx_ls_verb, "--watch", "--count and --timeout are for --watch");
    }
    if (wish.metrics) {
        return metrics(&wish);
    }
    for (size_t i = 0; i < SX_COUNT(things); i++) {
        if (strcmp(wish.thing, things[i].name) == 0) {
            return list(&wish, i);
        }
    }
    for (size_t i = 0; wish.whose.nspace != NULL && i < SX_COUNT(things); i++) {
        if (strcmp(wish.whose.nspace, things[i].name) == 0) { /* the thing follows the target */
            wish.whose.nspace = NULL;
            return is_target(&wish) ? list(&wish, i) : unknown_refuse(&wish);
        }
    }
    return is_target(&wish) ? list(&wish, 0) : unknown_refuse(&wish);
}

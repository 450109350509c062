/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* top.c - the verb: on a terminal the screen, else lines, JSON or OpenMetrics.
 *
 * The first sample has no rates, so that a list is made of the second one. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/target.h"
#include "cli/top/top.h"
#include "cli/verbs.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"

#define FIRST_PAUSE_NS (250 * SX_NS_PER_MS)

struct wish {
    struct sx_whose whose;
    uint64_t delay_ns;
    int64_t count;
    const char *view, *sort, *filter;
    bool once, json, metrics, reverse;
};

static bool count_set(void *at, const char *value)
{
    return sx_cli_number(value, 1, INT64_MAX, at);
}

static bool delay_set(void *at, const char *value)
{
    uint64_t *const delay_ns = at;

    return sx_cli_seconds(at, value) && *delay_ns >= 50 * SX_NS_PER_MS;
}

#define OF(member) offsetof(struct wish, member), false

static const struct sx_option rows[] = {
    SX_WHOSE_WORD_ROW(struct wish, whose),
    { "--delay", "-d", "SECONDS", "2", "a number of seconds, at least 0.05",
      "the time between two looks (2)", delay_set, OF(delay_ns) },
    { "--count", "-n", "N", "3", "a number from 1 on", "end after N looks", count_set, OF(count) },
    { "--once", NULL, NULL, NULL, NULL, "lines of one look, and no screen", sx_option_flag,
      OF(once) },
    { "--view", NULL, "VIEW", "jobs", "ranks, jobs, servers or users",
      "what is listed first: ranks, jobs, servers or users (ranks)", sx_option_text, OF(view) },
    { "--sort", "-o", "COLUMN", "RSS", "a heading of the view, as RSS",
      "sort by this column (%CPU)", sx_option_text, OF(sort) },
    { "--reverse", "-r", NULL, NULL, NULL, "the smallest, or the last name, first", sx_option_flag,
      OF(reverse) },
    { "--filter", NULL, "TEXT", "stopped", "a text",
      "only rows that contain TEXT, in letters of any case", sx_option_text, OF(filter) },
    { "--json", NULL, NULL, NULL, NULL, "one JSON object a line, for each row of every view",
      sx_option_flag, OF(json) },
    { "--metrics", NULL, NULL, NULL, NULL, "OpenMetrics text of one look", sx_option_flag,
      OF(metrics) },
    { .help = "whose:" },
    SX_WHOSE_ROWS(struct wish, whose),
};

static const char about[] =
    "usage: shmix top [-d SECONDS] [--once | --json | --metrics] [NAMESPACE | PID]\n"
    "\n"
    "Watch servers, jobs and ranks of this node: their CPU time and memory, what they send, who\n"
    "waits for whom. Reads memory and /proc only, so it costs no message, and a server that hangs\n"
    "can be watched. Where stdout is no terminal, each look is printed as lines.\n"
    "\n";

static const char more[] =
    "\n"
    "keys: q ends; 1 to 4, or Tab: ranks, jobs, servers, users; < > and R: the column that sorts,\n"
    "and its direction; P M T N: by CPU, memory, time, number; /: filter; Enter: more of the rank\n"
    "in the chosen line, which the arrow keys move; d: delay; h: help\n"
    "\n"
    "examples:\n"
    "  shmix top                                the screen\n"
    "  shmix top --once --view jobs             one list of jobs\n"
    "  shmix top --filter stopped -n 1          ranks that are stopped\n"
    "  shmix top --json | jq 'select(.view == \"servers\")'\n"
    "  shmix top --metrics > /var/lib/prometheus/node-exporter/shmix.prom\n";

static const struct sx_habit habits[] = {
    { "-b --batch", "--once", true },
    { "-p", "--pid", true },
    { "-s", "--delay", true },
    { "-u --user -U", "is --filter USER here, or --view users", false },
    { NULL, NULL, false },
};

const struct sx_verb sx_top_verb = {
    .name = "shmix top",
    .try_begin = "shmix top",
    .try_end = " --once",
    .about = about,
    .more = more,
    .options = rows,
    .option_count = SX_COUNT(rows),
    .habits = habits,
};

/* ---- lists ----------------------------------------------------------------------------------- */

static void row_json(const struct sx_top_table *table, const struct sx_top_row *row,
                     enum sx_top_view view)
{
    printf("{\"view\":\"%s\"", sx_top_view_names[view]);
    for (size_t i = 0; i < table->column_count; i++) {
        const struct sx_top_cell *const cell = &row->cells[i];

        printf(",\"%s\":", table->columns[i].field);
        if (cell->is_text) {
            sx_json_string(cell->text, strlen(cell->text));
        } else if (cell->number == floor(cell->number)) {
            printf("%.0f", cell->number);
        } else {
            printf("%.3f", cell->number);
        }
    }
    printf("}\n");
}

static void sample_json(const struct sx_top_sample *sample, const char *filter)
{
    for (int view = 0; view < SX_TOP_VIEWS; view++) {
        struct sx_top_order order = sx_top_order_first((enum sx_top_view)view);
        struct sx_top_table table;

        order.filter = filter;
        sx_top_table(sample, (enum sx_top_view)view, &order, &table);
        for (size_t i = 0; i < table.row_count; i++) {
            row_json(&table, &table.rows[i], (enum sx_top_view)view);
        }
        sx_top_table_free(&table);
    }
}

static void sample_lines(const struct sx_top_sample *sample, const struct sx_top_wish *wish)
{
    char head[SX_TOP_HEAD_MAX][SX_TOP_LINE_MAX], line[SX_TOP_LINE_MAX];
    const size_t count = sx_top_head(sample, head);
    struct sx_top_table table;

    for (size_t i = 0; i < count; i++) {
        puts(head[i]);
    }
    sx_top_table(sample, wish->view, &wish->order, &table);
    sx_top_line(&table, NULL, line, sizeof(line));
    printf("\n%s\n", line);
    for (size_t i = 0; i < table.row_count; i++) {
        sx_top_line(&table, &table.rows[i], line, sizeof(line));
        puts(line);
    }
    sx_top_table_free(&table);
}

static void sleep_for(uint64_t ns)
{
    struct timespec left = { .tv_sec = (time_t)(ns / SX_NS_PER_SEC),
                             .tv_nsec = (long)(ns % SX_NS_PER_SEC) };

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

/* Look again and again, until the server that was named is gone.  Return: the exit code. */
static int lists(const struct sx_top_wish *wish, bool json)
{
    struct sx_top_sample before, sample;
    int64_t looks = 0;

    sx_top_take(wish->server, wish->nspace, NULL, &before);
    sleep_for(wish->delay_ns < FIRST_PAUSE_NS ? wish->delay_ns : FIRST_PAUSE_NS);
    do {
        if (looks++ > 0) {
            sleep_for(wish->delay_ns);
        }
        sx_top_take(wish->server, wish->nspace, &before, &sample);
        if (wish->server != 0 && sample.server_count == 0) {
            break;
        }
        if (json) {
            sample_json(&sample, wish->order.filter);
        } else {
            fputs(looks > 1 ? "\n" : "", stdout);
            sample_lines(&sample, wish);
        }
        sx_top_free(&before);
        before = sample;
        sample = (struct sx_top_sample){ .servers = NULL };
    } while (fflush(stdout) == 0 && looks != wish->count);
    const bool was_there = looks > 1 || before.server_count > 0 || wish->server == 0;

    sx_top_free(&before);
    sx_top_free(&sample);
    if (!was_there) {
        sx_say("process %d is no server of shmix that you may inspect; 'shmix ls servers' lists "
               "those that run",
               (int)wish->server);
    }
    return was_there && !ferror(stdout) ? 0 : SX_EXIT_FAILURE;
}

static int metrics(const struct sx_top_wish *wish)
{
    struct sx_top_sample sample;

    sx_top_take(wish->server, wish->nspace, NULL, &sample);
    sx_top_metrics(&sample, stdout);
    sx_top_free(&sample);
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Return: SX_OPTIONS_TAKEN, or the exit code. */
static int view_take(const struct wish *wish, struct sx_top_wish *ret)
{
    while (wish->view != NULL && ret->view < SX_TOP_VIEWS &&
           strcasecmp(sx_top_view_names[ret->view], wish->view) != 0) {
        ret->view++;
    }
    if (ret->view == SX_TOP_VIEWS) {
        return sx_options_refuse(&sx_top_verb, "--view",
                                 "--view does not take '%.40s': it wants ranks, jobs, servers or "
                                 "users",
                                 wish->view);
    }
    ret->order = sx_top_order_first(ret->view);
    if (wish->sort != NULL) {
        ret->order.column = sx_top_column_find(ret->view, wish->sort);
        if (ret->order.column == sx_top_column_find(ret->view, "")) {
            return sx_options_refuse(&sx_top_verb, "--sort",
                                     "--sort does not take '%.40s': it wants a heading of the view "
                                     "of %s",
                                     wish->sort, sx_top_view_names[ret->view]);
        }
    }
    ret->order.up = wish->reverse;
    ret->order.filter = wish->filter;
    return SX_OPTIONS_TAKEN;
}

int sx_cli_top(char **words)
{
    struct wish wish = { .delay_ns = 2 * SX_NS_PER_SEC };
    struct sx_top_wish shown = { .server = 0 };
    int code = sx_options_take(&sx_top_verb, &wish, NULL, &words);

    if (code == SX_OPTIONS_TAKEN && wish.json && wish.metrics) {
        code = sx_options_refuse(&sx_top_verb, "--json",
                                 "--json and --metrics are two forms: give one of them");
    }
    if (code == SX_OPTIONS_TAKEN) {
        code = view_take(&wish, &shown);
    }
    if (code != SX_OPTIONS_TAKEN) {
        return code;
    }
    if (!sx_proc_check() || !sx_whose_server(&wish.whose, &shown.server)) {
        return SX_EXIT_FAILURE;
    }
    shown.nspace = wish.whose.nspace;
    shown.delay_ns = wish.delay_ns;
    shown.count = wish.once && wish.count == 0 ? 1 : wish.count;
    if (wish.metrics) {
        return metrics(&shown);
    }
    if (!wish.once && !wish.json && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO)) {
        code = sx_top_screen(&shown);
        if (code >= 0) {
            return code;
        }
    }
    return lists(&shown, wish.json);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* table.c - a sample as rows of text and numbers, sorted and filtered; and as lines.
 *
 * A view is a row of the table of views: its columns, and the function that makes its rows. */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "base/message/payloads.h"
#include "base/util.h"
#include "cli/top/top.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "ring/lane.h"

const char *const sx_top_view_names[SX_TOP_VIEWS] = { "ranks", "jobs", "servers", "users" };

/* ---- cells ----------------------------------------------------------------------------------- */

/* Names are other processes': what is not printable becomes a question mark. */
static void text_set(struct sx_top_cell *cell, const char *text)
{
    size_t i = 0;

    for (; text[i] != '\0' && i < SX_TOP_TEXT_MAX - 1; i++) {
        cell->text[i] = (char)(text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?');
    }
    cell->text[i] = '\0';
    cell->is_text = true;
}

static void count_set(struct sx_top_cell *cell, uint64_t count)
{
    cell->number = (double)count;
    snprintf(cell->text, sizeof(cell->text), "%" PRIu64, count);
}

/* A rate or a share, with a decimal where that says something. */
static void number_set(struct sx_top_cell *cell, double number)
{
    cell->number = number;
    snprintf(cell->text, sizeof(cell->text), number != 0 && number < 100 ? "%.1f" : "%.0f", number);
}

static void bytes_set(struct sx_top_cell *cell, double bytes)
{
    char text[SX_LS_FIGURE_MAX];

    cell->number = bytes;
    snprintf(cell->text, sizeof(cell->text), "%s", sx_ls_bytes_text((uint64_t)bytes, text));
}

static void time_set(struct sx_top_cell *cell, uint64_t ns)
{
    char text[SX_LS_FIGURE_MAX];

    cell->number = (double)ns;
    snprintf(cell->text, sizeof(cell->text), "%s", sx_ls_time_text(ns, text));
}

static void user_set(struct sx_top_cell *cell, uid_t uid)
{
    char text[SX_LS_FIGURE_MAX];

    text_set(cell, sx_ls_user_text(uid, text));
}

/* ---- ranks ----------------------------------------------------------------------------------- */

enum { R_PID, R_USER, R_RANK, R_STATE, R_CPU, R_TIME, R_RSS, R_OUT, R_FILL, R_SERVER, R_JOB };

static const struct sx_top_column of_ranks[] = {
    [R_PID] = { "PID", "pid", 8 },
    [R_USER] = { "USER", "user", -9 },
    [R_RANK] = { "RANK", "rank", 7 },
    [R_STATE] = { "STATE", "state", -8 },
    [R_CPU] = { "%CPU", "cpu_percent", 6 },
    [R_TIME] = { "TIME", "cpu_ns", 8 },
    [R_RSS] = { "RSS", "rss_bytes", 8 },
    [R_OUT] = { "OUT/s", "out_bytes_per_s", 8 },
    [R_FILL] = { "LANE%", "lane_percent", 5 },
    [R_SERVER] = { "SERVER", "server", 8 },
    [R_JOB] = { "JOB", "nspace", 0 },
};

static void rank_fill(const struct sx_top_sample *sample, size_t i, struct sx_top_cell *cells)
{
    const struct sx_top_rank *const rank = &sample->ranks[i];

    count_set(&cells[R_PID], (uint64_t)rank->process.pid);
    user_set(&cells[R_USER], rank->process.uid);
    count_set(&cells[R_RANK], rank->rank);
    text_set(&cells[R_STATE], rank->process.state);
    number_set(&cells[R_CPU], rank->process.cpu * 100);
    time_set(&cells[R_TIME], rank->process.cpu_ns);
    bytes_set(&cells[R_RSS], (double)rank->process.rss_bytes);
    bytes_set(&cells[R_OUT], rank->lane_per_s);
    number_set(&cells[R_FILL], (double)rank->lane_used * 100 / SX_LANE_BYTES);
    count_set(&cells[R_SERVER], (uint64_t)rank->server);
    text_set(&cells[R_JOB], sample->jobs[rank->job].name);
}

static size_t ranks_count(const struct sx_top_sample *sample)
{
    return sample->rank_count;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

enum {
    J_SERVER,
    J_USER,
    J_SIZE,
    J_RUN,
    J_STOP,
    J_CPU,
    J_RSS,
    J_STORED,
    J_COLLECTIVES,
    J_EVENTS,
    J_HELD,
    J_JOB
};

static const struct sx_top_column of_jobs[] = {
    [J_SERVER] = { "SERVER", "server", 8 },
    [J_USER] = { "USER", "user", -9 },
    [J_SIZE] = { "SIZE", "size", 6 },
    [J_RUN] = { "RUN", "running", 6 },
    [J_STOP] = { "STOP", "stopped", 5 },
    [J_CPU] = { "%CPU", "cpu_percent", 7 },
    [J_RSS] = { "RSS", "rss_bytes", 8 },
    [J_STORED] = { "STORED", "stored_bytes", 8 },
    [J_COLLECTIVES] = { "COLL/s", "collectives_per_s", 8 },
    [J_EVENTS] = { "EVENT/s", "events_per_s", 8 },
    [J_HELD] = { "HELD", "events_held", 6 },
    [J_JOB] = { "JOB", "nspace", 0 },
};

static void job_fill(const struct sx_top_sample *sample, size_t i, struct sx_top_cell *cells)
{
    const struct sx_top_job *const job = &sample->jobs[i];

    count_set(&cells[J_SERVER], (uint64_t)job->server);
    user_set(&cells[J_USER], job->uid);
    count_set(&cells[J_SIZE], job->size);
    count_set(&cells[J_RUN], job->running);
    count_set(&cells[J_STOP], job->stopped);
    number_set(&cells[J_CPU], job->cpu * 100);
    bytes_set(&cells[J_RSS], (double)job->rss_bytes);
    bytes_set(&cells[J_STORED], (double)job->stored_bytes);
    number_set(&cells[J_COLLECTIVES], job->collectives_per_s);
    number_set(&cells[J_EVENTS], job->events_per_s);
    count_set(&cells[J_HELD], job->events_held);
    text_set(&cells[J_JOB], job->name);
}

static size_t jobs_count(const struct sx_top_sample *sample)
{
    return sample->job_count;
}

/* ---- servers --------------------------------------------------------------------------------- */

enum {
    S_PID,
    S_USER,
    S_STATE,
    S_LOOP,
    S_CPU,
    S_RSS,
    S_JOBS,
    S_CLIENTS,
    S_STORED,
    S_LANES,
    S_TURN,
    S_NAME
};

static const struct sx_top_column of_servers[] = {
    [S_PID] = { "PID", "pid", 8 },
    [S_USER] = { "USER", "user", -9 },
    [S_STATE] = { "STATE", "state", -8 },
    [S_LOOP] = { "LOOP", "loop", -6 },
    [S_CPU] = { "%CPU", "cpu_percent", 6 },
    [S_RSS] = { "RSS", "rss_bytes", 8 },
    [S_JOBS] = { "JOBS", "jobs", 5 },
    [S_CLIENTS] = { "CLIENTS", "clients", 7 },
    [S_STORED] = { "STORED", "stored_bytes", 8 },
    [S_LANES] = { "LANES", "lanes_bytes", 8 },
    [S_TURN] = { "TURN", "turn_units_max", 8 },
    [S_NAME] = { "NAME", "name", 0 },
};

static void server_fill(const struct sx_top_sample *sample, size_t i, struct sx_top_cell *cells)
{
    const struct sx_top_server *const server = &sample->servers[i];

    count_set(&cells[S_PID], (uint64_t)server->process.pid);
    user_set(&cells[S_USER], server->process.uid);
    text_set(&cells[S_STATE], server->process.state);
    text_set(&cells[S_LOOP], server->sleeps ? "waits" : "works");
    number_set(&cells[S_CPU], server->process.cpu * 100);
    bytes_set(&cells[S_RSS], (double)server->process.rss_bytes);
    count_set(&cells[S_JOBS], server->jobs);
    count_set(&cells[S_CLIENTS], server->clients);
    bytes_set(&cells[S_STORED], (double)server->used_bytes[SX_TOP_STORES]);
    bytes_set(&cells[S_LANES], (double)server->used_bytes[SX_TOP_LANES]);
    count_set(&cells[S_TURN], server->turn_units_max);
    text_set(&cells[S_NAME], server->name);
}

static size_t servers_count(const struct sx_top_sample *sample)
{
    return sample->server_count;
}

/* ---- users ----------------------------------------------------------------------------------- */

enum { U_USER, U_JOBS, U_RANKS, U_STOP, U_CPU, U_RSS, U_STORED };

static const struct sx_top_column of_users[] = {
    [U_USER] = { "USER", "user", -16 },           [U_JOBS] = { "JOBS", "jobs", 6 },
    [U_RANKS] = { "RANKS", "ranks", 8 },          [U_STOP] = { "STOP", "stopped", 6 },
    [U_CPU] = { "%CPU", "cpu_percent", 8 },       [U_RSS] = { "RSS", "rss_bytes", 9 },
    [U_STORED] = { "STORED", "stored_bytes", 9 },
};

/* The job at @i, if it is the first of its user: users are counted by their first jobs. */
static bool is_first_of_user(const struct sx_top_sample *sample, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (sample->jobs[j].uid == sample->jobs[i].uid) {
            return false;
        }
    }
    return true;
}

static size_t users_count(const struct sx_top_sample *sample)
{
    size_t count = 0;

    for (size_t i = 0; i < sample->job_count; i++) {
        count += is_first_of_user(sample, i);
    }
    return count;
}

static void user_fill(const struct sx_top_sample *sample, size_t nth, struct sx_top_cell *cells)
{
    struct sx_top_job all = { .size = 0 };
    size_t first = 0, jobs = 0;

    while (!is_first_of_user(sample, first) || nth-- > 0) {
        first++;
    }
    for (size_t i = first; i < sample->job_count; i++) {
        const struct sx_top_job *const job = &sample->jobs[i];

        if (job->uid == sample->jobs[first].uid) {
            jobs++;
            all.running += job->running;
            all.stopped += job->stopped;
            all.cpu += job->cpu;
            all.rss_bytes += job->rss_bytes;
            all.stored_bytes += job->stored_bytes;
        }
    }
    user_set(&cells[U_USER], sample->jobs[first].uid);
    count_set(&cells[U_JOBS], jobs);
    count_set(&cells[U_RANKS], all.running + all.stopped);
    count_set(&cells[U_STOP], all.stopped);
    number_set(&cells[U_CPU], all.cpu * 100);
    bytes_set(&cells[U_RSS], (double)all.rss_bytes);
    bytes_set(&cells[U_STORED], (double)all.stored_bytes);
}

/* ---- views ----------------------------------------------------------------------------------- */

static const struct {
    const struct sx_top_column *columns;
    size_t column_count, first; /* the column by which it is sorted first, the largest on top */
    size_t (*count)(const struct sx_top_sample *sample);
    void (*fill)(const struct sx_top_sample *sample, size_t index, struct sx_top_cell *cells);
} views[SX_TOP_VIEWS] = {
    [SX_TOP_RANKS] = { of_ranks, SX_COUNT(of_ranks), R_CPU, ranks_count, rank_fill },
    [SX_TOP_JOBS] = { of_jobs, SX_COUNT(of_jobs), J_CPU, jobs_count, job_fill },
    [SX_TOP_SERVERS] = { of_servers, SX_COUNT(of_servers), S_CPU, servers_count, server_fill },
    [SX_TOP_USERS] = { of_users, SX_COUNT(of_users), U_CPU, users_count, user_fill },
};
static_assert(SX_COUNT(of_ranks) <= SX_TOP_COLUMNS_MAX && SX_COUNT(of_jobs) <= SX_TOP_COLUMNS_MAX &&
                  SX_COUNT(of_servers) <= SX_TOP_COLUMNS_MAX,
              "a row has room");

size_t sx_top_column_find(enum sx_top_view view, const char *name)
{
    size_t i = 0;

    while (i < views[view].column_count && strcasecmp(views[view].columns[i].heading, name) != 0 &&
           strcasecmp(views[view].columns[i].field, name) != 0) {
        i++;
    }
    return i;
}

struct sx_top_order sx_top_order_first(enum sx_top_view view)
{
    return (struct sx_top_order){ .column = views[view].first };
}

static bool is_shown(const struct sx_top_row *row, size_t columns, const char *filter)
{
    bool shown = filter == NULL || filter[0] == '\0';

    for (size_t i = 0; !shown && i < columns; i++) {
        shown = strcasestr(row->cells[i].text, filter) != NULL;
    }
    return shown;
}

/* For qsort, which gives its comparison no argument of its own. */
static const struct sx_top_order *sorted_by;

static int row_order(const void *left, const void *right)
{
    const struct sx_top_row *const one = left, *const other = right;
    const struct sx_top_cell *const a = &one->cells[sorted_by->column];
    const struct sx_top_cell *const b = &other->cells[sorted_by->column];
    int order = a->is_text ? strcmp(a->text, b->text)
                           : (a->number > b->number) - (a->number < b->number);

    if (a->is_text == sorted_by->up) { /* names begin with A, figures with the largest */
        order = -order;
    }
    return order != 0 ? order : (one->index > other->index) - (one->index < other->index);
}

void sx_top_table(const struct sx_top_sample *sample, enum sx_top_view view,
                  const struct sx_top_order *order, struct sx_top_table *ret)
{
    const size_t count = views[view].count(sample);

    *ret = (struct sx_top_table){
        .columns = views[view].columns,
        .column_count = views[view].column_count,
        .rows = sx_cli_calloc(count + 1, sizeof(ret->rows[0])),
    };
    for (size_t i = 0; i < count; i++) {
        struct sx_top_row *const row = &ret->rows[ret->row_count];

        *row = (struct sx_top_row){ .index = i };
        views[view].fill(sample, i, row->cells);
        ret->row_count += is_shown(row, ret->column_count, order->filter);
    }
    sorted_by = order;
    if (ret->row_count > 1) {
        qsort(ret->rows, ret->row_count, sizeof(ret->rows[0]), row_order);
    }
}

void sx_top_table_free(struct sx_top_table *table)
{
    free(table->rows);
    *table = (struct sx_top_table){ .rows = NULL };
}

/* ---- lines ----------------------------------------------------------------------------------- */

void sx_top_line(const struct sx_top_table *table, const struct sx_top_row *row, char *ret,
                 size_t size)
{
    size_t used = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < table->column_count && used < size; i++) {
        const char *const text = row != NULL ? row->cells[i].text : table->columns[i].heading;

        used += (size_t)snprintf(ret + used, size - used, "%s%*s", i > 0 ? " " : "",
                                 table->columns[i].width, text);
    }
}

static void line_add(char lines[][SX_TOP_LINE_MAX], size_t *count, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void line_add(char lines[][SX_TOP_LINE_MAX], size_t *count, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(lines[*count], SX_TOP_LINE_MAX, fmt, args);
    va_end(args);
    for (char *at = lines[*count]; *at != '\0'; at++) {
        *at = (char)(*at >= 0x20 && *at < 0x7f ? *at : '?');
    }
    (*count)++;
}

static void op_line(const struct sx_top_op *row, char lines[][SX_TOP_LINE_MAX], size_t *count)
{
    const struct sx_open_op *const op = &row->op;
    const char *const name = sx_collective_name(op->kind);
    const uint64_t now_ns = sx_now_ns();
    const double open_s = now_ns > op->since_ns
                              ? (double)(now_ns - op->since_ns) / (double)SX_NS_PER_SEC
                              : 0;
    const struct sx_open_missing *const missing = &op->missing[0];
    const char *const how = op->missing_listed == 0 ? NULL
                            : missing->presence == SX_OPEN_CONNECTED
                                ? sx_proc_state_name((pid_t)missing->pid)
                            : missing->presence == SX_OPEN_LEFT ? "has left"
                                                                : "has not called PMIx_Init";

    if (op->missing_listed == 0) {
        line_add(lines, count, "%s of server %d: %u of %u, %.1f s, %s",
                 name != NULL ? name : "operation", (int)row->server, op->arrived, op->expected,
                 open_s,
                 (op->flags & SX_OPEN_WITH_HOST) != 0 ? "the host has not answered"
                                                      : "all are here");
    } else {
        line_add(lines, count, "%s of server %d: %u of %u, %.1f s, missing %.100s.%u%s%s%s",
                 name != NULL ? name : "operation", (int)row->server, op->arrived, op->expected,
                 open_s, op->text + missing->nspace_off, missing->rank, how != NULL ? " (" : "",
                 how != NULL ? how : "", how != NULL ? ")" : "");
    }
}

size_t sx_top_head(const struct sx_top_sample *sample, char ret[SX_TOP_HEAD_MAX][SX_TOP_LINE_MAX])
{
    uint64_t bytes[SX_TOP_SEGMENTS] = { 0 };
    size_t count = 0, running = 0, stopped = 0, used = 0;
    char text[SX_TOP_SEGMENTS][SX_LS_FIGURE_MAX], clock[16] = "";
    const time_t now = time(NULL);
    struct tm parts;

    if (localtime_r(&now, &parts) != NULL) {
        (void)strftime(clock, sizeof(clock), "%H:%M:%S", &parts);
    }
    for (size_t i = 0; i < sample->job_count; i++) {
        running += sample->jobs[i].running;
        stopped += sample->jobs[i].stopped;
    }
    line_add(ret, &count,
             "shmix top - %s, %zu servers, %zu jobs, %zu ranks here: %zu run, %zu "
             "stopped%s",
             clock, sample->server_count, sample->job_count, sample->rank_count, running, stopped,
             sample->denied ? " (root sees all users' jobs)" : "");
    for (size_t i = 0; i < sample->server_count; i++) {
        for (size_t j = 0; j < SX_TOP_SEGMENTS; j++) {
            bytes[j] += sample->servers[i].used_bytes[j];
        }
    }
    char line[SX_TOP_LINE_MAX] = "memory:";

    used = strlen(line);
    for (size_t j = 0; j < SX_TOP_SEGMENTS; j++) {
        used += (size_t)snprintf(line + used, sizeof(line) - used, "%s %s %s", j > 0 ? "," : "",
                                 sx_top_segment_names[j], sx_ls_bytes_text(bytes[j], text[j]));
    }
    line_add(ret, &count, "%s", line);
    for (size_t i = 0; i < sample->op_count && i < SX_TOP_HEAD_OPS; i++) {
        op_line(&sample->ops[i], ret, &count);
    }
    if (sample->op_count > SX_TOP_HEAD_OPS) {
        line_add(ret, &count, "and %" PRIu64 " more open operations: shmix ls collectives",
                 sample->op_count - SX_TOP_HEAD_OPS + sample->op_hidden);
    }
    return count;
}

/* ---- one rank -------------------------------------------------------------------------------- */

/* The field @name of /proc/PID/@file, with its unit.  Return: false when it is not there. */
static bool field_read(pid_t pid, const char *file, const char *name, char ret[SX_TOP_TEXT_MAX])
{
    char path[48], line[256];
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
    FILE *const opened = fopen(path, "re");

    while (opened != NULL && !found && fgets(line, sizeof(line), opened) != NULL) {
        const size_t len = strlen(name);

        if (strncmp(line, name, len) == 0 && line[len] == ':') {
            const char *at = line + len + 1;

            at += strspn(at, " \t");
            snprintf(ret, SX_TOP_TEXT_MAX, "%.*s", (int)strcspn(at, "\n"), at);
            found = true;
        }
    }
    if (opened != NULL) {
        fclose(opened);
    }
    return found;
}

size_t sx_top_detail(const struct sx_top_sample *sample, const struct sx_top_rank *rank,
                     char ret[SX_TOP_DETAIL_MAX][SX_TOP_LINE_MAX])
{
    static const char *const fields[][3] = {
        { "smaps_rollup", "Pss", "memory, shared pages in parts" },
        { "smaps_rollup", "Private_Dirty", "memory of its own" },
        { "status", "Threads", "threads" },
        { "status", "Cpus_allowed_list", "CPUs" },
        { "status", "Mems_allowed_list", "NUMA nodes" },
        { "status", "voluntary_ctxt_switches", "waits" },
        { "status", "nonvoluntary_ctxt_switches", "CPU taken away" },
    };
    const struct sx_top_process *const process = &rank->process;
    char text[SX_TOP_TEXT_MAX], figure[SX_LS_FIGURE_MAX];
    char *const command = sx_proc_command(process->pid);
    size_t count = 0;

    line_add(ret, &count, "rank %u of %.255s, process %d, %s", rank->rank,
             sample->jobs[rank->job].name, (int)process->pid, process->state);
    line_add(ret, &count, "command: %.400s", command != NULL ? command : "(not shown)");
    line_add(ret, &count, "server %d: %s", (int)rank->server,
             rank->connected ? "connected" : "has not called PMIx_Init");
    line_add(ret, &count, "CPU: %.1f %%, %s in all", process->cpu * 100,
             sx_ls_time_text(process->cpu_ns, figure));
    line_add(ret, &count, "lane: %.0f bytes/s, %" PRIu64 " of %u bytes not yet read by the server",
             rank->lane_per_s, rank->lane_used, SX_LANE_BYTES);
    for (size_t i = 0; i < SX_COUNT(fields); i++) {
        if (field_read(process->pid, fields[i][0], fields[i][1], text)) {
            line_add(ret, &count, "%s: %s", fields[i][2], text);
        }
    }
    free(command);
    return count;
}

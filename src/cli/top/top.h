/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* top.h - `shmix top`: servers, jobs and ranks of this node, again and again.
 *
 *     memory of servers, /proc --sx_top_take--> a sample --with the one before it--> a table of a
 *     view (sx_top_table) --> the screen | lines | JSON;  a sample --> OpenMetrics
 *
 * A sample sends no message.  Figures that only count (CPU time, records) become rates by the
 * sample before. */
#ifndef SX_CLI_TOP_TOP_H
#define SX_CLI_TOP_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli/ls/ls.h"
#include "ring/open_ops.h"

/* ---- samples (sample.c) ---------------------------------------------------------------------- */

enum sx_top_segment {
    SX_TOP_STORES,
    SX_TOP_RINGS,
    SX_TOP_BOARDS,
    SX_TOP_LANES,
    SX_TOP_OPS,
    SX_TOP_SEGMENTS
};
extern const char *const sx_top_segment_names[SX_TOP_SEGMENTS];

struct sx_top_process {
    pid_t pid; /* 0: not here, or not known */
    uid_t uid;
    const char *state; /* static text: "runs", "stopped", "ended" */
    uint64_t cpu_ns, rss_bytes;
    double cpu; /* of one CPU, since the sample before */
};

struct sx_top_server {
    struct sx_top_process process;
    char name[SX_SEGMENT_NSPACE_BYTES];
    bool sleeps; /* its loop waits */
    unsigned jobs, clients;
    uint64_t used_bytes[SX_TOP_SEGMENTS]; /* of its segments */
    uint64_t turn_units_max, events_crowded_out;
};

struct sx_top_job {
    pid_t server;
    uid_t uid;
    char name[SX_SEGMENT_NSPACE_BYTES];
    uint32_t size, running, stopped; /* the last two: of processes here */
    uint64_t stored_bytes, rss_bytes, events_held;
    uint64_t collectives, events; /* records of its ring so far */
    double cpu, collectives_per_s, events_per_s;
};

struct sx_top_rank {
    struct sx_top_process process;
    pid_t server;
    size_t job; /* of the sample's */
    uint32_t rank;
    bool connected;
    uint64_t lane_bytes, lane_used; /* written so far; of these not yet read by the server */
    double lane_per_s;
};

struct sx_top_op {
    pid_t server;
    struct sx_open_op op;
};

struct sx_top_sample {
    uint64_t when_ns;
    struct sx_top_server *servers;
    struct sx_top_job *jobs;
    struct sx_top_rank *ranks;
    struct sx_top_op *ops;
    size_t server_count, job_count, rank_count, op_count;
    uint64_t op_hidden; /* open operations that have no row: a table was full */
    bool denied;        /* some process could not be examined */
};

/* Fill @ret for @server (0: every) and the job @nspace (NULL: every); @before: an earlier sample of
 * the same, or NULL: then rates are 0. */
void sx_top_take(pid_t server, const char *nspace, const struct sx_top_sample *before,
                 struct sx_top_sample *ret);
/* Safe on a zeroed sample and twice. */
void sx_top_free(struct sx_top_sample *sample);

/* ---- tables (table.c) ------------------------------------------------------------------------ */

enum sx_top_view { SX_TOP_RANKS, SX_TOP_JOBS, SX_TOP_SERVERS, SX_TOP_USERS, SX_TOP_VIEWS };
extern const char *const sx_top_view_names[SX_TOP_VIEWS];

#define SX_TOP_COLUMNS_MAX 12
#define SX_TOP_TEXT_MAX 64

struct sx_top_column {
    const char *heading, *field; /* of JSON */
    int width;                   /* negative: to the left; 0: the last one, of any width */
};

struct sx_top_cell {
    double number;              /* what is sorted by, if text is not */
    char text[SX_TOP_TEXT_MAX]; /* printable */
    bool is_text;
};

struct sx_top_row {
    size_t index; /* in the sample, of ranks, jobs or servers */
    struct sx_top_cell cells[SX_TOP_COLUMNS_MAX];
};

struct sx_top_table {
    const struct sx_top_column *columns;
    size_t column_count;
    struct sx_top_row *rows;
    size_t row_count;
};

struct sx_top_order {
    size_t column;
    bool up;            /* the smallest first */
    const char *filter; /* rows without this text in a cell are left out; NULL: none are */
};

/* The column with the heading or field @name, in any case.  Return: its index, or @view's number of
 * columns for none. */
size_t sx_top_column_find(enum sx_top_view view, const char *name);
/* The order in which a view begins. */
struct sx_top_order sx_top_order_first(enum sx_top_view view);

void sx_top_table(const struct sx_top_sample *sample, enum sx_top_view view,
                  const struct sx_top_order *order, struct sx_top_table *ret);
void sx_top_table_free(struct sx_top_table *table);

/* A row as a line of at most @size - 1 bytes; @row NULL: the headings. */
void sx_top_line(const struct sx_top_table *table, const struct sx_top_row *row, char *ret,
                 size_t size);

/* The lines above the table: what there is in all; open operations, the oldest first. */
#define SX_TOP_HEAD_OPS 3u
#define SX_TOP_HEAD_MAX (3u + SX_TOP_HEAD_OPS)
#define SX_TOP_LINE_MAX 512
/* Return: how many lines were written. */
size_t sx_top_head(const struct sx_top_sample *sample, char ret[SX_TOP_HEAD_MAX][SX_TOP_LINE_MAX]);

/* The page of one rank.  Return: as above. */
#define SX_TOP_DETAIL_MAX 16u
size_t sx_top_detail(const struct sx_top_sample *sample, const struct sx_top_rank *rank,
                     char ret[SX_TOP_DETAIL_MAX][SX_TOP_LINE_MAX]);

/* ---- output ---------------------------------------------------------------------------------- */

/* OpenMetrics text, with its end. */
void sx_top_metrics(const struct sx_top_sample *sample, FILE *out);

struct sx_top_wish {
    pid_t server;
    const char *nspace;
    uint64_t delay_ns;
    int64_t count; /* of samples; 0: no end */
    enum sx_top_view view;
    struct sx_top_order order;
};

/* The terminal (screen.c), until the user leaves.  Return: the exit code; -1, with a message, when
 * this terminal or its library cannot be used. */
int sx_top_screen(const struct sx_top_wish *wish);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* ls.h - `shmix ls THING`: list the things that servers have, from their memory. */
#ifndef SX_CLI_LS_LS_H
#define SX_CLI_LS_LS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/target.h"
#include "launch/common/options.h"
#include "shmem/nspace_read.h"

struct sx_ls_wish {
    const char *thing;
    struct sx_whose whose;
    pid_t server; /* the target; 0: every server */
    bool json;
    bool metrics;             /* all things as OpenMetrics text ... */
    const char *metrics_path; /* ... in this file; NULL: on stdout */
    uint64_t watch_ns;        /* the pause between lists; 0: list once */
    uint64_t timeout_ns;      /* then end */
    int64_t count;            /* or after so many lists, or changes; 0: no end */
    bool pages;               /* each time all is listed again, not only the changes */
    bool again;               /* not the first list: an empty one is not an error */
    bool sets_only;           /* of groups */
};

/* The things.  Return: the exit code of the command. */

/* The jobs that are registered with servers of this node. */
int sx_ls_jobs(const struct sx_ls_wish *wish);
/* The processes of jobs, as far as the stores contain them. */
int sx_ls_procs(const struct sx_ls_wish *wish);
/* The servers of this node, and how busy they are. */
int sx_ls_servers(const struct sx_ls_wish *wish);
/* The processes that are connected to servers. */
int sx_ls_clients(const struct sx_ls_wish *wish);
/* The members that are missing in each operation, and since when. */
int sx_ls_collectives(const struct sx_ls_wish *wish);
/* The members of connected namespaces, groups and process sets. */
int sx_ls_groups(const struct sx_ls_wish *wish);
/* The same, only for process sets. */
int sx_ls_sets(const struct sx_ls_wish *wish);

/* Write the figures of all servers and jobs that match as OpenMetrics text.  Return: the exit code
 * of the command. */
int sx_ls_metrics(const struct sx_ls_wish *wish);

/* The message when no server matches; @denied: some processes could not be examined.  Return: the
 * exit code. */
int sx_ls_nobody(const struct sx_ls_wish *wish, bool denied);

/* ---- listings (listing.c) -------------------------------------------------------------------- */

/* A list of things, from one table: columns of text, or one JSON object on each line. */

struct sx_listing_column {
    const char *heading; /* of the text; NULL: the column is in JSON only */
    int width;           /* negative: to the left; 0: unpadded, for the last column */
    const char *field;   /* in JSON; NULL: the column is in the text only */
};

struct sx_listing {
    const struct sx_listing_column *columns;
    size_t column_count;
    bool json;
    uint64_t count; /* printed so far; the headings precede the first */
};

enum sx_listing_kind { SX_LISTING_NONE, SX_LISTING_NUMBER, SX_LISTING_TEXT };

struct sx_listing_cell {
    enum sx_listing_kind kind;
    int64_t number;
    const char *text;
};

static inline struct sx_listing_cell sx_listing_number(int64_t number)
{
    return (struct sx_listing_cell){ .kind = SX_LISTING_NUMBER, .number = number };
}

/* A number in JSON, and its own text in the text. */
static inline struct sx_listing_cell sx_listing_shown(int64_t number, const char *text)
{
    return (struct sx_listing_cell){ .kind = SX_LISTING_NUMBER, .number = number, .text = text };
}

/* NULL: no value. */
static inline struct sx_listing_cell sx_listing_text(const char *text)
{
    return (struct sx_listing_cell){ .kind = text != NULL ? SX_LISTING_TEXT : SX_LISTING_NONE,
                                     .text = text };
}

/* Print a cell for each column.  An empty cell is "-" as text, and no field in JSON. */
void sx_listing_print(struct sx_listing *listing, const struct sx_listing_cell *cells);

/* ---- processes (procs.c) --------------------------------------------------------------------- */

/* The local processes of a job's ranks, and figures in readable form.
 *
 *     the connected process --none yet--> the process that the launcher has published
 *                                        \--nothing--> a child of the server, by its environment */

/* The children of one server that were started as ranks.  A zeroed struct is empty. */
struct sx_ls_started {
    pid_t server;
    struct sx_ls_start *at;
    size_t count;
};

/* The process of @rank of @nspace, whose store is @site's, of @server; 0: unknown.  @started is
 * filled when needed. */
pid_t sx_ls_process_of(struct sx_ls_started *started, pid_t server, const char *nspace,
                       const struct sx_site *site, uint32_t rank);
void sx_ls_started_free(struct sx_ls_started *started);

/* The job's own user, if the host has set it; else the server's.  Return: false for neither. */
bool sx_ls_job_user(const struct sx_site *site, pid_t server, uid_t *ret);

/* The ranks of a job that are looked at: any server's user may have written a job's size. */
#define SX_LS_RANKS_MAX (1u << 20)
uint32_t sx_ls_ranks(const struct sx_site *site);

#define SX_LS_FIGURE_MAX 32

/* "4:05", "2:03:04" or "1-02:03:04", the format of squeue(1). */
const char *sx_ls_time_text(uint64_t ns, char ret[SX_LS_FIGURE_MAX]);
/* "512", "12.3M" */
const char *sx_ls_bytes_text(uint64_t bytes, char ret[SX_LS_FIGURE_MAX]);
/* "4"; "2/4" when not all of them are here. */
const char *sx_ls_ranks_text(uint32_t here, uint32_t all, char ret[SX_LS_FIGURE_MAX]);
/* The name of @uid, or its number. */
const char *sx_ls_user_text(uid_t uid, char ret[SX_LS_FIGURE_MAX]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* procs.c - a line for each rank of each job, with data of /proc for local processes.
 *
 *     the state: the host's, if it is an end --> else the state of the process in /proc
 *
 * Bounded by the sizes of the jobs, and SX_LS_RANKS_MAX. */
#include <ctype.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/value/names.h"
#include "cli/ls/ls.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "shmem/nspace_read.h"

/* ---- the local processes of ranks ------------------------------------------------------------ */

/* A launcher may publish the processes that it has started.  Otherwise a rank that has
 * not called PMIx_Init is usually a child of its server. */

struct sx_ls_start {
    char nspace[SX_SEGMENT_NSPACE_BYTES];
    uint32_t rank;
    pid_t pid;
};

static void child_take(void *arg, pid_t child)
{
    struct sx_ls_started *const started = arg;
    struct sx_ls_start start = { .pid = child };

    if (sx_proc_rank(child, start.nspace, &start.rank)) {
        started->at = sx_cli_realloc(started->at, started->count + 1, sizeof(start));
        started->at[started->count++] = start;
    }
}

static int start_order(const void *left, const void *right)
{
    const struct sx_ls_start *const a = left, *const b = right;

    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
                              : strcmp(a->nspace, b->nspace);
}

pid_t sx_ls_process_of(struct sx_ls_started *started, pid_t server, const char *nspace,
                       const struct sx_site *site, uint32_t rank)
{
    struct sx_ls_start wanted = { .rank = rank };
    uint32_t number;

    if (sx_site_number(site, SX_REALM_JOB, rank, PMIX_PROC_PID, INT32_MAX, &number) ||
        sx_site_number(site, SX_REALM_JOB, rank, SX_STARTED_PID, INT32_MAX, &number)) {
        return (pid_t)number;
    }
    if (started->server != server) {
        sx_ls_started_free(started);
        started->server = server;
        sx_proc_children_each(server, child_take, started);
        if (started->count > 1) {
            qsort(started->at, started->count, sizeof(wanted), start_order);
        }
    }
    snprintf(wanted.nspace, sizeof(wanted.nspace), "%s", nspace);
    const struct sx_ls_start *const found = started->count == 0
                                                ? NULL
                                                : bsearch(&wanted, started->at, started->count,
                                                          sizeof(wanted), start_order);

    return found != NULL ? found->pid : 0;
}

void sx_ls_started_free(struct sx_ls_started *started)
{
    free(started->at);
    *started = (struct sx_ls_started){ .at = NULL };
}

uint32_t sx_ls_ranks(const struct sx_site *site)
{
    const uint32_t size = sx_site_count(site, PMIX_JOB_SIZE);

    return size < SX_LS_RANKS_MAX ? size : SX_LS_RANKS_MAX;
}

const char *sx_ls_time_text(uint64_t ns, char ret[SX_LS_FIGURE_MAX])
{
    const uint64_t seconds = ns / SX_NS_PER_SEC, minutes = seconds / 60, hours = minutes / 60;

    if (hours >= 24) {
        snprintf(ret, SX_LS_FIGURE_MAX, "%" PRIu64 "-%02" PRIu64 ":%02" PRIu64 ":%02" PRIu64,
                 hours / 24, hours % 24, minutes % 60, seconds % 60);
    } else if (hours > 0) {
        snprintf(ret, SX_LS_FIGURE_MAX, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, hours, minutes % 60,
                 seconds % 60);
    } else {
        snprintf(ret, SX_LS_FIGURE_MAX, "%" PRIu64 ":%02" PRIu64, minutes, seconds % 60);
    }
    return ret;
}

const char *sx_ls_bytes_text(uint64_t bytes, char ret[SX_LS_FIGURE_MAX])
{
    static const char units[] = "KMGT";
    double figure = (double)bytes;
    size_t unit = 0;

    if (bytes < 1024) {
        snprintf(ret, SX_LS_FIGURE_MAX, "%" PRIu64, bytes);
        return ret;
    }
    for (figure /= 1024; figure >= 1024 && unit + 1 < sizeof(units) - 1; unit++) {
        figure /= 1024;
    }
    snprintf(ret, SX_LS_FIGURE_MAX, "%.1f%c", figure, units[unit]);
    return ret;
}

const char *sx_ls_user_text(uid_t uid, char ret[SX_LS_FIGURE_MAX])
{
    const struct passwd *const user = getpwuid(uid);

    if (user != NULL) {
        snprintf(ret, SX_LS_FIGURE_MAX, "%s", user->pw_name);
    } else {
        snprintf(ret, SX_LS_FIGURE_MAX, "%u", (unsigned)uid);
    }
    return ret;
}

/* ---- the list -------------------------------------------------------------------------------- */

#define STATE_TEXT_MAX 64

enum { RANK, PID, NODE, APP, STATE, EXIT_CODE, CPU, RSS, SERVER, HOST, JOB, COLUMNS };

static const struct sx_listing_column columns[COLUMNS] = {
    [RANK] = { "RANK", 8, "rank" },       [PID] = { "PID", 8, "pid" },
    [NODE] = { "NODE", 5, "node" },       [APP] = { "APP", 4, "app" },
    [STATE] = { "STATE", -13, "state" },  [EXIT_CODE] = { "EXIT", 5, "exit_code" },
    [CPU] = { "CPU", 8, "cpu_ns" },       [RSS] = { "RSS", 8, "rss_bytes" },
    [SERVER] = { "SERVER", 8, "server" }, [HOST] = { "HOST", -16, "host" },
    [JOB] = { "JOB", 0, "nspace" },
};

struct list {
    const struct sx_ls_wish *wish;
    struct sx_listing listing;
    struct sx_ls_started started;
    char host[256]; /* the name of this host */
};

/* "PMIX_PROC_STATE_TERM_NON_ZERO" as "term non zero". */
static const char *state_text(uint32_t state, char ret[STATE_TEXT_MAX])
{
    static const char prefix[] = "PMIX_PROC_STATE_";
    const char *const name = sx_name_find(PMIX_PROC_STATE, state);

    if (name == NULL || strncmp(name, prefix, sizeof(prefix) - 1) != 0) {
        snprintf(ret, STATE_TEXT_MAX, "state %u", state);
        return ret;
    }
    snprintf(ret, STATE_TEXT_MAX, "%s", name + sizeof(prefix) - 1);
    for (char *at = ret; *at != '\0'; at++) {
        *at = *at == '_' ? ' ' : (char)tolower((unsigned char)*at);
    }
    return ret;
}

static struct sx_listing_cell number_cell(const struct sx_site *site, uint32_t rank,
                                          const char *key)
{
    uint32_t number;

    return sx_site_number(site, SX_REALM_JOB, rank, key, UINT32_MAX, &number)
               ? sx_listing_number(number)
               : (struct sx_listing_cell){ .kind = SX_LISTING_NONE };
}

/* It may be negative. */
static struct sx_listing_cell exit_code_cell(const struct sx_site *site, uint32_t rank)
{
    int code;

    return sx_site_int(site, SX_REALM_JOB, rank, PMIX_EXIT_CODE, &code)
               ? sx_listing_number(code)
               : (struct sx_listing_cell){ .kind = SX_LISTING_NONE };
}

/* The process id of another node means nothing here. */
static bool is_here(const struct list *list, const struct sx_listing_cell *host)
{
    return host->kind == SX_LISTING_NONE || strcmp(host->text, list->host) == 0;
}

/* The usage of process @pid in /proc, in the texts @cpu and @rss; nothing when it has ended. */
static void usage_fill(struct sx_listing_cell *cells, pid_t pid, char *cpu, char *rss)
{
    struct sx_proc_stat stat;

    if (pid != 0 && sx_proc_stat(pid, &stat) && stat.state != 'Z') {
        cells[CPU] = sx_listing_shown((int64_t)stat.cpu_ns, sx_ls_time_text(stat.cpu_ns, cpu));
        cells[RSS] = sx_listing_shown((int64_t)stat.rss_bytes,
                                      sx_ls_bytes_text(stat.rss_bytes, rss));
    }
}

/* The end that the host has stored, or the state of process @pid in /proc (0: it is not here). */
static const char *state_of(const struct sx_site *site, uint32_t rank, pid_t pid,
                            char text[STATE_TEXT_MAX])
{
    const char *const how = sx_proc_state_name(pid);
    uint32_t state, notified;
    const bool has_state = sx_site_number(site, SX_REALM_JOB, rank, PMIX_PROC_STATE_STATUS,
                                          UINT8_MAX, &state);
    const bool has_pid = sx_site_number(site, SX_REALM_JOB, rank, PMIX_PROC_PID, INT32_MAX,
                                        &notified);

    if (has_state && (state >= PMIX_PROC_STATE_TERMINATED || (!has_pid && pid == 0))) {
        return state_text(state, text);
    }
    return how != NULL ? how : has_pid ? "runs" : "not connected";
}

/* Whether the host has stored the rank's end: its process id may belong to another process by
 * now. */
static bool has_ended(const struct sx_site *site, uint32_t rank)
{
    uint32_t state;

    return sx_site_number(site, SX_REALM_JOB, rank, PMIX_PROC_STATE_STATUS, UINT8_MAX, &state) &&
           state >= PMIX_PROC_STATE_TERMINATED;
}

static void rank_print(struct list *list, pid_t server, const char *nspace,
                       const struct sx_site *site, uint32_t rank)
{
    const pid_t pid = sx_ls_process_of(&list->started, server, nspace, site, rank);
    struct sx_listing_cell cells[COLUMNS] = {
        [RANK] = sx_listing_number(rank),
        [PID] = pid != 0 ? sx_listing_number(pid) : sx_listing_text(NULL),
        [NODE] = number_cell(site, rank, PMIX_NODEID),
        [APP] = number_cell(site, rank, PMIX_APPNUM),
        [EXIT_CODE] = exit_code_cell(site, rank),
        [SERVER] = sx_listing_number(server),
        [HOST] = sx_listing_text(sx_site_text(site, SX_REALM_JOB, rank, PMIX_HOSTNAME)),
        [JOB] = sx_listing_text(nspace),
    };
    const pid_t here = is_here(list, &cells[HOST]) ? pid : 0;
    char text[STATE_TEXT_MAX], cpu[SX_LS_FIGURE_MAX], rss[SX_LS_FIGURE_MAX];

    cells[STATE] = sx_listing_text(state_of(site, rank, here, text));
    usage_fill(cells, has_ended(site, rank) ? 0 : here, cpu, rss);
    sx_listing_print(&list->listing, cells);
}

static void job_print(void *arg, pid_t server, const char *nspace, const struct sx_store *store)
{
    struct list *const list = arg;
    const struct sx_site site = { .shared = store, .self = PMIX_RANK_INVALID };
    const char *const wanted = list->wish->whose.nspace;
    const uint32_t size = sx_ls_ranks(&site);

    if (wanted != NULL && strcmp(nspace, wanted) != 0) {
        return;
    }
    for (uint32_t rank = 0; rank < size; rank++) {
        rank_print(list, server, nspace, &site, rank);
    }
}

int sx_ls_procs(const struct sx_ls_wish *wish)
{
    struct list list = {
        .wish = wish,
        .listing = { .columns = columns, .column_count = COLUMNS, .json = wish->json },
    };

    (void)gethostname(list.host, sizeof(list.host) - 1);
    const bool denied = !sx_cli_stores_each(wish->server, job_print, &list);

    sx_ls_started_free(&list.started);
    if (list.listing.count == 0) {
        return sx_ls_nobody(wish, denied);
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

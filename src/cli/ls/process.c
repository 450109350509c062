/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process.c - a launcher may publish the processes that it has started.  Otherwise a rank that has
 * not called PMIx_Init is usually a child of its server. */
#include "cli/ls/process.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"

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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* find.c - search /proc for rings that their makers hold open.
 *
 * A ring is a memfd named after its namespace.  The kernel lets a caller open the memfd who may
 * inspect the process: its user, and root.  The ring is mapped read-only, and the library's own
 * reader checks its seals and geometry.  Bounded by the descriptors of those processes. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmix_common.h>

#include "base/util.h"
#include "base/value/names.h"
#include "cli/events/events.h"
#include "launch/common/options.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"

struct search {
    const char *nspace; /* NULL: any */
    pid_t pid;          /* 0: any */
    struct sx_events_job *job;
    unsigned count;
    bool denied;
};

struct named {
    const char *nspace;
    bool is_job;
};

static void store_look(void *arg, pid_t server, const char *nspace, const struct sx_store *store)
{
    struct named *const named = arg;

    (void)server;
    if (strncmp(nspace, named->nspace, SX_SEGMENT_NSPACE_BYTES) == 0) {
        named->is_job = sx_cli_store_is_of_job(store);
    }
}

/* Tools have a ring, too, and their ring may exist for a moment longer than their processes. */
static bool is_of_job(pid_t pid, const char *nspace)
{
    struct named named = { .nspace = nspace };

    (void)sx_cli_stores_each(pid, store_look, &named);
    return named.is_job;
}

/* @name: the name of the ring, which the server @pid has made. */
static bool is_meant(const struct search *search, pid_t pid, const char *name)
{
    return search->nspace != NULL ? strncmp(name, search->nspace, SX_SEGMENT_NSPACE_BYTES) == 0
                                  : is_of_job(pid, name);
}

static bool ring_take(void *arg, pid_t pid, int fd)
{
    struct search *const search = arg;
    struct sx_ring ring;

    if (sx_ring_attach(&ring, fd) != PMIX_SUCCESS) {
        return true;
    }
    const char *const name = sx_segment_header(&ring.seg)->nspace;

    if (sx_proc_has_made(pid, &ring.seg) && is_meant(search, pid, name)) {
        search->count++;
        if (search->count == 1) {
            search->job->ring = ring;
            search->job->server_pid = pid; /* the server of the first ring that was found */
            return true;                   /* the ring is kept */
        }
        if (search->count == 2) {
            sx_say("more than one job runs here: give the name of one, or the process id of its "
                   "server:");
            fprintf(stderr, "  %.255s, --pid %d\n",
                    sx_segment_header(&search->job->ring.seg)->nspace,
                    (int)search->job->server_pid);
        }
        fprintf(stderr, "  %.255s, --pid %d\n", name, (int)pid);
    }
    sx_ring_deinit(&ring);
    return true;
}

static bool board_take(void *arg, pid_t server, struct sx_board *board)
{
    struct sx_events_job *const job = arg;

    (void)server;
    job->board = *board;
    *board = SX_BOARD_NULL;
    return false;
}

static void nothing_say(const struct search *search)
{
    const char *const hidden = search->denied ? " that you may inspect (root sees all)" : "";

    if (sx_cli_outside_say(search->pid)) {
        return;
    }
    if (search->pid != 0) {
        sx_say("process %d is not a server with a job%s", (int)search->pid, hidden);
    } else if (search->nspace != NULL) {
        sx_say("no job '%.255s' runs here%s; 'shmix ls jobs' lists those that do", search->nspace,
               hidden);
    } else {
        sx_say("no job runs here%s", hidden);
    }
}

bool sx_events_find(struct sx_whose *wanted, struct sx_events_job *ret_job)
{
    struct search search = { .job = ret_job };

    *ret_job = (struct sx_events_job){ .ring = SX_RING_NULL, .board = SX_BOARD_NULL };
    if (!sx_proc_check() || !sx_whose_settle(wanted)) {
        return false;
    }
    search.pid = wanted->pid;
    search.nspace = wanted->nspace == NULL && wanted->pid == 0 ? getenv("PMIX_NAMESPACE")
                                                               : wanted->nspace;
    search.denied = !sx_cli_outside_each(search.pid, "ring:", ring_take, &search);
    if (search.count == 1) {
        (void)sx_cli_boards_each(ret_job->server_pid, board_take, ret_job);
    }
    if (search.count == 1 && ret_job->board.header != NULL) {
        return true;
    }
    if (search.count <= 1) {
        nothing_say(&search);
    }
    sx_events_job_close(ret_job);
    return false;
}

void sx_events_job_close(struct sx_events_job *job)
{
    sx_ring_deinit(&job->ring);
    sx_board_deinit(&job->board);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* The words of `shmix events` for numbers, codes and ranges. */

bool sx_events_code_set(void *at, const char *value)
{
    return sx_cli_number(value, INT32_MIN, INT32_MAX, at) || sx_name_value(PMIX_STATUS, value, at);
}

bool sx_events_rank_set(void *at, const char *value)
{
    return sx_cli_number(value, 0, PMIX_RANK_VALID, at);
}

static const char *const range_names[] = { "undefined", "rm",     "local",  "namespace",
                                           "session",   "global", "custom", "proc-local" };

const char *sx_events_range_name(uint8_t range)
{
    return range < SX_COUNT(range_names) ? range_names[range] : NULL;
}

bool sx_events_range_set(void *at, const char *value)
{
    for (size_t i = 0; i < SX_COUNT(range_names); i++) {
        if (strcmp(value, range_names[i]) == 0) {
            *(int64_t *)at = (int64_t)i;
            return true;
        }
    }
    return false;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* procs.c - a line for each rank of each job, and what /proc says of those that are here.
 *
 *     the state: what the host has told, once it is an end --> else what /proc says of the process
 *
 * Bounded by the sizes of the jobs. */
#include "cli/ls/procs.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/names.h"
#include "cli/listing.h"
#include "cli/ls/nobody.h"
#include "cli/proc.h"
#include "cli/say.h"
#include "cli/stores.h"
#include "shmem/site.h"

enum { RANK, PID, NODE, APP, STATE, EXIT_CODE, SERVER, HOST, JOB, COLUMNS };

static const struct sx_listing_column columns[COLUMNS] = {
    [RANK] = { "RANK", 8, "rank" },       [PID] = { "PID", 8, "pid" },
    [NODE] = { "NODE", 5, "node" },       [APP] = { "APP", 4, "app" },
    [STATE] = { "STATE", -13, "state" },  [EXIT_CODE] = { "EXIT", 5, "exit_code" },
    [SERVER] = { "SERVER", 8, "server" }, [HOST] = { "HOST", -16, "host" },
    [JOB] = { "JOB", 0, "nspace" },
};

struct list {
    const struct sx_ls_wish *wish;
    struct sx_listing listing;
    char host[256]; /* this one */
};

/* "PMIX_PROC_STATE_TERM_NON_ZERO" as "term non zero". */
static const char *state_text(uint32_t state, char *ret, size_t size)
{
    static const char prefix[] = "PMIX_PROC_STATE_";
    const char *const name = sx_name_find(PMIX_PROC_STATE, state);

    if (name == NULL || strncmp(name, prefix, sizeof(prefix) - 1) != 0) {
        snprintf(ret, size, "state %u", state);
        return ret;
    }
    snprintf(ret, size, "%s", name + sizeof(prefix) - 1);
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

/* A number of a process of another node says nothing of one here. */
static const char *how_it_is(const struct list *list, const struct sx_listing_cell *host,
                             const struct sx_listing_cell *pid)
{
    const bool is_here = host->kind == SX_LISTING_NONE || strcmp(host->text, list->host) == 0;
    const char *const how = is_here ? sx_proc_state_name((pid_t)pid->number) : NULL;

    return how != NULL ? how : "runs";
}

static void rank_print(struct list *list, pid_t server, const char *nspace,
                       const struct sx_site *site, uint32_t rank)
{
    struct sx_listing_cell cells[COLUMNS] = {
        [RANK] = sx_listing_number(rank),
        [PID] = number_cell(site, rank, PMIX_PROC_PID),
        [NODE] = number_cell(site, rank, PMIX_NODEID),
        [APP] = number_cell(site, rank, PMIX_APPNUM),
        [EXIT_CODE] = number_cell(site, rank, PMIX_EXIT_CODE),
        [SERVER] = sx_listing_number(server),
        [HOST] = sx_listing_text(sx_site_text(site, SX_REALM_JOB, rank, PMIX_HOSTNAME)),
        [JOB] = sx_listing_text(nspace),
    };
    char text[64];
    uint32_t state;

    if (sx_site_number(site, SX_REALM_JOB, rank, PMIX_PROC_STATE_STATUS, UINT8_MAX, &state) &&
        (state >= PMIX_PROC_STATE_TERMINATED || cells[PID].kind == SX_LISTING_NONE)) {
        cells[STATE] = sx_listing_text(state_text(state, text, sizeof(text)));
    } else if (cells[PID].kind != SX_LISTING_NONE) {
        cells[STATE] = sx_listing_text(how_it_is(list, &cells[HOST], &cells[PID]));
    } else {
        cells[STATE] = sx_listing_text("not connected");
    }
    sx_listing_print(&list->listing, cells);
}

static void job_print(void *arg, pid_t server, const char *nspace, const struct sx_store *store)
{
    struct list *const list = arg;
    const struct sx_site site = { .shared = store, .self = PMIX_RANK_INVALID };
    const char *const wanted = list->wish->whose.nspace;
    const uint32_t size = sx_site_count(&site, PMIX_JOB_SIZE);

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

    if (list.listing.count == 0) {
        return sx_ls_nobody(wish, denied);
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

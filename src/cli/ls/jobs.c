/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobs.c - the stores of jobs, a line for each. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ls/ls.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "shmem/nspace_read.h"

#define RANKS_LOOKED_AT 8 /* of each job, for its age and its program */

enum { JOB, SERVER, STATE, SIZE, HERE, APPS, UID, USER, TIME, COMMAND, RANKS, NAMED, COLUMNS };

/* The text has another order than the objects; the ranks here and all ranks share a column, and so
 * do the name and the command. */
enum { T_USER, T_TIME, T_RANKS, T_SERVER, T_STATE, T_NAMED, TEXT_COLUMNS };

static const struct sx_listing_column json_columns[COLUMNS] = {
    [JOB] = { .field = "nspace" },
    [SERVER] = { .field = "server" },
    [STATE] = { .field = "server_state" },
    [SIZE] = { .field = "size" },
    [HERE] = { .field = "local_size" },
    [APPS] = { .field = "apps" },
    [UID] = { .field = "uid" },
    [USER] = { .field = "user" },
    [TIME] = { .field = "up_ns" },
    [COMMAND] = { .field = "command" },
};

static const struct sx_listing_column text_columns[TEXT_COLUMNS] = {
    [T_USER] = { .heading = "USER", .width = -8 },
    [T_TIME] = { .heading = "TIME", .width = 10 },
    [T_RANKS] = { .heading = "RANKS", .width = 11 },
    [T_SERVER] = { .heading = "PID", .width = 8 },
    [T_STATE] = { .heading = "STATE", .width = -8 },
    [T_NAMED] = { .heading = "NAME: COMMAND", .width = 0 },
};

struct list {
    const struct sx_ls_wish *wish;
    struct sx_listing listing;
    struct sx_ls_started started;
};

/* The first known processes of a job: the age of the job, and its program. */
struct found {
    uint64_t start_ticks; /* the earliest; 0: unknown */
    char *command;        /* of the first process; NULL: unknown */
};

static void processes_look(struct list *list, pid_t server, const char *nspace,
                           const struct sx_site *site, struct found *ret)
{
    const uint32_t size = sx_ls_ranks(site);
    unsigned seen = 0;

    for (uint32_t rank = 0; rank < size && seen < RANKS_LOOKED_AT; rank++) {
        const pid_t pid = sx_ls_process_of(&list->started, server, nspace, site, rank);
        struct sx_proc_stat stat;

        if (pid == 0 || !sx_proc_stat(pid, &stat)) {
            seen += pid != 0;
            continue;
        }
        seen++;
        if (ret->start_ticks == 0 || stat.start_ticks < ret->start_ticks) {
            ret->start_ticks = stat.start_ticks;
        }
        ret->command = ret->command != NULL ? ret->command : sx_proc_command(pid);
    }
}

bool sx_ls_job_user(const struct sx_site *site, pid_t server, uid_t *ret)
{
    uint32_t notified;
    const bool has = sx_site_number(site, SX_REALM_JOB, SX_ROW_JOB, PMIX_USERID, UINT32_MAX,
                                    &notified);

    *ret = has ? notified : 0;
    return has || sx_proc_user(server, ret);
}

/* The age of the job's own processes; before there is one, the age of the server. */
static struct sx_listing_cell time_cell(const struct found *found, pid_t server,
                                        char text[SX_LS_FIGURE_MAX])
{
    struct sx_proc_stat stat = { .start_ticks = found->start_ticks };

    if (found->start_ticks == 0 && !sx_proc_stat(server, &stat)) {
        return sx_listing_text(NULL);
    }
    const uint64_t age_ns = sx_proc_age_ns(stat.start_ticks);

    return sx_listing_shown((int64_t)age_ns, sx_ls_time_text(age_ns, text));
}

const char *sx_ls_ranks_text(uint32_t here, uint32_t all, char ret[SX_LS_FIGURE_MAX])
{
    const int at = here == all ? 0 : snprintf(ret, SX_LS_FIGURE_MAX, "%" PRIu32 "/", here);

    snprintf(ret + at, SX_LS_FIGURE_MAX - (size_t)at, "%" PRIu32, all);
    return ret;
}

static void text_print(struct list *list, const struct sx_listing_cell *cells)
{
    const struct sx_listing_cell texts[TEXT_COLUMNS] = {
        [T_USER] = cells[USER],     [T_TIME] = cells[TIME],   [T_RANKS] = cells[RANKS],
        [T_SERVER] = cells[SERVER], [T_STATE] = cells[STATE], [T_NAMED] = cells[NAMED],
    };

    sx_listing_print(&list->listing, texts);
}

static void cells_print(struct list *list, struct sx_listing_cell *cells)
{
    const char *const command = cells[COMMAND].text;
    char *const named = command == NULL ? NULL : sx_cli_printf("%s: %s", cells[JOB].text, command);

    cells[NAMED] = sx_listing_text(named != NULL ? named : cells[JOB].text);
    if (list->wish->json) {
        sx_listing_print(&list->listing, cells);
    } else {
        text_print(list, cells);
    }
    free(named);
}

static void job_print(void *arg, pid_t server, const char *nspace, const struct sx_store *store)
{
    struct list *const list = arg;
    const char *const wanted = list->wish->whose.nspace, *const state = sx_proc_state_name(server);
    const struct sx_site site = { .shared = store, .self = PMIX_RANK_INVALID };
    char user[SX_LS_FIGURE_MAX], age[SX_LS_FIGURE_MAX], ranks[SX_LS_FIGURE_MAX];
    struct found found = { .command = NULL };
    uid_t uid;

    if ((wanted != NULL && strcmp(nspace, wanted) != 0) || !sx_cli_store_is_of_job(store)) {
        return;
    }
    const bool has_user = sx_ls_job_user(&site, server, &uid);
    const uint32_t all = sx_site_count(&site, PMIX_JOB_SIZE);
    const uint32_t here = sx_site_count(&site, PMIX_LOCAL_SIZE);
    const char *command = sx_site_text(&site, SX_REALM_JOB, SX_ROW_JOB, PMIX_CMD_LINE);

    processes_look(list, server, nspace, &site, &found);
    struct sx_listing_cell cells[COLUMNS] = {
        [JOB] = sx_listing_text(nspace),
        [SERVER] = sx_listing_number(server),
        [STATE] = sx_listing_text(state != NULL ? state : "runs"),
        [SIZE] = sx_listing_number(all),
        [HERE] = sx_listing_number(here),
        [APPS] = sx_listing_number(sx_site_count(&site, PMIX_JOB_NUM_APPS)),
        [UID] = has_user ? sx_listing_number(uid) : sx_listing_text(NULL),
        [USER] = sx_listing_text(has_user ? sx_ls_user_text(uid, user) : NULL),
        [TIME] = time_cell(&found, server, age),
        [COMMAND] = sx_listing_text(command != NULL ? command : found.command),
        [RANKS] = sx_listing_text(sx_ls_ranks_text(here, all, ranks)),
    };

    cells_print(list, cells);
    free(found.command);
}

int sx_ls_jobs(const struct sx_ls_wish *wish)
{
    struct list list = {
        .wish = wish,
        .listing = { .columns = wish->json ? json_columns : text_columns,
                     .column_count = wish->json ? (size_t)COLUMNS : (size_t)TEXT_COLUMNS,
                     .json = wish->json },
    };
    const bool denied = !sx_cli_stores_each(wish->server, job_print, &list);

    sx_ls_started_free(&list.started);
    if (list.listing.count == 0) {
        return sx_ls_nobody(wish, denied);
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

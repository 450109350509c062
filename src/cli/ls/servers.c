/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* servers.c - the boards of servers (ring/board.h), and what else they hold.
 *
 *     find the boards --> a line for each: its clients are counted on it, its jobs by their stores
 *
 * A board counts only for the process that has made it: another process can give a memfd the name
 * that servers use.  Bounded by the descriptors of the processes that the kernel lets the caller
 * read. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/ls/ls.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "ring/board.h"

/* JSON has the name second, the text has it last, behind two blanks. */
enum { SERVER, NAME, STATE, UP, JOBS, CLIENTS, STORED, GAP, LAST_NAME, COLUMNS };

static const struct sx_listing_column columns[COLUMNS] = {
    [SERVER] = { "SERVER", 8, "server" },
    [NAME] = { NULL, 0, "name" },
    [STATE] = { "STATE", -10, "state" },
    [UP] = { "UP FOR", 12, "up_ns" },
    [JOBS] = { "JOBS", 5, "jobs" },
    [CLIENTS] = { "CLIENTS", 8, "clients" },
    [STORED] = { "STORED", 12, "stored_bytes" },
    [GAP] = { "", 0, NULL },
    [LAST_NAME] = { "NAME", 0, NULL },
};

/* The figures of one server, summed over its stores. */
struct stored {
    unsigned jobs;
    uint64_t bytes;
};

/* Slots that were never used are not read: reading would allocate memory for them. */
static unsigned clients_count(const struct sx_board *board)
{
    /* relaxed: figures that are only shown. */
    const uint64_t used = atomic_load_explicit(&sx_segment_header(&board->seg)->used_bytes,
                                               memory_order_relaxed);
    const uint64_t slots_off = board->header->slots_off;
    unsigned count = 0;

    for (uint32_t i = 0; i < board->slot_count &&
                         slots_off + (i + UINT64_C(1)) * sizeof(struct sx_board_slot) <= used;
         i++) {
        count += atomic_load_explicit(&board->slots[i].state, memory_order_relaxed) == SX_SLOT_LIVE;
    }
    return count;
}

static void job_count(void *arg, pid_t pid, const char *nspace, const struct sx_store *store)
{
    struct stored *const stored = arg;

    (void)pid;
    (void)nspace;
    stored->jobs += sx_cli_store_is_of_job(store);
    /* relaxed: as above. */
    stored->bytes += atomic_load_explicit(&sx_segment_header(&store->seg)->used_bytes,
                                          memory_order_relaxed);
}

static double seconds_since(uint64_t start_ticks)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    const double up_s = (double)now.tv_sec + (double)now.tv_nsec / (double)SX_NS_PER_SEC -
                        (double)start_ticks / (double)sysconf(_SC_CLK_TCK);

    return up_s > 0 ? up_s : 0;
}

static bool board_take(void *arg, pid_t pid, struct sx_board *board)
{
    struct sx_listing *const listing = arg;
    const char *const name = sx_segment_header(&board->seg)->nspace;
    const char *const state = sx_proc_state_name(pid);
    const double up_s = seconds_since(board->header->server_start_ticks);
    struct stored stored = { .jobs = 0 };
    char up[32];

    (void)sx_cli_stores_each(pid, job_count, &stored);
    snprintf(up, sizeof(up), "%.1f s", up_s);
    const struct sx_listing_cell cells[COLUMNS] = {
        [SERVER] = sx_listing_number(pid),
        [NAME] = sx_listing_text(name),
        [STATE] = sx_listing_text(state != NULL ? state : "runs"),
        [UP] = sx_listing_shown((int64_t)(up_s * (double)SX_NS_PER_SEC), up),
        [JOBS] = sx_listing_number(stored.jobs),
        [CLIENTS] = sx_listing_number(clients_count(board)),
        [STORED] = sx_listing_number((int64_t)stored.bytes),
        [GAP] = sx_listing_text(""),
        [LAST_NAME] = sx_listing_text(name),
    };

    sx_listing_print(listing, cells);
    return true;
}

int sx_ls_servers(const struct sx_ls_wish *wish)
{
    struct sx_listing listing = { .columns = columns, .column_count = COLUMNS, .json = wish->json };

    const bool denied = !sx_cli_boards_each(wish->server, board_take, &listing);

    if (listing.count == 0) {
        return sx_ls_nobody(wish, denied);
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

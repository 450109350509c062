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
#include "cli/value.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "ring/board.h"

struct list {
    const struct sx_ls_wish *wish;
    unsigned count;
};

struct server {
    pid_t pid;
    const char *name, *state;
    double up_s;
    unsigned clients, jobs;
    uint64_t stored_bytes;
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
    struct server *const server = arg;

    (void)pid;
    (void)nspace;
    server->jobs += sx_cli_store_is_of_job(store);
    /* relaxed: as above. */
    server->stored_bytes += atomic_load_explicit(&sx_segment_header(&store->seg)->used_bytes,
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

static void print_text(const struct list *list, const struct server *server)
{
    if (list->count == 0) {
        printf("%8s %-10s %12s %5s %8s %12s  %s\n", "SERVER", "STATE", "UP FOR", "JOBS", "CLIENTS",
               "STORED", "NAME");
    }
    printf("%8d %-10s %10.1f s %5u %8u %12" PRIu64 "  ", (int)server->pid, server->state,
           server->up_s, server->jobs, server->clients, server->stored_bytes);
    sx_names_text_print(server->name, strlen(server->name));
    putchar('\n');
}

static void print_json(const struct server *server)
{
    printf("{\"server\":%d,\"name\":", (int)server->pid);
    sx_json_string(server->name, strlen(server->name));
    printf(",\"state\":\"%s\",\"up_ns\":%.0f,\"jobs\":%u,\"clients\":%u,\"stored_bytes\":%" PRIu64
           "}\n",
           server->state, server->up_s * (double)SX_NS_PER_SEC, server->jobs, server->clients,
           server->stored_bytes);
}

static bool board_take(void *arg, pid_t pid, int fd)
{
    struct list *const list = arg;
    struct sx_board board;

    if (sx_board_attach(&board, fd) != PMIX_SUCCESS) {
        return true;
    }
    if (sx_proc_has_made(pid, &board.seg)) {
        const char *const state = sx_proc_state_name(pid);
        struct server server = {
            .pid = pid,
            .name = sx_segment_header(&board.seg)->nspace,
            .state = state != NULL ? state : "runs",
            .up_s = seconds_since(board.header->server_start_ticks),
            .clients = clients_count(&board),
        };

        (void)sx_cli_stores_each(pid, job_count, &server);
        if (list->wish->json) {
            print_json(&server);
        } else {
            print_text(list, &server);
        }
        list->count++;
    }
    sx_board_deinit(&board);
    return true;
}

int sx_ls_servers(const struct sx_ls_wish *wish)
{
    struct list list = { .wish = wish };

    const bool denied = !sx_cli_outside_each(wish->server, "board:", board_take, &list);

    if (list.count == 0) {
        return sx_ls_nobody(wish, denied);
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

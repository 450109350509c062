/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* clients.c - the slots of servers' boards, and the namespaces that contain their processes.
 *
 *     find the boards --> their slots --> by process and rank: the store that has both --> a line
 *
 * A board and a store count only for the process that has made them.  Bounded by the slots of the
 * boards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ls/ls.h"
#include "control/message.h"
#include "launch/common/proc.h"
#include "launch/common/say.h"
#include "launch/common/segments_of_others.h"
#include "ring/board.h"
#include "shmem/nspace_read.h"

#define LIBRARY_MAX 48

enum { SERVER, ROLE, PID, UID, STATE, RANK, NSPACE, LIBRARY, COLUMNS };

static const struct sx_listing_column columns[COLUMNS] = {
    [SERVER] = { "SERVER", 8, "server" },
    [ROLE] = { "ROLE", -8, "role" },
    [PID] = { "PID", 8, "pid" },
    [UID] = { "UID", 6, "uid" },
    [STATE] = { "STATE", -8, "state" },
    [RANK] = { "RANK", 8, "rank" },
    [NSPACE] = { "NAMESPACE", -20, "nspace" },
    [LIBRARY] = { "LIBRARY", 0, "library" },
};

struct client {
    struct sx_board_client shown;
    char *nspace; /* NULL: not known */
};

struct list {
    const struct sx_ls_wish *wish;
    struct sx_listing listing;
    unsigned servers;
    struct client *clients; /* of the current server */
    size_t count;
};

static const char *role_name(uint32_t role)
{
    static const char *const names[SX_PEER_ROLE_MAX] = {
        [SX_PEER_CLIENT] = "client", [SX_PEER_TOOL] = "tool", [SX_PEER_COMMAND] = "command"
    };

    return role < SX_PEER_ROLE_MAX ? names[role] : NULL;
}

static void store_take(void *arg, pid_t pid, const char *nspace, const struct sx_store *store)
{
    const struct sx_site site = { .shared = store, .self = PMIX_RANK_INVALID };
    struct list *const list = arg;

    (void)pid;
    for (size_t i = 0; i < list->count; i++) {
        struct client *const client = &list->clients[i];
        uint32_t notified;

        if (client->nspace == NULL &&
            sx_site_number(&site, SX_REALM_JOB, client->shown.rank, PMIX_PROC_PID, INT32_MAX,
                           &notified) &&
            notified == client->shown.pid) {
            client->nspace = sx_cli_strdup(nspace);
        }
    }
}

/* Return: "shmix", or "OpenPMIx 4.2.2 by a gateway". */
static const char *library_text(uint32_t number, char ret[LIBRARY_MAX])
{
    snprintf(ret, LIBRARY_MAX, "OpenPMIx %u.%u.%u by a gateway", number >> 16, number >> 8 & 0xff,
             number & 0xff);
    return number != 0 ? ret : "shmix";
}

static void client_print(struct list *list, pid_t server, const struct client *client)
{
    const char *const wanted = list->wish->whose.nspace;
    const char *const how = sx_proc_state_name((pid_t)client->shown.pid);
    char library[LIBRARY_MAX];
    const struct sx_listing_cell cells[COLUMNS] = {
        [SERVER] = sx_listing_number(server),
        [ROLE] = sx_listing_text(role_name(client->shown.role)),
        [PID] = sx_listing_number(client->shown.pid),
        [UID] = sx_listing_number(client->shown.uid),
        [STATE] = sx_listing_text(how != NULL ? how : "runs"),
        [RANK] = sx_listing_number(client->shown.rank),
        [NSPACE] = sx_listing_text(client->nspace),
        [LIBRARY] = sx_listing_text(library_text(client->shown.library, library)),
    };

    if (wanted == NULL || (client->nspace != NULL && strcmp(client->nspace, wanted) == 0)) {
        sx_listing_print(&list->listing, cells);
    }
}

static bool board_take(void *arg, pid_t pid, struct sx_board *board)
{
    struct list *const list = arg;

    list->servers++;
    list->count = 0;
    for (uint32_t i = 0; i < board->slot_count; i++) {
        struct client client = { .nspace = NULL };

        if (sx_board_slot_client(board, i, &client.shown)) {
            list->clients = sx_cli_realloc(list->clients, list->count + 1, sizeof(client));
            list->clients[list->count++] = client;
        }
    }
    (void)sx_cli_stores_each(pid, store_take, list);
    for (size_t i = 0; i < list->count; i++) {
        client_print(list, pid, &list->clients[i]);
        free(list->clients[i].nspace);
    }
    return true;
}

int sx_ls_clients(const struct sx_ls_wish *wish)
{
    struct list list = {
        .wish = wish,
        .listing = { .columns = columns, .column_count = COLUMNS, .json = wish->json },
    };

    const bool denied = !sx_cli_boards_each(wish->server, board_take, &list);

    free(list.clients);
    if (list.servers == 0) {
        return sx_ls_nobody(wish, denied);
    }
    if (list.listing.count == 0) {
        sx_say("no process is connected%s", denied ? " to your servers (root sees all)" : "");
    }
    return fflush(stdout) == 0 ? 0 : SX_EXIT_FAILURE;
}

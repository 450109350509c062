/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* bare.h - a server that is nothing but its state: no thread, no socket, no engine that is told of
 * anything.  Its jobs are made up, and their processes are connected by the state's word alone. */
#ifndef SX_TEST_BARE_H
#define SX_TEST_BARE_H

#include <criterion/criterion.h>
#include <string.h>

#include "server/model/family.h"
#include "server/model/state.h"

static inline void bare_init(struct sx_server *server)
{
    static const struct sx_family none[] = { { .name = NULL } };

    *server = (struct sx_server){ .self = { .nspace = "host" }, .families = none };
    server->board = SX_BOARD_NULL;
    sx_registry_init(&server->registry);
    sx_turn_init(&server->turn);
    sx_list_init(&server->event_wants);
    sx_list_init(&server->events_dirty);
    sx_list_init(&server->handled_askers);
    cr_assert_eq(sx_board_create(&server->board, "bare"), PMIX_SUCCESS);
}

/* A job of @job_size processes, of which the first @here are registered on this node. */
static inline struct sx_nspace *bare_job(struct sx_server *server, const char *name,
                                         uint32_t job_size, uint32_t here)
{
    struct sx_nspace *const nspace = sx_nspace_obtain(server, name);

    cr_assert_not_null(nspace);
    nspace->registered = true;
    nspace->job_size = job_size;
    nspace->local_count = here;
    for (uint32_t rank = 0; rank < here; rank++) {
        cr_assert_not_null(sx_client_add(nspace, rank));
    }
    return nspace;
}

/* A process of it, with a lane and a bell. */
static inline struct sx_client *bare_connect(struct sx_server *server, struct sx_nspace *nspace,
                                             uint32_t rank)
{
    struct sx_client *const client = sx_client_find(nspace, rank);

    cr_assert_not_null(client);
    cr_assert_eq(sx_nspace_open(server, nspace), PMIX_SUCCESS);
    cr_assert_eq(sx_board_slot_claim(&server->board, &client->slot), PMIX_SUCCESS);
    cr_assert_eq(sx_lane_create(&client->lane, "lane", &server->board, client->slot), PMIX_SUCCESS);
    client->state = SX_CLIENT_CONNECTED;
    nspace->connected_count++;
    return client;
}

static inline void bare_deinit(struct sx_server *server)
{
    SX_LIST_EACH(it, &server->registry.nspaces) {
        const struct sx_nspace *nspace = SX_LIST_ENTRY(it, struct sx_nspace, link);

        for (size_t i = 0; i < nspace->client_count; i++) {
            sx_lane_destroy(&nspace->by_rank[i]->lane);
        }
    }
    sx_registry_deinit(server);
    sx_board_deinit(&server->board);
}

/* How often a client was rung. */
static inline uint32_t bare_rings(const struct sx_server *server, const struct sx_client *client)
{
    return sx_door_epoch(&server->board.slots[client->slot].bell);
}

#endif

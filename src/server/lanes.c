/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lanes.c - scan the lanes of all connected clients, take messages, hand them to dispatch.
 *
 * The loop asks before it sleeps: the board's epoch becomes odd first, then every lane is looked at
 * once more, so a client that appends in between either is seen here or sees the odd epoch.  A
 * client that has said good-bye keeps its lane until its connection ends, but nothing is taken out
 * of it. */
#include "server/lanes.h"

#include <sched.h>
#include <stdlib.h>

#include "base/status.h"
#include "server/connection.h"
#include "server/dispatch.h"
#include "server/event.h"
#include "server/reaper.h"

static bool lane_speaks(const struct sx_client *client)
{
    return client->state == SX_CLIENT_CONNECTED && sx_lane_pending(&client->lane);
}

/* Take at most @budget messages.  Return: false when the client was dropped. */
static bool lane_take(struct sx_server *server, struct sx_client *client, unsigned budget)
{
    const uint32_t room_rung = client->lane.room_rung;
    bool alive = client->state == SX_CLIENT_CONNECTED;
    uint32_t kind;
    uint32_t len;

    sx_client_retain(client); /* what it says may end it */
    while (alive && budget-- > 0) {
        pmix_status_t rc = sx_lane_take(&client->lane, server->lane_buffer, &kind, &len);

        if (rc == PMIX_ERR_NOT_FOUND) {
            break;
        }
        if (rc == PMIX_SUCCESS) {
            sx_reaper_watch_hint(server, client);
            rc = sx_dispatch_lane(server, client, kind, server->lane_buffer, len);
        }
        if (rc != PMIX_SUCCESS) {
            sx_connection_drop(server, client, "its lane holds what no client writes");
        }
        alive = client->state == SX_CLIENT_CONNECTED;
    }
    if (alive && client->no_waitv && client->lane.room_rung != room_rung) {
        sx_connection_ring(server, client); /* it sleeps on the door `any`, not on its bell */
    }
    sx_client_release(client);
    return alive;
}

bool sx_lane_drain(struct sx_server *server, struct sx_client *client)
{
    return lane_take(server, client, SX_LANE_BYTES / 8);
}

static void lanes_turn(void *arg, uint64_t now_ns)
{
    struct sx_server *server = arg;

    (void)now_ns;
    for (size_t i = server->live_count; i-- > 0;) { /* backwards: the last one moves into a hole */
        struct sx_client *client = server->live[i];

        if (lane_speaks(client)) {
            server->lanes_active = true;
            lane_take(server, client, SX_SERVER_LANE_BURST);
        }
        if (i > server->live_count) {
            i = server->live_count;
        }
    }
    sx_event_wake(server);
}

static bool lanes_pending(const struct sx_server *server)
{
    for (size_t i = 0; i < server->live_count; i++) {
        if (lane_speaks(server->live[i])) {
            return true;
        }
    }
    return false;
}

/* After activity more is likely: let the others run before they have to wake us.  A collective of
 * many ranks on few CPUs costs one wake of the server instead of one per handful of arrivals. */
static bool lanes_linger(struct sx_server *server)
{
    for (unsigned i = 0; server->lanes_active && i < SX_SERVER_LINGER_YIELDS; i++) {
        sched_yield();
        if (lanes_pending(server)) {
            return true;
        }
    }
    server->lanes_active = false;
    return false;
}

static bool lanes_about_to_sleep(void *arg)
{
    struct sx_server *server = arg;

    if (lanes_linger(server)) {
        return true;
    }
    sx_board_sleep(&server->board);
    if (lanes_pending(server)) {
        sx_board_wake(&server->board);
        return true;
    }
    return false;
}

static void lanes_awake(void *arg, uint64_t now_ns)
{
    struct sx_server *server = arg;

    (void)now_ns;
    sx_board_wake(&server->board);
}

void sx_lanes_hook(struct sx_server *server)
{
    const struct sx_loop_hooks hooks = {
        .about_to_sleep = lanes_about_to_sleep,
        .awake = lanes_awake,
        .turn = lanes_turn,
        .arg = server,
    };
    sx_loop_set_hooks(server->loop, &hooks);
}

pmix_status_t sx_lanes_add(struct sx_server *server, struct sx_client *client)
{
    if (server->live_count == server->live_capacity) {
        const size_t capacity = server->live_capacity == 0 ? 64 : 2 * server->live_capacity;
        struct sx_client **grown = realloc(server->live, capacity * sizeof(*grown));

        if (grown == NULL) {
            return PMIX_ERR_OUT_OF_RESOURCE;
        }
        server->live = grown;
        server->live_capacity = capacity;
    }
    server->live[server->live_count++] = client;
    return PMIX_SUCCESS;
}

void sx_lanes_remove(struct sx_server *server, struct sx_client *client)
{
    for (size_t i = 0; i < server->live_count; i++) {
        if (server->live[i] == client) {
            server->live[i] = server->live[--server->live_count];
            return;
        }
    }
}

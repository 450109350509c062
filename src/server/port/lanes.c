/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lanes.c - take messages out of the lanes of connected clients, hand them to dispatch.
 *
 * A client that has sent its good-bye keeps its lane until its connection ends, but no message is
 * taken from it. */
#include "server/port/port.h"

#include "base/array.h"
#include "base/status.h"

/* ---- marks ---------------------------------------------------------------------------------- */

uint64_t sx_lane_end(const struct sx_client *client)
{
    return sx_lane_tail(&client->lane);
}

bool sx_lane_taken(const struct sx_client *client, uint64_t mark)
{
    /* A lane that is empty has nothing left, no matter where its tail was before. */
    return (int64_t)(client->lane.head - mark) >= 0 || !sx_lane_pending(&client->lane);
}

static void marks_reach(struct sx_client *client)
{
    while (!sx_list_empty(&client->share.marks)) {
        struct sx_lane_mark *mark = SX_LIST_ENTRY(client->share.marks.next, struct sx_lane_mark,
                                                  link);

        if (!sx_lane_taken(client, mark->at)) {
            return;
        }
        sx_list_remove(&mark->link);
        mark->reached(mark);
        if (client->state != SX_CLIENT_CONNECTED) {
            return; /* and its lane is gone */
        }
    }
}

void sx_lane_mark(struct sx_server *server, struct sx_client *client, struct sx_lane_mark *mark)
{
    mark->at = sx_lane_end(client);
    sx_list_append(&client->share.marks, &mark->link);
    sx_client_retain(client);
    marks_reach(client);
    /* Work that goes on in its turns belongs to messages before these. */
    while (client->state == SX_CLIENT_CONNECTED && !sx_list_empty(&client->share.marks) &&
           sx_list_empty(&client->share.works) && sx_share_affords(server, client)) {
        sx_lane_take_one(server, client);
    }
    sx_client_release(client);
}

/* ---- messages ------------------------------------------------------------------------------- */

void sx_lane_take_one(struct sx_server *server, struct sx_client *client)
{
    const uint32_t room_rung = client->lane.room_rung;
    uint32_t kind;
    uint32_t len;
    pmix_status_t rc = sx_lane_take(&client->lane, server->port.lane_buffer, &kind, &len);

    server->port.lanes_active = true;
    /* A tail that a client moves forward and back is charged, too. */
    sx_share_charge(server, client,
                    rc == PMIX_SUCCESS ? server->consumer->lane_cost(kind, len) : 1);
    if (rc == PMIX_SUCCESS) {
        if (client->no_waitv && client->lane.room_rung != room_rung) {
            sx_wake_client(server, client); /* it sleeps on the door `any`, not on its bell */
        }
        rc = server->consumer->lane(server, client, kind, server->port.lane_buffer, len);
    }
    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_NOT_FOUND) {
        server->consumer->breaks(server, client, "its lane holds what no client writes");
    }
    if (client->state == SX_CLIENT_CONNECTED) {
        marks_reach(client);
    }
}

/* ---- which clients have a lane -------------------------------------------------------------- */

pmix_status_t sx_lanes_add(struct sx_server *server, struct sx_client *client)
{
    if (!SX_ARRAY_RESERVE(server->live, server->live_count, server->live_capacity, 64)) {
        return PMIX_ERR_OUT_OF_RESOURCE;
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

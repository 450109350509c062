/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* share.c - the units that a client has left of its turn, and those that it owes to others. */
#include "server/model/share.h"

#include "base/status.h"
#include "server/model/state.h"

void sx_turn_init(struct sx_turn *turn)
{
    *turn = (struct sx_turn){ .number = 1, .stranger_units = SX_TURN_STRANGER_UNITS };
    sx_list_init(&turn->strangers);
}

void sx_share_begin(struct sx_server *server, struct sx_client *client)
{
    struct sx_share *share = &client->share;

    sx_assert(sx_list_empty(&share->due));
    sx_assert(sx_list_empty(&share->works));
    share->turn = server->turn.number;
    share->units = SX_TURN_UNITS;
    share->spent = 0;
    share->frame = false;
}

void sx_share_end(struct sx_client *client)
{
    struct sx_share *share = &client->share;

    sx_timer_remove(&share->rest);
    sx_list_remove(&share->ending.link);
    share->ending.reached = NULL;
    share->frame = false;
}

bool sx_share_rests(const struct sx_client *client)
{
    return client->share.rest.source.loop != NULL;
}

/* Give the share the units of the turns since its last refill; unused units are lost. */
static void refill(const struct sx_turn *turn, struct sx_share *share)
{
    const uint64_t turns = turn->number - share->turn;

    if (turns == 0) {
        return;
    }
    share->turn = turn->number;
    share->spent = 0;
    if (turns > SX_TURN_LONG_UNITS || /* more than any client owes */
        share->units + (int64_t)turns * SX_TURN_UNITS > SX_TURN_UNITS) {
        share->units = SX_TURN_UNITS;
    } else {
        share->units += (int64_t)turns * SX_TURN_UNITS;
    }
}

bool sx_share_affords(struct sx_server *server, struct sx_client *client)
{
    refill(&server->turn, &client->share);
    return client->share.units > 0 && !sx_share_rests(client);
}

/* Units of rest after a message that took so many beyond SX_TURN_LONG_UNITS. */
static uint64_t rest_after(uint64_t beyond)
{
    const uint64_t rest = beyond * SX_TURN_REST;

    if (rest <= SX_TURN_REST_UNITS) {
        return rest;
    }
    return beyond > SX_TURN_REST_UNITS ? beyond : SX_TURN_REST_UNITS;
}

static void rest_is_over(void *arg, uint64_t now_ns)
{
    (void)arg; /* the timer is out of the loop now, and the turn goes on with the clients */
    (void)now_ns;
}

void sx_share_charge(struct sx_server *server, struct sx_client *client, uint64_t units)
{
    struct sx_share *share = &client->share;
    const uint64_t beyond = units > SX_TURN_LONG_UNITS ? units - SX_TURN_LONG_UNITS : 0;

    refill(&server->turn, share);
    share->units -= (int64_t)(units - beyond);
    share->spent += (uint32_t)units;
    server->turn.units += (uint32_t)units;
    if (beyond > 0 && client->connection != NULL && share->ending.reached == NULL) {
        share->rest.fn = rest_is_over;
        sx_timer_add(server->loop, &share->rest,
                     server->turn.now_ns + (units + rest_after(beyond)) * SX_TURN_UNIT_NS);
    }
    sx_board_work(&server->board, 0, share->spent);
}

void sx_share_charge_strangers(struct sx_server *server, uint64_t units)
{
    server->turn.stranger_units -= (int64_t)units;
    server->turn.units += (uint32_t)units;
}

void sx_share_forgive(struct sx_client *client)
{
    sx_timer_remove(&client->share.rest);
    if (client->share.units < 0) {
        client->share.units = 0;
    }
}

void sx_share_work_add(struct sx_client *client, struct sx_share_work *work)
{
    sx_list_append(&client->share.works, &work->link);
}

void sx_share_work_remove(struct sx_share_work *work)
{
    if (work->link.next != NULL) {
        sx_list_remove(&work->link);
    }
}

void sx_share_work_step(struct sx_client *client)
{
    struct sx_share_work *const work = SX_LIST_ENTRY(client->share.works.next, struct sx_share_work,
                                                     link);

    work->step(work);
}

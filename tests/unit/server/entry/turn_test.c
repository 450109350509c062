/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* turn_test.c - each client that has something gets its units of each turn, and a lane that never
 * empties holds up nobody. */
#include "server/entry/entry.h"

#include <stdlib.h>

#include "../bare.h"
#include "base/clock.h"
#include "server/port/port.h"

#define CLIENTS 3
#define MESSAGES 450 /* of each; four and a half turns */

static struct sx_server server;
static _Alignas(8) uint8_t buffer[SX_LANE_MESSAGE_MAX];
static unsigned taken[CLIENTS], in_turn[CLIENTS], all;
static uint64_t turn;

static uint64_t lane_cost(uint32_t kind, size_t size)
{
    (void)kind, (void)size;
    return 1;
}

static pmix_status_t lane(struct sx_server *which, struct sx_client *client, uint32_t kind,
                          const void *body, size_t size)
{
    (void)kind, (void)body, (void)size;
    if (which->turn.number != turn) {
        turn = which->turn.number;
        memset(in_turn, 0, sizeof(in_turn));
    }
    taken[client->rank]++;
    in_turn[client->rank]++;
    cr_expect_leq(in_turn[client->rank], SX_TURN_UNITS);
    for (unsigned i = 0; i < CLIENTS; i++) { /* nobody is more than a turn behind */
        cr_expect_geq(taken[i] + SX_TURN_UNITS, taken[client->rank]);
    }
    if (++all == CLIENTS * MESSAGES) {
        sx_loop_stop(which->loop);
    }
    return PMIX_SUCCESS;
}

static const struct sx_consumer consumer = { .lane_cost = lane_cost, .lane = lane };

static void fill(const struct sx_client *client)
{
    const uint64_t body = 0;
    const struct iovec iov = { .iov_base = (void *)(uintptr_t)&body, .iov_len = sizeof(body) };
    struct sx_lane producer;

    cr_assert_eq(sx_lane_attach(&producer, client->lane.seg.fd, &server.board, client->slot, -1),
                 PMIX_SUCCESS);
    for (unsigned i = 0; i < MESSAGES; i++) {
        cr_assert_eq(sx_lane_append(&producer, SX_LANE_CURSOR, &iov, 1), PMIX_SUCCESS);
    }
    sx_lane_detach(&producer);
}

Test(turn, serves_all_by_their_shares_and_in_changing_order, .timeout = 60)
{
    bare_init(&server);
    bare_loop(&server);
    server.consumer = &consumer;
    server.port.lane_buffer = buffer;
    struct sx_nspace *const job = bare_job(&server, "job", CLIENTS, CLIENTS);

    for (uint32_t rank = 0; rank < CLIENTS; rank++) {
        struct sx_client *const client = bare_connect(&server, job, rank);

        client->connection = (void *)&server; /* nobody looks at it */
        sx_share_begin(&server, client);
        cr_assert_eq(sx_lanes_add(&server, client), PMIX_SUCCESS);
        fill(client);
    }
    sx_turn_hook(&server);
    sx_loop_run(server.loop);
    cr_expect_eq(all, CLIENTS * MESSAGES);
    cr_expect_eq(server.turn.number, 1 + (MESSAGES + SX_TURN_UNITS - 1) / SX_TURN_UNITS);
    cr_expect_leq(atomic_load(&server.board.header->turn_units_max), CLIENTS * SX_TURN_UNITS);
    for (uint32_t rank = 0; rank < CLIENTS; rank++) {
        sx_client_find(job, rank)->connection = NULL;
    }
    free(server.live);
    bare_deinit(&server);
}

/* ---- work that goes on
 * ------------------------------------------------------------------------ */

#define STEPS 5u

struct long_work {
    struct sx_share_work work;
    unsigned steps;
    uint64_t turn; /* of the last step */
};

static void long_step(struct sx_share_work *work)
{
    struct long_work *const long_work = SX_CONTAINER(work, struct long_work, work);

    cr_expect_neq(server.turn.number, long_work->turn, "a step is more than a turn's share");
    long_work->turn = server.turn.number;
    sx_share_charge(&server, server.live[0], SX_TURN_UNITS);
    if (++long_work->steps == STEPS) {
        sx_share_work_remove(work);
        sx_loop_stop(server.loop);
    }
}

/* The loop does not sleep before it is done, though nothing else comes. */
Test(turn, goes_on_with_work_in_each_turn, .timeout = 60)
{
    struct long_work long_work = { .work = { .step = long_step } };

    bare_init(&server);
    bare_loop(&server);
    server.consumer = &consumer;
    server.port.lane_buffer = buffer;
    struct sx_client *const client = bare_connect(&server, bare_job(&server, "job", 1, 1), 0);

    client->connection = (void *)&server; /* nobody looks at it */
    sx_share_begin(&server, client);
    cr_assert_eq(sx_lanes_add(&server, client), PMIX_SUCCESS);
    sx_share_work_add(client, &long_work.work);
    sx_turn_hook(&server);
    sx_loop_run(server.loop);
    cr_expect_eq(long_work.steps, STEPS);
    client->connection = NULL;
    free(server.live);
    bare_deinit(&server);
}

/* ---- work of several clients ----------------------------------------------------------------- */

#define LONG_CLIENTS 40u
#define LONG_STEPS 3u

struct long_of {
    struct long_work of;
    struct sx_client *client;
};

static struct long_of longs[LONG_CLIENTS];
static unsigned long_steps_left;

/* Nobody has a second step more than another, though each could do one in every tenth turn. */
static void long_of_step(struct sx_share_work *work)
{
    struct long_of *const mine = SX_CONTAINER(SX_CONTAINER(work, struct long_work, work),
                                              struct long_of, of);

    cr_expect_neq(server.turn.number, turn, "one long step is a turn's work");
    turn = server.turn.number;
    sx_share_charge(&server, mine->client, SX_TURN_WORK_UNITS);
    mine->of.steps++;
    for (size_t i = 0; i < LONG_CLIENTS; i++) {
        cr_expect_leq(mine->of.steps, longs[i].of.steps + 1, "one has more steps than another");
    }
    if (mine->of.steps == LONG_STEPS) {
        sx_share_work_remove(work);
    }
    if (--long_steps_left == 0) {
        sx_loop_stop(server.loop);
    }
}

Test(turn, has_one_bound_for_the_steps_of_all_clients, .timeout = 60)
{
    bare_init(&server);
    bare_loop(&server);
    server.consumer = &consumer;
    server.port.lane_buffer = buffer;
    struct sx_nspace *const job = bare_job(&server, "job", LONG_CLIENTS, LONG_CLIENTS);

    turn = 0;
    long_steps_left = LONG_CLIENTS * LONG_STEPS;
    for (uint32_t rank = 0; rank < LONG_CLIENTS; rank++) {
        struct sx_client *const client = bare_connect(&server, job, rank);

        client->connection = (void *)&server; /* nobody looks at it */
        sx_share_begin(&server, client);
        cr_assert_eq(sx_lanes_add(&server, client), PMIX_SUCCESS);
        longs[rank] = (struct long_of){ .of.work.step = long_of_step, .client = client };
        sx_share_work_add(client, &longs[rank].of.work);
    }
    sx_turn_hook(&server);
    sx_loop_run(server.loop);
    cr_expect_eq(long_steps_left, 0);
    cr_expect_eq(atomic_load(&server.board.header->turn_units_max), SX_TURN_WORK_UNITS);
    for (uint32_t rank = 0; rank < LONG_CLIENTS; rank++) {
        sx_client_find(job, rank)->connection = NULL;
    }
    free(server.live);
    bare_deinit(&server);
}

/* ---- the time
 * --------------------------------------------------------------------------------- */

static struct sx_timer look;
static uint64_t begun_ns;

static void look_at_time(void *arg, uint64_t now_ns)
{
    (void)arg;
    if (sx_loop_stats(server.loop).sleeps == 0) { /* somebody else had the CPU for too long */
        cr_assert_eq(sx_timer_add(server.loop, &look, now_ns + 20 * SX_NS_PER_MS), PMIX_SUCCESS);
        return;
    }
    cr_expect_gt(server.turn.now_ns, begun_ns, "it is from before the sleep");
    sx_loop_stop(server.loop);
}

/* A rank that dies is looked at before the turn: what it had submitted is of now. */
Test(turn, what_is_called_before_the_turn_knows_the_time, .timeout = 60)
{
    bare_init(&server);
    bare_loop(&server);
    server.consumer = &consumer;
    sx_turn_hook(&server);
    begun_ns = sx_now_ns();
    look.fn = look_at_time;
    cr_assert_eq(sx_timer_add(server.loop, &look, begun_ns + 20 * SX_NS_PER_MS), PMIX_SUCCESS);
    sx_loop_run(server.loop);
    bare_deinit(&server);
}

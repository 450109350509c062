/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* lanes_test.c - what is taken out of a client's lane, what it costs, and when a mark is
 * reached. */
#include "server/port/port.h"

#include <stdlib.h>

#include "../bare.h"

static struct sx_server server;
static struct sx_client *client;
static struct sx_lane producer;
static uint64_t appended;
static _Alignas(8) uint8_t buffer[SX_LANE_MESSAGE_MAX];

/* ---- the consumer ---------------------------------------------------------------------------- */

static uint64_t taken;
static uint32_t cost, breaches;
static pmix_status_t verdict;

static uint64_t lane_cost(uint32_t kind, size_t size)
{
    (void)kind;
    (void)size;
    return cost;
}

static pmix_status_t lane(struct sx_server *which, struct sx_client *whose, uint32_t kind,
                          const void *body, size_t size)
{
    cr_expect_eq(which, &server);
    cr_expect_eq(whose, client);
    cr_expect_eq(kind, SX_LANE_CURSOR);
    cr_expect_eq(size, sizeof(taken));
    cr_expect_eq(memcmp(body, &taken, size), 0, "in order");
    taken++;
    return verdict;
}

static void breaks(struct sx_server *which, struct sx_client *whose, const char *why)
{
    (void)which;
    (void)why;
    whose->state = SX_CLIENT_DEAD;
    breaches++;
}

static const struct sx_consumer consumer = { .lane_cost = lane_cost,
                                             .lane = lane,
                                             .breaks = breaks };

/* ---- the client ------------------------------------------------------------------------------ */

static void begin(void)
{
    bare_init(&server);
    server.consumer = &consumer;
    server.port.lane_buffer = buffer;
    client = bare_connect(&server, bare_job(&server, "job", 1, 1), 0);
    sx_share_begin(&server, client);
    cr_assert_eq(sx_lane_attach(&producer, client->lane.seg.fd, &server.board, client->slot, -1),
                 PMIX_SUCCESS);
    appended = taken = breaches = 0;
    cost = 1;
    verdict = PMIX_SUCCESS;
}

static void end(void)
{
    sx_lane_detach(&producer);
    bare_deinit(&server);
}

TestSuite(lanes, .init = begin, .fini = end);

static void append(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++, appended++) {
        const struct iovec iov = { .iov_base = &appended, .iov_len = sizeof(appended) };

        cr_assert_eq(sx_lane_append(&producer, SX_LANE_CURSOR, &iov, 1), PMIX_SUCCESS);
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

Test(lanes, are_taken_one_message_at_a_time_and_charged)
{
    append(2);
    cost = 7;
    sx_lane_take_one(&server, client);
    cr_expect_eq(taken, 1);
    cr_expect(server.port.lanes_active);
    cr_expect_eq(client->share.spent, 7);
    sx_lane_take_one(&server, client);
    sx_lane_take_one(&server, client);
    cr_expect_eq(taken, 2);
    cr_expect_eq(client->share.spent, 15, "to look in vain costs something");
    cr_expect_eq(breaches, 0);
}

Test(lanes, break_off_for_what_no_client_writes)
{
    append(1);
    verdict = PMIX_ERR_BAD_PARAM;
    sx_lane_take_one(&server, client);
    cr_expect_eq(breaches, 1, "by the consumer's word");
    client->state = SX_CLIENT_CONNECTED;
    atomic_store(&client->lane.line->tail, client->lane.head + SX_LANE_BYTES + 8);
    sx_lane_take_one(&server, client);
    cr_expect_eq(breaches, 2, "by the lane's own words");
    cr_expect_eq(taken, 1);
}

static uint32_t reached;

static void on_reached(struct sx_lane_mark *mark)
{
    cr_expect(sx_list_empty(&mark->link));
    reached++;
}

Test(lanes, reach_a_mark_at_once_when_little_is_in_them)
{
    struct sx_lane_mark mark = { .reached = on_reached };

    sx_list_init(&mark.link);
    sx_lane_mark(&server, client, &mark);
    cr_expect_eq(reached, 1, "nothing at all");
    append(3);
    sx_lane_mark(&server, client, &mark);
    cr_expect_eq(reached, 2);
    cr_expect_eq(taken, 3);
    cr_expect_eq(client->reference_count, 1);
}

Test(lanes, reach_marks_in_order_as_the_share_allows)
{
    struct sx_lane_mark first = { .reached = on_reached }, second = { .reached = on_reached };

    cost = SX_TURN_UNITS;
    append(2);
    sx_lane_mark(&server, client, &first);
    append(1);
    sx_lane_mark(&server, client, &second);
    cr_expect_eq(taken, 1, "its share");
    cr_expect_eq(reached, 0);
    sx_lane_take_one(&server, client);
    cr_expect_eq(reached, 1);
    cr_expect_not(sx_lane_taken(client, second.at));
    append(1); /* behind the second mark */
    sx_lane_take_one(&server, client);
    cr_expect_eq(reached, 2);
    cr_expect(sx_lane_taken(client, second.at));
    cr_expect_not(sx_lane_taken(client, sx_lane_end(client)));
}

Test(lanes, of_one_who_breaks_off_reach_nothing)
{
    struct sx_lane_mark mark = { .reached = on_reached };

    append(2);
    verdict = PMIX_ERR_BAD_PARAM;
    sx_lane_mark(&server, client, &mark);
    cr_expect_eq(taken, 1);
    cr_expect_eq(breaches, 1);
    cr_expect_eq(reached, 0);
}

Test(lanes, know_who_has_one)
{
    static struct sx_client many[200];

    for (size_t i = 0; i < SX_COUNT(many); i++) {
        cr_assert_eq(sx_lanes_add(&server, &many[i]), PMIX_SUCCESS);
    }
    sx_lanes_remove(&server, &many[3]);
    sx_lanes_remove(&server, &many[3]);
    cr_expect_eq(server.live_count, SX_COUNT(many) - 1);
    for (size_t i = 0; i < server.live_count; i++) {
        cr_expect_neq(server.live[i], &many[3]);
    }
    for (size_t i = 0; i < SX_COUNT(many); i++) {
        sx_lanes_remove(&server, &many[i]);
    }
    cr_expect_eq(server.live_count, 0);
    free(server.live);
}

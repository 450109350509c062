/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* share_test.c - what a client may spend in a turn, what it pays back, and when it rests. */
#include "server/model/share.h"

#include "../bare.h"

static struct sx_server server;
static struct sx_client *client;

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    client = bare_connect(&server, bare_job(&server, "job", 1, 1), 0);
    client->connection = (void *)&server; /* nobody looks at it */
    sx_share_begin(&server, client);
}

static void end(void)
{
    sx_share_end(client);
    client->connection = NULL;
    bare_deinit(&server);
}

TestSuite(share, .init = begin, .fini = end);

/* What was spent at once in a turn, how many turns later, and what is left then. */
static const struct {
    uint64_t spent, turns;
    int64_t left;
} rows[] = {
    { 0, 0, SX_TURN_UNITS },
    { 1, 0, SX_TURN_UNITS - 1 },
    { SX_TURN_UNITS, 0, 0 },
    { 1, 1, SX_TURN_UNITS }, /* nothing is saved up */
    { 0, 5, SX_TURN_UNITS },
    { 3 * SX_TURN_UNITS, 0, -2 * SX_TURN_UNITS },
    { 3 * SX_TURN_UNITS, 1, -1 * SX_TURN_UNITS },
    { 3 * SX_TURN_UNITS, 2, 0 },
    { 3 * SX_TURN_UNITS, 3, SX_TURN_UNITS },
    { SX_TURN_LONG_UNITS, 9, 0 },
    { 3, UINT64_MAX / 2, SX_TURN_UNITS }, /* so many turns that their units overflow */
};

Test(share, is_given_anew_in_each_turn_and_debts_are_paid_first)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        sx_share_begin(&server, client);
        sx_share_charge(&server, client, rows[i].spent);
        server.turn.number += rows[i].turns;
        cr_expect_eq(sx_share_affords(&server, client), rows[i].left > 0, "row %zu", i);
        cr_expect_eq(client->share.units, rows[i].left, "row %zu: %lld", i,
                     (long long)client->share.units);
        cr_expect_not(sx_share_rests(client), "row %zu", i);
    }
}

/* Beyond LONG a message is paid with time. */
static const struct {
    uint64_t units, rest_units;
} rests[] = {
    { SX_TURN_LONG_UNITS + 1, SX_TURN_LONG_UNITS + 1 + SX_TURN_REST },
    { SX_TURN_LONG_UNITS + 2000, SX_TURN_LONG_UNITS + 2000 + SX_TURN_REST_UNITS },
    { SX_TURN_LONG_UNITS + 2001, SX_TURN_LONG_UNITS + 2001 + SX_TURN_REST_UNITS },
    { SX_TURN_LONG_UNITS + 30000, SX_TURN_LONG_UNITS + 60000 },
};

Test(share, ends_for_some_time_after_a_long_message)
{
    for (size_t i = 0; i < SX_COUNT(rests); i++) {
        server.turn.now_ns = 1;
        sx_share_begin(&server, client);
        sx_share_charge(&server, client, rests[i].units);
        cr_assert(sx_share_rests(client), "row %zu", i);
        cr_expect_eq(client->share.rest.deadline_ns, 1 + rests[i].rest_units * SX_TURN_UNIT_NS,
                     "row %zu: %llu", i, (unsigned long long)client->share.rest.deadline_ns);
        server.turn.number += 100;
        cr_expect_not(sx_share_affords(&server, client), "row %zu: whatever it has", i);
        sx_share_forgive(client);
        cr_expect_not(sx_share_rests(client));
        cr_expect(sx_share_affords(&server, client));
    }
}

Test(share, of_one_who_goes_does_not_rest)
{
    client->share.ending.reached = (void (*)(struct sx_lane_mark *))sx_share_end;
    sx_share_charge(&server, client, 2 * SX_TURN_LONG_UNITS);
    cr_expect_not(sx_share_rests(client), "its end is on its way");
    sx_share_forgive(client);
    cr_expect_eq(client->share.units, 0, "and it owes nothing");
    sx_share_end(client);
    cr_expect_null(client->share.ending.reached);
}

Test(share, is_counted_for_reports_and_for_the_turn)
{
    sx_share_charge(&server, client, 30);
    sx_share_charge(&server, client, 12);
    sx_share_charge_strangers(&server, 7);
    cr_expect_eq(client->share.spent, 42);
    cr_expect_eq(server.turn.units, 49);
    cr_expect_eq(server.turn.stranger_units, SX_TURN_STRANGER_UNITS - 7);
    cr_expect_eq(atomic_load(&server.board.header->share_units_max), 42);
    server.turn.number++;
    sx_share_charge(&server, client, 5);
    cr_expect_eq(client->share.spent, 5, "of this turn alone");
    cr_expect_eq(atomic_load(&server.board.header->share_units_max), 42);
}

/* ---- work that goes on
 * ------------------------------------------------------------------------ */

struct steps {
    struct sx_share_work work;
    unsigned left, done;
};

static void step(struct sx_share_work *work)
{
    struct steps *const steps = SX_CONTAINER(work, struct steps, work);

    steps->done++;
    if (--steps->left == 0) {
        sx_share_work_remove(work);
    }
}

Test(share, work_goes_on_step_by_step_the_oldest_first)
{
    struct steps works[2] = { { .work = { .step = step }, .left = 2 },
                              { .work = { .step = step }, .left = 1 } };
    struct steps never = { .work = { .step = step } };

    sx_share_work_remove(&never.work); /* it was never there */
    for (size_t i = 0; i < SX_COUNT(works); i++) {
        sx_share_work_add(client, &works[i].work);
    }
    sx_share_work_step(client);
    cr_expect_eq(works[0].done, 1);
    sx_share_work_step(client);
    cr_expect_eq(works[0].done, 2);
    cr_expect_eq(works[1].done, 0, "one after the other");
    sx_share_work_step(client);
    cr_expect_eq(works[1].done, 1);
    cr_expect(sx_list_empty(&client->share.works));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* steps_test.c - all that is done of some work in one turn of the loop has one bound, whoever begins
 * it. */
#include "server/model/steps.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../../control/engines.h"
#include "../bare.h"

#define MAX 10u
#define PIECES 45u

static struct sx_server server;
static struct sx_steps steps;
static unsigned left, in_turn, begun;
static uint64_t turn;
static bool is_last; /* the loop stops */

static bool some(struct sx_server *which, size_t *budget)
{
    for (; *budget > 0 && left > 0; --*budget, left--) {
        const uint64_t now = sx_loop_stats(which->loop).turns;

        in_turn = now == turn ? in_turn + 1 : 1;
        turn = now;
        cr_expect(in_turn <= MAX || is_last, "%u in one turn", in_turn);
    }
    return left == 0;
}

/* In each turn, before the posts of that turn. */
static void begin(void *arg, uint32_t revents, uint64_t now_ns)
{
    (void)arg, (void)revents, (void)now_ns;
    begun++;
    sx_steps_go(&steps);
    if (left == 0) {
        sx_loop_stop(server.loop);
    }
}

Test(steps, have_one_bound_in_a_turn, .timeout = 60)
{
    struct sx_poll poll = { .fd = eventfd(1, 0), .events = POLLIN, .fn = begin };

    left = PIECES;
    bare_init(&server);
    bare_loop(&server);
    sx_steps_init(&steps, &server, some, MAX);
    cr_assert_eq(sx_poll_add(server.loop, &poll), PMIX_SUCCESS);
    sx_loop_run(server.loop);
    cr_expect_eq(left, 0);
    cr_expect_geq(begun, PIECES / MAX);
    sx_poll_remove(&poll);
    close(poll.fd);
    bare_deinit(&server);
}

static void go(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
    sx_steps_go(&steps);
    is_last = true;
    sx_loop_stop(server.loop);
}

Test(steps, do_the_rest_at_once_when_the_loop_stops, .timeout = 60)
{
    struct sx_timer timer = { .fn = go };

    left = PIECES;
    bare_init(&server);
    bare_loop(&server);
    sx_steps_init(&steps, &server, some, MAX);
    cr_assert_eq(sx_timer_add(server.loop, &timer, 0), PMIX_SUCCESS);
    sx_loop_run(server.loop);
    cr_expect_eq(left, 0);
    bare_deinit(&server);
}

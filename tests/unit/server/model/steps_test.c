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

/* ---- entries of any length ------------------------------------------------------------------- */

#define LONG 100000u
#define SHORTS 6u
#define QUEUE_MAX 80u

struct entry {
    struct sx_steps_entry link;
    size_t left;
    unsigned turn; /* in which it was done */
    unsigned anew; /* so often all of it is done again */
};

static unsigned queue_turn;

static bool entry_do(struct sx_steps_entry *it, size_t *budget)
{
    struct entry *const entry = SX_CONTAINER(it, struct entry, link);
    const size_t pieces = entry->left < *budget ? entry->left : *budget;

    entry->left -= pieces;
    *budget -= pieces;
    if (entry->anew > 0 && entry->left == 0) { /* all of it */
        entry->anew--;
        entry->left = LONG;
        entry->link.is_anew = true;
        *budget = 0;
    }
    if (entry->left > 0) {
        return false;
    }
    entry->turn = queue_turn;
    sx_list_remove(&it->link);
    return true;
}

/* A turn.  Return: the pieces that were done. */
static size_t queue_go(const struct sx_steps *owner, struct sx_steps_queue *queue)
{
    size_t budget = QUEUE_MAX;
    const bool is_done = sx_steps_queue_do(owner, queue, entry_do, &budget);

    queue_turn++;
    cr_expect_eq(is_done, sx_steps_queue_first(queue) == NULL);
    cr_expect(is_done || budget == 0, "a turn is used");
    return QUEUE_MAX - budget;
}

Test(steps_queue, short_ones_overtake_the_long_ones)
{
    static const struct {
        const char *why;
        unsigned longs; /* before */
        bool are_long;  /* as their owner says */
        size_t pieces;  /* of each of SHORTS, and ... */
        unsigned turns; /* ... the last of them is done within these */
    } rows[] = {
        { "all in one turn", 0, false, QUEUE_MAX / SHORTS, 1 },
        { "as many as there are turns for", 0, false, QUEUE_MAX, SHORTS },
        { "a quarter of a turn", 1, false, 3, 1 },
        { "more than a quarter", 1, false, 10, 3 },
        { "of many long ones one has pieces", 4, false, 10, 3 },
        { "of each turn a quarter", 1, false, QUEUE_MAX, 4 * SHORTS },
        { "one after the other, behind the first", 1, true, 1, LONG / QUEUE_MAX + 1 },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_steps owner;
        struct sx_steps_queue queue;
        struct entry longs[4], shorts[SHORTS];

        sx_steps_init(&owner, &server, NULL, QUEUE_MAX);
        sx_steps_queue_init(&queue);
        for (unsigned k = 0; k < rows[i].longs; k++) {
            longs[k] = (struct entry){ .left = LONG };
            sx_steps_queue_add(&queue, &longs[k].link);
        }
        for (unsigned k = 0; k < 20 * rows[i].longs; k++) {
            cr_expect_eq(queue_go(&owner, &queue), QUEUE_MAX);
        }
        const size_t first = longs[0].left;

        for (unsigned k = 0; k < SHORTS; k++) {
            shorts[k] = (struct entry){ .left = rows[i].pieces, .link.is_long = rows[i].are_long };
            sx_steps_queue_add(&queue, &shorts[k].link);
        }
        queue_turn = 1;
        while (shorts[SHORTS - 1].left > 0) {
            (void)queue_go(&owner, &queue);
            cr_assert_leq(queue_turn, rows[i].turns + 1, "%s", rows[i].why);
        }
        if (rows[i].longs > 0 && !rows[i].are_long) {
            cr_expect_geq(first - longs[0].left, (queue_turn - 1) * (QUEUE_MAX / 4 * 3), "%s",
                          rows[i].why);
        }
        for (unsigned k = 1; k < rows[i].longs; k++) {
            cr_expect_geq(longs[k].left, LONG - (SX_STEPS_SHORT_TURNS + 1) * QUEUE_MAX,
                          "it holds little while the first is done: %s", rows[i].why);
        }
    }
}

/* A long one may not keep short ones from their turn, nor these each other. */
Test(steps_queue, a_short_one_ends_whatever_comes_before_it)
{
    struct sx_steps owner;
    struct sx_steps_queue queue;
    struct entry longs[8], last = { .left = 5 };

    sx_steps_init(&owner, &server, NULL, QUEUE_MAX);
    sx_steps_queue_init(&queue);
    for (unsigned k = 0; k < SX_COUNT(longs); k++) {
        longs[k] = (struct entry){ .left = LONG };
        sx_steps_queue_add(&queue, &longs[k].link);
    }
    sx_steps_queue_add(&queue, &last.link);
    queue_turn = 1;
    while (last.left > 0) {
        (void)queue_go(&owner, &queue);
    }
    cr_expect_leq(last.turn, 2, "after a part of each: %u", last.turn);
}

/* Others do not wait for one that is done again and again. */
Test(steps_queue, one_that_is_done_anew_goes_behind_the_others)
{
    struct sx_steps owner;
    struct sx_steps_queue queue;
    struct entry again = { .left = LONG, .anew = 10 }, other = { .left = LONG };

    sx_steps_init(&owner, &server, NULL, QUEUE_MAX);
    sx_steps_queue_init(&queue);
    sx_steps_queue_add(&queue, &again.link);
    sx_steps_queue_add(&queue, &other.link);
    queue_turn = 1;
    while (again.left > 0 || other.left > 0) {
        (void)queue_go(&owner, &queue);
    }
    cr_expect_leq(other.turn, 2 * LONG / QUEUE_MAX + 3, "%u", other.turn);
    cr_expect_geq(again.turn, 10 * LONG / QUEUE_MAX);
}

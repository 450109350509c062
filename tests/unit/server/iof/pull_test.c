/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pull_test.c - who delivers waits for a reader that takes enough, and not for ever for one that
 * does not; what that one loses it is told. */
#include "server/iof/pull.h"

#include <sys/socket.h>
#include <unistd.h>

#include "../bare.h"

#define PIECE 1000u

static struct sx_server server;
static struct sx_client client;
static pmix_proc_t rank_0 = { .nspace = "job", .rank = 0 };
static struct sx_pull pull;
static int reader;
static unsigned taken, delivered;
static unsigned char last_read; /* which piece it was of */

static void on_ended(struct sx_pull *ended)
{
    (void)ended;
    cr_assert_fail("the pull has ended");
}

static void on_taken(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    cr_assert_eq(status, PMIX_SUCCESS);
    taken++;
}

static void begin(enum sx_pull_drops drops)
{
    bare_init(&server);
    bare_loop(&server);
    pull = (struct sx_pull){ .client = &client,
                             .procs = &rank_0,
                             .proc_count = 1,
                             .channels = PMIX_FWD_STDOUT_CHANNEL,
                             .drops = drops,
                             .queue_max = 4 * PIECE + PIECE / 2 };
    sx_pull_init(&pull);
    cr_assert_eq(sx_pull_open(&pull, server.loop, on_ended, &reader), PMIX_SUCCESS);
}

static void finish(void)
{
    sx_pull_deinit(&pull);
    close(reader);
    bare_deinit(&server);
}

/* Deliver a piece, as if it were the next one of the host's. */
static void deliver(void)
{
    char bytes[PIECE];
    struct sx_output *output;

    memset(bytes, (int)(delivered++ & 0xff), sizeof(bytes));
    cr_assert_eq(sx_output_new(&server, &rank_0, bytes, sizeof(bytes), &output), PMIX_SUCCESS);
    output->channel = PMIX_FWD_STDOUT_CHANNEL;
    output->taken = on_taken;
    cr_assert(sx_pull_is_about(&pull, output) && sx_pull_is_open(&pull));
    sx_pull_put(&pull, output);
    sx_pull_send(&pull);
    sx_output_settle(output);
    sx_output_release(output);
}

static void nothing(void *arg, uint64_t now_ns)
{
    (void)arg, (void)now_ns;
}

/* More than there is room for: the socket's, the queue's, and one piece.  Return: how many. */
static unsigned fill(void)
{
    unsigned count = 0;

    while (pull.queue_bytes <= pull.queue_max) {
        deliver();
        count++;
    }
    bare_call(&server, nothing, NULL);
    cr_assert_eq(taken, count - 1, "%u of %u", taken, count);
    return count;
}

/* Read what is in the socket.  Return: how many bytes; *ret_lost: what the last one says. */
static size_t drain(uint64_t *ret_lost)
{
    struct {
        struct sx_iof_piece head;
        char bytes[SX_IOF_BYTES_MAX];
    } piece;
    size_t sum = 0;
    ssize_t got;

    while ((got = recv(reader, &piece, sizeof(piece), MSG_DONTWAIT)) > 0) {
        last_read = (unsigned char)piece.bytes[(size_t)got - sizeof(piece.head) - 1];
        sum += (size_t)got - sizeof(piece.head);
        *ret_lost = piece.head.lost;
    }
    return sum;
}

/* Read so many messages. */
static void read_some(unsigned count)
{
    char piece[sizeof(struct sx_iof_piece) + PIECE];

    while (count-- > 0) {
        cr_assert_eq(recv(reader, piece, sizeof(piece), MSG_DONTWAIT), (ssize_t)sizeof(piece));
    }
}

/* Send and read until there is nothing. */
static size_t drain_all(uint64_t *ret_lost)
{
    size_t sum = 0, got;

    while ((got = drain(ret_lost)) > 0) {
        sum += got;
        sx_pull_send(&pull);
    }
    return sum;
}

Test(pull, a_reader_that_reads_in_time_loses_nothing)
{
    uint64_t lost = 0;

    begin(SX_PULL_DROPS_NOTHING);
    const unsigned count = fill();
    const size_t first = drain(&lost);

    sx_pull_send(&pull); /* it has taken something, and stands still from now on */
    bare_call(&server, nothing, NULL);
    cr_assert_eq(taken, count);
    while (pull.queue_bytes <= pull.queue_max) {
        deliver();
    }
    bare_call(&server, nothing, NULL);
    const unsigned before = taken;

    cr_assert_eq(first + drain_all(&lost), (before + 1) * PIECE);
    bare_much_later(&server); /* it has read since then */
    cr_assert_eq(lost, 0);
    cr_assert_eq(taken, before + 1);
    cr_assert_not(pull.stuck);
    finish();
}

Test(pull, a_reader_that_stands_still_holds_nobody_for_ever)
{
    uint64_t lost = 0;

    begin(SX_PULL_DROPS_NOTHING);
    unsigned count = fill();

    bare_much_later(&server);
    cr_assert_eq(taken, count);
    cr_assert_leq(pull.queue_bytes, pull.queue_max);
    for (int i = 0; i < 10; i++, count++) { /* nor once more */
        deliver();
    }
    bare_call(&server, nothing, NULL);
    cr_assert_eq(taken, count);
    cr_assert_leq(pull.queue_bytes, pull.queue_max);

    const size_t got = drain_all(&lost);

    cr_assert_gt(lost, 0);
    cr_assert_eq(got + lost, count * (size_t)PIECE);
    cr_assert_not(pull.stuck);
    taken = 0;
    count = fill(); /* it reads again: others wait for it again */
    cr_assert_eq(drain_all(&lost), count * (size_t)PIECE);
    finish();
}

/* It has held somebody back for so long, and no longer. */
static void one_period_later(void)
{
    cr_assert_not_null(pull.patience.source.loop);
    sx_timer_remove(&pull.patience);
    pull.patience.fn(pull.patience.arg, 0);
    bare_call(&server, nothing, NULL);
}

/* Half of it each, and half more. */
#define TOO_FEW (SX_PULL_PATIENCE_BYTES / PIECE / 2)
#define ENOUGH (SX_PULL_PATIENCE_BYTES / PIECE * 3 / 2)

Test(pull, a_reader_that_is_slow_loses_nothing_as_long_as_it_takes_enough)
{
    uint64_t lost = 0;

    begin(SX_PULL_DROPS_NOTHING);
    pull.queue_max = 2 * SX_PULL_QUEUE_BYTES;
    const unsigned count = fill();

    for (int i = 0; i < 2; i++) {
        read_some(ENOUGH);
        one_period_later();
        cr_assert_not(pull.stuck);
        cr_assert_eq(taken, count - 1, "it still holds who delivers");
    }
    read_some(TOO_FEW);
    one_period_later();
    cr_assert(pull.stuck);
    cr_assert_eq(taken, count);
    (void)drain_all(&lost);
    cr_assert_eq(lost, 0, "what was queued had room by then");
    finish();
}

Test(pull, a_reader_that_takes_too_little_holds_nobody_for_ever)
{
    uint64_t lost = 0;

    begin(SX_PULL_DROPS_NOTHING);
    unsigned count = fill();

    read_some(2);
    one_period_later();
    cr_assert(pull.stuck);
    cr_assert_eq(taken, count);
    for (int i = 0; i < 10; i++, count++) {
        read_some(1);
        deliver();
    }
    bare_call(&server, nothing, NULL);
    cr_assert_eq(taken, count, "it does not hold them again by reading a little more");
    cr_assert_eq(drain_all(&lost) + 12 * PIECE + lost, count * (size_t)PIECE);
    cr_assert_not(pull.stuck);
    finish();
}

/* A small queue is soon free again, and soon full. */
Test(pull, a_reader_that_holds_often_is_judged_by_all_that_it_has_taken)
{
    begin(SX_PULL_DROPS_NOTHING);
    for (unsigned had = 0; had < ENOUGH; had += 4) {
        (void)fill();
        cr_assert_gt(pull.holds, 0);
        read_some(4);
        sx_pull_send(&pull);
        cr_assert_eq(pull.holds, 0);
        taken = 0;
    }
    (void)fill();
    one_period_later();
    cr_assert_not(pull.stuck);
    one_period_later();
    cr_assert(pull.stuck, "nothing was taken since then");
    finish();
}

/* The server comes late, and what the socket holds is less than enough. */
Test(pull, a_reader_that_waits_for_the_server_is_not_slow)
{
    uint64_t lost = 0;

    begin(SX_PULL_DROPS_NOTHING);
    (void)fill();
    (void)drain(&lost);
    pull.took = 0;
    one_period_later();
    cr_assert_not(pull.stuck);
    finish();
}

Test(pull, at_the_end_a_reader_is_waited_for_if_it_reads)
{
    uint64_t lost = 0;

    begin(SX_PULL_DROPS_NOTHING);
    fill();
    cr_assert(sx_pull_flush(&pull));
    bare_much_later(&server);
    for (int i = 0; i < 10; i++) {
        deliver();
    }
    cr_assert(pull.stuck);
    cr_assert_not(sx_pull_flush(&pull));
    read_some(1);
    cr_assert(sx_pull_flush(&pull), "it has begun to read again");
    (void)drain_all(&lost);
    cr_assert_not(sx_pull_flush(&pull), "it has all");
    finish();
}

Test(pull, one_that_goes_holds_nobody)
{
    begin(SX_PULL_DROPS_NOTHING);
    const unsigned count = fill();

    sx_pull_deinit(&pull);
    bare_call(&server, nothing, NULL);
    cr_assert_eq(taken, count);
    cr_assert_null(pull.patience.source.loop, "nothing comes of it later");
    finish();
}

Test(pull, a_reader_that_asks_for_it_holds_nobody_at_all)
{
    static const enum sx_pull_drops policies[] = { SX_PULL_DROPS_OLDEST, SX_PULL_DROPS_NEWEST };

    for (size_t i = 0; i < SX_COUNT(policies); i++) {
        uint64_t lost = 0;
        const unsigned count = 1000;

        begin(policies[i]);
        taken = 0;
        for (unsigned at = 0; at < count; at++) {
            deliver();
        }
        bare_call(&server, nothing, NULL);
        cr_assert_eq(taken, count);
        cr_assert_eq(pull.queue_bytes, pull.queue_max, "no more is lost than has to be");
        const size_t got = drain_all(&lost);
        const bool has_newest = last_read == (unsigned char)(delivered - 1);

        cr_assert_gt(lost, 0);
        cr_assert_eq(has_newest, policies[i] == SX_PULL_DROPS_OLDEST);
        cr_assert_eq(got + lost, count * (size_t)PIECE, "policy %zu: %zu and %llu", i, got,
                     (unsigned long long)lost);
        finish();
    }
}

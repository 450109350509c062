/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* sleeper_test.c - who sleeps in poll(2) is rung once a sleep, and never missed.
 *
 * What the server sends passes through a function of this test, which may refuse it, and may look
 * around at the very moment at which the byte has come.  Every order of the steps is tried by
 * tests/model. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ring/sleeper.h"

static struct sx_lane_line line;
static struct sx_board_slot slot;
static int server_fd, client_fd;

static int refusals, refused_with;
static atomic_uint sent_count;
static void (*when_sent)(void);

ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    static ssize_t (*next)(int, const void *, size_t, int);

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "send");
    }
    if (fd == server_fd && refusals > 0) {
        refusals--;
        errno = refused_with;
        return -1;
    }
    const ssize_t sent = next(fd, bytes, size, flags);
    if (fd == server_fd) {
        atomic_fetch_add(&sent_count, 1);
        if (when_sent != NULL) {
            when_sent();
        }
    }
    return sent;
}

static bool readable(void)
{
    struct pollfd poll_fd = { .fd = client_fd, .events = POLLIN };

    return poll(&poll_fd, 1, 0) == 1;
}

static enum sx_sleep go_to_sleep(void)
{
    return sx_sleeper_sleep(&line, &slot, client_fd);
}

static bool ring(uint32_t class_bits)
{
    return sx_sleeper_ring(&line, &slot, class_bits, server_fd);
}

static void setup(void)
{
    int fds[2];

    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    server_fd = fds[0];
    client_fd = fds[1];
    cr_assert(sx_sleeper_open(&line, &slot, server_fd));
}

static void teardown(void)
{
    close(server_fd);
    close(client_fd);
}

TestSuite(sleeper, .init = setup, .fini = teardown);

Test(sleeper, who_is_awake_is_not_rung)
{
    sx_sleeper_classes(&line, UINT32_MAX);
    cr_expect(readable(), "it looks once");
    cr_expect(ring(UINT32_MAX));
    cr_expect_eq(sent_count, 1);
}

Test(sleeper, who_sleeps_is_rung_once_for_what_it_wants)
{
    sx_sleeper_classes(&line, 1u << 3);
    cr_expect_eq(go_to_sleep(), SX_SLEEP_BEGUN);
    cr_expect_eq(go_to_sleep(), SX_SLEEP_NOTHING_NEW);
    cr_expect(ring(1u << 4 | 1u << 2) && !readable(), "not for these");
    cr_expect(ring(1u << 4 | 1u << 3) && readable());
    cr_expect(ring(1u << 3));
    cr_expect_eq(sent_count, 2, "it has not slept since");
    cr_expect_eq(go_to_sleep(), SX_SLEEP_BEGUN);
    cr_expect(!readable());
    sx_sleeper_classes(&line, 1u << 4);
    cr_expect(ring(1u << 3) && !readable());
    cr_expect(ring(1u << 4) && readable());
}

Test(sleeper, a_hostile_count_is_answered_once_a_look)
{
    sx_sleeper_classes(&line, 1);
    for (uint32_t i = 0; i < 4; i++) {
        atomic_store(&line.wake_wanted, UINT32_MAX - i);
        cr_expect(ring(1) && ring(1));
        cr_expect_eq(sent_count, 2 + i);
    }
}

static enum sx_sleep found_when_sent;
static bool quiet_when_sent;

static void look_around(void)
{
    found_when_sent = go_to_sleep();
    quiet_when_sent = !readable();
}

Test(sleeper, who_is_woken_by_the_byte_may_sleep_again_at_once)
{
    sx_sleeper_classes(&line, 1);
    cr_assert_eq(go_to_sleep(), SX_SLEEP_BEGUN);
    when_sent = look_around;
    cr_expect(ring(1));
    cr_expect_eq(found_when_sent, SX_SLEEP_BEGUN);
    cr_expect(quiet_when_sent);
}

Test(sleeper, who_looks_before_the_byte_has_come_waits_for_it)
{
    sx_sleeper_classes(&line, 1);
    cr_assert_eq(go_to_sleep(), SX_SLEEP_BEGUN);
    atomic_store(&slot.wake_rung, 1); /* the server, between its two steps */
    cr_expect_eq(go_to_sleep(), SX_SLEEP_NOTHING_NEW);
    cr_expect_eq(atomic_load(&line.wake_wanted), 1, "it sleeps on");
    cr_assert_eq(send(server_fd, "", 1, 0), 1);
    cr_expect_eq(go_to_sleep(), SX_SLEEP_BEGUN);
    cr_expect(!readable());
}

Test(sleeper, a_byte_that_memory_refuses_is_no_answer)
{
    static const int reasons[] = { ENOBUFS, ENOMEM };

    sx_sleeper_classes(&line, 1);
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        cr_assert_eq(go_to_sleep(), SX_SLEEP_BEGUN);
        refusals = 2;
        refused_with = reasons[i];
        cr_expect(!ring(1) && !ring(1));
        cr_expect_eq(go_to_sleep(), SX_SLEEP_NOTHING_NEW, "it still sleeps");
        cr_expect(ring(1) && readable());
    }
}

Test(sleeper, a_full_socket_and_a_closed_one_are_answers)
{
    sx_sleeper_classes(&line, 1);
    cr_assert_eq(go_to_sleep(), SX_SLEEP_BEGUN);
    refusals = 1;
    refused_with = EAGAIN;
    cr_expect(ring(1));
    cr_assert_eq(send(server_fd, "", 1, 0), 1); /* what filled it */
    cr_expect_eq(go_to_sleep(), SX_SLEEP_BEGUN);
    close(client_fd);
    cr_expect(ring(1));
}

Test(sleeper, the_end_of_the_socket_is_notified)
{
    cr_assert_eq(go_to_sleep(), SX_SLEEP_BEGUN);
    sx_sleeper_classes(&line, 1);
    cr_assert(ring(1));
    cr_assert_eq(go_to_sleep(), SX_SLEEP_BEGUN);
    atomic_store(&slot.wake_rung, atomic_load(&line.wake_wanted));
    close(server_fd);
    cr_expect_eq(go_to_sleep(), SX_SLEEP_ENDED);
}

enum { NEWS = 20000 };

static atomic_uint news;

static void *publish(void *arg)
{
    (void)arg;
    for (unsigned i = 1; i <= NEWS; i++) {
        atomic_store_explicit(&news, i, memory_order_release);
        cr_assert(ring(1));
        if (i % 8 == 0) {
            sched_yield();
        }
    }
    return NULL;
}

/* A sleeper that is missed sleeps for ever, and the test's time says so. */
Test(sleeper, no_news_is_missed_and_none_wakes_twice, .timeout = 60)
{
    struct pollfd poll_fd = { .fd = client_fd, .events = POLLIN };
    unsigned seen = 0, polls = 0;
    pthread_t server;

    sx_sleeper_classes(&line, 1);
    cr_assert_eq(pthread_create(&server, NULL, publish, NULL), 0);
    while (seen < NEWS) {
        const unsigned now = atomic_load_explicit(&news, memory_order_acquire);

        if (now != seen) {
            seen = now;
        } else if (go_to_sleep() == SX_SLEEP_NOTHING_NEW) {
            cr_assert_eq(poll(&poll_fd, 1, -1), 1);
            polls++;
        }
    }
    pthread_join(server, NULL);
    cr_expect_leq(polls, atomic_load(&sent_count));
}

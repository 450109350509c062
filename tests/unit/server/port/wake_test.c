/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wake_test.c - who waits on a bell is rung; who sleeps in poll(2) gets one byte a sleep, for news
 * that it wants, also when memory was short at first. */
#include "server/port/port.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../bare.h"
#include "ring/sleeper.h"

#define WANTED 0x2u

/* In place of the C library's: the kernel may be without memory. */
static bool memory_is_out;

ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    static ssize_t (*real)(int, const void *, size_t, int);

    if (real == NULL) {
        real = (ssize_t(*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
    }
    if (memory_is_out) {
        errno = ENOBUFS;
        return -1;
    }
    return real(fd, bytes, size, flags);
}

static struct sx_server server;
static struct sx_client *client;
static int fd; /* the client's */

static bool byte_came(void)
{
    char byte[4];

    return recv(fd, byte, sizeof(byte), MSG_DONTWAIT) == 1;
}

/* As the client does.  Its socket is empty then. */
static void sleeps(void)
{
    struct sx_board_slot *const slot = &server.board.slots[client->slot];

    cr_assert_eq(send(client->wake_fd, "", 1, 0), 1); /* the byte that its last sleep ended with */
    cr_assert_eq(sx_sleeper_sleep(client->lane.line, slot, fd), SX_SLEEP_BEGUN);
    sx_sleeper_classes(client->lane.line, WANTED);
}

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    client = bare_connect(&server, bare_job(&server, "job", 2, 2), 1);
    cr_assert_eq(sx_wake_fd_open(&server, client, &fd), PMIX_SUCCESS);
    cr_expect(byte_came(), "it looks for news first");
    sx_server_set(&server);
}

static void end(void)
{
    sx_server_set(NULL);
    sx_wake_fd_close(client);
    close(fd);
    bare_deinit(&server);
}

TestSuite(wake, .init = begin, .fini = end);

Test(wake, writes_once_a_sleep_and_for_what_is_wanted)
{
    sx_wake_ring(&server, client, WANTED);
    cr_expect_not(byte_came(), "it is awake");
    sleeps();
    sx_wake_ring(&server, client, ~WANTED);
    cr_expect_not(byte_came(), "other news");
    sx_wake_ring(&server, client, WANTED);
    sx_wake_ring(&server, client, WANTED);
    cr_expect(byte_came());
    cr_expect_not(byte_came(), "once");
}

Test(wake, of_all_reaches_those_that_have_a_socket)
{
    sleeps();
    sx_wake_all(&server, client->nspace, WANTED);
    cr_expect(byte_came());
}

Test(wake, of_a_client_rings_its_bell_and_where_it_sleeps_instead)
{
    struct sx_door *const any = &client->nspace->ring.header->any;

    sleeps();
    sx_wake_client(&server, client);
    cr_expect_eq(bare_rings(&server, client), 1);
    cr_expect_eq(sx_door_epoch(any), 0);
    cr_expect(byte_came(), "whatever it sleeps for");
    client->no_waitv = true;
    sx_wake_client(&server, client);
    cr_expect_eq(bare_rings(&server, client), 2);
    cr_expect_eq(sx_door_epoch(any), 1);
}

Test(wake, that_has_no_memory_is_tried_again_without_other_news)
{
    sleeps();
    memory_is_out = true;
    sx_wake_ring(&server, client, WANTED);
    memory_is_out = false;
    cr_expect_not(byte_came());
    cr_expect_eq(client->wake_owed, WANTED);
    bare_much_later(&server);
    cr_expect(byte_came());
    cr_expect_eq(client->wake_owed, 0);
}

Test(wake, ends_with_the_client)
{
    char byte;

    sleeps();
    memory_is_out = true;
    sx_wake_ring(&server, client, WANTED);
    memory_is_out = false;
    sx_wake_fd_close(client);
    cr_expect_eq(client->wake_owed, 0);
    cr_expect_null(client->wake_again.source.loop, "nothing is tried again");
    cr_expect(sx_list_empty(&client->home->pollers));
    sx_wake_ring(&server, client, WANTED);
    cr_expect_eq(recv(fd, &byte, 1, MSG_DONTWAIT), 0, "and it hears so");
    sx_wake_fd_close(client);
    cr_expect_eq(client->wake_fd, -1, "once");
}

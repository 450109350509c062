/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* reply_test.c - one answer to each request that wants one, with what belongs to it, and a bell. */
#include "server/port/port.h"

#include <fcntl.h>

#include "../answers.h"
#include "../bare.h"

static struct sx_server server;
static struct sx_client *client;
static struct answers answers;

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    client = bare_connect(&server, bare_job(&server, "job", 1, 1), 0);
    answers_begin(&answers, &server, client);
}

static void end(void)
{
    answers_end(&answers, client);
    bare_deinit(&server);
}

TestSuite(reply, .init = begin, .fini = end);

Test(reply, carries_the_status_and_rings_the_bell)
{
    sx_reply(&server, client, 7, PMIX_ERR_NOT_FOUND, -1);
    cr_expect_eq(answers_next(&answers, 7), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(answers.frame.body_size, sizeof(struct sx_reply));
    cr_expect_eq(answers.frame.fd_count, 0);
    cr_expect_eq(bare_rings(&server, client), 1);
    cr_expect(answers_none(&answers), "once");
}

Test(reply, is_sent_to_nobody_who_wants_none)
{
    struct sx_channel *const channel = client->channel;

    sx_reply(&server, client, 0, PMIX_SUCCESS, -1);
    client->channel = NULL;
    sx_reply(&server, client, 7, PMIX_SUCCESS, -1);
    sx_reply_body(&server, client, 7, PMIX_SUCCESS, "x", 1);
    client->channel = channel;
    cr_expect(answers_none(&answers));
    cr_expect_eq(bare_rings(&server, client), 0);
}

Test(reply, hands_over_a_descriptor_and_keeps_its_own)
{
    int fds[2];

    cr_assert_eq(pipe(fds), 0);
    sx_reply(&server, client, 8, PMIX_SUCCESS, fds[1]);
    cr_expect_eq(answers_next(&answers, 8), PMIX_SUCCESS);
    cr_assert_eq(answers.frame.fd_count, 1);
    cr_expect_neq(fcntl(fds[1], F_GETFD), -1);
    cr_expect_eq(write(answers.frame.fds[0], "x", 1), 1);
    close(fds[0]);
    close(fds[1]);
}

/* Bodies in the frame, to its last byte, and beside it. */
static const size_t sizes[] = { 0, 8,
                                SX_FRAME_MAX - sizeof(struct sx_frame_header) -
                                    sizeof(struct sx_reply),
                                SX_FRAME_MAX, 1u << 20 };

Test(reply, has_a_body_of_any_size)
{
    static char body[1u << 20];

    memset(body, 'b', sizeof(body));
    for (size_t i = 0; i < SX_COUNT(sizes); i++) {
        sx_reply_body(&server, client, 9, PMIX_SUCCESS, body, sizes[i]);
        cr_expect_eq(answers_next(&answers, 9), PMIX_SUCCESS, "%zu bytes", sizes[i]);
        cr_assert_eq(answers.frame.body_size, sizeof(struct sx_reply) + sizes[i], "%zu bytes",
                     sizes[i]);
        cr_expect_eq(memcmp((const char *)answers.frame.body + sizeof(struct sx_reply), body,
                            sizes[i]),
                     0, "%zu bytes", sizes[i]);
    }
}

Test(reply, that_cannot_be_sent_is_the_reason_instead)
{
    static char body[1u << 20];

    sx_reply(&server, client, 8, PMIX_SUCCESS, -1);
    answers.channel.unread_bytes = SX_CHANNEL_UNREAD_MAX; /* all of it in front of that one */
    sx_reply_body(&server, client, 9, PMIX_SUCCESS, body, sizeof(body));
    cr_expect_eq(answers_next(&answers, 8), PMIX_SUCCESS);
    cr_expect_eq(answers_next(&answers, 9), PMIX_ERR_OUT_OF_RESOURCE);
}

Test(reply, knows_who_the_kernel_says_it_goes_to)
{
    cr_expect_eq(sx_client_peer(client)->pid, getpid());
    cr_expect_eq(sx_client_peer(client)->uid, geteuid());
    struct sx_channel *const channel = client->channel;

    client->channel = NULL;
    cr_expect_eq(sx_client_peer(client)->pid, -1);
    cr_expect_eq(sx_client_peer(client)->uid, (uid_t)-1);
    client->channel = channel;
}

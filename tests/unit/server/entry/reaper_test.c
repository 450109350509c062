/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* reaper_test.c - each end of a client is told once and in its order, and what it had submitted
 * before it died counts. */
#include "server/entry/entry.h"

#include "../answers.h"
#include "../bare.h"
#include "server/collective/collective.h"
#include "unit/control/engines.h"

static struct sx_server server;
static struct sx_client *client;
static struct answers answers;

/* ---- who is told
 * ------------------------------------------------------------------------------ */

static char notified[64];

static void notify(const char *what)
{
    strncat(notified, what, sizeof(notified) - strlen(notified) - 1);
}

#define NOTIFIES(stage)                                                   \
    static void on_##stage(struct sx_server *which, struct sx_client *of) \
    {                                                                     \
        cr_expect_eq(which, &server);                                     \
        cr_expect_eq(of, client);                                         \
        notify(#stage " ");                                               \
    }
NOTIFIES(left)
NOTIFIES(closed)
NOTIFIES(ended)
NOTIFIES(gone)
NOTIFIES(lost)

static void on_departed(struct sx_server *which, struct sx_client *of)
{
    cr_expect_eq(of, client);
    notify("departed ");
    sx_loop_stop(which->loop);
}

static const struct sx_family families[] = { { .name = "all",
                                               .client_left = on_left,
                                               .client_closed = on_closed,
                                               .client_ended = on_ended,
                                               .client_departed = on_departed,
                                               .client_gone = on_gone,
                                               .client_lost = on_lost },
                                             { .name = NULL } };

static uint64_t lane_cost(uint32_t kind, size_t size)
{
    (void)kind, (void)size;
    return 1;
}

static pmix_status_t lane(struct sx_server *which, struct sx_client *of, uint32_t kind,
                          const void *body, size_t size)
{
    (void)which, (void)of, (void)kind, (void)body, (void)size;
    notify("message ");
    return PMIX_SUCCESS;
}

static const struct sx_consumer consumer = { .lane_cost = lane_cost, .lane = lane };

/* ---- the server
 * ------------------------------------------------------------------------------- */

/* The client has one message in its lane. */
static void begin(void)
{
    static _Alignas(8) uint8_t buffer[SX_LANE_MESSAGE_MAX];
    struct sx_lane producer;
    const struct iovec iov = { .iov_base = buffer, .iov_len = 8 };

    bare_init(&server);
    bare_loop(&server);
    server.families = families;
    server.consumer = &consumer;
    server.port.lane_buffer = buffer;
    client = bare_connect(&server, bare_job(&server, "job", 1, 1), 0);
    sx_share_begin(&server, client);
    answers_begin(&answers, &server, client);
    cr_assert_eq(sx_lane_attach(&producer, client->lane.seg.fd, &server.board, client->slot, -1),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_lane_append(&producer, SX_LANE_CURSOR, &iov, 1), PMIX_SUCCESS);
    sx_lane_detach(&producer);
    sx_server_set(&server);
}

static void end(void)
{
    sx_server_set(NULL);
    answers_end(&answers, client);
    bare_deinit(&server);
}

TestSuite(reaper, .init = begin, .fini = end, .timeout = 60);

/* ---- tests
 * ------------------------------------------------------------------------------------ */

Test(reaper, a_death_counts_what_was_submitted_and_is_notified_once)
{
    sx_reaper_socket_ended(&server, client, NULL);
    cr_expect_str_eq(notified, "message closed gone lost ");
    cr_expect_eq(client->state, SX_CLIENT_DEAD);
    cr_expect_eq(client->slot, SX_BOARD_SLOT_MAX);
    cr_expect_null(client->lane.seg.base);
    sx_reaper_client_lost(&server, client);
    sx_reaper_socket_ended(&server, client, NULL);
    cr_expect_str_eq(notified, "message closed gone lost ", "once");
    cr_expect_eq(client->reference_count, 1);
}

Test(reaper, a_breach_believes_nothing_more)
{
    const int log_fd = test_capture_stderr();

    sx_reaper_client_breaks(&server, client, "it lies");
    cr_expect_str_eq(notified, "closed gone lost ");
    cr_expect_eq(test_count_lines(log_fd, "client job.0"), 1);
    cr_expect_eq(test_count_lines(log_fd, "is dropped: it lies"), 1);
    cr_expect_not(client->died, "its process may live on");
}

Test(reaper, a_channel_that_ends_for_a_reason_is_a_breach)
{
    sx_reaper_socket_ended(&server, client, "too long");
    cr_expect_str_eq(notified, "closed gone lost ");
    cr_expect_not(client->died);
}

Test(reaper, a_good_bye_is_answered_and_its_end_is_no_death)
{
    sx_reaper_client_finalized(&server, client, 6);
    cr_expect_str_eq(notified, "left ");
    cr_expect_eq(client->state, SX_CLIENT_FINALIZED);
    cr_expect(answers_none(&answers), "the host is notified first");
    sx_host_calls_make(&server);
    cr_expect_eq(answers_next(&answers, 6), PMIX_SUCCESS);
    sx_reaper_socket_ended(&server, client, NULL);
    cr_expect_str_eq(notified, "left closed ended ");
    cr_expect_eq(client->state, SX_CLIENT_REGISTERED, "it may come again");
    cr_expect(client->left);
    cr_expect_not(client->departed);
}

static void take_out(struct sx_server *of, struct sx_membership_entry *entry,
                     const struct sx_leaver *leaver)
{
    cr_expect_eq(sx_memberships_leave(of, entry, &leaver->proc), PMIX_SUCCESS);
}

Test(reaper, a_good_bye_is_answered_when_all_lists_are_left)
{
    const pmix_proc_t self = { "job", 0 };
    char name[32];

    for (unsigned i = 0; i < 2 * SX_LEAVE_MAX + 1; i++) {
        snprintf(name, sizeof(name), "list.%u", i);
        (void)bare_connected(&server, name, &self, 1);
    }
    sx_membership_each_of(&server, client, SX_MEMBERSHIP_CONNECTED, take_out);
    sx_reaper_client_finalized(&server, client, 6);
    cr_expect_str_eq(notified, "left ");
    sx_host_calls_make(&server);
    cr_expect(answers_none(&answers));
    bare_leave(&server);
    bare_much_later(&server);
    cr_expect_eq(answers_next(&answers, 6), PMIX_SUCCESS);
    cr_expect(answers_none(&answers), "once");
}

/* Calls of the client that are answered because it finalizes, some of them in later turns. */
#define CALLS 30u

Test(reaper, a_good_bye_is_answered_behind_the_calls_of_its_client)
{
    static const struct sx_pending_kind stays = { .quota = SX_PENDING_GET, .stays = true };
    struct sx_pending *calls[CALLS];

    for (uint32_t i = 0; i < CALLS; i++) {
        calls[i] = calloc(1, sizeof(*calls[i]));
        cr_assert_eq(sx_pending_begin(&server, client, 10 + i, &stays, calls[i]), PMIX_SUCCESS);
    }
    client->guests_lost = 1;
    sx_reaper_client_finalized(&server, client, 6);
    sx_pending_client_left(&server, client);
    sx_host_calls_make(&server);
    cr_expect(answers_none(&answers), "the calls have no answers yet");
    client->guests_lost = 0;
    for (uint32_t i = 0; i < CALLS - 1; i++) {
        sx_pending_answer(calls[i], PMIX_GROUP_LEADER_FAILED);
    }
    bare_much_later(&server);
    while (!sx_list_empty(&client->share.due)) {
        sx_pending_send_due(client);
    }
    for (uint32_t i = 0; i < CALLS - 1; i++) {
        cr_expect_eq(answers_next(&answers, 10 + i), PMIX_GROUP_LEADER_FAILED);
    }
    cr_expect_eq(answers_next(&answers, 6), PMIX_SUCCESS);
    cr_expect(answers_none(&answers), "the last call has no answer");
    cr_expect(sx_list_empty(&client->pendings));
}

Test(reaper, a_departure_is_for_good_until_it_is_expected_again)
{
    client->left = true;
    sx_reaper_client_departed(&server, client);
    cr_expect_str_eq(notified, "departed ");
    cr_expect(client->departed);
    cr_expect_not(client->left);
    sx_reaper_await_nobody(&server, client);
    cr_expect_not(client->departed);
}

/* Its end is watched by a descriptor of its process; a pipe stands for it. */
Test(reaper, one_who_said_good_bye_departs_when_its_process_has_exited)
{
    int process[2];

    cr_assert_eq(pipe(process), 0);
    answers.channel.peer.pidfd = process[0];
    atomic_store(&client->lane.line->no_wrapper, 1);
    sx_reaper_client_finalized(&server, client, 0);
    sx_host_calls_make(&server);
    sx_reaper_socket_ended(&server, client, NULL);
    cr_expect_geq(client->exit_fd, 0);
    cr_expect_not(client->departed);
    close(process[1]);
    sx_loop_run(server.loop); /* until it is told */
    cr_expect(client->departed);
    cr_expect_eq(client->exit_fd, -1);
    cr_expect_str_eq(notified, "left closed ended departed ");
    close(process[0]);
    answers.channel.peer.pidfd = -1;
}

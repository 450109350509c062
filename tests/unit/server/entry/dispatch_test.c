/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* dispatch_test.c - each kind of request has one place it goes to; what is none of a client's
 * breaks the connection. */
#include "server/entry/entry.h"

#include "../answers.h"
#include "../bare.h"
#include "../opened.h"
#include "server/port/port.h"

static struct sx_server server;
static struct sx_nspace *job, *strangers;
static struct sx_client *client;
static struct answers answers;

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    job = bare_job(&server, "job", 1, 1);
    strangers = bare_job(&server, "strangers", 1, 1);
    cr_assert_eq(sx_nspace_open(&server, strangers), PMIX_SUCCESS);
    strangers->by_rank[0]->uid = 4242;
    client = bare_connect(&server, job, 0);
    sx_share_begin(&server, client);
    answers_begin(&answers, &server, client);
}

static void end(void)
{
    sx_wake_fd_close(client);
    answers_end(&answers, client);
    bare_deinit(&server);
}

TestSuite(dispatch, .init = begin, .fini = end);

static void frame(uint16_t kind, const void *body, size_t size)
{
    struct sx_frame given = { .header = { .kind = kind, .id = 2 } };

    if (sx_message_spec(kind) != NULL) {
        given = opened_frame(kind, 2, body, size);
    }

    sx_dispatch_consumer.frame(&server, client, &given, 0);
}

/* Which memory a client of "job" may have. */
static const struct {
    const char *why, *nspace;
    uint32_t wanted;
    pmix_status_t want;
} segments[] = {
    { "its store", "job", SX_WANT_STORE, PMIX_SUCCESS },
    { "its ring", "job", SX_WANT_RING, PMIX_SUCCESS },
    { "another user's store", "strangers", SX_WANT_STORE, PMIX_ERR_NOT_FOUND },
    { "another user's ring", "strangers", SX_WANT_RING, PMIX_ERR_NOT_FOUND },
    { "nobody's store", "unknown", SX_WANT_STORE, PMIX_ERR_NOT_FOUND },
    { "something else", "job", 99, PMIX_ERR_NOT_FOUND },
};

Test(dispatch, hands_out_what_a_client_may_see)
{
    for (size_t i = 0; i < SX_COUNT(segments); i++) {
        struct sx_segment_get get = { .wanted = segments[i].wanted };

        memcpy(get.nspace, segments[i].nspace, strlen(segments[i].nspace));
        frame(SX_MSG_SEGMENT_GET, &get, sizeof(get));
        cr_expect_eq(answers_next(&answers, 2), segments[i].want, "%s", segments[i].why);
        cr_expect_eq(answers.frame.fd_count, segments[i].want == PMIX_SUCCESS, "%s",
                     segments[i].why);
    }
    strangers->by_rank[0]->uid = client->uid;
    struct sx_segment_get get = { .wanted = SX_WANT_RING, .nspace = "strangers" };

    frame(SX_MSG_SEGMENT_GET, &get, sizeof(get));
    cr_expect_eq(answers_next(&answers, 2), PMIX_ERR_NOT_FOUND, "a ring is its own namespace's");
    get.wanted = SX_WANT_STORE;
    frame(SX_MSG_SEGMENT_GET, &get, sizeof(get));
    cr_expect_eq(answers_next(&answers, 2), PMIX_SUCCESS, "a store is its user's");
}

Test(dispatch, gives_the_nodes_store_to_who_asks_for_no_namespace)
{
    struct sx_segment_get get = { .wanted = SX_WANT_STORE };
    struct sx_store store;

    cr_expect_not(server.memberships.has_store, "nobody has wanted it");
    frame(SX_MSG_SEGMENT_GET, &get, sizeof(get));
    cr_assert_eq(answers_next(&answers, 2), PMIX_SUCCESS);
    cr_assert_eq(answers.frame.fd_count, 1);
    cr_assert_eq(sx_store_attach(&store, answers.frame.fds[0]), PMIX_SUCCESS);
    cr_expect_str_empty(sx_segment_header(&store.seg)->nspace);
    sx_store_detach(&store);
    get.wanted = SX_WANT_RING;
    frame(SX_MSG_SEGMENT_GET, &get, sizeof(get));
    cr_expect_eq(answers_next(&answers, 2), PMIX_ERR_NOT_FOUND, "it has none");
}

Test(dispatch, notifies_the_last_results_the_oldest_first)
{
    struct {
        struct sx_reply reply;
        uint32_t count, reserved;
        struct sx_result results[16];
    } got;
    static const uint64_t counts[] = { 0, 1, 16, 16 + 3 };

    for (size_t i = 0; i < SX_COUNT(counts); i++) {
        const uint32_t kept = (uint32_t)(counts[i] < 16 ? counts[i] : 16);

        sx_results_clear(&client->results);
        cr_assert(sx_results_reserve(&client->results, 16));
        for (uint32_t op = 0; op < counts[i]; op++) {
            sx_results_keep(&client->results,
                            (struct sx_result){ .op = op, .subject = UINT64_C(7) << 32 | op });
        }
        frame(SX_MSG_RESULTS_GET, NULL, 0);
        cr_expect_eq(answers_next(&answers, 2), PMIX_SUCCESS);
        cr_assert_leq(answers.frame.body_size, sizeof(got));
        memcpy(&got, answers.frame.body, answers.frame.body_size);
        cr_expect_eq(got.count, kept);
        for (uint32_t n = 0; n < kept; n++) {
            cr_expect_eq(got.results[n].op, counts[i] - kept + n);
            cr_expect_eq(got.results[n].subject, UINT64_C(7) << 32 | (counts[i] - kept + n));
        }
    }
}

Test(dispatch, gives_a_new_socket_to_who_asks_again)
{
    for (int i = 0; i < 2; i++) {
        frame(SX_MSG_WAKE_GET, NULL, 0);
        cr_expect_eq(answers_next(&answers, 2), PMIX_SUCCESS);
        cr_expect_eq(answers.frame.fd_count, 1);
        cr_expect_eq(job->pollers.next, &client->poller);
        cr_expect_eq(client->poller.next, &job->pollers, "once");
    }
}

/* What ends a client. */
static const struct {
    const char *why;
    uint16_t kind;
} breaches[] = {
    { "a server's frame", SX_MSG_REPLY },
    { "a greeting in its middle", SX_MSG_HELLO },
    { "no kind", 0 },
    { "no kind there is", UINT16_MAX },
};

Test(dispatch, breaks_with_who_sends_what_is_no_clients)
{
    const struct sx_hello hello = { .protocol = SX_PROTOCOL_VERSION };

    for (size_t i = 0; i < SX_COUNT(breaches); i++) {
        client->state = SX_CLIENT_CONNECTED;
        frame(breaches[i].kind, &hello, sizeof(hello));
        cr_expect_eq(client->state, SX_CLIENT_DEAD, "%s", breaches[i].why);
    }
    cr_expect(answers_none(&answers));
}

Test(dispatch, prices_lane_messages_by_kind_and_size)
{
    const struct sx_consumer *const consumer = &sx_dispatch_consumer;

    cr_expect_eq(consumer->lane_cost(SX_LANE_PUT, 0), 1);
    cr_expect_eq(consumer->lane_cost(SX_LANE_PUT, 4096), 5);
    cr_expect_gt(consumer->lane_cost(SX_LANE_ARRIVE, 4096), consumer->lane_cost(SX_LANE_PUT, 4096));
    cr_expect_eq(consumer->lane_cost(99, 4096), 1, "it is refused");
}

Test(dispatch, refuses_lane_messages_of_no_kind_or_too_short)
{
    _Alignas(8) const char body[8] = { 0 };
    static const uint32_t kinds[] = { 0, 6, UINT32_MAX };

    for (size_t i = 0; i < SX_COUNT(kinds); i++) {
        cr_expect_eq(sx_dispatch_consumer.lane(&server, client, kinds[i], body, 8),
                     PMIX_ERR_BAD_PARAM, "%u", kinds[i]);
    }
    cr_expect_eq(sx_dispatch_consumer.lane(&server, client, SX_LANE_CURSOR, body, 7),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_dispatch_consumer.lane(&server, client, SX_LANE_ARRIVE, body, 8),
                 PMIX_ERR_BAD_PARAM);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* waiting_gets_test.c - how long a server waits for what a rank has not committed. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "../answers.h"
#include "../bare.h"
#include "../opened.h"
#include "base/call/directive_tables.h"
#include "base/system/topology.h"
#include "server/data/data.h"
#include "shmix.h"

#define SECOND UINT64_C(1000000000)

static const struct {
    const char *environment; /* NULL: nothing */
    int info;                /* -2: none */
    pmix_status_t want;
    uint64_t patience_ns;
} rows[] = {
    { NULL, -2, PMIX_SUCCESS, 2 * SECOND },
    { "", -2, PMIX_SUCCESS, 2 * SECOND },
    { "7", -2, PMIX_SUCCESS, 7 * SECOND },
    { "0", -2, PMIX_SUCCESS, 0 },
    { "0.25", -2, PMIX_SUCCESS, SECOND / 4 },
    { ".0000000019", -2, PMIX_SUCCESS, 1 },
    { "1.", -2, PMIX_SUCCESS, SECOND },
    { ".", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "-1", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "2s", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "1.2.3", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "99999999999999999999999999", -2, PMIX_ERR_BAD_PARAM, 0 },
    { "7", 3, PMIX_SUCCESS, 3 * SECOND },
    { "2s", 0, PMIX_SUCCESS, 0 },
    { NULL, -1, PMIX_ERR_BAD_PARAM, 0 },
};

Test(gets, patience_is_the_infos_or_the_environments_or_two_seconds, .timeout = 60)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pmix_info_t info;

        if (rows[i].environment != NULL) {
            setenv("SHMIX_GET_TIMEOUT", rows[i].environment, 1);
        } else {
            unsetenv("SHMIX_GET_TIMEOUT");
        }
        cr_assert_eq(PMIx_Info_load(&info, SHMIX_SERVER_GET_TIMEOUT, &rows[i].info, PMIX_INT), 0);
        PMIx_Info_required(&info);
        cr_assert_eq(PMIx_server_init(NULL, &info, rows[i].info != -2), rows[i].want, "row %zu", i);
        if (rows[i].want == PMIX_SUCCESS) {
            cr_expect_eq(sx_server_get()->data.get_patience_ns, rows[i].patience_ns, "row %zu", i);
            cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
        }
    }
}

/* ---- whose data ------------------------------------------------------------------------------ */

Test(gets, of_a_member_of_connected_ones_are_of_the_process_itself)
{
    static struct sx_server server;
    static struct answers answers;
    const pmix_proc_t procs[] = { { "b", 1 }, { "a", 0 } };
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 7 };
    static const struct {
        uint32_t rank;
        pmix_status_t want;
    } asks[] = { { 0, PMIX_SUCCESS },
                 { 1, PMIX_ERR_NOT_FOUND },
                 { 2, PMIX_ERR_NOT_FOUND },
                 { PMIX_RANK_WILDCARD, PMIX_ERR_NOT_FOUND } };

    bare_init(&server);
    bare_loop(&server);
    struct sx_nspace *const b = bare_job(&server, "b", 2, 2);
    struct sx_client *const client = bare_connect(&server, bare_job(&server, "a", 1, 1), 0);

    client->uid = 4242; /* b is another user's */
    cr_assert_eq(sx_nspace_open(&server, b), PMIX_SUCCESS);
    cr_assert_eq(sx_store_put(&b->store, SX_REALM_JOB, 1, "key", PMIX_GLOBAL, &value), 0);
    answers_begin(&answers, &server, client);
    struct sx_membership_entry *const both = bare_connected(&server, "both", procs, 2);

    for (size_t i = 0; i <= SX_COUNT(asks); i++) {
        struct {
            struct sx_get get;
            char key[8];
        } ask = { { .nspace = "both", .flags = SX_GET_IMMEDIATE, .key_size = 4 }, "key" };

        ask.get.rank = i < SX_COUNT(asks) ? asks[i].rank : 0;
        struct sx_frame frame = opened_frame(SX_MSG_GET, 2, &ask, sizeof(ask.get) + 4);

        cr_assert(sx_gets_on_get(&server, client, &frame, 0));
        cr_expect_eq(answers_next(&answers, 2),
                     i < SX_COUNT(asks) ? asks[i].want : PMIX_ERR_NOT_FOUND, "%zu", i);
        if (i + 1 == SX_COUNT(asks)) {
            sx_memberships_remove(&server, both); /* who asks once more does not find it */
        }
    }
    answers_end(&answers, client);
    bare_deinit(&server);
}

/* ---- what the host has announced
 * --------------------------------------------------------------- */

/* Ask in the name of @client for @key of @rank. */
static void ask_for(struct sx_server *server, struct sx_client *client, uint32_t id, uint32_t rank,
                    const char *key, uint64_t timeout_ns)
{
    struct {
        struct sx_get get;
        char key[32];
    } ask = { .get = { .nspace = "job",
                       .rank = rank,
                       .flags = SX_GET_IMMEDIATE,
                       .timeout_ns = timeout_ns,
                       .key_size = (uint32_t)strlen(key) + 1 } };
    memcpy(ask.key, key, strlen(key));
    struct sx_frame frame = opened_frame(SX_MSG_GET, id, &ask, sizeof(ask.get) + ask.get.key_size);

    cr_assert(sx_gets_on_get(server, client, &frame, 0));
}

static const struct {
    const char *why;
    uint32_t rank;
    const char *key;
} asked[] = {
    { "of the job", PMIX_RANK_WILDCARD, PMIX_LOCAL_TOPO },
    { "of a process", 0, PMIX_LOCAL_TOPO },
    { "of one that is elsewhere", 5, PMIX_LOCAL_TOPO },
    { "of anybody, under the other key", PMIX_RANK_UNDEF, PMIX_HWLOC_XML_V2 },
};

/* @tells: with the text; else that there is none after all. */
static void announced(bool notifies)
{
    static struct sx_server server;
    static struct answers answers;
    const pmix_value_t text = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t) "text" };
    const pmix_value_t yes = { .type = PMIX_BOOL, .data.flag = true };
    struct sx_item item;

    bare_init(&server);
    bare_loop(&server);
    struct sx_nspace *const job = bare_job(&server, "job", 8, 1);
    struct sx_client *const client = bare_connect(&server, job, 0);

    cr_assert_eq(sx_store_put(&job->store, SX_REALM_JOB, SX_ROW_JOB, SX_NSPACE_COMING, PMIX_GLOBAL,
                              &yes),
                 PMIX_SUCCESS);
    sx_gets_nspace_coming(&server, job, SX_SAID_YES);
    answers_begin(&answers, &server, client);
    for (uint32_t i = 0; i < SX_COUNT(asked); i++) {
        ask_for(&server, client, i + 1, asked[i].rank, asked[i].key, 0);
    }
    cr_expect_eq(client->pending_counts[SX_PENDING_GET], SX_COUNT(asked), "not all wait");
    sx_gets_nspace_filled(job); /* a registration that says nothing of it */
    sx_gets_nspace_coming(&server, job, SX_SAID_NOTHING);
    cr_expect_eq(client->pending_counts[SX_PENDING_GET], SX_COUNT(asked), "not all wait on");
    if (notifies) {
        for (size_t i = 0; i < SX_TOPOLOGY_KEY_COUNT; i++) {
            cr_assert_eq(sx_store_put(&job->store, SX_REALM_JOB, SX_ROW_JOB, sx_topology_keys[i],
                                      PMIX_GLOBAL, &text),
                         PMIX_SUCCESS);
        }
    }
    sx_gets_nspace_filled(job);
    sx_gets_nspace_coming(&server, job, SX_SAID_NO);
    for (uint32_t i = 0; i < SX_COUNT(asked); i++) {
        cr_expect_eq(answers_next(&answers, i + 1), PMIX_SUCCESS, "%s", asked[i].why);
    }
    cr_expect_eq(sx_store_find(&job->store.view, SX_REALM_JOB, SX_ROW_JOB, SX_NSPACE_COMING, &item),
                 PMIX_ERR_NOT_FOUND);
    ask_for(&server, client, 9, PMIX_RANK_WILDCARD, PMIX_LOCAL_TOPO, 0);
    cr_expect_eq(answers_next(&answers, 9), notifies ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND);
    answers_end(&answers, client);
    bare_deinit(&server);
}

Test(gets, of_a_topology_that_is_announced_wait_until_it_comes)
{
    announced(true);
}

Test(gets, of_a_topology_that_is_announced_wait_until_it_does_not_come)
{
    announced(false);
}

Test(gets, of_what_is_announced_end_with_their_time_limit_or_the_job)
{
    static struct sx_server server;
    static struct answers answers;

    bare_init(&server);
    bare_loop(&server);
    struct sx_nspace *const job = bare_job(&server, "job", 8, 1);
    struct sx_client *const client = bare_connect(&server, job, 0);

    sx_gets_nspace_coming(&server, job, SX_SAID_YES);
    answers_begin(&answers, &server, client);
    ask_for(&server, client, 1, PMIX_RANK_WILDCARD, PMIX_LOCAL_TOPO, 1);
    ask_for(&server, client, 2, PMIX_RANK_WILDCARD, PMIX_LOCAL_TOPO, 0);
    ask_for(&server, client, 3, PMIX_RANK_WILDCARD, "other", 0); /* is not announced */
    cr_expect_eq(answers_next(&answers, 3), PMIX_ERR_NOT_FOUND);
    bare_much_later(&server);
    cr_expect_eq(answers_next(&answers, 1), PMIX_ERR_TIMEOUT);
    sx_gets_nspace_gone(&server, job);
    cr_expect_eq(answers_next(&answers, 2), PMIX_ERR_NOT_FOUND);
    answers_end(&answers, client);
    bare_deinit(&server);
}

/* ---- what it costs
 * ---------------------------------------------------------------------------- */

/* A key that the job has and none of its many ranks: each of them is looked at. */
Test(gets, of_anybody_are_paid_for_by_the_rank)
{
    enum { RANKS = 100000 };
    static struct sx_server server;
    static struct answers answers;
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 7 };
    struct {
        struct sx_get get;
        char key[8];
    } ask = { { .nspace = "job", .rank = PMIX_RANK_UNDEF, .key_size = 4 }, "key" };
    struct sx_frame frame = opened_frame(SX_MSG_GET, 2, &ask, sizeof(ask.get) + 4);

    bare_init(&server);
    bare_loop(&server);
    struct sx_nspace *const job = bare_job(&server, "job", RANKS, 1);
    struct sx_client *const client = bare_connect(&server, job, 0);

    cr_assert_eq(sx_store_put(&job->store, SX_REALM_JOB, SX_ROW_JOB, "key", PMIX_GLOBAL, &value),
                 PMIX_SUCCESS);
    sx_share_begin(&server, client);
    answers_begin(&answers, &server, client);
    cr_assert(sx_gets_on_get(&server, client, &frame, 0));
    cr_assert_geq(client->share.spent, RANKS / 200);
    sx_pending_send_due(client); /* in another turn: it has used up this one */
    cr_expect_eq(answers_next(&answers, 2), PMIX_ERR_NOT_FOUND);
    answers_end(&answers, client);
    bare_deinit(&server);
}

/* ---- who looks through all lanes
 * --------------------------------------------------------------- */

static struct sx_client *looker; /* of whom a message in another's lane is the end */

static uint64_t lane_cost(uint32_t kind, size_t size)
{
    (void)kind, (void)size;
    return 1;
}

static pmix_status_t lane_ends_looker(struct sx_server *server, struct sx_client *client,
                                      uint32_t kind, const void *body, size_t size)
{
    (void)client, (void)kind, (void)body, (void)size;
    sx_pending_client_gone(server, looker);
    return PMIX_SUCCESS;
}

/* One message, which is for what is in the lane of @client. */
static void lane_append(struct sx_server *server, struct sx_client *client)
{
    const uint64_t word = 0;
    const struct iovec iov = { .iov_base = (void *)(uintptr_t)&word, .iov_len = sizeof(word) };
    struct sx_lane producer;

    cr_assert_eq(sx_lane_attach(&producer, client->lane.seg.fd, &server->board, client->slot, -1),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_lane_append(&producer, SX_LANE_CURSOR, &iov, 1), PMIX_SUCCESS);
    sx_lane_detach(&producer);
}

#define LANES 3u

/* A job whose ranks are connected and whose lanes @consumer takes. */
static void ranks_begin(struct sx_server *server, const struct sx_consumer *consumer,
                        struct sx_client *ranks[LANES])
{
    static _Alignas(8) uint8_t buffer[SX_LANE_MESSAGE_MAX];

    bare_init(server);
    bare_loop(server);
    server->consumer = consumer;
    server->port.lane_buffer = buffer;
    struct sx_nspace *const job = bare_job(server, "job", LANES, LANES);

    for (uint32_t rank = 0; rank < LANES; rank++) {
        ranks[rank] = bare_connect(server, job, rank);
        sx_share_begin(server, ranks[rank]);
    }
}

/* Two Gets wait for the lane of a rank that goes; what the first finds in the next lane ends
 * both. */
Test(gets, of_anybody_go_on_to_a_lane_whose_message_ends_them)
{
    static const struct sx_consumer consumer = { .lane_cost = lane_cost, .lane = lane_ends_looker };
    static struct sx_server server;
    struct sx_client *ranks[LANES];

    ranks_begin(&server, &consumer, ranks);
    looker = ranks[0];
    lane_append(&server, ranks[1]);
    sx_share_charge(&server, ranks[1], 2 * SX_TURN_UNITS); /* so it is left where it is */
    ask_for(&server, looker, 1, PMIX_RANK_UNDEF, "key", 0);
    ask_for(&server, looker, 2, PMIX_RANK_UNDEF, "key", 0);
    cr_assert_eq(looker->pending_counts[SX_PENDING_GET], 2);
    lane_append(&server, ranks[2]);
    ranks[1]->state = SX_CLIENT_DEAD;
    sx_gets_client_gone(&server, ranks[1]);
    cr_expect_eq(looker->pending_counts[SX_PENDING_GET], 0);
    bare_deinit(&server);
}

static pmix_status_t lane_takes(struct sx_server *server, struct sx_client *client, uint32_t kind,
                                const void *body, size_t size)
{
    (void)server, (void)client, (void)kind, (void)body, (void)size;
    return PMIX_SUCCESS;
}

/* Many Gets wait for the same message of a lane. */
Test(gets, that_wait_for_one_message_are_answered_a_thousand_a_turn)
{
    enum { EACH = 700, ALL = 2 * EACH };
    static const struct sx_consumer consumer = { .lane_cost = lane_cost, .lane = lane_takes };
    static struct sx_server server;
    struct sx_client *ranks[LANES];

    ranks_begin(&server, &consumer, ranks);
    lane_append(&server, ranks[1]);
    sx_share_charge(&server, ranks[1], 2 * SX_TURN_UNITS); /* so it is left where it is */
    for (uint32_t i = 0; i < EACH; i++) {
        ask_for(&server, ranks[0], 1 + i, 1, "key", 0);
        ask_for(&server, ranks[2], 1 + i, 1, "key", 0);
    }
    cr_assert_eq(ranks[1]->waiter_count, ALL);
    sx_lane_take_one(&server, ranks[1]);
    cr_expect_eq(ranks[1]->waiter_count, ALL - SX_WAITING_STEP);
    bare_call(&server, NULL, NULL);
    cr_expect_eq(ranks[1]->waiter_count, 0);
    cr_expect_eq(ranks[0]->pending_counts[SX_PENDING_GET], 0);
    cr_expect_eq(ranks[2]->pending_counts[SX_PENDING_GET], 0);
    bare_deinit(&server);
}

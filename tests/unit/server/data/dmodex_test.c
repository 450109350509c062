/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* dmodex_test.c - another node asks for a rank's data: it gets all there is after the first commit,
 * once, or hears that there will be none. */
#include "server/data/dmodex.h"

#include <pmix_server.h>

#include "../bare.h"
#include "server/port/lanes.h"

static struct sx_server server;
static struct sx_client *client;
static struct sx_lane producer;
static _Alignas(8) uint8_t buffer[SX_LANE_MESSAGE_MAX];

/* ---- what a lane brings: a commit, for whatever message
 * --------------------------------------- */

static uint64_t lane_cost(uint32_t kind, size_t size)
{
    (void)kind, (void)size;
    return 2 * SX_TURN_UNITS; /* so that one is all that a turn takes */
}

static pmix_status_t lane(struct sx_server *which, struct sx_client *whose, uint32_t kind,
                          const void *body, size_t size)
{
    (void)kind, (void)body, (void)size;
    whose->has_committed = true;
    sx_dmodex_committed(which, whose, true);
    return PMIX_SUCCESS;
}

static const struct sx_consumer consumer = { .lane_cost = lane_cost, .lane = lane };

static void append(void)
{
    const uint64_t body = 0;
    const struct iovec iov = { .iov_base = (void *)(uintptr_t)&body, .iov_len = sizeof(body) };

    cr_assert_eq(sx_lane_append(&producer, SX_LANE_COMMIT_END, &iov, 1), PMIX_SUCCESS);
}

/* ---- the server
 * ------------------------------------------------------------------------------- */

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    server.consumer = &consumer;
    server.lane_buffer = buffer;
    client = bare_connect(&server, bare_job(&server, "job", 2, 2), 0);
    sx_share_begin(&server, client);
    cr_assert_eq(sx_lane_attach(&producer, client->lane.seg.fd, &server.board, client->slot, -1),
                 PMIX_SUCCESS);
    sx_server_set(&server);
}

static void end(void)
{
    cr_expect(sx_list_empty(&client->requests));
    cr_expect_eq(client->waiter_count, 0);
    sx_server_set(NULL);
    sx_lane_detach(&producer);
    bare_deinit(&server);
}

TestSuite(dmodex, .init = begin, .fini = end);

struct told {
    unsigned count;
    pmix_status_t status;
    size_t size;
};

static void on_told(pmix_status_t status, char *bytes, size_t size, void *cbdata)
{
    struct told *const told = cbdata;

    cr_expect_eq(bytes != NULL, status == PMIX_SUCCESS);
    told->count++;
    told->status = status;
    told->size = size;
}

static pmix_proc_t asked;

static void ask_now(void *told, uint64_t now_ns)
{
    (void)now_ns;
    cr_assert_eq(PMIx_server_dmodex_request(&asked, on_told, told), PMIX_SUCCESS);
}

static void ask(struct told *told, const char *name, uint32_t rank)
{
    *told = (struct told){ 0 };
    PMIx_Load_procid(&asked, name, rank);
    bare_call(&server, ask_now, told);
}

static bool data_is_wanted(void)
{
    return atomic_load(&server.board.slots[client->slot].data_wanted) != 0;
}

/* ---- tests
 * ------------------------------------------------------------------------------------ */

Test(dmodex, waits_for_the_first_commit)
{
    struct told told;

    ask(&told, "job", 0);
    cr_expect_eq(told.count, 0);
    cr_expect(data_is_wanted(), "the client is to ring");
    append();
    sx_lane_take_one(&server, client);
    cr_expect_eq(told.count, 1);
    cr_expect_eq(told.status, PMIX_SUCCESS);
    cr_expect_gt(told.size, 0, "bytes, even if nothing was put");
    cr_expect_not(data_is_wanted());
    sx_dmodex_committed(&server, client, false);
    cr_expect_eq(told.count, 1, "once");
}

Test(dmodex, of_one_who_has_committed_is_answered_at_once)
{
    struct told told;

    client->has_committed = true;
    ask(&told, "job", 0);
    cr_expect_eq(told.count, 1);
    sx_client_find(client->nspace, 1)->has_committed = true;
    ask(&told, "job", 1);
    cr_expect_eq(told.count, 1, "also when it is not connected any more");
}

/* What the rank had sent when it was asked for belongs to the answer. */
Test(dmodex, takes_in_what_is_in_the_lane_first)
{
    struct told told;

    append();
    append();
    ask(&told, "job", 0);
    cr_expect_eq(told.count, 0, "it has committed, but there is more");
    cr_expect(client->has_committed);
    sx_lane_take_one(&server, client);
    cr_expect_eq(told.count, 1);
}

Test(dmodex, of_one_who_goes_or_is_not_there_is_not_found)
{
    struct told told, other;

    ask(&told, "job", 0);
    ask(&other, "job", 1);
    sx_dmodex_client_gone(&server, client);
    cr_expect_eq(told.count, 1);
    cr_expect_eq(told.status, PMIX_ERR_NOT_FOUND);
    cr_expect_eq(other.count, 0);
    sx_dmodex_client_gone(&server, sx_client_find(client->nspace, 1));
    cr_expect_eq(other.status, PMIX_ERR_NOT_FOUND);
    ask(&told, "job", 2);
    cr_expect_eq(told.status, PMIX_ERR_NOT_FOUND);
    ask(&told, "unknown", 0);
    cr_expect_eq(told.status, PMIX_ERR_NOT_FOUND);
    client->state = SX_CLIENT_DEAD;
    ask(&told, "job", 0);
    cr_expect_eq(told.status, PMIX_ERR_NOT_FOUND);
    client->state = SX_CLIENT_CONNECTED;
}

Test(dmodex, wants_to_know_of_whom_and_whom_to_tell)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, "job", 0);
    cr_expect_eq(PMIx_server_dmodex_request(NULL, on_told, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_dmodex_request(&proc, NULL, NULL), PMIX_ERR_BAD_PARAM);
    memset(proc.nspace, 'n', sizeof(proc.nspace));
    cr_expect_eq(PMIx_server_dmodex_request(&proc, on_told, NULL), PMIX_ERR_BAD_PARAM);
    sx_server_set(NULL);
    cr_expect_eq(PMIx_server_dmodex_request(&proc, on_told, NULL), PMIX_ERR_INIT);
}

Test(dmodex, of_a_member_of_connected_ones_is_of_the_process_itself)
{
    const pmix_proc_t procs[] = { { "elsewhere", 3 }, { "job", 0 } };
    struct told told;

    bare_connected(&server, "both", procs, 2);
    client->has_committed = true;
    ask(&told, "both", 1);
    cr_expect_eq(told.count, 1);
    cr_expect_eq(told.status, PMIX_SUCCESS);
    ask(&told, "both", 0);
    cr_expect_eq(told.status, PMIX_ERR_NOT_FOUND, "it is not here");
    ask(&told, "both", 2);
    cr_expect_eq(told.status, PMIX_ERR_NOT_FOUND, "there is none");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* open_ops_test.c - what stays open is in the table, as it was a moment ago; what ends soon
 * never is.  The test is the clock. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>

#include "../bare.h"
#include "../opened.h"
#include "control/channel.h"
#include "server/collective/collective.h"

#define JOB "shown"
#define RANKS 40u
#define MANY (SX_OPEN_ROWS + 3)
#define CONNECT_ID "pmix.cnt.id" /* PMIX_CONNECT_ID */

static struct sx_server server;
static struct sx_nspace *job;
static struct sx_channel channel;

static void begin(void)
{
    alarm(60);
    bare_init(&server);
    bare_loop(&server);
    sx_list_init(&server.collective.all);
    sx_list_init(&server.collective.unread);
    sx_list_init(&server.collective.leavers);
    server.turn.now_ns = 1000;
    job = bare_job(&server, JOB, RANKS, RANKS);
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        bare_connect(&server, job, rank);
    }
}

static void end(void)
{
    sx_collective_end_all(&server);
    cr_expect(sx_list_empty(&server.collective.shown.due) &&
              sx_list_empty(&server.collective.shown.rowless));
    cr_expect_eq(server.collective.shown.rowless_count, 0);
    sx_shown_sleep(&server);
    sx_pendings_deinit(&server);
    bare_deinit(&server);
}

TestSuite(collective_shown, .init = begin, .fini = end);

static const pmix_proc_t whole_job = { .nspace = JOB, .rank = PMIX_RANK_WILDCARD };

/* @client comes to the operation of these processes with this id ("": none). */
static void arrive_at(enum sx_collective_kind kind, struct sx_client *client,
                      const pmix_proc_t procs[], size_t proc_count, const char *id)
{
    static uint32_t op;
    pmix_info_t info;
    struct sx_lane_arrive head = { .kind = (uint16_t)kind, .open = 1, .op = ++op };
    struct sx_draft draft = { .signature = &sx_arrive_body,
                              .head = &head,
                              .parts = { [SX_ARRIVE_PROCS] = { procs, proc_count },
                                         [SX_ARRIVE_INFOS] = { &info, id[0] != '\0' } } };
    _Alignas(8) char message[2048];

    PMIx_Info_load(&info, CONNECT_ID, id, PMIX_STRING);
    size_t size = 0;
    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    cr_assert_leq(size, sizeof(message));
    cr_assert_eq(sx_body_write(&draft, message), PMIX_SUCCESS);
    cr_assert_eq(sx_collective_arrive(&server, client, opened(&sx_arrive_body, message, size)),
                 PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
}

static void arrive(uint32_t rank)
{
    arrive_at(SX_COLLECTIVE_FENCE, job->by_rank[rank], &whole_job, 1, "");
}

/* So many turns of the loop, at the time when everything now open is due. */
static void turns(unsigned count)
{
    server.turn.now_ns += SX_OPEN_DELAY_NS;
    for (unsigned i = 0; i < count; i++) {
        sx_shown_turn(&server, server.turn.now_ns);
    }
}

static pmix_status_t row_read(uint32_t index, struct sx_open_op *ret)
{
    struct sx_open_ops view;
    int fd;

    cr_assert_eq(sx_segment_share(&server.collective.shown.table.seg, &fd), PMIX_SUCCESS);
    cr_assert_eq(sx_open_ops_attach(&view, fd), PMIX_SUCCESS);
    close(fd);
    const pmix_status_t rc = index < view.row_count ? sx_open_ops_read(&view, index, ret)
                                                    : PMIX_ERR_NOT_FOUND;
    sx_open_ops_deinit(&view);
    return rc;
}

Test(collective_shown, what_ends_soon_is_never_shown)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        arrive(rank);
        server.turn.now_ns++;
        sx_shown_turn(&server, server.turn.now_ns);
    }
    turns(10);
    cr_expect_eq(server.collective.shown.table.row_next, 0, "no row was ever in use");
}

Test(collective_shown, what_stays_open_says_who_is_missing)
{
    struct sx_open_op op;

    arrive_at(SX_COLLECTIVE_CONNECT, job->by_rank[1], &whole_job, 1, "the id");
    job->by_rank[3]->left = true;
    job->by_rank[3]->state = SX_CLIENT_REGISTERED;
    job->by_rank[5]->channel = &channel;
    channel.peer.pid = 4711;
    turns(1);
    cr_assert_eq(row_read(0, &op), PMIX_SUCCESS);
    job->by_rank[5]->channel = NULL;
    cr_expect_eq(op.kind, SX_COLLECTIVE_CONNECT);
    cr_expect_eq(op.since_ns, 1000);
    cr_expect_eq(op.deadline_ns, 0);
    cr_expect_eq(op.flags, 0);
    cr_expect_eq(op.expected, RANKS);
    cr_expect_eq(op.arrived, 1);
    cr_expect_str_eq(op.text + op.id_off, "the id");
    cr_expect_eq(op.proc_count, 1);
    cr_assert_eq(op.procs_listed, 1);
    cr_expect_eq(op.procs[0].rank, PMIX_RANK_WILDCARD);
    cr_expect_str_eq(op.text + op.procs[0].nspace_off, JOB);
    cr_assert_eq(op.missing_listed, SX_OPEN_MISSING);
    for (uint32_t i = 0; i < SX_OPEN_MISSING; i++) {
        const struct sx_open_missing *const missing = &op.missing[i];

        cr_expect_eq(missing->rank, i + (i >= 1), "the first, by rank");
        cr_expect_str_eq(op.text + missing->nspace_off, JOB);
        cr_expect_eq(missing->pid, missing->rank == 5 ? 4711 : 0);
        cr_expect_eq(missing->presence, missing->rank == 5   ? SX_OPEN_CONNECTED
                                        : missing->rank == 3 ? SX_OPEN_LEFT
                                                             : SX_OPEN_NEVER_CAME);
    }
    job->by_rank[3]->state = SX_CLIENT_CONNECTED;
    job->by_rank[3]->left = false;
}

Test(collective_shown, who_comes_after_the_row_was_written_is_known_from_then_on)
{
    struct sx_open_op op;

    job->by_rank[0]->state = SX_CLIENT_REGISTERED;
    arrive(1);
    turns(1);
    cr_assert_eq(row_read(0, &op), PMIX_SUCCESS);
    cr_expect_eq(op.missing[0].presence, SX_OPEN_NEVER_CAME);
    job->by_rank[0]->state = SX_CLIENT_CONNECTED;
    job->by_rank[0]->channel = &channel;
    channel.peer.pid = 4711;
    sx_collective_client_connected(&server, job->by_rank[0]);
    turns(1);
    job->by_rank[0]->channel = NULL;
    cr_assert_eq(row_read(0, &op), PMIX_SUCCESS);
    cr_expect_eq(op.missing[0].rank, 0);
    cr_expect_eq(op.missing[0].presence, SX_OPEN_CONNECTED);
    cr_expect_eq(op.missing[0].pid, 4711);
}

/* Its end is a question that a builder of the group has not answered; its job is over. */
Test(collective_shown, a_member_without_a_namespace_is_not_listed)
{
    static const uint32_t gone[] = { 0, 7, RANKS - 1 };
    struct sx_open_op op;

    arrive(1);
    for (size_t i = 0; i < SX_COUNT(gone); i++) {
        job->by_rank[gone[i]]->nspace = NULL;
    }
    turns(1);
    for (size_t i = 0; i < SX_COUNT(gone); i++) {
        job->by_rank[gone[i]]->nspace = job;
    }
    cr_assert_eq(row_read(0, &op), PMIX_SUCCESS);
    cr_assert_eq(op.missing_listed, SX_OPEN_MISSING);
    cr_expect_eq(op.missing[0].rank, 2);
    cr_expect_eq(op.missing[5].rank, 8);
}

Test(collective_shown, a_row_follows_its_operation_and_goes_with_it)
{
    struct sx_open_op op;

    arrive(0);
    turns(1);
    for (uint32_t rank = 1; rank < RANKS - 1; rank++) {
        arrive(rank);
        sx_shown_turn(&server, server.turn.now_ns);
    }
    cr_assert_eq(row_read(0, &op), PMIX_SUCCESS);
    cr_expect_eq(op.arrived, 1, "many changes are written once");
    turns(1);
    cr_assert_eq(row_read(0, &op), PMIX_SUCCESS);
    cr_expect_eq(op.arrived, RANKS - 1);
    cr_assert_eq(op.missing_listed, 1);
    cr_expect_eq(op.missing[0].rank, RANKS - 1);
    cr_expect(sx_list_empty(&server.collective.shown.due), "nothing is due while nothing changes");
    arrive(RANKS - 1);
    cr_expect_eq(row_read(0, &op), PMIX_ERR_NOT_FOUND, "at once");
}

Test(collective_shown, a_turn_writes_few_rows_and_the_next_one_goes_on)
{
    struct sx_open_op op;

    for (unsigned i = 0; i < 10; i++) {
        arrive(0);
    }
    turns(1);
    cr_expect_eq(row_read(3, &op), PMIX_SUCCESS);
    cr_expect_eq(row_read(4, &op), PMIX_ERR_NOT_FOUND);
    sx_shown_sleep(&server);
    cr_expect_leq(server.collective.shown.timer.deadline_ns, server.turn.now_ns,
                  "the loop does not sleep");
    turns(2);
    cr_expect_eq(row_read(9, &op), PMIX_SUCCESS);
}

Test(collective_shown, the_oldest_have_rows_and_the_others_are_counted)
{
    struct sx_open_op op;

    for (unsigned i = 0; i < MANY; i++) {
        server.turn.now_ns = 1000 + i;
        arrive(0);
    }
    turns(MANY);
    for (unsigned i = 0; i < SX_OPEN_ROWS; i++) {
        cr_assert_eq(row_read(i, &op), PMIX_SUCCESS);
        cr_expect_eq(op.since_ns, 1000 + i);
    }
    cr_expect_eq(atomic_load(&server.collective.shown.table.header->hidden), MANY - SX_OPEN_ROWS);
    for (uint32_t rank = 1; rank < RANKS; rank++) {
        arrive(rank); /* the first one ends */
    }
    cr_assert_eq(row_read(0, &op), PMIX_SUCCESS);
    cr_expect_eq(op.since_ns, 1000 + SX_OPEN_ROWS, "the oldest of those without a row has it now");
    cr_expect_eq(atomic_load(&server.collective.shown.table.header->hidden),
                 MANY - SX_OPEN_ROWS - 1);
}

/* The loop sleeps without an end unless something is due. */
Test(collective_shown, there_is_a_timer_only_while_something_is_due)
{
    const struct sx_timer *const timer = &server.collective.shown.timer;

    sx_shown_sleep(&server);
    cr_expect_null(timer->source.loop);
    arrive(0);
    sx_shown_sleep(&server);
    cr_expect_not_null(timer->source.loop);
    cr_expect_eq(timer->deadline_ns, 1000 + SX_OPEN_DELAY_NS);
    for (uint32_t rank = 1; rank < RANKS; rank++) {
        arrive(rank);
    }
    sx_shown_sleep(&server);
    cr_expect_null(timer->source.loop, "it has ended before");
    arrive(0);
    turns(1);
    sx_shown_sleep(&server);
    cr_expect_null(timer->source.loop, "it is shown, and nothing changes");
}

/* Names as long as they may be leave no room for all: none is cut. */
Test(collective_shown, what_does_not_fit_is_left_out)
{
    char id[PMIX_MAX_NSLEN + 1] = { 0 };
    pmix_proc_t procs[2] = { { .rank = PMIX_RANK_WILDCARD }, { .rank = PMIX_RANK_WILDCARD } };
    struct sx_nspace *jobs[2];
    struct sx_open_op op;

    memset(id, 'i', PMIX_MAX_NSLEN);
    for (unsigned i = 0; i < 2; i++) {
        memset(procs[i].nspace, 'a' + (int)i, PMIX_MAX_NSLEN);
        jobs[i] = bare_job(&server, procs[i].nspace, 1 + i, 1 + i);
        bare_connect(&server, jobs[i], 0);
    }
    arrive_at(SX_COLLECTIVE_CONNECT, jobs[0]->by_rank[0], procs, 2, id);
    turns(1);
    cr_assert_eq(row_read(0, &op), PMIX_SUCCESS);
    cr_expect_str_eq(op.text + op.id_off, id);
    cr_expect_eq(op.proc_count, 2);
    cr_assert_eq(op.procs_listed, 1);
    cr_expect_str_eq(op.text + op.procs[0].nspace_off, procs[0].nspace);
    cr_expect_eq(op.expected, 3);
    cr_expect_eq(op.arrived, 1);
    cr_expect_eq(op.missing_listed, 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rounds_test.c - operations over the same processes of several nodes, in every order in which they
 * come to be complete there: all end, each as itself.
 *
 * The members play programs: calls in an order, of which some wait for their end before the next
 * one.  Each order is played from its beginning, one step longer each time. */
#include "server/collective/rounds.h"

#include <stdio.h>

#include "../../base/bodies.h"
#include "../rounds.h"

#define OPS 2u
#define STEPS_MAX 32u

/* What the members of one node do: the first of these is called first. */
struct program {
    uint8_t ops[OPS]; /* of the scene */
    bool waits;       /* for the end of the first */
};

static struct call ops[OPS];
static struct program programs[NODES_MAX];

enum act { CALL, ANSWER, PAUSE };
struct step {
    uint8_t act, node;
};
static struct step steps[STEPS_MAX];
static unsigned step_count, order_count, rounds_max;
static unsigned pauses_max; /* that end while something else could happen */

static const char *order_told(void)
{
    static char text[512];
    int used = 0;

    for (unsigned i = 0; i < node_count; i++) {
        used += snprintf(text + used, sizeof(text) - (size_t)used, "node %u: %u%s%u; ", i,
                         programs[i].ops[0], programs[i].waits ? ", waits, " : ", ",
                         programs[i].ops[1]);
    }
    for (unsigned i = 0; i < step_count; i++) {
        used += steps[i].act == ANSWER
                    ? snprintf(text + used, sizeof(text) - (size_t)used, " answer")
                    : snprintf(text + used, sizeof(text) - (size_t)used, " %s %u",
                               steps[i].act == CALL ? "call" : "pause", steps[i].node);
    }
    return text;
}

static bool may_call(unsigned node)
{
    const struct node *const at = &nodes[node];

    return at->calls < OPS && (at->calls == 0 || !programs[node].waits || at->answers[1] > 0);
}

static void play(struct step step)
{
    cr_assert_lt(step_count, STEPS_MAX, "%s", order_told());
    steps[step_count++] = step;
    switch ((enum act)step.act) {
    case CALL:
        member_calls(step.node, &ops[programs[step.node].ops[nodes[step.node].calls]]);
        break;
    case ANSWER:
        host_answers(PMIX_SUCCESS);
        break;
    case PAUSE:
        node_later(&nodes[step.node]);
        break;
    }
}

static unsigned paused(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < step_count; i++) {
        count += steps[i].act == PAUSE;
    }
    return count;
}

/* What may come next.  Where nothing else can, pauses end. */
static unsigned choices(struct step *ret)
{
    unsigned count = 0;

    for (uint8_t i = 0; i < node_count; i++) {
        if (may_call(i)) {
            ret[count++] = (struct step){ CALL, i };
        }
    }
    if (host_can_answer()) {
        ret[count++] = (struct step){ ANSWER, 0 };
    }
    for (uint8_t i = 0; i < node_count; i++) {
        if (nodes[i].cbfunc == NULL && nodes[i].server.collective.rounds.count > 0 &&
            (count == 0 || paused() < pauses_max)) {
            ret[count++] = (struct step){ PAUSE, i };
        }
    }
    return count;
}

/* Then the first call of each node is the first of them. */
static bool ops_are_the_same(void)
{
    return ops[0].kind == ops[1].kind && ops[0].id == ops[1].id;
}

/* The number of the node's call that was this operation. */
static unsigned call_of(unsigned node, unsigned op)
{
    return ops_are_the_same() ? op + 1 : programs[node].ops[0] == op ? 1 : 2;
}

/* Each call has ended once, and well; what was one connect is one namespace, here and there. */
static void look(void)
{
    for (unsigned i = 0; i < node_count; i++) {
        for (unsigned op = 1; op <= OPS; op++) {
            cr_assert_eq(nodes[i].answers[op], 1, "node %u call %u has %u answers: %s", i, op,
                         nodes[i].answers[op], order_told());
            cr_assert_eq(nodes[i].statuses[op], PMIX_SUCCESS, "node %u call %u: %d: %s", i, op,
                         nodes[i].statuses[op], order_told());
        }
        cr_assert(sx_list_empty(&nodes[i].server.collective.all), "%s", order_told());
        cr_assert_eq(nodes[i].server.collective.rounds.count, 0, "%s", order_told());
        cr_assert_null(nodes[i].cbfunc, "%s", order_told());
        for (unsigned op = 0; op < OPS; op++) {
            if (ops[op].kind == SX_COLLECTIVE_CONNECT) {
                expect_same(0, call_of(0, op), i, call_of(i, op));
            }
        }
    }
}

static void go_on(const struct step *played, unsigned count)
{
    struct step next[STEPS_MAX + 1], more[2 * NODES_MAX + 1];

    nodes_rewind();
    step_count = 0;
    for (unsigned i = 0; i < count; i++) {
        play(played[i]);
    }
    const unsigned choice_count = choices(more);

    if (choice_count == 0) {
        look();
        order_count++;
        rounds_max = round_count > rounds_max ? round_count : rounds_max;
    }
    if (count > 0) {
        memcpy(next, played, count * sizeof(*next));
    }
    for (unsigned i = 0; i < choice_count; i++) {
        next[count] = more[i];
        go_on(next, count + 1);
    }
}

/* Members that wait for each other are no program that could end. */
static bool is_possible(void)
{
    for (unsigned i = 0; i < node_count; i++) {
        for (unsigned k = 0; k < i; k++) {
            if (programs[i].waits && programs[k].waits &&
                programs[i].ops[0] != programs[k].ops[0]) {
                return false;
            }
        }
    }
    return true;
}

static void all_orders(unsigned count, const struct call *first, const struct call *second)
{
    ops[0] = *first;
    ops[1] = *second;
    nodes_begin(count);
    order_count = rounds_max = 0;
    pauses_max = count == 2 ? 2 : 0; /* of three there are orders enough */
    for (unsigned which = 0; which < 1u << (2 * count); which++) {
        for (unsigned i = 0; i < count; i++) {
            const bool swapped = (which >> (2 * i) & 1) != 0;

            programs[i] = (struct program){ .ops = { swapped, !swapped },
                                            .waits = (which >> (2 * i) & 2) != 0 };
        }
        if (is_possible()) {
            go_on(steps, 0);
        }
    }
    nodes_end();
    cr_log_info("%u nodes: %u orders, at most %u rounds", count, order_count, rounds_max);
}

static const struct call fence = { .kind = SX_COLLECTIVE_FENCE };
static const struct call connects[] = { { .kind = SX_COLLECTIVE_CONNECT },
                                        { .kind = SX_COLLECTIVE_CONNECT, .id = "one" },
                                        { .kind = SX_COLLECTIVE_CONNECT, .id = "two" } };

Test(rounds, of_a_fence_and_a_connect_end_in_any_order)
{
    all_orders(2, &fence, &connects[0]);
}

Test(rounds, of_two_connects_end_each_by_its_id)
{
    all_orders(2, &connects[1], &connects[2]);
}

/* Thousands of orders, which a sanitizer makes ten times as long. */
Test(rounds, of_three_nodes_end_in_any_order, .timeout = 280)
{
    all_orders(3, &fence, &connects[0]);
}

Test(rounds, of_the_same_twice_end_one_after_the_other)
{
    all_orders(2, &connects[0], &connects[0]);
    all_orders(2, &fence, &fence);
}

/* ---- what goes wrong ------------------------------------------------------------------------- */

#define CONNECT(limit) ((struct call){ .kind = SX_COLLECTIVE_CONNECT, .seconds = (limit) })

static void both_call(const struct call *call)
{
    member_calls(0, call);
    member_calls(1, call);
}

static void expect(unsigned node, unsigned op, unsigned answers, pmix_status_t status)
{
    cr_expect_eq(nodes[node].answers[op], answers, "node %u call %u has %u answers", node, op,
                 nodes[node].answers[op]);
    cr_expect(answers == 0 || nodes[node].statuses[op] == status, "node %u call %u: %d", node, op,
              nodes[node].statuses[op]);
}

static uint64_t ahead_ns;

static uint64_t clock_ahead(void *arg)
{
    (void)arg;
    return sx_now_ns() + ahead_ns;
}

/* So many seconds have passed at @node. */
static void seconds_pass(unsigned node, unsigned seconds)
{
    ahead_ns = seconds * SX_NS_PER_SEC;
    node_run_at(&nodes[node], clock_ahead, NULL, NULL);
}

static void answer_all(void)
{
    while (host_can_answer()) {
        host_answers(PMIX_SUCCESS);
    }
}

Test(rounds, alone_a_connect_takes_two_and_a_fence_is_none)
{
    nodes_begin(2);
    both_call(&connects[0]);
    answer_all();
    cr_expect_eq(round_count, 2);
    expect(0, 1, 1, PMIX_SUCCESS);
    expect(1, 1, 1, PMIX_SUCCESS);
    both_call(&fence);
    cr_expect_eq(nodes[0].server.collective.rounds.count, 0, "as it is without them");
    answer_all();
    cr_expect_eq(round_count, 3);
    expect(1, 2, 1, PMIX_SUCCESS);
    nodes_end();
}

Test(rounds, disconnect_whom_they_have_connected)
{
    nodes_begin(2);
    both_call(&connects[1]);
    answer_all();
    expect_same(0, 1, 1, 1);
    both_call(&(struct call){ .kind = SX_COLLECTIVE_DISCONNECT, .id = "one" });
    cr_expect_not_null(sx_memberships_next(&nodes[0].server, NULL), "not yet");
    answer_all();
    for (unsigned i = 0; i < 2; i++) {
        expect(i, 2, 1, PMIX_SUCCESS);
        cr_expect_null(sx_memberships_next(&nodes[i].server, NULL));
        node_run(&nodes[i], NULL, NULL);
        cr_expect(sx_list_empty(&nodes[i].server.collective.spans));
    }
    both_call(&(struct call){ .kind = SX_COLLECTIVE_DISCONNECT, .id = "one" });
    expect(0, 3, 1, PMIX_ERR_INVALID_OPERATION);
    nodes_end();
}

Test(rounds, that_the_host_fails_end_what_they_named_with_its_status)
{
    nodes_begin(2);
    both_call(&connects[0]);
    both_call(&fence);
    host_answers(PMIX_ERR_UNREACH);
    expect(0, 1, 1, PMIX_ERR_UNREACH);
    expect(1, 1, 1, PMIX_ERR_UNREACH);
    expect(0, 2, 0, 0);
    answer_all();
    expect(0, 2, 1, PMIX_SUCCESS);
    expect(1, 2, 1, PMIX_SUCCESS);
    nodes_end();
}

/* In the first round and in the second. */
Test(rounds, of_garbled_bytes_end_what_they_named)
{
    for (unsigned good = 0; good < 2; good++) {
        nodes_begin(2);
        both_call(&connects[0]);
        if (good == 1) {
            host_answers(PMIX_SUCCESS);
        }
        nodes[1].bytes[4] ^= 1; /* the version */
        host_answers(PMIX_SUCCESS);
        expect(0, 1, 1, PMIX_ERR_UNPACK_FAILURE);
        expect(1, 1, 1, PMIX_ERR_UNPACK_FAILURE);
        both_call(&fence);
        answer_all();
        expect(1, 2, 1, PMIX_SUCCESS);
        nodes_end();
    }
}

/* Every byte of what a server says is another one: nobody is confused. */
Test(rounds, of_any_other_byte_end_or_wait)
{
    nodes_begin(2);
    for (size_t at = 0;; at++) {
        nodes_rewind();
        both_call(&connects[1]);
        host_answers(PMIX_SUCCESS);
        if (at == nodes[1].size) {
            break;
        }
        nodes[1].bytes[at] ^= 0x41;
        host_answers(PMIX_SUCCESS);
        cr_expect_leq(nodes[0].answers[1], 1);
        cr_expect_eq(nodes[0].answers[1], nodes[1].answers[1], "byte %zu", at);
        cr_expect(nodes[0].answers[1] == 0 || nodes[0].statuses[1] == nodes[1].statuses[1],
                  "byte %zu: %d and %d", at, nodes[0].statuses[1], nodes[1].statuses[1]);
    }
    nodes_end();
}

/* X21: who calls late opens another one, which the retry meets. */
Test(rounds, that_one_node_left_by_a_time_limit_go_on_with_its_retry)
{
    nodes_begin(2);
    member_calls(0, &CONNECT(1));
    node_later(&nodes[0]);
    expect(0, 1, 1, PMIX_ERR_TIMEOUT);
    member_calls(1, &connects[0]);
    answer_all();
    expect(1, 1, 0, 0);
    member_calls(0, &connects[0]);
    answer_all();
    expect(0, 2, 1, PMIX_SUCCESS);
    expect(1, 1, 1, PMIX_SUCCESS);
    nodes_end();
}

/* The same, when the retry is there before the other node calls. */
Test(rounds, that_one_node_left_and_came_back_to_go_on)
{
    nodes_begin(2);
    member_calls(0, &CONNECT(1));
    node_later(&nodes[0]);
    member_calls(0, &connects[0]);
    member_calls(1, &connects[0]);
    answer_all();
    expect(0, 1, 1, PMIX_ERR_TIMEOUT);
    expect(0, 2, 1, PMIX_SUCCESS);
    expect(1, 1, 1, PMIX_SUCCESS);
    nodes_end();
}

Test(rounds, in_commit_a_limit_waits_for_the_answer)
{
    nodes_begin(2);
    member_calls(0, &CONNECT(1));
    member_calls(1, &connects[0]);
    host_answers(PMIX_SUCCESS);
    cr_assert(host_can_answer(), "the second round");
    seconds_pass(0, 2);
    expect(0, 1, 0, 0);
    answer_all();
    expect(0, 1, 1, PMIX_SUCCESS);
    expect(1, 1, 1, PMIX_SUCCESS);
    nodes_end();
}

Test(rounds, that_the_host_never_answers_end_by_their_limits)
{
    nodes_begin(2);
    member_calls(0, &CONNECT(1));
    member_calls(1, &CONNECT(1));
    host_answers(PMIX_SUCCESS);
    for (unsigned i = 0; i < 2; i++) {
        seconds_pass(i, 2);
        expect(i, 1, 0, 0);
        seconds_pass(i, 20);
    }
    expect(0, 1, 1, PMIX_ERR_TIMEOUT);
    expect(1, 1, 1, PMIX_ERR_TIMEOUT);
    nodes_end();
}

Test(rounds, tell_once_that_a_member_has_died)
{
    nodes_begin(2);
    both_call(&connects[0]);
    member_calls(0, &fence);
    member_dies(0);
    answer_all();
    expect(0, 1, 0, 0);
    expect(1, 1, 1, PMIX_ERR_LOST_CONNECTION);
    cr_expect_eq(nodes[1].server.collective.rounds.count, 0);
    nodes_end();
}

/* Ranks 0 and 2 are on the first node. */
Test(rounds, in_commit_a_member_has_connected_and_dies_as_one)
{
    struct sx_client *first;
    pmix_proc_t proc;

    nodes_begin(2);
    first = nodes[0].member;
    nodes[0].job->job_size = nodes[1].job->job_size = 3;
    nodes[0].job->local_count = 2;
    nodes[0].member = sx_client_add(nodes[0].job, 2);
    bare_connect(&nodes[0].server, nodes[0].job, 2);
    both_call(&connects[0]);
    nodes[0].member = first;
    member_calls(0, &connects[0]);
    host_answers(PMIX_SUCCESS);
    member_dies(0);
    answer_all();
    expect(0, 1, 1, PMIX_SUCCESS);
    expect(1, 1, 1, PMIX_SUCCESS);
    cr_expect_eq(sx_membership_size(made_by(1, 1)), 3);
    cr_expect_eq(sx_membership_member(made_by(1, 1), 0, &proc), PMIX_SUCCESS);
    cr_expect_eq(sx_membership_size(made_by(0, 1)), 3);
    cr_expect_eq(sx_membership_member(made_by(0, 1), 0, &proc), PMIX_ERR_NOT_FOUND, "a gap");
    cr_expect_eq(sx_membership_member(made_by(0, 1), 2, &proc), PMIX_SUCCESS);
    nodes_end();
}

/* ---- what the host does inside its entries
 * ---------------------------------------------------- */

static unsigned connects_asked;

/* The third time its job goes meanwhile. */
static pmix_status_t on_connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)procs, (void)nprocs, (void)info, (void)ninfo, (void)cbfunc, (void)cbdata;
    if (++connects_asked == 3) {
        member_dies_now(current, NULL);
        sx_collective_nspace_gone(&current->server, current->job);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

/* Two connects are in a round that fails.  As the first ends the host is asked for another one; it
 * is called when both have their answer. */
Test(rounds, that_the_host_fails_and_ends_inside_the_next_call)
{
    nodes_begin(2);
    connects_asked = 0;
    nodes[0].server.module.connect = on_connect;
    both_call(&fence);
    both_call(&connects[1]);
    both_call(&connects[2]);
    member_calls(0, &connects[1]);
    host_answers(PMIX_SUCCESS);
    cr_assert_eq(connects_asked, 2);
    host_answers(PMIX_ERR_UNREACH);
    cr_expect_eq(connects_asked, 3);
    expect(0, 1, 1, PMIX_SUCCESS);
    expect(0, 2, 1, PMIX_ERR_UNREACH);
    expect(0, 3, 1, PMIX_ERR_UNREACH);
    expect(0, 4, 0, 0);
    cr_expect(sx_list_empty(&nodes[0].server.collective.all));
    cr_expect_eq(nodes[0].server.collective.rounds.count, 0);
    nodes_end();
}

static unsigned told_count;

/* That one has ended; so do the others. */
static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)source, (void)range, (void)info, (void)ninfo, (void)cbfunc, (void)cbdata;
    cr_expect_eq(code, PMIX_ERR_PROC_TERM_WO_SYNC);
    told_count++;
    for (size_t i = 0; i < current->job->client_count; i++) {
        struct sx_client *const client = current->job->by_rank[i];

        if (client->state != SX_CLIENT_DEAD) {
            client->state = SX_CLIENT_DEAD;
            sx_collective_client_gone(&current->server, client);
            sx_connect_client_gone(&current->server, client);
        }
    }
    return PMIX_OPERATION_SUCCEEDED;
}

/* Ranks 0 and 2 are on the first node, and rank 0 dies in the second round. */
Test(rounds, in_commit_a_member_dies_and_the_host_ends_the_others_as_it_hears_so)
{
    struct sx_client *first;

    nodes_begin(2);
    told_count = 0;
    nodes[0].server.module.notify_event = on_notify;
    first = nodes[0].member;
    nodes[0].job->job_size = nodes[1].job->job_size = 3;
    nodes[0].job->local_count = 2;
    nodes[0].member = sx_client_add(nodes[0].job, 2);
    bare_connect(&nodes[0].server, nodes[0].job, 2);
    both_call(&connects[0]);
    nodes[0].member = first;
    member_calls(0, &connects[0]);
    host_answers(PMIX_SUCCESS);
    member_dies(0);
    answer_all();
    cr_expect_eq(told_count, 2);
    expect(1, 1, 1, PMIX_SUCCESS);
    cr_expect(sx_list_empty(&nodes[0].server.collective.all));
    nodes_end();
}

/* What it says of itself then is of those whose job is there. */
Test(rounds, go_on_when_the_job_of_a_member_has_gone)
{
    struct sx_blob blob = { 0 };

    nodes_begin(2);
    member_calls(0, &connects[0]);
    struct sx_collective *const connect = SX_LIST_ENTRY(nodes[0].server.collective.all.next,
                                                        struct sx_collective, link);

    nodes[0].member->nspace = NULL;
    cr_expect_eq(connect->kind->contribute(connect, &blob), PMIX_SUCCESS);
    nodes[0].member->nspace = nodes[0].job;
    sx_blob_clear(&blob);
    nodes_end();
}

/* ---- the blob of a round --------------------------------------------------------------------- */

/* What a server says in a round is read as it was written. */

#define KIND 2u

static const struct {
    const char *id;
    int32_t status;
    size_t size;
} rows[] = {
    { NULL, PMIX_SUCCESS, 0 },
    { "id", PMIX_SUCCESS, 24 },
    { "", PMIX_ERR_LOST_CONNECTION, 0 },
};

Test(round_blob, has_its_entries_in_their_order)
{
    static char bytes[24] = "what it contributes";
    const char *at;
    size_t left;
    struct sx_blob blob;
    struct sx_blob_view view;
    struct sx_opened entry;

    cr_assert_eq(sx_blob_begin_as(&blob, SX_BLOB_ROUND), PMIX_SUCCESS);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const struct sx_round_entry head = { .kind = KIND,
                                             .step = SX_ROUND_COMMIT,
                                             .status = rows[i].status };
        const struct sx_blob contribution = { .bytes = bytes, .size = rows[i].size };

        cr_assert_eq(sx_round_blob_add(&blob, &head, rows[i].id, &contribution), PMIX_SUCCESS);
    }
    at = blob.bytes;
    left = blob.size;
    cr_assert(sx_blob_next(&at, &left, &view));
    cr_expect_eq(left, 0);
    cr_expect_eq(view.magic, SX_BLOB_ROUND);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_assert_null(sx_body_next(&entry, &sx_round_entry_body, &view.body, &view.body_size));
        const struct sx_round_entry *const head = entry.head;
        const char *const id = sx_part_text(&entry.parts[SX_ROUND_ID]);

        cr_expect(head->kind == KIND && head->step == SX_ROUND_COMMIT);
        cr_expect_eq(head->status, rows[i].status);
        cr_expect(id == rows[i].id || strcmp(id, rows[i].id) == 0, "row %zu", i);
        cr_expect_eq(entry.parts[SX_ROUND_CONTRIBUTION].size, rows[i].size);
        cr_expect(rows[i].size == 0 ||
                  strcmp((const char *)entry.parts[SX_ROUND_CONTRIBUTION].at, bytes) == 0);
    }
    cr_expect_eq(view.body_size, 0);
    sx_blob_clear(&blob);
}

Test(round_blob, keeps_the_bounds_of_its_signature)
{
    body_judge("entry of a round", &sx_round_entry_body);
}

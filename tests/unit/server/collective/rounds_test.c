/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* rounds_test.c - operations over the same processes of several nodes, in every order in which they
 * come to be complete there: all end, each as itself.
 *
 * The members play programs: calls in an order, of which some wait for their end before the next
 * one.  Each order is played from its beginning, one step longer each time. */
#include "server/collective/rounds.h"

#include <stdio.h>
#include <unistd.h>

#include "../../base/bodies.h"
#include "../../control/engines.h"
#include "../rounds.h"
#include "server/collective/engine.h"

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

static const char *order_notified(void)
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
    cr_assert_lt(step_count, STEPS_MAX, "%s", order_notified());
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
                         nodes[i].answers[op], order_notified());
            cr_assert_eq(nodes[i].statuses[op], PMIX_SUCCESS, "node %u call %u: %d: %s", i, op,
                         nodes[i].statuses[op], order_notified());
        }
        cr_assert(sx_list_empty(&nodes[i].server.collective.all), "%s", order_notified());
        cr_assert_eq(nodes[i].server.collective.rounds.count, 0, "%s", order_notified());
        cr_assert_null(nodes[i].cbfunc, "%s", order_notified());
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

Test(rounds, that_the_host_ends_with_a_status_that_pmix_does_not_have_fail)
{
    static const struct call *const all[] = { &fence, &connects[0] };

    for (unsigned i = 0; i < SX_COUNT(all); i++) {
        nodes_begin(2);
        both_call(all[i]);
        host_answers(7);
        expect(0, 1, 1, PMIX_ERROR);
        expect(1, 1, 1, PMIX_ERROR);
        nodes_end();
    }
}

/* Return: what the log has of garbled bytes for @call, in @line. */
static const char *garbled_log(const struct call *call, char *line, size_t size)
{
    const int kept = dup(STDERR_FILENO);
    int ends[2];

    nodes_begin(2);
    both_call(call);
    nodes[1].bytes[4] ^= 1;
    cr_assert(kept >= 0 && pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    host_answers(PMIX_SUCCESS);
    cr_assert(dup2(kept, STDERR_FILENO) >= 0);
    close(ends[1]);
    const ssize_t count = read(ends[0], line, size - 1);

    cr_assert_gt(count, 0);
    line[count] = '\0';
    close(ends[0]);
    close(kept);
    nodes_end();
    return line;
}

Test(rounds, of_garbled_bytes_are_logged_by_what_they_are_for)
{
    char line[1024];

    cr_expect_not_null(strstr(garbled_log(&connects[0], line, sizeof(line)), "for a connect of "));
    cr_expect_not_null(strstr(garbled_log(&fence, line, sizeof(line)), "for a fence of "));
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

Test(rounds, notify_once_that_a_member_has_died)
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

static void host_answers_well(void)
{
    host_answers(PMIX_SUCCESS);
}

/* What the host gives to each node for a fence, which collects data on the first node, the second,
 * or both. */
static const struct {
    const char *why;
    void (*host_answers)(void);
    bool collects[2];
    pmix_status_t want[2];
} collecting[] = {
    { "all", host_answers_well, { true, true }, { PMIX_SUCCESS, PMIX_SUCCESS } },
    { "all but its own", host_answers_without_own, { true, true }, { PMIX_SUCCESS, PMIX_SUCCESS } },
    { "its own alone",
      host_answers_each_alone,
      { true, true },
      { PMIX_ERR_PARTIAL_SUCCESS, PMIX_ERR_PARTIAL_SUCCESS } },
    { "nothing",
      host_answers_nothing,
      { true, true },
      { PMIX_ERR_PARTIAL_SUCCESS, PMIX_ERR_PARTIAL_SUCCESS } },
    { "nothing for a barrier",
      host_answers_nothing,
      { false, false },
      { PMIX_SUCCESS, PMIX_SUCCESS } },
    { "all, and one asks for data", host_answers_well, { true, false }, { PMIX_SUCCESS } },
    { "its own alone, and one asks for data",
      host_answers_each_alone,
      { true, false },
      { PMIX_ERR_PARTIAL_SUCCESS, PMIX_SUCCESS } },
};

Test(rounds, without_the_bytes_of_a_node_are_a_partial_success)
{
    static const pmix_value_t host = { .type = PMIX_STRING, .data.string = (char *)"far" };

    nodes_begin(2);
    cr_assert_eq(sx_store_put(&nodes[0].job->store, SX_REALM_JOB, 1, PMIX_HOSTNAME, PMIX_GLOBAL,
                              &host),
                 PMIX_SUCCESS);
    for (size_t i = 0; i < SX_COUNT(collecting); i++) {
        const int log_fd = test_capture_stderr();

        for (unsigned node = 0; node < 2; node++) {
            const struct call call = { .kind = SX_COLLECTIVE_FENCE,
                                       .collects = collecting[i].collects[node] };

            member_calls(node, &call);
        }
        collecting[i].host_answers();
        for (unsigned node = 0; node < 2; node++) {
            cr_expect_eq(nodes[node].statuses[nodes[node].calls], collecting[i].want[node],
                         "%s: node %u: %d", collecting[i].why, node,
                         nodes[node].statuses[nodes[node].calls]);
        }
        cr_expect_eq(test_count_lines(log_fd, "without the bytes of node far"),
                     collecting[i].want[0] != PMIX_SUCCESS, "%s", collecting[i].why);
    }
    nodes_end();
}

#define LONG ((size_t)9 << 20)   /* packed in more turns than a loop makes ... */
#define MEDIUM ((size_t)4 << 20) /* ... and in fewer */

static void long_put(struct node *node, const void *arg)
{
    const size_t size = *(const size_t *)arg;
    pmix_value_t value = { .type = PMIX_BYTE_OBJECT, .data.bo = { calloc(1, size), size } };

    cr_assert_not_null(value.data.bo.bytes);
    cr_assert_eq(sx_store_put(&node->job->store, SX_REALM_JOB, node->member->rank, "long",
                              PMIX_GLOBAL, &value),
                 PMIX_SUCCESS);
    cr_assert_eq(sx_news_refer(&node->member->news, "long"), PMIX_SUCCESS);
    free(value.data.bo.bytes);
}

static void calls_with_much(struct node *node, const void *call)
{
    member_arrives(node, call);
    cr_expect_not_null(sx_steps_queue_first(&node->server.collective.packs), "not all at once");
}

static void calls_and_ends(struct node *node, const void *call)
{
    calls_with_much(node, call);
    sx_collective_end_all(&node->server);
    cr_expect_null(sx_steps_queue_first(&node->server.collective.packs));
}

/* What a fence collects is packed in several turns when it is much, and then the host is asked.  A
 * fence that ends before that leaves nothing. */
static void fence_with_much(const struct call *call)
{
    struct sx_item item;

    nodes_begin(2);
    node_run(&nodes[0], long_put, &(size_t){ LONG });
    node_run(&nodes[0], calls_and_ends, call);
    cr_expect_eq(nodes[0].asked_count, 0);
    nodes_rewind();
    node_run(&nodes[0], calls_with_much, call);
    node_run(&nodes[0], NULL, NULL); /* the end of the last loop has packed the rest */
    member_calls(1, call);
    cr_assert(host_can_answer());
    cr_expect_gt(nodes[0].size, LONG);
    answer_all();
    expect(0, 1, 1, PMIX_SUCCESS);
    expect(1, 1, 1, PMIX_SUCCESS);
    cr_assert_eq(sx_store_find(&nodes[1].job->store.view, SX_REALM_JOB, 0, "long", &item),
                 PMIX_SUCCESS);
    cr_expect_geq(item.cell.len, LONG);
}

Test(rounds, of_a_fence_with_much_data_begin_when_it_is_packed)
{
    fence_with_much(&(struct call){ .kind = SX_COLLECTIVE_FENCE, .collects = true });
    cr_expect_eq(nodes[0].member->news.end, 0);
    sx_news_drop(&nodes[0].member->news);
    nodes_end();
}

/* Not all nodes of the jobs may take part, so it collects all that the members have put. */
Test(rounds, of_a_fence_of_some_processes_with_much_data_begin_when_it_is_packed)
{
    fence_with_much(
        &(struct call){ .kind = SX_COLLECTIVE_FENCE, .collects = true, .names_ranks = true });
    cr_expect_gt(nodes[0].member->news.end, 0, "others have not received it");
    sx_news_drop(&nodes[0].member->news);
    nodes_end();
}

static void expect_no_rounds(void)
{
    for (unsigned i = 0; i < node_count; i++) {
        cr_expect_eq(nodes[i].server.collective.rounds.count, 0, "node %u", i);
        cr_expect(sx_list_empty(&nodes[i].server.collective.all), "node %u", i);
    }
}

/* Of each turn of the first node until the host has its round. */
static struct {
    struct sx_timer first;
    struct sx_loop_post post;
    unsigned turns;   /* in which its fence was being packed */
    unsigned ends_in; /* this one, by another way; 0: it goes on */
    unsigned dies_in; /* this one, its member does, which is to be acted on later; 0: it lives */
} packing;

static void packing_watch(void *arg, uint64_t now_ns)
{
    struct node *const node = arg;
    const struct sx_collective_state *const state = &node->server.collective;
    const bool is_packing = state->packing.server != NULL &&
                            sx_steps_queue_first(&state->packs) != NULL;

    (void)now_ns;
    packing.turns += is_packing;
    cr_expect(node->cbfunc == NULL || !is_packing, "the host waits");
    if (is_packing && packing.turns == packing.ends_in) {
        sx_collective_leave_host(SX_LIST_ENTRY(state->all.prev, struct sx_collective, link),
                                 PMIX_ERR_LOST_CONNECTION);
        cr_expect_null(sx_steps_queue_first(&state->packs));
    }
    if (is_packing && packing.turns == packing.dies_in) {
        member_dies_late(node);
    }
    packing.post = (struct sx_loop_post){ .fn = packing_watch, .arg = arg };
    (void)sx_loop_post(node->server.loop, &packing.post); /* refused at the end of the run */
}

/* A connect of both nodes, and behind it a fence for which the first one has @size bytes. */
static void play_a_round_with_much(size_t size, unsigned ends_in, unsigned dies_in)
{
    const struct call collecting_fence = { .kind = SX_COLLECTIVE_FENCE, .collects = true };

    nodes_begin(2);
    node_run(&nodes[0], long_put, &size);
    both_call(&connects[0]);
    both_call(&collecting_fence);
    memset(&packing, 0, sizeof(packing));
    packing.ends_in = ends_in;
    packing.dies_in = dies_in;
    packing.first = (struct sx_timer){ .fn = packing_watch, .arg = &nodes[0] };
    cr_assert_eq(sx_timer_add(nodes[0].server.loop, &packing.first, 0), PMIX_SUCCESS);
    host_answers(PMIX_SUCCESS);
    node_run(&nodes[0], NULL, NULL); /* the end of the last loop has packed the rest */
    cr_assert(host_can_answer());
}

/* So is what a fence contributes to a round, and then the host is asked for all of it. */
Test(rounds, with_a_fence_of_much_data_begin_when_it_is_packed)
{
    struct sx_item item;

    play_a_round_with_much(LONG, 0, 0);
    cr_expect_geq(packing.turns, TURNS - 2);
    cr_expect_gt(nodes[0].size, LONG);
    answer_all();
    for (unsigned i = 0; i < 2; i++) {
        expect(i, 1, 1, PMIX_SUCCESS);
        expect(i, 2, 1, PMIX_SUCCESS);
    }
    cr_expect_eq(nodes[0].member->news.end, 0);
    cr_assert_eq(sx_store_find(&nodes[1].job->store.view, SX_REALM_JOB, 0, "long", &item),
                 PMIX_SUCCESS);
    cr_expect_geq(item.cell.len, LONG);
    expect_no_rounds();
    sx_news_drop(&nodes[0].member->news);
    nodes_end();
}

Test(rounds, go_on_without_a_fence_that_ends_while_it_is_packed)
{
    play_a_round_with_much(LONG, 3, 0);
    cr_expect_eq(packing.turns, 3);
    cr_expect_lt(nodes[0].size, LONG);
    host_answers(PMIX_SUCCESS);
    for (unsigned i = 0; i < 2; i++) {
        expect(i, 1, 1, PMIX_SUCCESS);
    }
    expect(0, 2, 1, PMIX_ERR_LOST_CONNECTION);
    expect(1, 2, 0, 0);
    sx_news_drop(&nodes[0].member->news);
    nodes_end();
}

Test(rounds, do_not_commit_with_a_member_that_dies_while_a_fence_is_packed)
{
    play_a_round_with_much(MEDIUM, 0, 2);
    cr_expect_gt(packing.turns, 2);
    cr_expect_lt(packing.turns, TURNS - 2);
    answer_all();
    expect(0, 1, 0, 0);
    expect(1, 1, 1, PMIX_ERR_LOST_CONNECTION);
    expect_no_rounds();
    sx_news_drop(&nodes[0].member->news);
    nodes_end();
}

/* The first node has another member, which has not called. */
static struct sx_client *absent;

static void nodes_begin_with_absent(unsigned count)
{
    nodes_begin(count);
    for (unsigned i = 0; i < count; i++) {
        nodes[i].job->job_size = count + 1;
    }
    nodes[0].job->local_count = 2;
    absent = sx_client_add(nodes[0].job, count);
    cr_assert_not_null(absent);
    bare_connect(&nodes[0].server, nodes[0].job, count);
}

static void absent_dies(struct node *node, const void *arg)
{
    (void)arg;
    absent->state = SX_CLIENT_DEAD;
    sx_collective_client_gone(&node->server, absent);
}

static void member_calls_as(unsigned node, struct sx_client *member, const struct call *call)
{
    struct sx_client *const first = nodes[node].member;

    nodes[node].member = member;
    member_calls(node, call);
    nodes[node].member = first;
}

static void absent_calls(const struct call *call)
{
    member_calls_as(0, absent, call);
}

/* Whoever comes first: the members elsewhere, or the failure. */
Test(rounds, notify_that_a_member_has_died_before_all_had_called)
{
    static const struct call *const all[] = { &fence, &connects[0], &connects[1] };

    for (unsigned i = 0; i < 2 * SX_COUNT(all); i++) {
        const bool failure_first = i % 2 == 0;

        nodes_begin_with_absent(2);
        if (!failure_first) {
            member_calls(1, all[i / 2]);
        }
        member_calls(0, all[i / 2]);
        node_run(&nodes[0], absent_dies, NULL);
        expect(0, 1, 1, PMIX_ERR_LOST_CONNECTION);
        cr_expect_eq(nodes[0].local, PMIX_ERR_LOST_CONNECTION);
        if (failure_first) {
            member_calls(1, all[i / 2]);
        }
        cr_assert(host_can_answer(), "the first node has told nothing");
        answer_all();
        expect(0, 1, 1, PMIX_ERR_LOST_CONNECTION);
        expect(1, 1, 1, PMIX_ERR_LOST_CONNECTION);
        expect_no_rounds();
        nodes_end();
    }
}

/* Ranks 0, 2 and 3 are on the first node, and rank 3 dies: before a fence of all, or in one.  The
 * fences of the others are told one by one, whichever of them calls first, and whether the host has
 * answered then. */
Test(rounds, notify_the_fences_of_all_that_a_dead_member_does_not_call)
{
    for (unsigned i = 0; i < 8; i++) {
        const bool dies_first = (i & 1) != 0, answered = (i & 2) != 0, twice_first = (i & 4) != 0;

        nodes_begin_with_absent(2);
        struct sx_client *const other = absent;

        nodes[0].job->job_size = nodes[1].job->job_size = 4;
        nodes[0].job->local_count = 3;
        absent = sx_client_add(nodes[0].job, 3);
        cr_assert_not_null(absent);
        bare_connect(&nodes[0].server, nodes[0].job, 3);
        if (dies_first) {
            node_run(&nodes[0], absent_dies, NULL);
        }
        member_calls(0, &fence);
        if (!dies_first) {
            node_run(&nodes[0], absent_dies, NULL);
        }
        expect(0, 1, 1, PMIX_ERR_LOST_CONNECTION);
        if (twice_first) {
            member_calls(0, &fence);
        }
        if (answered) {
            member_calls(1, &fence);
            answer_all();
        }
        absent = other;
        absent_calls(&fence);
        cr_expect_eq(nodes[0].asked_count, answered && twice_first ? 2 : 1, "row %u", i);
        if (!answered) {
            member_calls(1, &fence);
            answer_all();
        }
        expect(1, 1, 1, PMIX_ERR_LOST_CONNECTION);
        absent_calls(&fence);
        if (!twice_first) {
            member_calls(0, &fence);
        }
        member_calls(1, &fence);
        answer_all();
        expect(1, 2, 1, PMIX_ERR_LOST_CONNECTION);
        for (unsigned call = 1; call <= 4; call++) {
            expect(0, call, 1, PMIX_ERR_LOST_CONNECTION);
        }
        cr_expect_eq(nodes[0].asked_count, 2);
        cr_expect_eq(nodes[0].server.collective.owed.count, 0);
        expect_no_rounds();
        nodes_end();
    }
}

/* Ranks 0, 2 and 3 are on the first node, and rank 3 dies.  Return: rank 2. */
static struct sx_client *nodes_begin_with_dead(void)
{
    nodes_begin_with_absent(2);
    struct sx_client *const other = absent;

    nodes[0].job->job_size = nodes[1].job->job_size = 4;
    nodes[0].job->local_count = 3;
    absent = sx_client_add(nodes[0].job, 3);
    cr_assert_not_null(absent);
    bare_connect(&nodes[0].server, nodes[0].job, 3);
    node_run(&nodes[0], absent_dies, NULL);
    return other;
}

static unsigned pays(const struct sx_client *client)
{
    return client->pending_counts[SX_PENDING_ARRIVAL];
}

#define LOOPS 6u

/* Each of many fences behind a death is the same failure: the callers pay for one, whether the
 * other node calls at once or later, and all ranks get each. */
Test(rounds, of_many_fences_behind_a_death_cost_their_callers_one)
{
    for (unsigned at_once = 0; at_once < 2; at_once++) {
        struct sx_client *const other = nodes_begin_with_dead();

        for (unsigned i = 0; i < LOOPS; i++) {
            member_calls(0, &fence);
            expect(0, i + 1, 1, PMIX_ERR_LOST_CONNECTION);
            if (at_once != 0) {
                member_calls(1, &fence);
                answer_all();
            }
            cr_expect_eq(pays(nodes[0].member), 1);
        }
        for (unsigned i = 0; i < LOOPS && at_once == 0; i++) {
            member_calls(1, &fence);
            answer_all();
        }
        for (unsigned i = 0; i < LOOPS; i++) {
            expect(1, i + 1, 1, PMIX_ERR_LOST_CONNECTION);
            cr_expect_eq(pays(nodes[0].member), 1);
            member_calls_as(0, other, &fence);
            expect(0, LOOPS + i + 1, 1, PMIX_ERR_LOST_CONNECTION);
        }
        cr_expect_eq(nodes[0].asked_count, LOOPS, "each of them once");
        expect_no_rounds();
        cr_expect_eq(pays(nodes[0].member), 0);
        cr_expect_eq(pays(other), 0);
        nodes_end();
    }
}

/* Rank 2 calls some of them, and more than rank 0 in the end. */
Test(rounds, of_many_fences_behind_a_death_are_counted_for_each_rank)
{
    struct sx_client *const other = nodes_begin_with_dead();

    for (unsigned i = 0; i < LOOPS; i++) {
        member_calls(0, &fence);
        if (i % 2 == 0) {
            member_calls_as(0, other, &fence);
        }
    }
    for (unsigned i = 0; i < LOOPS / 2; i++) {
        member_calls(1, &fence);
        answer_all();
    }
    for (unsigned i = 0; i < LOOPS / 2 + 1; i++) {
        member_calls_as(0, other, &fence);
    }
    for (unsigned i = 0; i < 2 * LOOPS + 1; i++) {
        expect(0, i + 1, 1, PMIX_ERR_LOST_CONNECTION);
    }
    for (unsigned i = 0; i < LOOPS / 2 + 1; i++) {
        member_calls(1, &fence);
        answer_all();
    }
    member_calls(0, &fence); /* the last one of rank 2 */
    cr_expect_eq(nodes[0].asked_count, LOOPS + 1);
    expect_no_rounds();
    cr_expect_eq(pays(nodes[0].member) + pays(other), 0);
    nodes_end();
}

/* It does not wait for those here that never call. */
Test(rounds, of_a_dead_member_end_with_those_that_could_call)
{
    nodes_begin_with_absent(2);
    struct sx_client *const other = absent;

    nodes[0].job->job_size = nodes[1].job->job_size = 4;
    nodes[0].job->local_count = 3;
    absent = sx_client_add(nodes[0].job, 3);
    cr_assert_not_null(absent);
    bare_connect(&nodes[0].server, nodes[0].job, 3);
    node_run(&nodes[0], absent_dies, NULL);
    for (unsigned i = 0; i < 2; i++) {
        member_calls(0, &fence);
        member_calls(1, &fence);
        answer_all();
        expect(1, 1 + i, 1, PMIX_ERR_LOST_CONNECTION);
    }
    member_calls(0, &fence);
    cr_expect_eq(nodes[0].server.collective.owed.count, 1, "the oldest has the others");
    absent = other;
    node_run(&nodes[0], absent_dies, NULL);
    cr_expect_eq(nodes[0].server.collective.owed.count, 0);
    member_calls(1, &fence);
    answer_all();
    expect(1, 3, 1, PMIX_ERR_LOST_CONNECTION);
    expect_no_rounds();
    nodes_end();
}

/* The second host fails calls that fail on another node, by the info alone. */
Test(rounds, that_a_host_fails_by_the_status_of_one_node_end_once)
{
    nodes_begin_with_absent(2);
    member_calls(0, &fence);
    node_run(&nodes[0], absent_dies, NULL);
    member_calls(1, &fence);
    host_answers(nodes[0].local);
    expect(0, 1, 1, PMIX_ERR_LOST_CONNECTION);
    expect(1, 1, 1, PMIX_ERR_LOST_CONNECTION);
    expect_no_rounds();
    nodes_end();
}

/* The next fence of the first node is the next one of the second, too.  A member that calls behind
 * the limit calls for that one, before the others are told or behind it. */
Test(rounds, keep_fences_in_step_behind_a_time_limit)
{
    for (unsigned early = 0; early < 2; early++) {
        nodes_begin_with_absent(2);
        member_calls(0, &(struct call){ .kind = SX_COLLECTIVE_FENCE, .seconds = 1 });
        node_later(&nodes[0]);
        expect(0, 1, 1, PMIX_ERR_TIMEOUT);
        if (early == 1) {
            absent_calls(&fence);
        }
        member_calls(1, &fence);
        answer_all();
        expect(1, 1, 1, PMIX_ERR_TIMEOUT);
        if (early == 0) {
            absent_calls(&fence);
        }
        member_calls(0, &fence);
        cr_expect_not(host_can_answer(), "the second node has not called again");
        member_calls(1, &fence);
        answer_all();
        expect(0, 2, 1, PMIX_SUCCESS);
        expect(0, 3, 1, PMIX_SUCCESS);
        expect(1, 2, 1, PMIX_SUCCESS);
        expect(0, 1, 1, PMIX_ERR_TIMEOUT);
        expect(1, 1, 1, PMIX_ERR_TIMEOUT);
        expect_no_rounds();
        nodes_end();
    }
}

/* The host has one of them at a time. */
Test(rounds, notify_several_failures_in_their_order)
{
    nodes_begin_with_absent(2);
    for (unsigned i = 0; i < 2; i++) {
        member_calls(0, &(struct call){ .kind = SX_COLLECTIVE_FENCE, .seconds = 1 });
        node_later(&nodes[0]);
        expect(0, i + 1, 1, PMIX_ERR_TIMEOUT);
    }
    cr_expect_eq(nodes[0].asked_count, 1);
    member_calls(0, &fence);
    node_run(&nodes[0], absent_dies, NULL);
    expect(0, 3, 1, PMIX_ERR_LOST_CONNECTION);
    for (unsigned i = 1; i <= 3; i++) {
        member_calls(1, &fence);
        answer_all();
        expect(1, i, 1, i < 3 ? PMIX_ERR_TIMEOUT : PMIX_ERR_LOST_CONNECTION);
    }
    expect_no_rounds();
    nodes_end();
}

/* Pauses end and the host answers, until call @op of @node has an answer. */
static void pauses_end_until(unsigned node, unsigned op)
{
    for (unsigned pauses = 0; nodes[node].answers[op] == 0; pauses++) {
        cr_assert_lt(pauses, 8);
        for (unsigned i = 0; i < node_count; i++) {
            if (nodes[i].cbfunc == NULL) {
                node_later(&nodes[i]);
            }
        }
        answer_all();
    }
}

/* The host gets the status of a round in which all have failed, and of no other: it may end all of
 * it. */
Test(rounds, with_a_failure_and_something_else_have_not_failed)
{
    nodes_begin_with_absent(3);
    member_calls(0, &(struct call){ .kind = SX_COLLECTIVE_FENCE, .seconds = 1 });
    node_later(&nodes[0]);
    absent_calls(&connects[0]);
    member_calls(0, &connects[0]);
    member_calls(1, &fence);
    member_calls(2, &connects[0]);
    cr_expect_eq(nodes[0].local, PMIX_ERR_TIMEOUT);
    host_answers(PMIX_SUCCESS);
    cr_assert_not_null(nodes[0].cbfunc);
    cr_expect_eq(nodes[0].local, PMIX_SUCCESS);
    member_calls(1, &connects[0]);
    member_calls(2, &fence);
    pauses_end_until(2, 1);
    expect(0, 3, 1, PMIX_SUCCESS);
    expect(2, 1, 1, PMIX_SUCCESS);
    expect(1, 1, 1, PMIX_ERR_TIMEOUT);
    expect(2, 2, 1, PMIX_ERR_TIMEOUT);
    expect_no_rounds();
    nodes_end();
}

/* The third node has a connect first: the second does not wait for it, and it gets the failure when
 * it calls. */
Test(rounds, notify_a_failure_until_all_have_it)
{
    nodes_begin_with_absent(3);
    member_calls(0, &(struct call){ .kind = SX_COLLECTIVE_FENCE, .seconds = 1 });
    node_later(&nodes[0]);
    member_calls(1, &fence);
    member_calls(2, &connects[0]);
    host_answers(PMIX_SUCCESS);
    expect(1, 1, 1, PMIX_ERR_TIMEOUT);
    expect(2, 1, 0, 0);
    member_calls(2, &fence);
    pauses_end_until(2, 2);
    expect(2, 2, 1, PMIX_ERR_TIMEOUT);
    expect(2, 1, 0, 0);
    absent_calls(&connects[0]);
    member_calls(0, &connects[0]);
    member_calls(1, &connects[0]);
    pauses_end_until(2, 1);
    expect(0, 3, 1, PMIX_SUCCESS);
    expect(2, 1, 1, PMIX_SUCCESS);
    expect(1, 1, 1, PMIX_ERR_TIMEOUT);
    expect_no_rounds();
    nodes_end();
}

/* A fence that the host has, or that a round names, goes on for the others. */
Test(rounds, give_others_a_fence_that_was_complete_when_its_limit_passed)
{
    for (unsigned with_connect = 0; with_connect < 2; with_connect++) {
        nodes_begin(2);
        if (with_connect == 1) {
            member_calls(0, &connects[0]);
        }
        member_calls(0, &(struct call){ .kind = SX_COLLECTIVE_FENCE, .seconds = 1 });
        seconds_pass(0, 2);
        expect(0, 1 + with_connect, 1, PMIX_ERR_TIMEOUT);
        member_calls(1, &fence);
        pauses_end_until(1, 1);
        expect(1, 1, 1, PMIX_SUCCESS);
        expect(0, 1 + with_connect, 1, PMIX_ERR_TIMEOUT);
        nodes_end();
    }
}

/* X21: they keep waiting, for its retry. */
Test(rounds, do_not_notify_that_a_limit_of_a_connect_has_passed)
{
    nodes_begin_with_absent(2);
    member_calls(0, &CONNECT(1));
    node_later(&nodes[0]);
    expect(0, 1, 1, PMIX_ERR_TIMEOUT);
    expect_no_rounds();
    cr_expect_eq(nodes[0].asked_count, 0);
    nodes_end();
}

Test(rounds, do_not_notify_that_a_job_ends_that_the_host_ends)
{
    nodes_begin_with_absent(2);
    member_calls(0, &fence);
    nodes[0].job->is_ending = true;
    node_run(&nodes[0], absent_dies, NULL);
    expect(0, 1, 1, PMIX_ERR_LOST_CONNECTION);
    cr_expect_eq(nodes[0].asked_count, 0);
    expect_no_rounds();
    nodes[0].job->is_ending = false;
    nodes_end();
}

static void job_goes(struct node *node, const void *arg)
{
    (void)arg;
    node->job->is_ending = true;
    sx_collective_nspace_gone(&node->server, node->job);
}

/* Also one whose turn has not come. */
Test(rounds, of_a_failure_end_with_its_job)
{
    nodes_begin_with_absent(2);
    for (unsigned i = 0; i < 2; i++) {
        member_calls(0, &(struct call){ .kind = SX_COLLECTIVE_FENCE, .seconds = 1 });
        node_later(&nodes[0]);
    }
    cr_expect_eq(nodes[0].member->pending_counts[SX_PENDING_ARRIVAL], 2, "its owner pays");
    node_run(&nodes[0], job_goes, NULL);
    cr_expect_eq(nodes[0].member->pending_counts[SX_PENDING_ARRIVAL], 0);
    expect_no_rounds();
    nodes[0].job->is_ending = false;
    nodes_end();
}

/* Every byte of what the failed server sends is another one: nothing ends well. */
Test(rounds, of_a_failure_with_any_other_byte_end_badly_or_wait)
{
    nodes_begin_with_absent(2);
    for (size_t at = 0;; at++) {
        nodes_rewind();
        absent->state = SX_CLIENT_CONNECTED;
        member_calls(0, &fence);
        node_run(&nodes[0], absent_dies, NULL);
        member_calls(1, &fence);
        if (at == nodes[0].size) {
            break;
        }
        nodes[0].bytes[at] ^= 0x41;
        host_answers(PMIX_SUCCESS);
        cr_expect_leq(nodes[1].answers[1], 1, "byte %zu", at);
        cr_expect(nodes[1].answers[1] == 0 || nodes[1].statuses[1] < PMIX_SUCCESS, "byte %zu", at);
    }
    nodes_end();
}

/* Nothing is kept for members that do not call, when those that have called have gone: neither a
 * failure whose turn has not come, nor one that the other node has. */
Test(rounds, of_a_failure_end_with_its_callers)
{
    nodes_begin_with_absent(2);
    member_calls(0, &fence);
    member_dies(0);
    cr_expect_eq(nodes[0].asked_count, 0, "the next call fails for the others");
    expect_no_rounds();
    nodes_rewind();

    for (unsigned i = 0; i < 3; i++) {
        member_calls(0, &(struct call){ .kind = SX_COLLECTIVE_FENCE, .seconds = 1 });
        node_later(&nodes[0]);
    }
    cr_expect_eq(nodes[0].asked_count, 1);
    member_dies(0);
    cr_expect_eq(nodes[0].member->pending_counts[SX_PENDING_ARRIVAL], 1, "the host has the first");
    member_calls(1, &fence);
    answer_all();
    expect(1, 1, 1, PMIX_ERR_TIMEOUT);
    expect_no_rounds();
    nodes_end();
}

/* Ranks 0, 2 and 3 are on the first node, rank 3 dies, and rank 2 never calls. */
Test(rounds, of_a_failure_that_all_have_end_with_its_callers)
{
    nodes_begin_with_absent(2);
    nodes[0].job->job_size = nodes[1].job->job_size = 4;
    nodes[0].job->local_count = 3;
    absent = sx_client_add(nodes[0].job, 3);
    cr_assert_not_null(absent);
    bare_connect(&nodes[0].server, nodes[0].job, 3);
    member_calls(0, &fence);
    node_run(&nodes[0], absent_dies, NULL);
    member_calls(1, &fence);
    answer_all();
    expect(1, 1, 1, PMIX_ERR_LOST_CONNECTION);
    cr_expect_eq(nodes[0].server.collective.owed.count, 1);
    cr_expect_eq(nodes[0].member->pending_counts[SX_PENDING_ARRIVAL], 1, "its owner pays");
    member_dies(0);
    cr_expect_eq(nodes[0].server.collective.owed.count, 0);
    expect_no_rounds();
    nodes_end();
}

/* The second of two fences has a limit, which passes while the first one waits. */
Test(rounds, notify_a_failure_behind_the_fences_before_it)
{
    nodes_begin_with_absent(2);
    member_calls(0, &fence);
    member_calls(0, &(struct call){ .kind = SX_COLLECTIVE_FENCE, .seconds = 1 });
    seconds_pass(0, 2);
    expect(0, 1, 0, 0);
    expect(0, 2, 1, PMIX_ERR_TIMEOUT);
    cr_expect_eq(nodes[0].asked_count, 0, "the first one is the first one there, too");
    member_calls(1, &fence);
    absent_calls(&fence);
    answer_all();
    expect(0, 1, 1, PMIX_SUCCESS);
    expect(1, 1, 1, PMIX_SUCCESS);
    member_calls(1, &fence);
    answer_all();
    expect(1, 2, 1, PMIX_ERR_TIMEOUT);
    expect_no_rounds();
    nodes_end();
}

static void absent_is_lost(struct node *node, const void *arg)
{
    absent->state = SX_CLIENT_DEAD;
    sx_connect_client_lost(&node->server, absent);
    absent_dies(node, arg);
}

/* The second node gets no event of the death.  The retry succeeds without the dead one. */
Test(rounds, notify_that_a_disconnect_has_failed_by_a_death)
{
    static const struct call disconnect = { .kind = SX_COLLECTIVE_DISCONNECT, .id = "one" };

    for (unsigned first = 0; first < 2; first++) {
        nodes_begin_with_absent(2);
        absent_calls(&connects[1]);
        both_call(&connects[1]);
        answer_all();
        expect(0, 2, 1, PMIX_SUCCESS);
        expect(1, 1, 1, PMIX_SUCCESS);
        member_calls(first, &disconnect);
        member_calls(1 - first, &disconnect);
        node_run(&nodes[0], absent_is_lost, NULL);
        expect(0, 3, 1, PMIX_ERR_LOST_CONNECTION);
        answer_all();
        expect(1, 2, 1, PMIX_ERR_LOST_CONNECTION);
        expect_no_rounds();
        both_call(&disconnect);
        answer_all();
        expect(0, 4, 1, PMIX_SUCCESS);
        expect(1, 3, 1, PMIX_SUCCESS);
        expect_no_rounds();
        nodes_end();
    }
}

/* A disconnect has failed, which the other node has still to get.  A retry waits behind it; one
 * more retry of the same process is refused. */
Test(rounds, refuse_a_second_retry_behind_a_disconnect_that_has_failed)
{
    static const struct call disconnect = { .kind = SX_COLLECTIVE_DISCONNECT, .id = "one" };

    nodes_begin_with_absent(2);
    absent_calls(&connects[1]);
    both_call(&connects[1]);
    answer_all();
    member_calls(0, &disconnect);
    node_run(&nodes[0], absent_is_lost, NULL);
    expect(0, 3, 1, PMIX_ERR_LOST_CONNECTION);
    member_calls(0, &disconnect);
    expect(0, 4, 0, 0);
    member_calls(0, &disconnect);
    expect(0, 5, 1, PMIX_ERR_INVALID_OPERATION);
    member_calls(1, &disconnect);
    answer_all();
    expect(1, 2, 1, PMIX_ERR_LOST_CONNECTION);
    expect(0, 4, 0, 0);
    member_calls(1, &disconnect);
    answer_all();
    expect(0, 4, 1, PMIX_SUCCESS);
    expect(1, 3, 1, PMIX_SUCCESS);
    expect_no_rounds();
    nodes_end();
}

/* The absent member has ended on another node, whose event this node gets. */
static void absent_ends_elsewhere(struct node *node, const void *arg)
{
    const pmix_proc_t proc = { JOB, 2 };
    struct sx_membership_entry *const list = sx_memberships_find_of(&node->server, 0, arg);
    struct sx_proc_list left = { .all = NULL };

    cr_assert_not_null(list);
    sx_collective_list_mark(&node->server, list, true, 0);
    cr_assert_eq(sx_membership_leave(&node->server, list, &proc, &left), PMIX_SUCCESS);
    sx_collective_member_elsewhere_gone(&node->server, true, 0);
    sx_proc_list_clear(&left);
}

/* Two members on each node, which are connected as @name.  Return: the second one of node 1. */
static struct sx_client *nodes_begin_with_list(char name[PMIX_MAX_NSLEN + 1])
{
    nodes_begin_with_absent(2);
    struct sx_client *const other = sx_client_add(nodes[1].job, 3);

    nodes[0].job->job_size = nodes[1].job->job_size = 4;
    nodes[1].job->local_count = 2;
    bare_connect(&nodes[1].server, nodes[1].job, 3);
    absent_calls(&connects[0]);
    member_calls(0, &connects[0]);
    member_calls_as(1, other, &connects[0]);
    member_calls(1, &connects[0]);
    answer_all();
    expect(1, 1, 1, PMIX_SUCCESS);
    snprintf(name, PMIX_MAX_NSLEN + 1, "%s", sx_membership_name(made_by(1, 1)));
    return other;
}

/* A fence by the name of a list, one of whose members on the first node dies.  The second node has
 * another member that has not called, or has no more, and gets the event of the death, or none. */
static void play_a_list_that_loses_one(bool is_complete, bool gets_event)
{
    char name[PMIX_MAX_NSLEN + 1];
    const struct call listed = { .kind = SX_COLLECTIVE_FENCE, .list = name };
    struct sx_client *const other = nodes_begin_with_list(name);

    member_calls(0, &listed);
    member_calls(1, &listed);
    if (is_complete) {
        member_calls_as(1, other, &listed);
    }
    node_run(&nodes[0], absent_is_lost, NULL);
    expect(0, 3, 1, PMIX_ERR_LOST_CONNECTION);
    if (gets_event) {
        node_run(&nodes[1], absent_ends_elsewhere, name);
        seconds_pass(1, 1); /* it ends in the next turn */
        expect(1, 3, 1, PMIX_ERR_LOST_CONNECTION);
    }
    if (!is_complete) {
        cr_expect_eq(host_can_answer(), gets_event);
        member_calls_as(1, other, &listed);
    }
    cr_assert(host_can_answer(), "complete: %d, event: %d", is_complete, gets_event);
    answer_all();
    expect(1, 3, 1, PMIX_ERR_LOST_CONNECTION);
    expect(1, 4, 1, PMIX_ERR_LOST_CONNECTION);
    expect_no_rounds();
    nodes_end();
}

Test(rounds, notify_that_a_fence_by_the_name_of_a_list_has_failed_by_a_death)
{
    for (unsigned i = 0; i < 4; i++) {
        play_a_list_that_loses_one((i & 1) != 0, (i & 2) != 0);
    }
}

static void list_ends(struct node *node, const void *arg)
{
    sx_membership_end(&node->server, sx_memberships_find_of(&node->server, 0, arg));
}

/* Nobody can call by that name any more: a later list of the name has nothing to do with it. */
Test(rounds, of_a_failure_by_the_name_of_a_list_end_with_the_list)
{
    char name[PMIX_MAX_NSLEN + 1];
    const struct call listed = { .kind = SX_COLLECTIVE_FENCE, .list = name };

    (void)nodes_begin_with_list(name);
    member_calls(0, &listed);
    member_calls(1, &listed);
    node_run(&nodes[0], absent_is_lost, NULL);
    node_run(&nodes[1], absent_ends_elsewhere, name);
    seconds_pass(1, 1);
    node_run(&nodes[1], list_ends, name);
    answer_all();
    expect(1, 3, 1, PMIX_ERR_LOST_CONNECTION);
    expect_no_rounds();
    nodes_end();
}

static void absent_departs(struct node *node, const void *arg)
{
    (void)arg;
    absent->departed = true;
    sx_collective_client_gone(&node->server, absent);
}

/* A rank of the first node has finalized and gone: the fence of the others has one status. */
Test(rounds, give_all_nodes_one_status_of_a_fence_without_one_that_has_gone)
{
    for (unsigned first = 0; first < 2; first++) {
        nodes_begin_with_absent(2);
        member_calls(first, &fence);
        node_run(&nodes[0], absent_departs, NULL);
        member_calls(1 - first, &fence);
        answer_all();
        expect(0, 1, 1, PMIX_ERR_PARTIAL_SUCCESS);
        expect(1, 1, 1, PMIX_ERR_PARTIAL_SUCCESS);
        cr_expect_eq(round_count, 1);
        expect_no_rounds();
        nodes_end();
    }
}

/* One node cannot read the first round of a connect, which the others have read: it fails for
 * all, and the retry succeeds. */
Test(rounds, that_one_node_cannot_read_fail_for_all)
{
    for (unsigned with_fence = 0; with_fence < 2; with_fence++) {
        nodes_begin(2);
        both_call(&connects[0]);
        if (with_fence == 1) {
            member_calls(0, &fence);
        }
        garbled = &nodes[0];
        answer_all();
        expect(0, 1, 1, PMIX_ERR_UNPACK_FAILURE);
        expect(1, 1, 1, PMIX_ERR_UNPACK_FAILURE);
        cr_expect_eq(round_count, 2);
        if (with_fence == 1) {
            member_calls(1, &fence);
            pauses_end_until(1, 2);
            expect(0, 2, 1, PMIX_SUCCESS);
            expect(1, 2, 1, PMIX_SUCCESS);
        }
        both_call(&connects[0]);
        answer_all();
        expect(0, 2 + with_fence, 1, PMIX_SUCCESS);
        expect(1, 2 + with_fence, 1, PMIX_SUCCESS);
        expect_no_rounds();
        nodes_end();
    }
}

/* Ranks 0 and 2 are on the first node.  Return: rank 2. */
static struct sx_client *begin_three(void)
{
    nodes_begin(2);
    nodes[0].job->job_size = nodes[1].job->job_size = 3;
    nodes[0].job->local_count = 2;
    cr_assert_not_null(sx_client_add(nodes[0].job, 2));
    return bare_connect(&nodes[0].server, nodes[0].job, 2);
}

/* They have called the connect of all. */
static void connect_of_three(void)
{
    struct sx_client *const third = begin_three();

    member_calls_as(0, third, &connects[0]);
    both_call(&connects[0]);
}

static void in_commit_one_dies(bool is_late)
{
    pmix_proc_t proc;

    connect_of_three();
    host_answers(PMIX_SUCCESS);
    if (is_late) {
        dying = &nodes[0];
    } else {
        member_dies(0);
    }
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

Test(rounds, in_commit_a_member_has_connected_and_dies_as_one)
{
    in_commit_one_dies(false);
    in_commit_one_dies(true);
}

/* As the host registers it again, and its process connects. */
static void member_comes_back(struct node *node, const void *arg)
{
    (void)arg;
    sx_collective_client_looks(&node->server, node->member);
    node->member->state = SX_CLIENT_REGISTERED;
    sx_collective_client_added(&node->server, node->member);
    node->member->state = SX_CLIENT_CONNECTED;
    node->member->process++;
}

Test(rounds, in_commit_a_member_dies_as_one_though_another_process_comes_in_its_place)
{
    pmix_proc_t proc;

    connect_of_three();
    host_answers(PMIX_SUCCESS);
    member_dies(0);
    node_run(&nodes[0], member_comes_back, NULL);
    answer_all();
    expect(0, 1, 1, PMIX_SUCCESS);
    expect(0, 2, 0, 0);
    expect(1, 1, 1, PMIX_SUCCESS);
    cr_expect_eq(sx_membership_member(made_by(1, 1), 0, &proc), PMIX_SUCCESS);
    cr_expect_eq(sx_membership_member(made_by(0, 1), 0, &proc), PMIX_ERR_NOT_FOUND, "a gap");
    nodes_end();
}

Test(rounds, do_not_commit_with_a_dead_member_whose_end_is_still_to_be_acted_on)
{
    connect_of_three();
    dying = &nodes[0];
    answer_all();
    expect(0, 1, 1, PMIX_ERR_LOST_CONNECTION);
    expect(1, 1, 1, PMIX_ERR_LOST_CONNECTION);
    expect_no_rounds();
    nodes_end();
}

/* One of its members has called the fence behind the one that the host has, and has died.  That is
 * still to be acted on when the host has answered. */
Test(rounds, of_a_fence_begin_behind_another_with_a_dead_member_whose_end_is_still_to_be_acted_on)
{
    struct sx_client *const third = begin_three();

    for (unsigned i = 0; i < 2; i++) {
        member_calls_as(0, third, &fence);
        both_call(&fence);
    }
    dying = &nodes[0];
    host_answers(PMIX_SUCCESS);
    cr_assert(host_can_answer(), "the second fence waits");
    answer_all();
    expect(0, 3, 1, PMIX_SUCCESS);
    expect(1, 2, 1, PMIX_SUCCESS);
    expect_no_rounds();
    nodes_end();
}

static void dies_and_another_calls(struct node *node, const void *another)
{
    struct sx_client *const first = node->member;

    member_dies_late(node);
    node->member = (struct sx_client *)(uintptr_t)another;
    member_arrives(node, &fence);
    node->member = first;
}

/* The last one calls while the end of a member is still to be acted on, which changes nothing. */
Test(rounds, of_a_fence_begin_when_the_end_of_a_member_has_been_acted_on)
{
    struct sx_client *const third = begin_three();

    member_calls(0, &fence);
    node_run(&nodes[0], dies_and_another_calls, third);
    node_run(&nodes[0], NULL, NULL); /* the end of the last loop has acted on it */
    member_calls(1, &fence);
    cr_assert(host_can_answer(), "the fence is forgotten");
    answer_all();
    expect(0, 2, 1, PMIX_SUCCESS);
    expect(1, 1, 1, PMIX_SUCCESS);
    expect_no_rounds();
    nodes_end();
}

/* The members of the other node leave the list, and none is left that could fail the connect. */
static void dies_and_others_leave(struct node *node, const void *name)
{
    const pmix_proc_t others[] = { { JOB, 1 }, { JOB, 3 } };
    struct sx_membership_entry *const list = sx_memberships_find_of(&node->server, 0, name);

    member_dies_late(node);
    for (size_t i = 0; i < SX_COUNT(others); i++) {
        struct sx_proc_list left = { .all = NULL };

        sx_collective_list_mark(&node->server, list, false, SX_PARDON_BEFORE);
        cr_assert_eq(sx_membership_leave(&node->server, list, &others[i], &left), PMIX_SUCCESS);
        sx_collective_member_elsewhere_gone(&node->server, false, SX_PARDON_BEFORE);
        sx_proc_list_clear(&left);
    }
}

Test(rounds, of_a_connect_end_without_success_when_a_dead_member_is_left_to_be_acted_on)
{
    char name[PMIX_MAX_NSLEN + 1];
    const struct call listed = { .kind = SX_COLLECTIVE_CONNECT, .list = name };

    (void)nodes_begin_with_list(name);
    absent_calls(&listed);
    member_calls(0, &listed);
    cr_assert_not_null(nodes[0].cbfunc);
    node_run(&nodes[0], dies_and_others_leave, name);
    expect(0, 3, 1, PMIX_ERR_LOST_CONNECTION);
    cr_expect_eq(nodes[0].server.memberships.names.count, 1, "that of the first connect");
    nodes_end();
}

/* What the host is asked with, and what its rounds are over, are the names that the operation has:
 * those of long lists are not copied. */
Test(rounds, of_a_list_share_the_names_of_its_processes)
{
    static const uint32_t kinds[] = { SX_COLLECTIVE_FENCE, SX_COLLECTIVE_CONNECT };

    for (size_t i = 0; i < SX_COUNT(kinds); i++) {
        char name[PMIX_MAX_NSLEN + 1];
        const struct call listed = { .kind = kinds[i], .list = name };
        struct sx_client *const other = nodes_begin_with_list(name);

        nodes[0].job->job_size = nodes[1].job->job_size = 5; /* it is not all of the job */
        absent_calls(&listed);
        member_calls(0, &listed);
        member_calls_as(1, other, &listed);
        member_calls(1, &listed);
        const struct sx_list *const all = &nodes[0].server.collective.all;

        cr_assert_not(sx_list_empty(all));
        const struct sx_alias_list *const real =
            &SX_LIST_ENTRY(all->next, struct sx_collective, link)->members.real;

        cr_assert_not_null(real->made);
        cr_expect_eq(nodes[0].asked_procs, 4);
        cr_expect_eq(nodes[0].asked_with, real->all);
        answer_all();
        expect(0, 3, 1, PMIX_SUCCESS);
        nodes_end();
    }
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

static unsigned notified_count;

/* That one has ended; so do the others. */
static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    (void)source, (void)range, (void)info, (void)ninfo, (void)cbfunc, (void)cbdata;
    cr_expect_eq(code, PMIX_ERR_PROC_TERM_WO_SYNC);
    notified_count++;
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
Test(rounds, in_commit_a_member_dies_and_the_host_ends_the_others_as_it_receives_so)
{
    struct sx_client *first;

    nodes_begin(2);
    notified_count = 0;
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
    cr_expect_eq(notified_count, 2);
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

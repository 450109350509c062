/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_apart_test.c - a member on one node leaves a group, or ends: who is in it on the other
 * nodes, and what becomes of what they do together.  GR51 GR52 GR53 GR54 GR76 GR79 GR82 */
#include "server/group/group.h"

#include "group_calls.h"
#include "server/event/event_route.h"

TestSuite(group_apart, .fini = nodes_end);

/* ---- the host carries events ----------------------------------------------------------------- */

static struct {
    unsigned count;
    pmix_status_t code;
    pmix_data_range_t range;
    struct sx_event_block *block; /* the newest */
} carried;

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t info[], size_t ninfo,
                               pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct sx_event_relay relay;

    (void)cbfunc, (void)cbdata;
    cr_assert(sx_event_relay_read(&current->server, info, ninfo, &relay));
    carried.block = sx_event_block_release(carried.block);
    cr_assert_eq(sx_event_relay_open(&relay, source, &carried.block), PMIX_SUCCESS);
    carried.count++;
    carried.code = code;
    carried.range = range;
    return PMIX_OPERATION_SUCCEEDED;
}

static void receives(struct node *node, const void *arg)
{
    (void)arg;
    sx_group_event_relayed(&node->server, carried.block);
}

/* All nodes but the first hear what it has said last. */
static void event_arrives(void)
{
    cr_assert_not_null(carried.block);
    for (unsigned i = 1; i < node_count; i++) {
        node_run(&nodes[i], receives, NULL);
    }
    carried.block = sx_event_block_release(carried.block);
}

/* ---- the member of the first node ------------------------------------------------------------ */

enum ending { LEAVES, DIES, FINALIZES };

static void goes(struct node *node, const void *arg)
{
    const enum ending *const ending = arg;

    if (*ending == LEAVES) {
        struct sx_group_leave body = { .group = "group" };
        struct sx_frame frame = opened_frame(SX_MSG_GROUP_LEAVE, 5, &body, sizeof(body));

        cr_expect(sx_group_on_leave(&node->server, node->member, &frame, 0));
        return;
    }
    node->member->left = *ending == FINALIZES;
    node->member->state = *ending == DIES ? SX_CLIENT_DEAD : SX_CLIENT_FINALIZED;
    sx_group_client_gone(&node->server, node->member);
    sx_collective_client_gone(&node->server, node->member);
}

static void first_goes(enum ending ending)
{
    node_run(&nodes[0], goes, &ending);
}

/* "group" of one member a node.  The job has others, too. */
static void group_begin(unsigned count, const struct group_call *call)
{
    memset(&carried, 0, sizeof(carried));
    nodes_begin(count);
    for (unsigned i = 0; i < count; i++) {
        nodes[i].server.module.notify_event = on_notify;
        nodes[i].job->job_size = 9;
        calls(i, call);
    }
    rounds_end();
    for (unsigned i = 0; i < count; i++) {
        cr_assert_eq(nodes[i].statuses[1], PMIX_SUCCESS);
    }
}

static const struct group_call plain = { .name = "group" };
static const struct group_call notifying = { .name = "group", .notifies = true };
static const struct group_call lasting = { .name = "group", .goes_on = true };
static const struct group_call meeting = { .name = "group", .fences = true };

static bool is_member(unsigned node, uint32_t rank)
{
    const struct sx_membership_entry *const group = sx_memberships_find(&nodes[node].server,
                                                                        "group");

    return group != NULL && sx_membership_rank(&group->published, JOB, rank) != PMIX_RANK_INVALID;
}

/* ---- who is in it ---------------------------------------------------------------------------- */

static const struct {
    const char *why;
    const struct group_call *made;
    enum ending ending;
    pmix_status_t want_code;
    bool want_received; /* by the members */
} ends[] = {
    { "leaves", &plain, LEAVES, PMIX_GROUP_LEFT, true },
    { "dies", &plain, DIES, PMIX_GROUP_MEMBER_FAILED, false },
    { "finalizes", &plain, FINALIZES, PMIX_GROUP_MEMBER_FAILED, false },
    { "dies, which is told", &notifying, DIES, PMIX_GROUP_MEMBER_FAILED, true },
    { "finalizes, which is told", &notifying, FINALIZES, PMIX_GROUP_MEMBER_FAILED, true },
};

Test(group_apart, one_that_goes_is_a_member_nowhere)
{
    for (size_t i = 0; i < SX_COUNT(ends); i++) {
        group_begin(3, ends[i].made);
        first_goes(ends[i].ending);
        cr_assert_eq(carried.count, 1, "%s", ends[i].why);
        cr_expect_eq(carried.code, ends[i].want_code, "%s", ends[i].why);
        cr_expect_eq(carried.range, ends[i].want_received ? PMIX_RANGE_CUSTOM : PMIX_RANGE_RM, "%s",
                     ends[i].why);
        cr_expect(is_member(1, 0) && is_member(2, 0), "%s: nobody knows yet", ends[i].why);
        event_arrives();
        for (unsigned node = 1; node < 3; node++) {
            cr_expect(!is_member(node, 0), "%s", ends[i].why);
            cr_expect(is_member(node, 1) && is_member(node, 2), "%s", ends[i].why);
        }
        nodes_end();
    }
    nodes_begin(1); /* to end */
}

/* ---- what they do together ------------------------------------------------------------------- */

Test(group_apart, GR54_who_waits_for_one_that_ends_is_notified)
{
    unsigned asked[3] = { 0 };

    group_begin(3, &plain);
    for (unsigned i = 1; i < 3; i++) {
        calls(i, &meeting);
        asked[i] = nodes[i].asked_count;
    }
    first_goes(DIES);
    event_arrives();
    for (unsigned i = 1; i < 3; i++) {
        node_later(&nodes[i]);
        cr_expect_eq(nodes[i].answers[2], 1);
        cr_expect_eq(nodes[i].statuses[2], PMIX_ERR_LOST_CONNECTION);
        cr_expect_eq(nodes[i].asked_procs, 3);
        free(nodes[i].bytes);
        nodes[i].cbfunc = NULL; /* the host will never answer it */
        calls(i, &meeting);
        cr_expect_eq(nodes[i].asked_count, asked[i] + 1,
                     "those who are left need not wait for that");
        cr_expect_eq(nodes[i].asked_procs, 2);
    }
}

/* Nobody else is left who could call. */
Test(group_apart, GR53_GR76_the_last_one_goes_on)
{
    const struct {
        const struct group_call *made;
        enum ending ending;
        pmix_status_t want;
    } rows[] = { { &plain, LEAVES, PMIX_ERR_PARTIAL_SUCCESS },
                 { &lasting, DIES, PMIX_SUCCESS },
                 { &lasting, LEAVES, PMIX_SUCCESS } };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        group_begin(2, rows[i].made);
        calls(1, &meeting);
        cr_expect_eq(nodes[1].answers[2], 0);
        first_goes(rows[i].ending);
        event_arrives();
        cr_expect_eq(nodes[1].answers[2], 1, "%zu", i);
        cr_expect_eq(nodes[1].statuses[2], rows[i].want, "%zu: %d", i, nodes[1].statuses[2]);
        cr_expect(sx_list_empty(&nodes[1].server.collective.all));
        nodes_end();
    }
    nodes_begin(1); /* to end */
}

static void second_comes(struct node *node, const void *arg)
{
    (void)arg;
    node->job->local_count = 2;
    cr_assert_not_null(sx_client_add(node->job, 3));
    node->member = bare_connect(&node->server, node->job, 3);
}

/* The fence of node 1 was open before the member left, that of node 2 was not: both name the
 * same. */
Test(group_apart, GR77_what_is_open_means_those_who_are_left)
{
    const struct group_call all = { .name = "group", .extra = 3 };

    memset(&carried, 0, sizeof(carried));
    nodes_begin(3);
    struct sx_client *const first = nodes[1].member;

    node_run(&nodes[1], second_comes, NULL);
    for (unsigned i = 0; i < 3; i++) {
        nodes[i].server.module.notify_event = on_notify;
        nodes[i].job->job_size = 9;
        calls(i, &all);
    }
    nodes[1].member = first;
    calls(1, &all);
    rounds_end();
    cr_assert_eq(nodes[0].statuses[1], PMIX_SUCCESS);
    calls(1, &meeting);
    first_goes(LEAVES);
    event_arrives();
    cr_expect_null(nodes[1].cbfunc, "another member is awaited here");
    nodes[1].member = sx_client_find(nodes[1].job, 3);
    calls(1, &meeting);
    calls(2, &meeting);
    cr_assert_not_null(nodes[1].cbfunc);
    cr_assert_not_null(nodes[2].cbfunc);
    cr_expect_eq(nodes[1].asked_procs, 3);
    cr_expect_eq(nodes[2].asked_procs, 3);
    nodes[1].member = first;
}

/* The list that the host knows has the member that has left: on every node it is the same one.
 * With nobody on another node the host is not asked. */
Test(group_apart, GR82_a_destruct_without_the_members_of_a_node_ends_here_or_in_time)
{
    static const struct group_call destruct = { .name = "group", .destructs = true, .seconds = 1 };

    for (unsigned count = 2; count <= 3; count++) {
        group_begin(count, &plain);
        first_goes(LEAVES);
        event_arrives();
        calls(1, &destruct);
        if (count == 3) {
            cr_expect_eq(nodes[1].asked_procs, 3, "the same as everywhere");
            cr_expect_eq(nodes[1].answers[2], 0);
            node_later(&nodes[1]);
        }
        cr_expect_eq(nodes[1].answers[2], 1);
        cr_expect_eq(nodes[1].statuses[2], count == 3 ? PMIX_ERR_TIMEOUT : PMIX_SUCCESS, "%u: %d",
                     count, nodes[1].statuses[2]);
        nodes_end();
    }
    nodes_begin(1); /* to end */
}

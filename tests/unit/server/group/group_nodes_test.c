/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_nodes_test.c - groups of processes on several nodes: the same members in the same order, the
 * same context id, and what each of them gives, at each server; and what the host hears of it. */
#include "server/group/group_construct.h"

#include "../group_calls.h"
#include "server/group/group.h"
#include "shmem/qualified.h"

TestSuite(group_host, .fini = nodes_end);

/* ---- the host's entry ------------------------------------------------------------------------ */

static struct {
    unsigned count;
    pmix_group_operation_t operation;
    char name[PMIX_MAX_NSLEN + 1];
    size_t nprocs;
    pmix_rank_t rank; /* of the first of them */
    pmix_status_t local, returns;
    size_t context_id; /* that it gives; 0: none */
    unsigned released;
} received;

static void release(void *cbdata)
{
    cr_expect_eq(cbdata, &received);
    received.released++;
}

static pmix_status_t on_group(pmix_group_operation_t operation, char *name,
                              const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                              size_t ninfo, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    static pmix_info_t result;

    received.count++;
    received.operation = operation;
    received.nprocs = nprocs;
    received.rank = procs[0].rank;
    received.local = PMIX_ERROR;
    PMIx_Load_nspace(received.name, name);
    for (size_t i = 0; i < nprocs; i++) {
        cr_expect_str_eq(procs[i].nspace, JOB, "it knows of no group");
    }
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_LOCAL_COLLECTIVE_STATUS)) {
            received.local = info[i].value.data.status;
        }
    }
    if (received.returns == PMIX_SUCCESS) {
        PMIx_Info_load(&result, PMIX_GROUP_CONTEXT_ID, &received.context_id, PMIX_SIZE);
        cbfunc(PMIX_SUCCESS, &result, received.context_id != 0, cbdata, release, &received);
    }
    return received.returns;
}

/* A host with the entry. */
static void hosts_begin(unsigned count, size_t context_id, pmix_status_t returns)
{
    nodes_begin(count);
    memset(&received, 0, sizeof(received));
    received.context_id = context_id;
    received.returns = returns;
    for (unsigned i = 0; i < count; i++) {
        nodes[i].server.module.group = on_group;
    }
}

/* ---- over the fence -------------------------------------------------------------------------- */

Test(group_host, GR4_has_the_order_and_the_context_id_of_its_first_member_everywhere)
{
    nodes_begin(3);
    calls(2, &(struct group_call){ .name = "group", .wants_context = true });
    calls(1, &(struct group_call){ .name = "group", .wants_context = true });
    cr_expect_eq(nodes[1].answers[1], 0);
    calls(0, &(struct group_call){ .name = "group", .wants_context = true, .backwards = true });
    rounds_end();
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_eq(nodes[i].answers[1], 1);
        cr_assert_eq(nodes[i].statuses[1], PMIX_SUCCESS);
        expect_same(0, 1, i, 1);
        cr_expect_eq(made_by(i, 1)->head.context_id, made_by(0, 1)->head.context_id);
        cr_expect_eq(made_by(i, 1)->head.kind, SX_MEMBERSHIP_GROUP);
    }
    pmix_proc_t first;

    cr_expect_neq(made_by(0, 1)->head.context_id, 0);
    cr_assert_eq(sx_membership_member(made_by(2, 1), 0, &first), PMIX_SUCCESS);
    cr_expect_eq(first.rank, 2, "the order of rank 0");
}

static void expect_cid(unsigned node, uint32_t rank, uint64_t context_id, size_t want)
{
    const struct sx_nspace *const nspace = nodes[node].job;
    char name[SX_QUALIFIED_NAME_LEN + 1];
    pmix_info_t qualifier;
    pmix_value_t value;
    size_t id = context_id;

    PMIx_Info_load(&qualifier, PMIX_GROUP_CONTEXT_ID, &id, PMIX_SIZE);
    qualifier.flags |= PMIX_INFO_QUALIFIER;
    cr_assert_eq(sx_qualified_name(PMIX_GROUP_LOCAL_CID, strlen(PMIX_GROUP_LOCAL_CID), &qualifier,
                                   1, name),
                 PMIX_SUCCESS);
    cr_assert(nspace->has_store);
    cr_assert_eq(sx_store_get(&nspace->store.view, SX_REALM_QUALIFIED, rank, name, &value),
                 PMIX_SUCCESS, "of rank %u at node %u", rank, node);
    cr_expect_eq(value.data.size, want);
}

Test(group_host, GR19_brings_what_each_member_gives)
{
    nodes_begin(2);
    calls(0, &(struct group_call){ .name = "group", .wants_context = true, .local_cid = 5 });
    calls(1, &(struct group_call){ .name = "group", .wants_context = true, .local_cid = 6 });
    rounds_end();
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(nodes[i].statuses[1], PMIX_SUCCESS);
        expect_cid(i, 0, made_by(i, 1)->head.context_id, 5);
        expect_cid(i, 1, made_by(i, 1)->head.context_id, 6);
    }
}

/* There are hosts that do so, of some ranks: nobody makes a group, or a connected namespace, of
 * those whom it has heard of. */
Test(group_host, is_refused_where_a_fence_ends_without_the_others)
{
    nodes_begin(3);
    for (unsigned call = 1; call <= 2; call++) {
        for (unsigned i = 0; i < 3; i++) {
            if (call == 1) {
                calls(i, &(struct group_call){ .name = "group" });
            } else {
                member_calls(i, &(struct call){ .kind = SX_COLLECTIVE_CONNECT });
            }
        }
        while (host_can_answer()) {
            host_answers_each_alone();
        }
        for (unsigned i = 0; i < 3; i++) {
            cr_expect_eq(nodes[i].answers[call], 1);
            cr_expect_eq(nodes[i].statuses[call], PMIX_ERR_NOT_SUPPORTED);
            cr_expect_null(sx_memberships_next(&nodes[i].server, NULL));
        }
    }
}

/* Two groups of the same processes are built, and ended, in another order on each node. */
Test(group_host, GR5_GR82_groups_of_the_same_processes_are_notified_apart)
{
    static const struct group_call one = { .name = "one" }, two = { .name = "two" },
                                   end_one = { .name = "one", .destructs = true },
                                   end_two = { .name = "two", .destructs = true };

    nodes_begin(2);
    calls(0, &one);
    calls(1, &two);
    for (unsigned i = 0; i < 4 && host_can_answer(); i++) {
        host_answers(PMIX_SUCCESS);
    }
    cr_expect_eq(nodes[0].answers[1] + nodes[1].answers[1], 0, "nobody has called both");
    calls(0, &two);
    calls(1, &one);
    for (unsigned i = 0; i < 20 && nodes[0].answers[1] + nodes[0].answers[2] < 2; i++) {
        if (host_can_answer()) {
            host_answers(PMIX_SUCCESS);
        } else {
            node_later(&nodes[0]);
            node_later(&nodes[1]);
        }
    }
    expect_same(0, 1, 1, 2);
    expect_same(0, 2, 1, 1);
    calls(0, &end_one);
    calls(1, &end_two);
    for (unsigned i = 0; i < 4 && host_can_answer(); i++) {
        host_answers(PMIX_SUCCESS);
    }
    cr_expect_eq(nodes[0].answers[3] + nodes[1].answers[3], 0, "nobody has called both");
    calls(0, &end_two);
    calls(1, &end_one);
    for (unsigned i = 0; i < 20 && nodes[0].answers[3] + nodes[0].answers[4] < 2; i++) {
        if (host_can_answer()) {
            host_answers(PMIX_SUCCESS);
        } else {
            node_later(&nodes[0]);
            node_later(&nodes[1]);
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(nodes[i].statuses[3], PMIX_SUCCESS);
        cr_expect_eq(nodes[i].statuses[4], PMIX_SUCCESS);
        cr_expect_null(sx_memberships_next(&nodes[i].server, NULL), "both are gone");
    }
}

/* ---- the entry ------------------------------------------------------------------------------- */

/* X10 */
Test(group_host, GR26_asks_the_entry_first_and_takes_its_context_id)
{
    hosts_begin(2, 77, PMIX_SUCCESS);
    calls(0, &(struct group_call){ .name = "group", .wants_context = true });
    calls(1, &(struct group_call){ .name = "group", .wants_context = true });
    cr_expect_eq(received.count, 2, "once a node");
    cr_expect_eq((int)received.operation, PMIX_GROUP_CONSTRUCT);
    cr_expect_str_eq(received.name, "group");
    cr_expect_eq(received.nprocs, 1, "all of the job");
    cr_expect_eq(received.rank, PMIX_RANK_WILDCARD);
    cr_expect_eq(received.local, PMIX_SUCCESS);
    cr_expect_eq(received.released, 2);
    rounds_end();
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(nodes[i].statuses[1], PMIX_SUCCESS);
        cr_expect_eq(made_by(i, 1)->head.context_id, 77);
    }
    calls(0, &(struct group_call){ .name = "group", .destructs = true });
    calls(1, &(struct group_call){ .name = "group", .destructs = true });
    cr_expect_eq(received.count, 4);
    cr_expect_eq((int)received.operation, PMIX_GROUP_DESTRUCT);
    cr_expect_str_eq(received.name, "group");
    rounds_end();
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(nodes[i].statuses[2], PMIX_SUCCESS);
        cr_expect_null(sx_memberships_next(&nodes[i].server, NULL));
    }
}

/* The job goes on, or begins, where no member is. */
static void rank_2_dies(struct node *node, const void *arg)
{
    struct sx_client *const client = sx_client_find(node->job, 2);

    (void)arg;
    client->state = SX_CLIENT_DEAD;
    sx_collective_client_gone(&node->server, client);
}

/* Ranks 0 and 2 are on the first node, and rank 2 never calls; with the entry, and without. */
Test(group_host, that_a_member_dies_before_fails_for_everybody)
{
    const struct group_call call = { .name = "group", .extra = 2 };

    for (unsigned with_entry = 0; with_entry < 2; with_entry++) {
        if (with_entry == 1) {
            nodes_end();
        }
        hosts_begin(2, 0, PMIX_SUCCESS);
        for (unsigned i = 0; i < 2; i++) {
            nodes[i].job->job_size = 3;
            nodes[i].server.module.group = with_entry == 1 ? on_group : NULL;
        }
        nodes[0].job->local_count = 2;
        cr_assert_not_null(sx_client_add(nodes[0].job, 2));
        bare_connect(&nodes[0].server, nodes[0].job, 2);
        calls(0, &call);
        node_run(&nodes[0], rank_2_dies, NULL);
        cr_expect_eq(received.count, with_entry);
        cr_expect_eq(with_entry == 1 ? received.local : PMIX_ERR_LOST_CONNECTION,
                     PMIX_ERR_LOST_CONNECTION);
        calls(1, &call);
        rounds_end();
        for (unsigned i = 0; i < 2; i++) {
            cr_expect_eq(nodes[i].answers[1], 1);
            cr_expect_eq(nodes[i].statuses[1], PMIX_ERR_LOST_CONNECTION);
            cr_expect(sx_list_empty(&nodes[i].server.collective.all));
        }
    }
}

Test(group_host, names_some_of_a_job_one_by_one)
{
    hosts_begin(2, 0, PMIX_SUCCESS);
    for (unsigned i = 0; i < 2; i++) {
        nodes[i].job->job_size = 3;
        calls(i, &(struct group_call){ .name = "group" });
        cr_expect_eq(received.nprocs, 2);
        cr_expect_eq(received.rank, 0);
    }
    rounds_end();
    cr_expect_eq(nodes[0].statuses[1], PMIX_SUCCESS);
    cr_expect_eq(nodes[1].statuses[1], PMIX_SUCCESS);
    expect_same(0, 1, 1, 1);
}

Test(group_host, its_refusal_is_everybodys)
{
    hosts_begin(2, 0, PMIX_ERR_NO_PERMISSIONS);
    calls(0, &(struct group_call){ .name = "group" });
    cr_expect_eq(nodes[0].answers[1], 1);
    cr_expect_eq(nodes[0].statuses[1], PMIX_ERR_NO_PERMISSIONS);
    cr_expect_null(sx_memberships_next(&nodes[0].server, NULL));
}

Test(group_host, GR15_of_members_here_is_asked_for_a_context_id_alone)
{
    hosts_begin(1, 0, PMIX_SUCCESS);
    calls(0, &(struct group_call){ .name = "plain" });
    cr_expect_eq(nodes[0].statuses[1], PMIX_SUCCESS);
    cr_expect_eq(received.count, 0);
    calls(0, &(struct group_call){ .name = "with id", .wants_context = true });
    cr_expect_eq(nodes[0].statuses[2], PMIX_SUCCESS);
    cr_expect_eq(received.count, 1);
    cr_expect_neq(made_by(0, 2)->head.context_id, 0, "ours, as the host gave none");
}

/* A leader waits for nobody who could not hear of it. */
Test(group_host, GR89_a_bootstrap_over_nodes_is_refused_at_once)
{
    nodes_begin(2);
    for (size_t leaders = 1; leaders <= 2; leaders++) {
        calls(0, &(struct group_call){ .name = "group", .leaders = leaders });
        cr_expect_eq(nodes[0].answers[leaders], 1);
        cr_expect_eq(nodes[0].statuses[leaders], PMIX_ERR_NOT_SUPPORTED);
        cr_expect(sx_list_empty(&nodes[0].server.collective.all));
        cr_expect_null(nodes[0].cbfunc, "the host knows nothing of it");
    }
    calls(0, &(struct group_call){ .name = "group" }); /* the name is free */
    calls(1, &(struct group_call){ .name = "group" });
    rounds_end();
    cr_expect_eq(nodes[0].statuses[3], PMIX_SUCCESS);
}

Test(group_host, GR24_without_a_way_to_the_others_is_not_supported)
{
    hosts_begin(2, 0, PMIX_SUCCESS);
    nodes[0].server.module.fence_nb = NULL;
    calls(0, &(struct group_call){ .name = "group" });
    cr_expect_eq(nodes[0].statuses[1], PMIX_ERR_NOT_SUPPORTED);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

Test(group_host, what_is_no_plan_is_refused_at_any_length)
{
    struct sx_group_plan plan = { .context_id = 9 }, read = { .order = NULL };
    pmix_proc_t order[] = { { "a", 1 }, { "a", 0 } };
    struct sx_blob blob = { 0 };
    uint8_t group = 0;

    plan.order = order;
    plan.order_count = 2;
    plan.by = order[1];
    cr_assert_eq(sx_group_agreement_write(&plan, SX_GROUP_NOTIFY, &blob), PMIX_SUCCESS);
    struct sx_opened_part part = { .at = (const uint8_t *)blob.bytes, .size = blob.size };

    cr_assert_eq(sx_group_agreement_read(&read, &part, &group), PMIX_SUCCESS);
    cr_expect_eq(group, SX_GROUP_NOTIFY);
    cr_expect_eq(read.context_id, 9);
    cr_assert_eq(read.order_count, 2);
    cr_expect_eq(read.order[0].rank, 1);
    sx_group_plan_forget(&read);
    for (part.size = 0; part.size + 8 <= blob.size; part.size += 8) {
        cr_expect_eq(sx_group_agreement_read(&read, &part, &group), PMIX_ERR_UNPACK_FAILURE,
                     "%zu of %zu", part.size, blob.size);
        sx_group_plan_forget(&read);
    }
    sx_blob_clear(&blob);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* connect_test.c - what a connect makes, which namespace a disconnect means, and what is left of it
 * when members go.  The processes are made up: no answer is looked at. */
#include "server/collective/collective.h"

#include <stdio.h>

#include <shmix.h>

#include "../hosted.h"
#include "../opened.h"
#include "../rounds.h"
#include "server/collective/connect_nodes.h"
#include "server/job/job.h"
#include "server/model/membership.h"

#define OUR_JOB "job"
#define RANKS 3u

static void begin(void)
{
    hosted_begin();
    hosted_job_of(OUR_JOB, RANKS + 1, RANKS + 1);
}

TestSuite(connect, .init = begin, .fini = hosted_end);

static struct sx_client *client_of(struct sx_server *server, uint32_t rank)
{
    return sx_client_find(sx_nspace_find(server, OUR_JOB), rank);
}

/* @rank comes to a connect or a disconnect of all of @nspace, of the ranks 0 to 2 for NULL. */
static void arrive(struct sx_server *server, uint32_t rank, uint32_t kind, const char *nspace,
                   const char *id)
{
    static uint32_t op;
    const struct sx_lane_arrive head = { .kind = (uint8_t)kind, .op = ++op };
    pmix_proc_t procs[RANKS];
    _Alignas(8) char message[2048];
    pmix_info_t info;
    size_t size;

    for (uint32_t i = 0; i < RANKS; i++) {
        PMIx_Load_procid(&procs[i], nspace != NULL ? nspace : OUR_JOB,
                         nspace != NULL ? PMIX_RANK_WILDCARD : i);
    }
    PMIx_Info_load(&info, PMIX_CONNECT_ID, id, PMIX_STRING);
    struct sx_draft draft = {
        .signature = &sx_arrive_body,
        .head = &head,
        .nspace = "",
        .parts = { [SX_ARRIVE_PROCS] = { procs, nspace != NULL ? 1 : RANKS },
                   [SX_ARRIVE_INFOS] = { &info, id != NULL } },
    };

    cr_assert_eq(sx_body_measure(&draft, &size), PMIX_SUCCESS);
    cr_assert_leq(size, sizeof(message));
    cr_assert_eq(sx_body_write(&draft, message), PMIX_SUCCESS);
    cr_assert_eq(sx_collective_arrive(server, client_of(server, rank),
                                      opened(&sx_arrive_body, message, size)),
                 PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
}

/* Return: the newest list; NULL when there is none. */
static struct sx_membership_entry *newest(const struct sx_server *server)
{
    struct sx_membership_entry *it = sx_memberships_next(server, NULL), *last = it;

    for (; it != NULL; it = sx_memberships_next(server, it)) {
        last = it->published.head.subject >> SX_MEMBERSHIP_ROW_BITS >
                       last->published.head.subject >> SX_MEMBERSHIP_ROW_BITS
                   ? it
                   : last;
    }
    return last;
}

static struct sx_membership_entry *connected(struct sx_server *server, const char *id)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        client_of(server, rank)->state = SX_CLIENT_CONNECTED;
        arrive(server, rank, SX_COLLECTIVE_CONNECT, NULL, id);
    }
    return newest(server);
}

/* What @rank means with {@nspace, WILDCARD}, or with the ranks 0 to 2.  Return: as
 * sx_disconnect_aim; its name is in @ret. */
static pmix_status_t aim(struct sx_server *server, uint32_t rank, const char *nspace,
                         const char *id, pmix_nspace_t ret)
{
    pmix_proc_t procs[RANKS];
    struct sx_arrival arrival = { .kind = SX_COLLECTIVE_DISCONNECT,
                                  .procs = procs,
                                  .proc_count = nspace != NULL ? 1 : RANKS,
                                  .options = { .id = id } };

    for (uint32_t i = 0; i < RANKS; i++) {
        PMIx_Load_procid(&procs[i], nspace != NULL ? nspace : OUR_JOB,
                         nspace != NULL ? PMIX_RANK_WILDCARD : i);
    }
    const pmix_status_t rc = sx_disconnect_aim(server, client_of(server, rank), &arrival);

    if (rc == PMIX_SUCCESS) {
        cr_expect_eq(arrival.proc_count, 1);
        cr_expect_eq(procs[0].rank, PMIX_RANK_WILDCARD);
        PMIx_Load_nspace(ret, procs[0].nspace);
    }
    return rc;
}

static pmix_status_t disconnects(struct sx_server *server, void *arg)
{
    pmix_nspace_t name, meant;

    (void)arg;
    cr_expect_eq(aim(server, 0, NULL, NULL, meant), PMIX_ERR_INVALID_OPERATION, "not connected");
    cr_expect_eq(aim(server, 0, "nobody's", NULL, meant), PMIX_ERR_NOT_FOUND);
    PMIx_Load_nspace(name, sx_membership_name(&connected(server, NULL)->published));
    cr_expect_eq(aim(server, RANKS, name, NULL, meant), PMIX_ERR_NOT_A_MEMBER, "no member");
    cr_assert_eq(aim(server, 0, name, NULL, meant), PMIX_SUCCESS);
    cr_expect_str_eq(meant, name);
    cr_assert_eq(aim(server, 0, NULL, NULL, meant), PMIX_SUCCESS);
    cr_expect_str_eq(meant, name);
    cr_expect_eq(aim(server, 0, NULL, "another", meant), PMIX_ERR_INVALID_OPERATION);

    arrive(server, 0, SX_COLLECTIVE_DISCONNECT, name, NULL);
    cr_expect_eq(aim(server, 0, name, NULL, meant), PMIX_ERR_INVALID_OPERATION, "twice, by name");
    cr_expect_eq(aim(server, 0, NULL, NULL, meant), PMIX_ERR_INVALID_OPERATION, "twice, by words");
    cr_expect_not_null(sx_memberships_find(server, name), "the others are connected still");
    arrive(server, 1, SX_COLLECTIVE_DISCONNECT, NULL, NULL);
    arrive(server, 2, SX_COLLECTIVE_DISCONNECT, name, NULL);
    cr_expect_null(sx_memberships_find(server, name));
    cr_expect_eq(aim(server, 0, name, NULL, meant), PMIX_ERR_NOT_FOUND);
    return PMIX_SUCCESS;
}

Test(connect, is_taken_back_once_by_its_name_or_its_words)
{
    hosted_call(disconnects, NULL);
}

static pmix_status_t several(struct sx_server *server, void *arg)
{
    pmix_nspace_t names[3], meant;

    (void)arg;
    PMIx_Load_nspace(names[0], sx_membership_name(&connected(server, NULL)->published));
    PMIx_Load_nspace(names[1], sx_membership_name(&connected(server, NULL)->published));
    PMIx_Load_nspace(names[2], sx_membership_name(&connected(server, "by id")->published));
    cr_expect_str_neq(names[0], names[1]);
    cr_assert_eq(aim(server, 1, NULL, NULL, meant), PMIX_SUCCESS);
    cr_expect_str_eq(meant, names[0], "the oldest");
    cr_assert_eq(aim(server, 1, NULL, "by id", meant), PMIX_SUCCESS);
    cr_expect_str_eq(meant, names[2]);
    arrive(server, 1, SX_COLLECTIVE_DISCONNECT, names[0], NULL);
    cr_assert_eq(aim(server, 1, NULL, NULL, meant), PMIX_SUCCESS);
    cr_expect_str_eq(meant, names[1], "the oldest that it has not called for");
    return PMIX_SUCCESS;
}

Test(connect, by_words_the_oldest_is_meant_that_the_caller_has_not_called_for)
{
    hosted_call(several, NULL);
}

#define MANY 80u

/* Return: the units that a disconnect by words costs @rank. */
static uint32_t aim_cost(struct sx_server *server, uint32_t rank, pmix_nspace_t ret)
{
    const uint32_t before = client_of(server, rank)->share.spent;

    cr_assert_eq(aim(server, rank, NULL, NULL, ret), PMIX_SUCCESS);
    return client_of(server, rank)->share.spent - before;
}

static pmix_status_t many(struct sx_server *server, void *arg)
{
    pmix_nspace_t oldest, name, meant;

    (void)arg;
    PMIx_Load_nspace(oldest, sx_membership_name(&connected(server, NULL)->published));
    for (unsigned i = 1; i < MANY; i++) {
        (void)connected(server, NULL);
    }
    cr_expect_eq(aim_cost(server, 1, meant), 0u, "one is looked at");
    cr_expect_str_eq(meant, oldest);
    for (unsigned i = 0; i < MANY / 2; i++) {
        PMIx_Load_nspace(name, meant);
        arrive(server, 1, SX_COLLECTIVE_DISCONNECT, name, NULL);
        (void)aim_cost(server, 1, meant);
        cr_assert_str_neq(meant, name);
    }
    cr_expect_geq(aim_cost(server, 1, meant), MANY / 2 / 4, "so are those that it has called for");
    cr_expect_eq(aim_cost(server, 0, meant), 0u);
    cr_expect_str_eq(meant, oldest, "another has not called");
    return PMIX_SUCCESS;
}

Test(connect, by_words_is_found_without_a_walk_and_a_walk_is_paid_for)
{
    hosted_call(many, NULL);
}

static pmix_status_t members_go(struct sx_server *server, void *arg)
{
    pmix_nspace_t name;
    pmix_proc_t member;

    (void)arg;
    struct sx_membership_entry *const entry = connected(server, NULL);

    PMIx_Load_nspace(name, sx_membership_name(&entry->published));
    for (uint32_t rank = 0; rank + 1 < RANKS; rank++) {
        client_of(server, rank)->state = SX_CLIENT_DEAD;
        sx_connect_client_gone(server, client_of(server, rank));
        cr_assert_eq(sx_memberships_find(server, name), entry);
        cr_expect_eq(sx_membership_size(&entry->published), RANKS, "a gap");
        cr_expect_eq(sx_membership_member(&entry->published, rank, &member), PMIX_ERR_NOT_FOUND);
        cr_expect_eq(sx_membership_rank(&entry->published, OUR_JOB, 2), 2, "which moves nobody");
    }
    client_of(server, 2)->state = SX_CLIENT_DEAD;
    sx_connect_client_gone(server, client_of(server, 2));
    cr_expect_null(sx_memberships_find(server, name), "nobody is left");
    cr_expect_null(newest(server));
    return PMIX_SUCCESS;
}

Test(connect, members_that_go_leave_gaps_and_the_last_takes_it_away)
{
    hosted_call(members_go, NULL);
}

/* ---- members on other nodes ------------------------------------------------------------------ */

/* A connect of two jobs, each on a node of its own: what the host hears of
 * it, and what each server knows of the other job afterwards. */

#define LEFT "left"
#define RIGHT "right"

static const struct call connect_both = { .kind = SX_COLLECTIVE_CONNECT };

/* What a host says of a job. */
static void job_notified(struct node *node, uint32_t nodes_of_it)
{
    pmix_info_t info[4];

    PMIx_Info_load(&info[0], PMIX_UNIV_SIZE, &nodes_of_it, PMIX_UINT32);
    PMIx_Info_load(&info[1], PMIX_NODE_MAP, node->job->name, PMIX_STRING);
    PMIx_Info_load(&info[2], PMIX_PROC_MAP, "0", PMIX_STRING);
    PMIx_Info_load(&info[3], PMIX_NSDIR, "/of/this/node", PMIX_STRING);
    cr_assert_eq(sx_jobinfo_store(&node->server, node->job, info, 4), PMIX_SUCCESS);
    node->job->has_data = true;
    for (size_t i = 0; i < 4; i++) {
        PMIx_Info_destruct(&info[i]);
    }
}

static void host_begin(void)
{
    jobs[0] = LEFT;
    jobs[1] = RIGHT;
    nodes_begin(2);
    job_notified(&nodes[0], 10);
    job_notified(&nodes[1], 20);
}

TestSuite(connect_host, .init = host_begin, .fini = nodes_end);

/* ---- what a server knows --------------------------------------------------------------------- */

static pmix_status_t got(unsigned node, const char *job, uint32_t row, const char *key,
                         pmix_value_t *ret)
{
    const struct sx_nspace *const nspace = sx_nspace_find(&nodes[node].server, job);

    return nspace == NULL || !nspace->has_store
               ? PMIX_ERR_NOT_FOUND
               : sx_store_get(&nspace->store.view, SX_REALM_JOB, row, key, ret);
}

static void expect_number(unsigned node, const char *job, const char *key, uint32_t want)
{
    pmix_value_t value = { .type = PMIX_UNDEF };

    cr_assert_eq(got(node, job, SX_ROW_JOB, key, &value), PMIX_SUCCESS, "%s of %s", key, job);
    cr_expect_eq(value.type, PMIX_UINT32);
    cr_expect_eq(value.data.uint32, want, "%s of %s is %u", key, job, value.data.uint32);
}

static void connect_all(void)
{
    member_calls(0, &connect_both);
    member_calls(1, &connect_both);
    while (host_can_answer()) {
        host_answers(PMIX_SUCCESS);
    }
    cr_assert_eq(nodes[0].statuses[1], PMIX_SUCCESS);
    cr_assert_eq(nodes[1].statuses[1], PMIX_SUCCESS);
    cr_assert_eq(nodes[0].answers[1] + nodes[1].answers[1], 2);
}

Test(connect_host, CN17_brings_what_is_known_of_the_other_job)
{
    pmix_value_t value;

    cr_expect_null(sx_nspace_find(&nodes[0].server, RIGHT));
    connect_all();
    expect_number(0, RIGHT, PMIX_JOB_SIZE, 1);
    expect_number(0, RIGHT, PMIX_UNIV_SIZE, 20);
    expect_number(1, LEFT, PMIX_UNIV_SIZE, 10);
    cr_assert_eq(got(0, RIGHT, 0, PMIX_HOSTNAME, &value), PMIX_SUCCESS, "out of the maps");
    cr_expect_str_eq(value.data.string, RIGHT);
    PMIx_Value_destruct(&value);
    cr_expect_eq(got(0, RIGHT, SX_ROW_JOB, PMIX_NSDIR, &value), PMIX_ERR_NOT_FOUND,
                 "what is true on its own node only stays there");
}

/* Of the last job in the list, several processes are named one by one. */
Test(connect_host, CN17_brings_what_is_known_of_the_last_job_too)
{
    const pmix_proc_t procs[] = { { LEFT, 0 }, { RIGHT, 0 }, { RIGHT, 1 } };
    const struct call call = { .kind = SX_COLLECTIVE_CONNECT, .list = "few" };
    struct sx_client *const first = nodes[1].member;

    nodes[1].job->job_size = 3;
    nodes[1].job->local_count = 2;
    nodes[1].member = sx_client_add(nodes[1].job, 1);
    bare_connect(&nodes[1].server, nodes[1].job, 1);
    for (unsigned i = 0; i < 2; i++) {
        bare_connected(&nodes[i].server, "few", procs, SX_COUNT(procs));
    }
    member_calls(0, &call);
    member_calls(1, &call);
    nodes[1].member = first;
    member_calls(1, &call);
    while (host_can_answer()) {
        host_answers(PMIX_SUCCESS);
    }
    cr_assert_eq(nodes[0].statuses[1], PMIX_SUCCESS);
    expect_number(0, RIGHT, PMIX_UNIV_SIZE, 20);
    for (unsigned i = 0; i < 2; i++) {
        sx_memberships_remove(&nodes[i].server, sx_memberships_find(&nodes[i].server, "few"));
    }
}

Test(connect_host, twice_brings_it_once_and_the_last_end_takes_it_back)
{
    char name[PMIX_MAX_NSLEN + 1];

    connect_all();
    cr_assert_eq(nodes[0].server.collective.spans.next->next, &nodes[0].server.collective.spans,
                 "one");
    snprintf(name, sizeof(name), "connected-1.node0");
    cr_assert_not_null(sx_connect_nodes_find(&nodes[0].server, name),
                       "under the name of the first member");
    cr_assert_not_null(sx_connect_nodes_find(&nodes[1].server, name), "on both nodes");
    cr_expect_eq(sx_nspace_find(&nodes[0].server, RIGHT)->brought_count, 1);
    sx_connect_nodes_end(&nodes[0].server, name);
    cr_expect_null(sx_connect_nodes_find(&nodes[0].server, name));
    cr_expect_not_null(sx_nspace_find(&nodes[0].server, RIGHT), "not within the call");
    node_run(&nodes[0], NULL, NULL);
    cr_expect_null(sx_nspace_find(&nodes[0].server, RIGHT));
    cr_expect_not_null(sx_nspace_find(&nodes[0].server, LEFT), "the host's stays");
}

Test(connect_host, what_it_brought_yields_to_the_host)
{
    connect_all();
    struct sx_nspace *const brought = sx_nspace_find(&nodes[0].server, RIGHT);
    const uint64_t generation = brought->store.generation;

    sx_nspace_yield(&nodes[0].server, brought);
    cr_expect_eq(brought->brought_count + brought->job_size, 0);
    cr_assert_eq(sx_nspace_open(&nodes[0].server, brought), PMIX_SUCCESS);
    cr_expect_gt(brought->store.generation, generation, "readers ask again");
    sx_connect_nodes_end(&nodes[0].server, "connected-1.node0");
    node_run(&nodes[0], NULL, NULL);
    cr_expect_not_null(sx_nspace_find(&nodes[0].server, RIGHT), "it is the host's now");
}

/* Whether the only event that waits for @nspace asks that rank of it to connect. */
static bool is_asked(const struct sx_nspace *nspace, uint32_t rank)
{
    cr_assert_eq(nspace->events.held_count, 1);
    const struct sx_event_entry *const entry = SX_LIST_ENTRY(nspace->events.held.next,
                                                             struct sx_event_entry, link);

    return sx_event_block_head(entry->block)->code == PMIX_CONNECT_REQUESTED &&
           sx_event_block_aims_at(entry->block, nspace->name, rank);
}

static void second_job_comes(struct node *node, const void *arg)
{
    (void)arg;
    (void)bare_connect(&node->server, bare_job(&node->server, RIGHT, 1, 1), 0);
}

/* CN32: in the job of the caller, and in one that nobody knows yet. */
Test(connect_host, CN32_asks_those_whom_the_host_registers_later)
{
    const struct call call = { .kind = SX_COLLECTIVE_CONNECT, .asks = true };

    nodes[0].job->job_size = nodes[0].job->local_count = 2;
    member_calls(0, &call);
    cr_expect(is_asked(nodes[0].job, 1) && !is_asked(nodes[0].job, 0));
    cr_expect_null(sx_nspace_find(&nodes[0].server, RIGHT));
    node_run(&nodes[0], second_job_comes, NULL);
    cr_expect(is_asked(sx_nspace_find(&nodes[0].server, RIGHT), 0));
}

/* ---- the host's entry ------------------------------------------------------------------------ */

static struct {
    unsigned called;
    pmix_status_t returns;
    pmix_op_cbfunc_t cbfunc;
    void *cbdata;
    char notified[512];
    pmix_status_t local;
} entry[2];

static pmix_status_t on_connect(const pmix_proc_t procs[], size_t nprocs, const pmix_info_t info[],
                                size_t ninfo, pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    const unsigned node = (unsigned)(current - nodes);

    cr_expect(nprocs == 1 || (nprocs == 2 && strcmp(procs[1].nspace, RIGHT) == 0));
    for (size_t i = 0; i < ninfo; i++) {
        const size_t used = strlen(entry[node].notified);

        snprintf(entry[node].notified + used, sizeof(entry[node].notified) - used, "%s ",
                 info[i].key);
        if (PMIx_Check_key(info[i].key, PMIX_LOCAL_COLLECTIVE_STATUS)) {
            entry[node].local = info[i].value.data.status;
        }
    }
    entry[node].called++;
    entry[node].cbfunc = cbfunc;
    entry[node].cbdata = cbdata;
    return entry[node].returns;
}

static void entry_is_there(pmix_status_t returns)
{
    memset(entry, 0, sizeof(entry));
    for (unsigned i = 0; i < 2; i++) {
        entry[i].returns = returns;
        nodes[i].server.module.connect = on_connect;
    }
}

static void entry_said(struct node *node, const void *arg)
{
    entry[node - nodes].cbfunc(*(const pmix_status_t *)arg, entry[node - nodes].cbdata);
}

Test(connect_host, CN15_is_refused_by_the_entry_for_everybody)
{
    entry_is_there(PMIX_ERR_NOT_SUPPORTED);
    member_calls(0, &connect_both);
    member_calls(1, &connect_both);
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(entry[i].called, 1);
        cr_expect_eq(nodes[i].statuses[1], PMIX_ERR_NOT_SUPPORTED);
        cr_expect_eq(nodes[i].asked_count, 0, "no round");
    }
}

Test(connect_host, CN11_CN12_CN13_asks_the_entry_once_and_agrees_behind_it)
{
    const struct call call = { .kind = SX_COLLECTIVE_CONNECT, .id = "id", .seconds = 50 };
    const pmix_status_t well = PMIX_SUCCESS;

    entry_is_there(PMIX_SUCCESS);
    member_calls(0, &call);
    member_calls(1, &call);
    cr_expect_eq(nodes[0].asked_count, 0, "not before it has answered");
    cr_expect_str_eq(entry[0].notified, PMIX_LOCAL_COLLECTIVE_STATUS
                     " " PMIX_SORTED_PROC_ARRAY " pmix.cnt.id " PMIX_TIMEOUT " ");
    node_run(&nodes[0], entry_said, &well);
    node_run(&nodes[1], entry_said, &well);
    node_run(&nodes[1], entry_said, &well); /* twice */
    while (host_can_answer()) {
        host_answers(PMIX_SUCCESS);
    }
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(entry[i].called, 1);
        cr_expect_eq(nodes[i].answers[1], 1);
        cr_expect_eq(nodes[i].statuses[1], PMIX_SUCCESS);
    }
    expect_number(0, RIGHT, PMIX_UNIV_SIZE, 20);
}

Test(connect_host, CN15_fails_for_everybody_when_the_entry_does)
{
    const pmix_status_t badly = PMIX_ERR_UNREACH;

    entry_is_there(PMIX_SUCCESS);
    member_calls(0, &connect_both);
    member_calls(1, &connect_both);
    node_run(&nodes[0], entry_said, &badly);
    node_run(&nodes[1], entry_said, &badly);
    cr_expect_eq(nodes[0].statuses[1], badly);
    cr_expect_eq(nodes[1].statuses[1], badly);
}

static void expect_lost_everywhere(void)
{
    const pmix_status_t well = PMIX_SUCCESS;

    node_run(&nodes[0], entry_said, &well);
    node_run(&nodes[1], entry_said, &well);
    cr_assert(host_can_answer(), "the servers agree behind the entry");
    host_answers(PMIX_SUCCESS);
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(entry[i].called, 1);
        cr_expect_eq(nodes[i].answers[1], 1);
        cr_expect_eq(nodes[i].statuses[1], PMIX_ERR_LOST_CONNECTION);
        cr_expect(sx_list_empty(&nodes[i].server.collective.all));
        cr_expect_eq(nodes[i].server.collective.rounds.count, 0);
    }
}

/* The entry is asked with the failure, since the other nodes ask theirs. */
Test(connect_host, that_a_member_dies_before_fails_for_everybody)
{
    struct sx_client *const member = nodes[0].member;

    entry_is_there(PMIX_SUCCESS);
    nodes[0].job->job_size = nodes[0].job->local_count = 2;
    nodes[0].member = sx_client_add(nodes[0].job, 1);
    bare_connect(&nodes[0].server, nodes[0].job, 1);
    member_calls(0, &connect_both);
    cr_expect_eq(entry[0].called, 0);
    nodes[0].member = member;
    member_dies(0);
    cr_expect_eq(entry[0].called, 1);
    cr_expect_eq(entry[0].local, PMIX_ERR_LOST_CONNECTION);
    member_calls(1, &connect_both);
    cr_expect_eq(entry[1].local, PMIX_SUCCESS);
    expect_lost_everywhere();
}

Test(connect_host, that_a_member_dies_while_the_entry_is_asked_fails_for_everybody)
{
    struct sx_client *const member = nodes[0].member;

    entry_is_there(PMIX_SUCCESS);
    nodes[0].job->job_size = nodes[0].job->local_count = 2;
    nodes[0].member = sx_client_add(nodes[0].job, 1);
    bare_connect(&nodes[0].server, nodes[0].job, 1);
    member_calls(0, &connect_both);
    nodes[0].member = member;
    member_calls(0, &connect_both);
    cr_expect_eq(entry[0].called, 1);
    cr_expect_eq(entry[0].local, PMIX_SUCCESS);
    member_calls(1, &connect_both);
    member_dies(0);
    nodes[0].answers[1] += nodes[0].answers[2]; /* of the one that has died, and of the other */
    cr_expect_eq(nodes[0].answers[1], 1);
    expect_lost_everywhere();
}

static void dies_and_entry_said(struct node *node, const void *arg)
{
    member_dies_late(node);
    entry_said(node, arg);
}

/* All are on this node: behind the entry no round is made. */
Test(connect_host, that_a_member_dies_in_has_no_success_while_its_end_is_still_to_be_acted_on)
{
    const struct call call = { .kind = SX_COLLECTIVE_CONNECT, .list = LEFT };
    const pmix_status_t well = PMIX_SUCCESS;
    struct sx_client *const member = nodes[0].member;

    entry_is_there(PMIX_SUCCESS);
    nodes[0].job->job_size = nodes[0].job->local_count = 2;
    nodes[0].member = sx_client_add(nodes[0].job, 1);
    bare_connect(&nodes[0].server, nodes[0].job, 1);
    member_calls(0, &call);
    nodes[0].member = member;
    member_calls(0, &call);
    cr_assert_eq(entry[0].called, 1);
    node_run(&nodes[0], dies_and_entry_said, &well);
    cr_expect_eq(nodes[0].answers[1], 1);
    cr_expect_eq(nodes[0].statuses[1], PMIX_ERR_LOST_CONNECTION);
    cr_expect_eq(nodes[0].server.memberships.names.count, 0);
}

Test(connect_host, CN16_that_is_done_at_once_is_done)
{
    entry_is_there(PMIX_OPERATION_SUCCEEDED);
    connect_all();
    cr_expect_eq(entry[0].called, 1);
}

Test(connect_host, CN14_without_a_way_to_the_others_cannot)
{
    nodes[0].server.module.fence_nb = NULL;
    member_calls(0, &connect_both);
    cr_expect_eq(nodes[0].answers[1], 0, "nobody here knows the other job yet");
    nodes[0].job->job_size = 2;
    jobs[1] = LEFT;
    member_calls(0, &connect_both);
    cr_expect_eq(nodes[0].answers[2], 1);
    cr_expect_eq(nodes[0].statuses[2], PMIX_ERR_NOT_SUPPORTED);
    cr_expect(nodes[0].server.port.host.unreachable_logged);
    jobs[1] = RIGHT;
}

/* A host that completes each node's fence alone: the connect is taken back, and waits for the other
 * job.  A member has died in the last round, which is no end before that: then it frees the
 * operation, which must not be looked at any more (a sanitizer sees that). */
Test(connect_host, that_is_taken_back_ends_by_a_death_that_the_round_has_put_off)
{
    member_calls(0, &connect_both);
    member_calls(1, &connect_both);
    host_answers_each_alone();
    cr_assert(host_can_answer(), "both are in COMMIT");
    member_dies(0);
    cr_expect_not(sx_list_empty(&nodes[0].server.collective.all), "nothing ends it in COMMIT");
    host_answers_each_alone();
    cr_expect(sx_list_empty(&nodes[0].server.collective.all));
    cr_expect_not(sx_list_empty(&nodes[1].server.collective.all), "it waits for the other job");
    cr_expect_eq(nodes[1].answers[1], 0);
}

/* A host that completes a fence of a rank of one job and of all of another without one of these. */
Test(connect_host, of_a_rank_and_of_a_job_has_all_of_the_job)
{
    const struct call call = { .kind = SX_COLLECTIVE_CONNECT, .names_first = true };

    (void)bare_job(&nodes[0].server, RIGHT, 2, 0);
    nodes[1].job->job_size = 2;
    member_calls(0, &call);
    member_calls(1, &call);
    while (host_can_answer()) {
        host_answers(PMIX_SUCCESS);
    }
    cr_expect_eq(nodes[0].answers[1], 1);
    cr_expect_eq(nodes[0].statuses[1], PMIX_ERR_NOT_SUPPORTED);
    cr_expect_null(sx_memberships_next(&nodes[0].server, NULL));
}

/* Two disconnects of the same processes are under way at once, and reach the nodes in another order
 * each: each ends its own namespace, on both. */
Test(connect_host, disconnects_of_the_same_processes_are_notified_apart)
{
    static const struct call connects[] = { { .kind = SX_COLLECTIVE_CONNECT, .id = "one" },
                                            { .kind = SX_COLLECTIVE_CONNECT, .id = "two" } };
    static const struct call disconnects[] = { { .kind = SX_COLLECTIVE_DISCONNECT, .id = "one" },
                                               { .kind = SX_COLLECTIVE_DISCONNECT, .id = "two" } };

    for (unsigned i = 0; i < 2; i++) {
        member_calls(0, &connects[i]);
        member_calls(1, &connects[i]);
        while (host_can_answer()) {
            host_answers(PMIX_SUCCESS);
        }
        expect_same(0, i + 1, 1, i + 1);
    }
    member_calls(0, &disconnects[0]);
    member_calls(1, &disconnects[1]);
    for (unsigned i = 0; i < 8 && host_can_answer(); i++) {
        host_answers(PMIX_SUCCESS);
    }
    cr_expect_eq(nodes[0].answers[3] + nodes[1].answers[3], 0, "neither has been called by both");
    member_calls(0, &disconnects[1]);
    member_calls(1, &disconnects[0]);
    for (unsigned i = 0; i < 20 && nodes[0].answers[3] + nodes[0].answers[4] < 2; i++) {
        if (host_can_answer()) {
            host_answers(PMIX_SUCCESS);
        } else {
            node_later(&nodes[0]);
            node_later(&nodes[1]);
        }
    }
    for (unsigned node = 0; node < 2; node++) {
        cr_expect_eq(nodes[node].answers[3] + nodes[node].answers[4], 2);
        cr_expect_eq(nodes[node].statuses[3], PMIX_SUCCESS);
        cr_expect_eq(nodes[node].statuses[4], PMIX_SUCCESS);
        cr_expect_null(sx_memberships_next(&nodes[node].server, NULL), "both are gone");
    }
}

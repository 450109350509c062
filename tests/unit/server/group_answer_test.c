/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* group_answer_test.c - what the host's entry for groups answers: late, twice, never, and with
 * results that are none. */
#include "server/group/group.h"

#include "group_calls.h"

#define MANY 10000u /* infos of an answer */

/* What the host has of each node. */
static struct {
    unsigned called, cancelled; /* with PMIX_GROUP_CANCEL */
    size_t here_count;          /* of PMIX_LOCAL_PARTICIPANTS */
    pmix_info_cbfunc_t cbfunc;
    void *cbdata;
} entry[NODES_MAX];

static pmix_status_t on_group(pmix_group_operation_t operation, char *name,
                              const pmix_proc_t *procs, size_t nprocs, const pmix_info_t *info,
                              size_t ninfo, pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    const unsigned node = (unsigned)(current - nodes);

    (void)procs, (void)nprocs;
    cr_expect_str_eq(name, "group");
    entry[node].here_count = 0;
    for (size_t i = 0; i < ninfo; i++) {
        if (PMIx_Check_key(info[i].key, PMIX_LOCAL_PARTICIPANTS)) {
            const pmix_proc_t *const here = info[i].value.data.darray->array;

            entry[node].here_count = info[i].value.data.darray->size;
            cr_expect_eq(here->rank, node);
        }
    }
    if (operation == PMIX_GROUP_CANCEL) {
        entry[node].cancelled++;
        return PMIX_OPERATION_SUCCEEDED;
    }
    entry[node].called++;
    entry[node].cbfunc = cbfunc;
    entry[node].cbdata = cbdata;
    return PMIX_SUCCESS;
}

static void begin(void)
{
    setenv("SHMIX_LOG", "none", 1); /* much is refused */
    nodes_begin(2);
    memset(entry, 0, sizeof(entry));
    for (unsigned i = 0; i < 2; i++) {
        nodes[i].server.module.group = on_group;
    }
}

TestSuite(group_answer, .init = begin, .fini = nodes_end);

/* ---- the host's word ------------------------------------------------------------------------- */

struct answer {
    const char *why;
    pmix_status_t status;
    pmix_info_t *info;
    size_t ninfo;
    pmix_status_t want;
    size_t want_id; /* 0: the servers' */
};

static unsigned released;

static void release(void *cbdata)
{
    (void)cbdata;
    released++;
}

static void answered(struct node *node, const void *arg)
{
    const struct answer *const answer = arg;

    entry[node - nodes].cbfunc(answer->status, answer->info, answer->ninfo,
                               entry[node - nodes].cbdata, release, NULL);
}

static void answers(unsigned node, const struct answer *answer)
{
    node_run(&nodes[node], answered, answer);
}

static const struct answer well = { .status = PMIX_SUCCESS };
static const struct group_call construct = { .name = "group", .wants_context = true };
static const struct group_call limited = { .name = "group", .wants_context = true, .seconds = 5 };
static const struct group_call destruct = { .name = "group", .destructs = true };

/* Nothing is open at any node. */
static void expect_idle(void)
{
    for (unsigned i = 0; i < 2; i++) {
        cr_expect(sx_list_empty(&nodes[i].server.collective.all));
        cr_expect_eq(nodes[i].server.collective.rounds.count, 0);
        cr_expect_null(nodes[i].cbfunc);
    }
}

/* ---- when ------------------------------------------------------------------------------------ */

Test(group_answer, that_comes_twice_counts_once)
{
    calls(0, &construct);
    calls(1, &construct);
    cr_expect_eq(nodes[0].asked_count, 0, "no round before it has answered");
    cr_expect_eq(entry[0].here_count, 1);
    answers(0, &well);
    answers(0, &well);
    answers(0, &(struct answer){ .status = PMIX_ERR_UNREACH });
    answers(1, &well);
    rounds_end();
    for (unsigned i = 0; i < 2; i++) {
        cr_expect_eq(nodes[i].answers[1], 1);
        cr_expect_eq(nodes[i].statuses[1], PMIX_SUCCESS);
    }
    expect_same(0, 1, 1, 1);
    expect_idle();
}

/* X21: the name is free meanwhile, and who calls again waits for the old answer. */
Test(group_answer, that_comes_after_the_time_limit_means_nothing)
{
    calls(0, &limited);
    calls(1, &construct);
    node_later(&nodes[0]);
    cr_expect_eq(nodes[0].statuses[1], PMIX_ERR_TIMEOUT);
    cr_expect_eq(entry[0].cancelled, 1);
    cr_expect_eq(entry[0].here_count, 1);
    cr_expect_eq(nodes[1].answers[1], 0, "it has no limit");
    calls(0, &construct);
    cr_expect_eq(entry[0].called, 1, "it has an answer to give first");
    answers(0, &well);
    cr_expect_eq(entry[0].called, 2);
    cr_expect_eq(nodes[0].answers[1], 1, "its members have been told");
    answers(1, &well);
    answers(0, &well);
    for (unsigned i = 0; i < 8 && nodes[1].answers[1] == 0; i++) {
        rounds_end();
        node_later(&nodes[0]);
        node_later(&nodes[1]);
    }
    cr_expect_eq(nodes[0].statuses[2], PMIX_SUCCESS);
    cr_expect_eq(nodes[1].statuses[1], PMIX_SUCCESS);
    expect_same(0, 2, 1, 1);
    expect_idle();
}

Test(group_answer, that_never_comes_ends_with_the_time_limit)
{
    calls(0, &limited);
    calls(1, &limited);
    for (unsigned i = 0; i < 2; i++) {
        node_later(&nodes[i]);
        cr_expect_eq(nodes[i].answers[1], 1);
        cr_expect_eq(nodes[i].statuses[1], PMIX_ERR_TIMEOUT);
        cr_expect_eq(nodes[i].asked_count, 0);
        cr_expect_null(sx_memberships_next(&nodes[i].server, NULL));
    }
}

Test(group_answer, to_a_destruct_that_comes_late_or_never_leaves_the_group)
{
    calls(0, &construct);
    calls(1, &construct);
    answers(0, &well);
    answers(1, &well);
    rounds_end();
    calls(0, &(struct group_call){ .name = "group", .destructs = true, .seconds = 5 });
    node_later(&nodes[0]);
    cr_expect_eq(nodes[0].statuses[2], PMIX_ERR_TIMEOUT);
    cr_expect_eq(entry[0].cancelled, 1, "the destruct is");
    cr_expect_not_null(sx_memberships_find(&nodes[0].server, "group"));
    answers(0, &well);
    calls(0, &destruct);
    calls(1, &destruct);
    answers(0, &well);
    answers(1, &well);
    rounds_end();
    cr_expect_eq(nodes[0].statuses[3], PMIX_SUCCESS);
    cr_expect_eq(nodes[1].statuses[2], PMIX_SUCCESS);
    expect_idle();
}

/* ---- what ------------------------------------------------------------------------------------ */

static pmix_info_t many[MANY];

/* Return: an info of @type whose number is @number. */
static pmix_info_t id_of(pmix_data_type_t type, int64_t number)
{
    pmix_info_t info;

    memset(&info, 0, sizeof(info));
    PMIx_Load_key(info.key, PMIX_GROUP_CONTEXT_ID);
    info.value.type = type;
    info.value.data.int64 = number;
    return info;
}

/* Each node's host says @answer of a construct of its own, in a group of its own. */
static void says(const struct answer *answer)
{
    unsigned ended = released;

    calls(0, &construct);
    calls(1, &construct);
    answers(0, answer);
    answers(1, answer);
    rounds_end();
    cr_expect_eq(released, ended + 2, "%s", answer->why);
    for (unsigned i = 0; i < 2; i++) {
        cr_assert_eq(nodes[i].answers[1], 1, "%s", answer->why);
        cr_expect_eq(nodes[i].statuses[1], answer->want, "%s: %d", answer->why,
                     nodes[i].statuses[1]);
        if (answer->want != PMIX_SUCCESS) {
            cr_expect_null(sx_memberships_next(&nodes[i].server, NULL), "%s", answer->why);
            continue;
        }
        const uint64_t id = made_by(i, 1)->head.context_id;

        cr_expect(answer->want_id != 0 ? id == answer->want_id : id != 0, "%s: %lu", answer->why,
                  (unsigned long)id);
        cr_expect_eq(id, made_by(0, 1)->head.context_id, "%s", answer->why);
    }
    expect_idle();
    nodes_rewind();
}

Test(group_answer, of_any_sort_gives_the_same_id_everywhere_or_none)
{
    static char words[] = "seven";
    pmix_info_t text = id_of(PMIX_STRING, 0), small = id_of(PMIX_UINT16, 7);
    pmix_info_t below = id_of(PMIX_INT32, -7), none = id_of(PMIX_SIZE, 0);
    pmix_info_t undefined = id_of(PMIX_UNDEF, 7), unknown = id_of(60000, 7);
    pmix_info_t array = id_of(PMIX_DATA_ARRAY, 0), other = id_of(PMIX_SIZE, 7);
    pmix_info_t twice[] = { id_of(PMIX_SIZE, 7), id_of(PMIX_SIZE, 8) };
    const struct answer all[] = {
        { "nothing", PMIX_SUCCESS, NULL, 0, PMIX_SUCCESS, 0 },
        { "a count of nothing", PMIX_SUCCESS, NULL, MANY, PMIX_SUCCESS, 0 },
        { "another number", PMIX_SUCCESS, &small, 1, PMIX_SUCCESS, 7 },
        { "a text", PMIX_SUCCESS, &text, 1, PMIX_SUCCESS, 0 },
        { "below 0", PMIX_SUCCESS, &below, 1, PMIX_SUCCESS, 0 },
        { "0", PMIX_SUCCESS, &none, 1, PMIX_SUCCESS, 0 },
        { "no type", PMIX_SUCCESS, &undefined, 1, PMIX_SUCCESS, 0 },
        { "an unknown type", PMIX_SUCCESS, &unknown, 1, PMIX_SUCCESS, 0 },
        { "an array of nothing", PMIX_SUCCESS, &array, 1, PMIX_SUCCESS, 0 },
        { "a key without an end", PMIX_SUCCESS, &other, 1, PMIX_SUCCESS, 0 },
        { "two ids", PMIX_SUCCESS, twice, 2, PMIX_SUCCESS, 8 },
        { "many infos", PMIX_SUCCESS, many, MANY, PMIX_SUCCESS, 9 },
        { "done", PMIX_OPERATION_SUCCEEDED, &small, 1, PMIX_SUCCESS, 7 },
        { "an error with results", PMIX_ERR_UNREACH, &small, 1, PMIX_ERR_UNREACH, 0 },
    };

    text.value.data.string = words;
    memset(other.key, 'x', sizeof(other.key));
    many[MANY - 1] = id_of(PMIX_UINT64, 9);
    for (size_t i = 0; i < SX_COUNT(all); i++) {
        says(&all[i]);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* derived_keys_test.c - what programs find of a job whose host has said little: by maps, by the
 * numbers alone, and by who is registered. */
#include "server/job/job.h"

#include "../answers.h"
#include "../bare.h"
#include "shmem/nspace_read.h"

static struct sx_server server;
static struct sx_nspace *job;
static struct sx_nodemap map;

static void begin(void)
{
    bare_init(&server);
    bare_loop(&server);
    memcpy(server.hostname, "n1", sizeof("n1"));
    server.rendezvous.uri = "unix:nowhere";
}

static void end(void)
{
    sx_nodemap_clear(&map);
    bare_deinit(&server);
}

TestSuite(derive, .init = begin, .fini = end);

/* A job of which the host says no more than this; texts may be NULL. */
static void make(uint32_t job_size, uint32_t local_count, uint32_t registered, const char *nodes,
                 const char *ranks)
{
    job = bare_job(&server, "job", job_size, registered);
    job->local_count = local_count;
    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
    if (nodes != NULL) {
        cr_assert_eq(sx_nodemap_read(&map, nodes, ranks), PMIX_SUCCESS);
    }
}

static void put(uint32_t row, const char *key, uint32_t number)
{
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };

    cr_assert_eq(sx_store_put(&job->store, SX_REALM_JOB, row, key, PMIX_GLOBAL, &value),
                 PMIX_SUCCESS);
}

/* ---- what is found
 * ---------------------------------------------------------------------------- */

#define NONE UINT64_MAX

static uint64_t number(enum sx_realm realm, uint32_t row, const char *key)
{
    struct sx_item item;

    return sx_store_find(&job->store.view, realm, row, key, &item) == PMIX_SUCCESS ? item.cell.bits
                                                                                   : NONE;
}

static void expect_text(enum sx_realm realm, uint32_t row, const char *key, const char *want)
{
    pmix_value_t value = { .type = PMIX_UNDEF };
    const pmix_status_t rc = sx_store_get(&job->store.view, realm, row, key, &value);

    cr_expect_eq(rc, want != NULL ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, "%s of %u: %d", key, row,
                 rc);
    if (rc == PMIX_SUCCESS && want != NULL) {
        cr_expect_str_eq(value.data.string, want, "%s of %u", key, row);
        PMIx_Value_destruct(&value);
    }
}

/* ---- tests
 * ------------------------------------------------------------------------------------ */

Test(derive, notifies_nodes_peers_and_ranks_from_both_maps)
{
    make(0, 2, 0, "n1,n2", "0,2;1,3,4");
    cr_assert_eq(sx_derive(&server, job, &map, 2), PMIX_SUCCESS);
    cr_expect_eq(job->job_size, 5, "by the map");
    cr_expect_eq(number(SX_REALM_JOB, SX_ROW_JOB, PMIX_JOB_SIZE), 5);
    cr_expect_eq(number(SX_REALM_JOB, SX_ROW_JOB, PMIX_NUM_NODES), 2);
    cr_expect_eq(number(SX_REALM_JOB, SX_ROW_JOB, PMIX_LOCAL_SIZE), 2);
    cr_expect_eq(number(SX_REALM_JOB, SX_ROW_JOB, PMIX_LOCALLDR), 0);
    expect_text(SX_REALM_JOB, SX_ROW_JOB, PMIX_NODE_LIST, "n1,n2");
    expect_text(SX_REALM_JOB, SX_ROW_JOB, PMIX_LOCAL_PEERS, "0,2");
    expect_text(SX_REALM_NODE, 1, PMIX_HOSTNAME, "n2");
    expect_text(SX_REALM_NODE, 1, PMIX_LOCAL_PEERS, "1,3,4");
    cr_expect_eq(number(SX_REALM_NODE, 1, PMIX_LOCAL_SIZE), 3);
    cr_expect_eq(number(SX_REALM_JOB, 3, PMIX_NODEID), 1);
    cr_expect_eq(number(SX_REALM_JOB, 3, PMIX_LOCAL_RANK), 1);
    cr_expect_eq(number(SX_REALM_JOB, 4, PMIX_NODE_RANK), 2);
    cr_expect_eq(number(SX_REALM_JOB, 4, PMIX_APPNUM), 0);
    expect_text(SX_REALM_JOB, 4, PMIX_HOSTNAME, "n2");
}

Test(derive, takes_all_ranks_for_local_when_their_numbers_agree)
{
    make(3, 3, 0, NULL, NULL);
    cr_assert_eq(sx_derive(&server, job, &map, 0), PMIX_SUCCESS);
    cr_expect_eq(number(SX_REALM_JOB, SX_ROW_JOB, PMIX_NUM_NODES), 1);
    expect_text(SX_REALM_JOB, SX_ROW_JOB, PMIX_LOCAL_PEERS, "0,1,2");
    expect_text(SX_REALM_JOB, 2, PMIX_HOSTNAME, "n1");
    cr_expect_eq(number(SX_REALM_JOB, 2, PMIX_LOCAL_RANK), 2);
}

Test(derive, knows_of_others_only_what_the_clients_notify)
{
    make(9, 2, 1, NULL, NULL);
    cr_assert_eq(sx_derive(&server, job, &map, 0), PMIX_SUCCESS);
    expect_text(SX_REALM_JOB, SX_ROW_JOB, PMIX_LOCAL_PEERS, NULL);
    cr_expect_eq(number(SX_REALM_JOB, SX_ROW_JOB, PMIX_NUM_NODES), NONE);
    struct sx_client *const last = sx_client_add(job, 7);

    cr_assert_eq(sx_derive_client(&server, job, last), PMIX_SUCCESS);
    expect_text(SX_REALM_JOB, SX_ROW_JOB, PMIX_LOCAL_PEERS, "0,7");
    cr_expect_eq(number(SX_REALM_JOB, SX_ROW_JOB, PMIX_LOCALLDR), 0);
    expect_text(SX_REALM_JOB, 7, PMIX_HOSTNAME, "n1");
    expect_text(SX_REALM_JOB, 6, PMIX_HOSTNAME, NULL);
}

Test(derive, touches_nothing_that_the_host_has_said)
{
    make(3, 3, 0, NULL, NULL);
    put(SX_ROW_JOB, PMIX_UNIV_SIZE, 77);
    put(SX_ROW_JOB, PMIX_APPNUM, 4);
    put(1, PMIX_LOCAL_RANK, 55);
    cr_assert_eq(sx_derive(&server, job, &map, 0), PMIX_SUCCESS);
    cr_expect_eq(number(SX_REALM_JOB, SX_ROW_JOB, PMIX_UNIV_SIZE), 77);
    cr_expect_eq(number(SX_REALM_JOB, SX_ROW_JOB, PMIX_MAX_PROCS), 3);
    cr_expect_eq(number(SX_REALM_JOB, 1, PMIX_LOCAL_RANK), 55);
    cr_expect_eq(number(SX_REALM_JOB, 1, PMIX_APPNUM), NONE, "the job's holds for each");
}

#define NONE_GIVEN UINT32_MAX

static void of_rank_1(pmix_info_t *info, const char *key, uint32_t value)
{
    const uint32_t rank = 1;
    pmix_info_t its[2];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 2, .array = its };

    PMIx_Info_load(&its[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
    PMIx_Info_load(&its[1], key, &value, PMIX_UINT32);
    PMIx_Info_load(info, PMIX_PROC_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
}

/* A value of rank 2 is removed before each: if it is there again, all values were derived. */
Test(derive, does_nothing_for_the_state_of_a_process)
{
    static const struct {
        const char *key;
        bool derives, is_flat; /* of the job */
        uint32_t local_count;
    } rows[] = {
        { PMIX_EXIT_CODE, true, false, 3 }, /* the first registration */
        { PMIX_EXIT_CODE, false, false, 3 }, { PMIX_PROC_STATE_STATUS, false, false, 3 },
        { SX_STARTED_PID, false, false, 3 }, { PMIX_REINCARNATION, false, false, 3 },
        { PMIX_PROC_PID, false, false, 3 },  { PMIX_APPNUM, true, false, 3 },
        { PMIX_EXIT_CODE, true, true, 3 },   { PMIX_EXIT_CODE, true, false, 2 },
        { PMIX_EXIT_CODE, false, false, 2 },
    };

    make(3, 3, 0, NULL, NULL);
    for (uint32_t i = 0; i < SX_COUNT(rows); i++) {
        const uint32_t value = 7 + i, rank = 1;
        pmix_info_t info;

        job->local_count = rows[i].local_count;
        if (rows[i].is_flat) {
            PMIx_Info_load(&info, rows[i].key, &value, PMIX_UINT32);
        } else {
            of_rank_1(&info, rows[i].key, value);
        }
        (void)sx_store_unset(&job->store, SX_REALM_JOB, 2, PMIX_APPNUM);
        cr_assert_eq(sx_jobinfo_check("job", job, &info, 1), PMIX_SUCCESS);
        cr_assert_eq(sx_jobinfo_store(&server, job, &info, 1), PMIX_SUCCESS);
        cr_expect_eq(number(SX_REALM_JOB, rows[i].is_flat ? SX_ROW_JOB : rank, rows[i].key), value);
        cr_expect_eq(number(SX_REALM_JOB, 2, PMIX_APPNUM) != NONE, rows[i].derives, "row %u: %s", i,
                     rows[i].key);
        PMIx_Info_destruct(&info);
    }
}

/* Values follow from a resource as well, which is there when all has been derived. */
Test(derive, follows_the_resources_at_the_next_state_of_a_process)
{
    static const struct {
        const char *why;
        enum sx_jobinfo_way way;
        uint32_t app;
        bool derives;
    } rows[] = {
        { "nothing is registered", SX_JOBINFO_FILL, NONE_GIVEN, false },
        { "rank 1 gets an application", SX_JOBINFO_GIVE, 1, true },
        { "it has one", SX_JOBINFO_FILL, 2, false },
        { "it is taken back", SX_JOBINFO_REMOVE, 1, true },
    };

    make(3, 3, 0, NULL, NULL);
    cr_assert_eq(sx_jobinfo_store(&server, job, NULL, 0), PMIX_SUCCESS);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        pmix_info_t info;

        if (rows[i].app != NONE_GIVEN) {
            of_rank_1(&info, PMIX_APPNUM, rows[i].app);
            cr_assert_eq(sx_jobinfo_apply(&server, job, &info, 1, rows[i].way), PMIX_SUCCESS);
            PMIx_Info_destruct(&info);
        }
        (void)sx_store_unset(&job->store, SX_REALM_JOB, 2, PMIX_APPNUM);
        of_rank_1(&info, PMIX_EXIT_CODE, 3);
        cr_assert_eq(sx_jobinfo_store(&server, job, &info, 1), PMIX_SUCCESS);
        cr_expect_eq(number(SX_REALM_JOB, 2, PMIX_APPNUM) != NONE, rows[i].derives, "%s",
                     rows[i].why);
        PMIx_Info_destruct(&info);
    }
}

/* Which of the nodes is this one. */
static const struct {
    const char *why, *nodes, *hostname;
    uint32_t said, want; /* NOBODY: nothing */
} owns[] = {
#define NOBODY UINT32_MAX
    { "by its name", "n2,n1", "n1", NOBODY, 1 },
    { "by its name without a domain", "n2,n1", "n1.cluster", NOBODY, 1 },
    { "by its name with a domain", "n2,n1.cluster", "n1", NOBODY, 1 },
    { "not by the name in another domain", "n2,n1.a", "n1.b", NOBODY, NOBODY },
    { "not by the beginning of a name", "n2,n11", "n1", NOBODY, NOBODY },
    { "by the host's number, whatever it is called", "n2,n1", "n1", 0, 0 },
    { "by its name, where the number is none", "n2,n1", "n1", 2, 1 },
    { "as the only one", "n9", "n1", NOBODY, 0 },
};

Test(derive, finds_its_own_node)
{
    for (size_t i = 0; i < SX_COUNT(owns); i++) {
        make(2, 1, 0, owns[i].nodes, NULL);
        strncpy(server.hostname, owns[i].hostname, sizeof(server.hostname) - 1);
        if (owns[i].said != NOBODY) {
            put(SX_ROW_JOB, PMIX_NODEID, owns[i].said);
        }
        cr_expect_eq(sx_derive_own_node(&server, job, &map), owns[i].want, "%s", owns[i].why);
        sx_nodemap_clear(&map);
        sx_nspace_remove(&server, job);
    }
}

Test(derive, notifies_a_process_that_is_there_and_believes_the_host)
{
    struct answers answers;

    make(2, 2, 2, NULL, NULL);
    struct sx_client *const client = sx_client_find(job, 0);

    sx_derive_process(&server, client);
    cr_expect_eq(number(SX_REALM_JOB, 0, PMIX_PROC_PID), NONE, "nobody is connected");
    answers_begin(&answers, &server, client);
    sx_derive_process(&server, client);
    cr_expect_eq(number(SX_REALM_JOB, 0, PMIX_PROC_PID), (uint64_t)getpid());
    answers.channel.peer.pid = 1;
    sx_derive_process(&server, client);
    cr_expect_eq(number(SX_REALM_JOB, 0, PMIX_PROC_PID), 1, "another one in its place");
    put(1, PMIX_PROC_PID, 4242);
    struct sx_client *const other = sx_client_find(job, 1);

    other->channel = client->channel;
    sx_derive_process(&server, other);
    cr_expect_eq(number(SX_REALM_JOB, 1, PMIX_PROC_PID), 4242);
    other->channel = NULL;
    answers_end(&answers, client);
}

/* ---- sizes, leaders and nodes of applications ------------------------------------------------ */

#define RANKS 4

static void apps_begin(void)
{
    bare_init(&server);
    job = bare_job(&server, "job", RANKS, 1);
    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
    cr_assert_eq(sx_nodemap_read(&map, "a,b", "0-2;3"), PMIX_SUCCESS);
}

TestSuite(apps, .init = apps_begin, .fini = end);

static void apps_put(enum sx_realm realm, uint32_t row, const char *key, uint32_t number)
{
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };

    cr_assert_eq(sx_store_put(&job->store, realm, row, key, PMIX_GLOBAL, &value), PMIX_SUCCESS);
}

static uint64_t notified(uint32_t app, const char *key)
{
    struct sx_item item;

    return sx_store_find(&job->store.view, SX_REALM_APP, app, key, &item) == PMIX_SUCCESS
               ? item.cell.bits
               : NONE;
}

static uint32_t derive(void)
{
    uint32_t count = 0;

    cr_assert_eq(sx_apps_derive(job, &map, &count), PMIX_SUCCESS);
    return count;
}

Test(apps, of_a_job_that_names_none_are_one)
{
    cr_expect_eq(derive(), 1);
    cr_expect_eq(notified(0, PMIX_APP_SIZE), RANKS);
    cr_expect_eq(notified(0, PMIX_APPLDR), 0);
    cr_expect_eq(notified(0, PMIX_MAX_PROCS), NONE, "the job says it");
    cr_expect_eq(notified(0, PMIX_NUM_NODES), NONE, "the job says it");
}

Test(apps, of_several_are_notified_apart)
{
    apps_put(SX_REALM_JOB, 0, PMIX_APPNUM, 2); /* ranks 0 and 3, on both nodes; 1 and 2 on one */
    apps_put(SX_REALM_JOB, 3, PMIX_APPNUM, 2);
    cr_expect_eq(derive(), 3, "by the highest number");
    cr_expect_eq(notified(0, PMIX_APP_SIZE), 2);
    cr_expect_eq(notified(0, PMIX_APPLDR), 1);
    cr_expect_eq(notified(0, PMIX_NUM_NODES), 1);
    cr_expect_eq(notified(1, PMIX_APP_SIZE), NONE);
    cr_expect_eq(notified(2, PMIX_APP_SIZE), 2);
    cr_expect_eq(notified(2, PMIX_APPLDR), 0);
    cr_expect_eq(notified(2, PMIX_NUM_NODES), 2);
    cr_expect_eq(notified(2, PMIX_MAX_PROCS), 2);
}

Test(apps, are_what_the_job_says_where_a_rank_says_nothing)
{
    apps_put(SX_REALM_JOB, SX_ROW_JOB, PMIX_APPNUM, 1);
    apps_put(SX_REALM_JOB, 2, PMIX_APPNUM, 0);
    cr_expect_eq(derive(), 2);
    cr_expect_eq(notified(0, PMIX_APP_SIZE), 1);
    cr_expect_eq(notified(0, PMIX_APPLDR), 2);
    cr_expect_eq(notified(1, PMIX_APP_SIZE), 3);
}

Test(apps, are_over_with_the_last_of_their_processes)
{
    apps_put(SX_REALM_JOB, 1, PMIX_APPNUM, 1);
    apps_put(SX_REALM_JOB, 2, PMIX_APPNUM, 1);
    apps_put(SX_REALM_JOB, SX_ROW_JOB, PMIX_JOB_NUM_APPS, derive());
    for (uint32_t rank = 1; rank < RANKS; rank++) {
        cr_assert_not_null(sx_client_add(job, rank));
    }
    sx_client_find(job, 1)->departed = true;
    cr_expect_not(sx_apps_is_over(job, 1));
    sx_client_find(job, 2)->state = SX_CLIENT_DEAD;
    cr_expect(sx_apps_is_over(job, 1));
    cr_expect_not(sx_apps_is_over(job, 0));
    sx_client_find(job, 1)->departed = false; /* another process comes in its place */
    cr_expect_not(sx_apps_is_over(job, 1));
    sx_client_find(job, 1)->departed = true;
    apps_put(SX_REALM_APP, 1, PMIX_APP_SIZE, 3); /* one is on another node */
    cr_expect_not(sx_apps_is_over(job, 1));
}

Test(apps, keep_the_hosts_words)
{
    apps_put(SX_REALM_APP, 0, PMIX_APP_SIZE, 77);
    (void)derive();
    cr_expect_eq(notified(0, PMIX_APP_SIZE), 77);
    cr_expect_eq(notified(0, PMIX_APPLDR), 0);
}

Test(apps, have_no_nodes_where_nobody_knows_them)
{
    sx_nodemap_clear(&map);
    apps_put(SX_REALM_JOB, 0, PMIX_APPNUM, 1);
    cr_expect_eq(derive(), 2);
    cr_expect_eq(notified(0, PMIX_APP_SIZE), 3);
    cr_expect_eq(notified(0, PMIX_NUM_NODES), NONE);
}

Test(apps, of_a_job_of_no_size_are_not_notified)
{
    job->job_size = 0;
    cr_expect_eq(derive(), 1);
    cr_expect_eq(notified(0, PMIX_APP_SIZE), NONE);
}

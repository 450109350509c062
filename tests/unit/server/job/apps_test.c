/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* apps_test.c - sizes, leaders and nodes of a job's applications, from which rank is of which. */
#include "server/job/job.h"

#include "../bare.h"

static struct sx_server server;
static struct sx_nspace *job;
static struct sx_nodemap map;

#define RANKS 4

static void begin(void)
{
    bare_init(&server);
    job = bare_job(&server, "job", RANKS, 1);
    cr_assert_eq(sx_nspace_open(&server, job), PMIX_SUCCESS);
    cr_assert_eq(sx_nodemap_read(&map, "a,b", "0-2;3"), PMIX_SUCCESS);
}

static void end(void)
{
    sx_nodemap_clear(&map);
    bare_deinit(&server);
}

TestSuite(apps, .init = begin, .fini = end);

static void put(enum sx_realm realm, uint32_t row, const char *key, uint32_t number)
{
    const pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = number };

    cr_assert_eq(sx_store_put(&job->store, realm, row, key, PMIX_GLOBAL, &value), PMIX_SUCCESS);
}

#define NONE UINT64_MAX

static uint64_t told(uint32_t app, const char *key)
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
    cr_expect_eq(told(0, PMIX_APP_SIZE), RANKS);
    cr_expect_eq(told(0, PMIX_APPLDR), 0);
    cr_expect_eq(told(0, PMIX_MAX_PROCS), NONE, "the job says it");
    cr_expect_eq(told(0, PMIX_NUM_NODES), NONE, "the job says it");
}

Test(apps, of_several_are_told_apart)
{
    put(SX_REALM_JOB, 0, PMIX_APPNUM, 2); /* ranks 0 and 3, on both nodes; 1 and 2 on one */
    put(SX_REALM_JOB, 3, PMIX_APPNUM, 2);
    cr_expect_eq(derive(), 3, "by the highest number");
    cr_expect_eq(told(0, PMIX_APP_SIZE), 2);
    cr_expect_eq(told(0, PMIX_APPLDR), 1);
    cr_expect_eq(told(0, PMIX_NUM_NODES), 1);
    cr_expect_eq(told(1, PMIX_APP_SIZE), NONE);
    cr_expect_eq(told(2, PMIX_APP_SIZE), 2);
    cr_expect_eq(told(2, PMIX_APPLDR), 0);
    cr_expect_eq(told(2, PMIX_NUM_NODES), 2);
    cr_expect_eq(told(2, PMIX_MAX_PROCS), 2);
}

Test(apps, are_what_the_job_says_where_a_rank_says_nothing)
{
    put(SX_REALM_JOB, SX_ROW_JOB, PMIX_APPNUM, 1);
    put(SX_REALM_JOB, 2, PMIX_APPNUM, 0);
    cr_expect_eq(derive(), 2);
    cr_expect_eq(told(0, PMIX_APP_SIZE), 1);
    cr_expect_eq(told(0, PMIX_APPLDR), 2);
    cr_expect_eq(told(1, PMIX_APP_SIZE), 3);
}

Test(apps, are_over_with_the_last_of_their_processes)
{
    put(SX_REALM_JOB, 1, PMIX_APPNUM, 1);
    put(SX_REALM_JOB, 2, PMIX_APPNUM, 1);
    put(SX_REALM_JOB, SX_ROW_JOB, PMIX_JOB_NUM_APPS, derive());
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
    put(SX_REALM_APP, 1, PMIX_APP_SIZE, 3); /* one is on another node */
    cr_expect_not(sx_apps_is_over(job, 1));
}

Test(apps, keep_the_hosts_words)
{
    put(SX_REALM_APP, 0, PMIX_APP_SIZE, 77);
    (void)derive();
    cr_expect_eq(told(0, PMIX_APP_SIZE), 77);
    cr_expect_eq(told(0, PMIX_APPLDR), 0);
}

Test(apps, have_no_nodes_where_nobody_knows_them)
{
    sx_nodemap_clear(&map);
    put(SX_REALM_JOB, 0, PMIX_APPNUM, 1);
    cr_expect_eq(derive(), 2);
    cr_expect_eq(told(0, PMIX_APP_SIZE), 3);
    cr_expect_eq(told(0, PMIX_NUM_NODES), NONE);
}

Test(apps, of_a_job_of_no_size_are_not_told)
{
    job->job_size = 0;
    cr_expect_eq(derive(), 1);
    cr_expect_eq(told(0, PMIX_APP_SIZE), NONE);
}

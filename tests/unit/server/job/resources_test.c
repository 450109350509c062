/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* resources_test.c - what belongs to no job is found in every one, until it is taken back. */
#include <criterion/criterion.h>
#include <string.h>

#include "../hosted.h"
#include "base/call/role.h"
#include "shmem/store.h"

static void job(const char *name, const char *key, uint32_t number)
{
    pmix_nspace_t nspace;
    pmix_info_t info;

    PMIx_Load_nspace(nspace, name);
    cr_assert_eq(PMIx_Info_load(&info, key, &number, PMIX_UINT32), PMIX_SUCCESS);
    cr_assert_eq(PMIx_server_register_nspace(nspace, 0, &info, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

struct question {
    enum sx_realm realm;
    uint32_t row;
    const char *key;
    uint64_t got;
};

static bool ask(void *arg, const char *nspace, const struct sx_store *store,
                const struct sx_membership *members)
{
    struct question *const question = arg;
    struct sx_item item;

    (void)nspace, (void)members;
    if (sx_store_find(store, question->realm, question->row, question->key, &item) ==
        PMIX_SUCCESS) {
        question->got = item.cell.bits;
    }
    return true;
}

#define NONE UINT64_MAX

static void expect(const char *name, enum sx_realm realm, uint32_t row, const char *key,
                   uint64_t want)
{
    struct question question = { .realm = realm, .row = row, .key = key, .got = NONE };

    cr_assert_eq(sx_role_server_get()->each_store(name, ask, &question), PMIX_SUCCESS);
    cr_expect_eq(question.got, want, "%s %s: %lld", name, key, (long long)question.got);
}

static pmix_info_t resources[2];

/* Slots of the session, and the size of node 3. */
static void begin(void)
{
    const uint32_t slots = 40, node = 3, size = 16;
    pmix_info_t inner[2];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 2, .array = inner };

    hosted_begin();
    PMIx_Info_load(&resources[0], PMIX_NUM_SLOTS, &slots, PMIX_UINT32);
    PMIx_Info_load(&inner[0], PMIX_NODEID, &node, PMIX_UINT32);
    PMIx_Info_load(&inner[1], PMIX_NODE_SIZE, &size, PMIX_UINT32);
    PMIx_Info_load(&resources[1], PMIX_NODE_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
}

static void end(void)
{
    PMIx_Info_destruct(&resources[0]);
    PMIx_Info_destruct(&resources[1]);
    hosted_end();
}

TestSuite(resource, .init = begin, .fini = end);

static void on_done(pmix_status_t status, void *cbdata)
{
    __atomic_store_n((int *)cbdata, status == PMIX_SUCCESS ? 1 : 2, __ATOMIC_RELEASE);
}

Test(resource, is_in_jobs_that_are_there_and_in_those_that_come)
{
    int done = 0;

    job("before", PMIX_JOB_SIZE, 1);
    cr_assert_eq(PMIx_server_register_resources(resources, 2, on_done, &done), PMIX_SUCCESS);
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) == 0) {
    }
    cr_expect_eq(done, 1);
    job("after", PMIX_JOB_SIZE, 1);
    for (int i = 0; i < 2; i++) {
        const char *const name = i == 0 ? "before" : "after";

        expect(name, SX_REALM_JOB, SX_ROW_JOB, PMIX_NUM_SLOTS, 40);
        expect(name, SX_REALM_NODE, 3, PMIX_NODE_SIZE, 16);
    }
}

Test(resource, gives_way_to_what_a_later_job_says)
{
    cr_assert_eq(PMIx_server_register_resources(resources, 2, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    job("own", PMIX_NUM_SLOTS, 7);
    expect("own", SX_REALM_JOB, SX_ROW_JOB, PMIX_NUM_SLOTS, 7);
    expect("own", SX_REALM_NODE, 3, PMIX_NODE_SIZE, 16);
    cr_assert_eq(PMIx_server_deregister_resources(resources, 2, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    expect("own", SX_REALM_JOB, SX_ROW_JOB, PMIX_NUM_SLOTS, 7);
    expect("own", SX_REALM_NODE, 3, PMIX_NODE_SIZE, NONE);
}

Test(resource, is_gone_when_it_is_taken_back)
{
    cr_assert_eq(PMIx_server_register_resources(resources, 2, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    job("one", PMIX_JOB_SIZE, 1);
    cr_assert_eq(PMIx_server_deregister_resources(resources, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    job("two", PMIX_JOB_SIZE, 1);
    expect("one", SX_REALM_JOB, SX_ROW_JOB, PMIX_NUM_SLOTS, NONE);
    expect("two", SX_REALM_JOB, SX_ROW_JOB, PMIX_NUM_SLOTS, NONE);
    expect("two", SX_REALM_NODE, 3, PMIX_NODE_SIZE, 16);
    cr_expect_eq(PMIx_server_deregister_resources(resources, 1, NULL, NULL), PMIX_ERR_NOT_FOUND);
}

/* An array of node @node, with members whose values nobody says. */
static pmix_status_t deregister(const char *key, uint32_t node, const char *first,
                                const char *second)
{
    pmix_info_t inner[3] = { 0 }, info = { 0 };
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 1, .array = inner };

    PMIx_Load_key(info.key, key);
    if (node != UINT32_MAX) {
        PMIx_Info_load(&inner[0], PMIX_NODEID, &node, PMIX_UINT32);
        PMIx_Load_key(inner[1].key, first);
        PMIx_Load_key(inner[2].key, second);
        array.size += (first != NULL) + (second != NULL);
        info.value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &array };
    }
    return PMIx_server_deregister_resources(&info, 1, NULL, NULL);
}

Test(resource, is_taken_back_by_its_key_alone)
{
    cr_assert_eq(PMIx_server_register_resources(resources, 2, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    job("one", PMIX_JOB_SIZE, 1);
    cr_expect_eq(deregister(PMIX_NODE_INFO_ARRAY, UINT32_MAX, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    expect("one", SX_REALM_NODE, 3, PMIX_NODE_SIZE, NONE);
    cr_expect_eq(deregister(PMIX_NODE_INFO_ARRAY, UINT32_MAX, NULL, NULL), PMIX_ERR_NOT_FOUND);
    expect("one", SX_REALM_JOB, SX_ROW_JOB, PMIX_NUM_SLOTS, 40);
    cr_expect_eq(deregister(PMIX_NUM_SLOTS, UINT32_MAX, NULL, NULL), PMIX_OPERATION_SUCCEEDED);
    expect("one", SX_REALM_JOB, SX_ROW_JOB, PMIX_NUM_SLOTS, NONE);
}

Test(resource, is_taken_back_by_node_and_member)
{
    const uint32_t node = 4, number = 5;
    pmix_info_t inner[3], other;
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 3, .array = inner };

    PMIx_Info_load(&inner[0], PMIX_NODEID, &node, PMIX_UINT32);
    PMIx_Info_load(&inner[1], PMIX_NODE_SIZE, &number, PMIX_UINT32);
    PMIx_Info_load(&inner[2], "my.key", &number, PMIX_UINT32);
    PMIx_Info_load(&other, PMIX_NODE_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
    cr_assert_eq(PMIx_server_register_resources(resources, 2, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    cr_assert_eq(PMIx_server_register_resources(&other, 1, NULL, NULL), PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_destruct(&other);
    job("one", PMIX_JOB_SIZE, 1);
    cr_expect_eq(deregister(PMIX_NODE_INFO_ARRAY, 5, NULL, NULL), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(deregister(PMIX_NODE_INFO_ARRAY, 4, "no.key", NULL), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(deregister(PMIX_NODE_INFO_ARRAY, 4, "my.key", NULL), PMIX_OPERATION_SUCCEEDED);
    job("two", PMIX_JOB_SIZE, 1);
    for (int i = 0; i < 2; i++) {
        const char *const name = i == 0 ? "one" : "two";

        expect(name, SX_REALM_NODE, 4, "my.key", NONE);
        expect(name, SX_REALM_NODE, 4, PMIX_NODE_SIZE, 5);
        expect(name, SX_REALM_NODE, 3, PMIX_NODE_SIZE, 16);
    }
    cr_expect_eq(deregister(PMIX_NODE_INFO_ARRAY, 3, NULL, NULL), PMIX_OPERATION_SUCCEEDED);
    expect("one", SX_REALM_NODE, 3, PMIX_NODE_SIZE, NONE);
    expect("one", SX_REALM_NODE, 4, PMIX_NODE_SIZE, 5);
}

Test(resource, needs_something_to_say)
{
    cr_expect_eq(PMIx_server_register_resources(NULL, 1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_register_resources(resources, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    memset(resources[0].key, 'x', sizeof(resources[0].key));
    cr_expect_eq(PMIx_server_register_resources(resources, 1, NULL, NULL), PMIX_ERR_BAD_PARAM);
    resources[0].key[3] = '\0';
}

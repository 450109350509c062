/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* resources_test.c - what belongs to no job is found in every one, until it is taken back; the
 * inventory. */
#include <criterion/criterion.h>

#include <hwloc.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix.h>
#include <pmix_server.h>

#include "../hosted.h"
#include "base/call/role.h"
#include "base/system/topology.h"
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

/* What no job can have is refused, also while there is none; what one job cannot have besides its
 * own data is not given to that one. */
Test(resource, does_not_keep_a_later_job_out)
{
    pmix_info_t bad = { .value = { .type = PMIX_UNDEF } }, map, own[2];
    const uint32_t size = 2;
    pmix_nspace_t nspace;

    memcpy(bad.key, "site.bad", sizeof("site.bad"));
    cr_expect_neq(PMIx_server_register_resources(&bad, 1, NULL, NULL), PMIX_OPERATION_SUCCEEDED);
    job("first", PMIX_JOB_SIZE, 1);

    PMIx_Info_load(&map, PMIX_NODE_MAP, "n1", PMIX_STRING);
    cr_assert_eq(PMIx_server_register_resources(&map, 1, NULL, NULL), PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_load(&own[0], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    PMIx_Info_load(&own[1], PMIX_PROC_MAP, "0;1", PMIX_STRING);
    PMIx_Load_nspace(nspace, "of two nodes");
    cr_expect_eq(PMIx_server_register_nspace(nspace, 0, own, 2, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    expect("of two nodes", SX_REALM_JOB, SX_ROW_JOB, PMIX_JOB_SIZE, 2);
    PMIx_Info_destruct(&map);
    PMIx_Info_destruct(&own[1]);
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

/* ---- the inventory: calls before the first job, and after the last one, succeed -------------- */

static sem_t done;

static void inventory_begin(void)
{
    static pmix_server_module_t module;

    sem_init(&done, 0, 0);
    cr_assert_eq(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS);
}

static void inventory_end(void)
{
    cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
    sem_destroy(&done);
}

TestSuite(inventory, .init = inventory_begin, .fini = inventory_end);

static pmix_info_t *kept; /* what the host was given, and keeps beyond the callback */
static pmix_release_cbfunc_t kept_release;
static void *kept_cbdata;

static void on_list(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                    pmix_release_cbfunc_t release, void *release_cbdata)
{
    cr_expect_eq(status, PMIX_SUCCESS);
    cr_expect_eq(ninfo, 1);
    cr_expect_eq(cbdata, &done);
    kept = info;
    kept_release = release;
    kept_cbdata = release_cbdata;
    sem_post(&done);
}

static void collect(void)
{
    cr_assert_eq(PMIx_server_collect_inventory(NULL, 0, on_list, &done), PMIX_SUCCESS);
    sem_wait(&done);
}

static void on_delivered(pmix_status_t status, void *cbdata)
{
    cr_expect_eq(status, PMIX_SUCCESS);
    cr_expect_eq(cbdata, &done);
    sem_post(&done);
}

/* What a job's store says of the node that is called @host under @key; NULL: nothing. */
static const char *notified(const char *host, const char *key)
{
    pmix_info_t info[2];
    pmix_proc_t proc;
    pmix_value_t *value;
    static char text[64];

    PMIx_Load_procid(&proc, "job", PMIX_RANK_WILDCARD);
    PMIx_Info_load(&info[0], PMIX_NODE_INFO, NULL, PMIX_BOOL);
    PMIx_Info_load(&info[1], PMIX_HOSTNAME, host, PMIX_STRING);
    const pmix_status_t rc = PMIx_Get(&proc, key, info, 2, &value);

    PMIx_Info_destruct(&info[1]);
    if (rc != PMIX_SUCCESS) {
        return NULL;
    }
    cr_assert_eq(value->type, PMIX_STRING);
    snprintf(text, sizeof(text), "%s", value->data.string);
    PMIx_Value_free(value, 1);
    return text;
}

/* A job of two nodes, this one and "far". */
static void inventory_job(const char *name)
{
    char nodes[300] = "far,", *regex, *ranks;
    pmix_nspace_t nspace;
    pmix_info_t info[2];

    gethostname(nodes + 4, sizeof(nodes) - 4);
    PMIx_Load_nspace(nspace, name);
    cr_assert_eq(PMIx_generate_regex(nodes, &regex), PMIX_SUCCESS);
    cr_assert_eq(PMIx_generate_ppn("0;1", &ranks), PMIX_SUCCESS);
    PMIx_Info_load(&info[0], PMIX_NODE_MAP, regex, PMIX_REGEX);
    PMIx_Info_load(&info[1], PMIX_PROC_MAP, ranks, PMIX_REGEX);
    cr_assert_eq(PMIx_server_register_nspace(nspace, 0, info, 2, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
    free(regex);
    free(ranks);
}

/* The array of a node called @host, with a color and @size bytes more. */
static void node_load(pmix_info_t *info, const char *host, const char *text, size_t size)
{
    char *const padding = calloc(1, size + 1);
    pmix_info_t parts[3];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 3, .array = parts };

    cr_assert_not_null(padding);
    memset(padding, 'x', size);
    PMIx_Info_load(&parts[0], PMIX_HOSTNAME, host, PMIX_STRING);
    PMIx_Info_load(&parts[1], "color", text, PMIX_STRING);
    PMIx_Info_load(&parts[2], "padding", padding, PMIX_STRING);
    cr_assert_eq(PMIx_Info_load(info, PMIX_NODE_INFO_ARRAY, &array, PMIX_DATA_ARRAY), PMIX_SUCCESS);
    for (size_t i = 0; i < 3; i++) {
        PMIx_Info_destruct(&parts[i]);
    }
    free(padding);
}

Test(inventory, collecting_describes_this_node)
{
    const pmix_info_t *parts;
    hwloc_topology_t topology;
    char name[256];

    collect();
    gethostname(name, sizeof(name));
    cr_assert(PMIx_Check_key(kept->key, PMIX_NODE_INFO_ARRAY));
    cr_assert_eq(kept->value.type, PMIX_DATA_ARRAY);
    cr_assert_eq(kept->value.data.darray->type, PMIX_INFO);
    cr_assert_eq(kept->value.data.darray->size, 2);
    parts = kept->value.data.darray->array;
    cr_expect(PMIx_Check_key(parts[0].key, PMIX_HOSTNAME));
    cr_expect_str_eq(parts[0].value.data.string, name);
    cr_expect(PMIx_Check_key(parts[1].key, PMIX_HWLOC_XML_V2));
    const char *const xml = parts[1].value.data.string;

    cr_assert_eq(sx_topology_read(xml, strlen(xml) + 1, &topology), PMIX_SUCCESS);
    cr_expect_gt(hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU), 0);
    hwloc_topology_destroy(topology);
    kept_release(kept_cbdata); /* hosts do not ask whether it is there */
    cr_expect_eq(PMIx_server_collect_inventory(NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_collect_inventory(NULL, 1, on_list, &done), PMIX_ERR_BAD_PARAM);
}

/* As one host tells another, over a wire. */
Test(inventory, what_is_collected_can_be_packed_and_delivered)
{
    char name[256];
    pmix_data_buffer_t buffer;
    pmix_info_t got;
    int32_t one = 1;

    inventory_job("job");
    collect();
    PMIx_Data_buffer_construct(&buffer);
    cr_assert_eq(PMIx_Data_pack(NULL, &buffer, kept, 1, PMIX_INFO), PMIX_SUCCESS);
    kept_release(kept_cbdata);
    cr_assert_eq(PMIx_Data_unpack(NULL, &buffer, &got, &one, PMIX_INFO), PMIX_SUCCESS);
    PMIx_Data_buffer_destruct(&buffer);
    cr_assert_eq(PMIx_server_deliver_inventory(&got, 1, NULL, 0, on_delivered, &done),
                 PMIX_SUCCESS);
    sem_wait(&done);
    gethostname(name, sizeof(name));
    cr_assert_not_null(notified(name, PMIX_HWLOC_XML_V2));
    cr_expect_eq(strncmp(notified(name, PMIX_HWLOC_XML_V2), "<?xml", 5), 0);
    PMIx_Info_destruct(&got);
}

Test(inventory, what_is_delivered_is_in_jobs_that_are_there_and_in_those_that_come)
{
    pmix_info_t info[3], near;

    node_load(&info[0], "far", "red", 1);
    node_load(&info[1], "far", "blue", 1);
    PMIx_Info_load(&info[2], "a.device", "eth0", PMIX_STRING); /* another library's */
    cr_assert_eq(PMIx_server_deliver_inventory(info, 1, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    inventory_job("job");
    cr_expect_str_eq(notified("far", "color"), "red");
    cr_expect_null(notified("near", "color"));
    node_load(&near, "near", "green", 1); /* no node of this job */
    cr_assert_eq(PMIx_server_deliver_inventory(&near, 1, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    cr_expect_null(notified("near", "color"));
    PMIx_Info_destruct(&near);
    cr_assert_eq(PMIx_server_deliver_inventory(&info[1], 2, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    cr_expect_str_eq(notified("far", "color"), "blue");
    for (int i = 0; i < 100; i++) { /* again and again takes no more room than once */
        cr_assert_eq(PMIx_server_deliver_inventory(info, 2, NULL, 0, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
    }
    cr_expect_str_eq(notified("far", "color"), "blue");
    cr_expect_eq(PMIx_server_deliver_inventory(NULL, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_deliver_inventory(NULL, 0, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    memset(info[2].key, 'k', sizeof(info[2].key));
    cr_expect_eq(PMIx_server_deliver_inventory(info, 3, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    info[2].key[3] = '\0';
    for (int i = 0; i < 3; i++) {
        PMIx_Info_destruct(&info[i]);
    }
}

Test(inventory, has_a_bound)
{
    pmix_info_t info;
    char host[16];

    for (int i = 0; i < 16; i++) { /* each a little less than a MiB, and then one more */
        snprintf(host, sizeof(host), "host%d", i);
        node_load(&info, host, "x", ((size_t)1 << 20) - 4096);
        cr_assert_eq(PMIx_server_deliver_inventory(&info, 1, NULL, 0, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
        cr_assert_eq(PMIx_server_deliver_inventory(&info, 1, NULL, 0, NULL, NULL),
                     PMIX_OPERATION_SUCCEEDED);
        PMIx_Info_destruct(&info);
    }
    node_load(&info, "more", "x", (size_t)1 << 20);
    cr_expect_eq(PMIx_server_deliver_inventory(&info, 1, NULL, 0, NULL, NULL),
                 PMIX_ERR_OUT_OF_RESOURCE);
    PMIx_Info_destruct(&info);
}

Test(inventory, required_directives_are_refused)
{
    pmix_info_t directive;

    cr_assert_eq(PMIx_Info_load(&directive, "a.directive", NULL, PMIX_BOOL), PMIX_SUCCESS);
    cr_assert_eq(PMIx_server_deliver_inventory(NULL, 0, &directive, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    directive.flags = PMIX_INFO_REQD;
    cr_expect_eq(PMIx_server_collect_inventory(&directive, 1, on_list, &done),
                 PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(PMIx_server_deliver_inventory(NULL, 0, &directive, 1, NULL, NULL),
                 PMIX_ERR_NOT_SUPPORTED);
}

Test(inventory, a_host_may_deregister_a_handler_that_it_never_had)
{
    cr_expect_eq(PMIx_Deregister_event_handler(0, NULL, NULL), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Deregister_event_handler(4711, on_delivered, &done), PMIX_SUCCESS);
    sem_wait(&done);
}

Test(inventory_alone, needs_a_server)
{
    cr_expect_eq(PMIx_server_collect_inventory(NULL, 0, on_list, &done), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_server_deliver_inventory(NULL, 0, NULL, 0, NULL, NULL), PMIX_ERR_INIT);
}

Test(inventory_alone, maps_are_made_without_a_server)
{
    char *nodes = NULL;
    char *ranks = NULL;

    cr_assert_eq(PMIx_generate_regex("n1,n2", &nodes), PMIX_SUCCESS);
    cr_assert_eq(PMIx_generate_ppn("0,1;2", &ranks), PMIX_SUCCESS);
    cr_expect_str_eq(nodes, "shmix:n1,n2");
    cr_expect_str_eq(ranks, "shmix:0,1;2");
    free(nodes);
    free(ranks);
}

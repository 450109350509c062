/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* host_get_test.c - the host's own Get: realms, rows, qualifiers, and what it cannot do. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "server/model/state.h"

#define NSPACE "host.job"

static void load_u32(pmix_info_t *info, const char *key, uint32_t number)
{
    cr_assert_eq(PMIx_Info_load(info, key, &number, PMIX_UINT32), PMIX_SUCCESS);
}

/* {key: number, qualifiers ...}: the infos live as long as the value does. */
static void load_qualified(pmix_info_t *info, const char *key, uint32_t number, uint32_t which)
{
    pmix_info_t parts[2];
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 2, .array = parts };

    load_u32(&parts[0], key, number);
    load_u32(&parts[1], "which", which);
    PMIx_Info_qualifier(&parts[1]);
    cr_assert_eq(PMIx_Info_load(info, PMIX_QUALIFIED_VALUE, &array, PMIX_DATA_ARRAY), PMIX_SUCCESS);
}

/* Two nodes with a size each, an app, and qualified values of the job and of rank 1. */
static void begin(void)
{
    pmix_server_module_t module = { .abort = NULL };
    pmix_info_t infos[6], node[2][3], app[2], rank[2];
    pmix_data_array_t arrays[4] = {
        { .type = PMIX_INFO, .size = 3, .array = node[0] },
        { .type = PMIX_INFO, .size = 3, .array = node[1] },
        { .type = PMIX_INFO, .size = 2, .array = app },
        { .type = PMIX_INFO, .size = 2, .array = rank },
    };
    static const char *const names[] = { "alpha", "beta" };
    pmix_nspace_t nspace = NSPACE;

    cr_assert_eq(PMIx_Info_load(&infos[0], PMIX_SERVER_NSPACE, "the.server", PMIX_STRING), 0);
    load_u32(&infos[1], PMIX_SERVER_RANK, 4);
    cr_assert_eq(PMIx_server_init(&module, infos, 2), PMIX_SUCCESS);
    load_u32(&infos[0], PMIX_JOB_SIZE, 2);
    for (uint32_t i = 0; i < 2; i++) {
        load_u32(&node[i][0], PMIX_NODEID, i);
        cr_assert_eq(PMIx_Info_load(&node[i][1], PMIX_HOSTNAME, names[i], PMIX_STRING), 0);
        load_u32(&node[i][2], PMIX_NODE_SIZE, 10 + i);
        cr_assert_eq(PMIx_Info_load(&infos[1 + i], PMIX_NODE_INFO_ARRAY, &arrays[i],
                                    PMIX_DATA_ARRAY),
                     0);
    }
    load_u32(&app[0], PMIX_APPNUM, 0);
    load_u32(&app[1], PMIX_APP_SIZE, 2);
    cr_assert_eq(PMIx_Info_load(&infos[3], PMIX_APP_INFO_ARRAY, &arrays[2], PMIX_DATA_ARRAY), 0);
    load_u32(&rank[0], PMIX_RANK, 1);
    load_qualified(&rank[1], "key", 71, 1);
    cr_assert_eq(PMIx_Info_load(&infos[4], PMIX_PROC_DATA, &arrays[3], PMIX_DATA_ARRAY), 0);
    load_qualified(&infos[5], "key", 70, 1);
    cr_assert_eq(PMIx_server_register_nspace(nspace, 0, infos, 6, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

static void end(void)
{
    cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
}

TestSuite(host_get, .init = begin, .fini = end);

#define NONE UINT32_MAX

static uint32_t get(pmix_rank_t rank, const char *key, const pmix_info_t *info, size_t ninfo,
                    pmix_status_t want)
{
    const pmix_proc_t proc = { .nspace = NSPACE, .rank = rank };
    pmix_value_t *value;

    const pmix_status_t rc = PMIx_Get(&proc, key, info, ninfo, &value);
    cr_expect_eq(rc, want, "%s of %u: %d", key, rank, rc);
    if (rc != PMIX_SUCCESS) {
        return NONE;
    }
    const uint32_t number = value->data.uint32;
    PMIx_Value_destruct(value);
    free(value);
    return number;
}

Test(host_get, finds_the_row_that_is_named)
{
    pmix_info_t infos[2];

    cr_assert_eq(PMIx_Info_load(&infos[0], PMIX_NODE_INFO, NULL, PMIX_BOOL), PMIX_SUCCESS);
    PMIx_Info_required(&infos[0]);
    load_u32(&infos[1], PMIX_NODEID, 1);
    cr_expect_eq(get(PMIX_RANK_WILDCARD, PMIX_NODE_SIZE, infos, 2, PMIX_SUCCESS), 11u);
    load_u32(&infos[1], PMIX_NODEID, 5);
    get(PMIX_RANK_WILDCARD, PMIX_NODE_SIZE, infos, 2, PMIX_ERR_NOT_FOUND);
    cr_assert_eq(PMIx_Info_load(&infos[1], PMIX_HOSTNAME, "beta", PMIX_STRING), PMIX_SUCCESS);
    cr_expect_eq(get(PMIX_RANK_WILDCARD, PMIX_NODE_SIZE, infos, 2, PMIX_SUCCESS), 11u);
    PMIx_Info_destruct(&infos[1]);
    cr_expect_eq(get(0, PMIX_APP_SIZE, NULL, 0, PMIX_SUCCESS), 2u, "without a directive too");
    cr_assert_eq(PMIx_Info_load(&infos[0], PMIX_JOB_INFO, NULL, PMIX_BOOL), PMIX_SUCCESS);
    get(PMIX_RANK_WILDCARD, PMIX_APP_SIZE, infos, 1, PMIX_ERR_NOT_FOUND);
    cr_expect_eq(get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, infos, 1, PMIX_SUCCESS), 2u);
}

Test(host_get, finds_qualified_values_of_jobs_ranks_and_its_own)
{
    const pmix_proc_t proc = { .nspace = NSPACE, .rank = 0 };
    pmix_info_t which, own;

    load_u32(&which, "which", 1);
    PMIx_Info_qualifier(&which);
    cr_expect_eq(get(1, "key", &which, 1, PMIX_SUCCESS), 71u);
    cr_expect_eq(get(PMIX_RANK_WILDCARD, "key", &which, 1, PMIX_SUCCESS), 70u);
    get(0, "key", &which, 1, PMIX_ERR_NOT_FOUND);
    get(1, "key", NULL, 0, PMIX_ERR_NOT_FOUND);
    load_qualified(&own, "key", 72, 1);
    cr_assert_eq(PMIx_Store_internal(&proc, PMIX_QUALIFIED_VALUE, &own.value), PMIX_SUCCESS);
    cr_expect_eq(get(0, "key", &which, 1, PMIX_SUCCESS), 72u);
    PMIx_Info_destruct(&own);
}

Test(host_get, fills_storage_and_refuses_what_it_cannot_do)
{
    const pmix_proc_t proc = { .nspace = NSPACE, .rank = PMIX_RANK_WILDCARD };
    pmix_value_t storage, *at = &storage, *none = NULL;
    const int one = 1;
    pmix_info_t info;

    cr_assert_eq(PMIx_Info_load(&info, PMIX_GET_STATIC_VALUES, NULL, PMIX_BOOL), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Get(&proc, PMIX_JOB_SIZE, &info, 1, &at), PMIX_SUCCESS);
    cr_expect_eq(storage.data.uint32, 2u);
    cr_expect_eq(PMIx_Get(&proc, PMIX_JOB_SIZE, &info, 1, &none), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_load(&info, PMIX_GET_POINTER_VALUES, NULL, PMIX_BOOL), PMIX_SUCCESS);
    get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &info, 1, PMIX_ERR_NOT_SUPPORTED);
    cr_assert_eq(PMIx_Info_load(&info, PMIX_WAIT, &one, PMIX_INT), PMIX_SUCCESS);
    cr_expect_eq(get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &info, 1, PMIX_SUCCESS), 2u, "a wish");
    PMIx_Info_required(&info);
    get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &info, 1, PMIX_ERR_NOT_SUPPORTED);
}

Test(host_get, knows_the_server_itself_by_nobody_and_by_an_empty_namespace)
{
    const pmix_proc_t own = { .nspace = "", .rank = 0 };
    pmix_value_t stored = { .type = PMIX_UINT32, .data.uint32 = 3 }, *value;

    cr_assert_eq(PMIx_Get(NULL, PMIX_PROCID, NULL, 0, &value), PMIX_SUCCESS);
    cr_assert_eq(value->type, PMIX_PROC);
    cr_expect_str_eq(value->data.proc->nspace, "the.server");
    cr_expect_eq(value->data.proc->rank, 4u);
    const pmix_proc_t self = *value->data.proc;
    PMIx_Value_free(value, 1);
    cr_assert_eq(PMIx_Get(&self, PMIX_SERVER_URI, NULL, 0, &value), PMIX_SUCCESS);
    cr_expect_eq(strncmp(value->data.string, "the.server.4;unix:@", 19), 0, "%s",
                 value->data.string);
    PMIx_Value_free(value, 1);
    cr_assert_eq(PMIx_Store_internal(&own, "key", &stored), PMIX_SUCCESS);
    for (int i = 0; i < 2; i++) {
        const pmix_proc_t proc = { .nspace = "the.server", .rank = 0 };

        cr_assert_eq(PMIx_Get(i == 0 ? &own : &proc, "key", NULL, 0, &value), PMIX_SUCCESS);
        cr_expect_eq(value->data.uint32, 3u);
        PMIx_Value_free(value, 1);
    }
    value = &stored;
    cr_expect_eq(PMIx_Get(&self, "else", NULL, 0, &value), PMIX_ERR_NOT_FOUND);
    cr_expect_null(value);
}

Test(host_get, gives_the_topology_of_the_node)
{
    pmix_value_t *first = NULL, *second = NULL;
    pmix_topology_t own = { .source = NULL };

    cr_assert_eq(PMIx_Get(NULL, PMIX_TOPOLOGY2, NULL, 0, &first), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Get(NULL, PMIX_TOPOLOGY2, NULL, 0, &second), PMIX_SUCCESS);
    cr_assert_eq(first->type, PMIX_TOPO);
    cr_expect_not_null(first->data.topo->topology);
    cr_expect_eq(first->data.topo->topology, second->data.topo->topology, "there is one");
    PMIx_Value_free(first, 1);
    cr_assert_eq(PMIx_Load_topology(&own), PMIX_SUCCESS);
    char *given = NULL, *loaded = NULL;

    cr_assert_eq(PMIx_Data_print(&given, NULL, second->data.topo, PMIX_TOPO), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Data_print(&loaded, NULL, &own, PMIX_TOPO), PMIX_SUCCESS);
    cr_expect_str_eq(given, loaded);
    free(given);
    free(loaded);
    PMIx_Topology_destruct(&own);
    PMIx_Value_free(second, 1);
}

Test(host_get, asks_for_a_scope_as_clients_do)
{
    const pmix_proc_t proc = { .nspace = NSPACE, .rank = 0 };
    pmix_value_t stored = { .type = PMIX_UINT32, .data.uint32 = 3 };
    pmix_scope_t scope = PMIX_GLOBAL;
    pmix_info_t info;

    cr_assert_eq(PMIx_Store_internal(&proc, "key", &stored), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_load(&info, PMIX_DATA_SCOPE, &scope, PMIX_SCOPE), PMIX_SUCCESS);
    PMIx_Info_required(&info);
    get(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &info, 1, PMIX_SUCCESS);
    get(0, "key", &info, 1, PMIX_ERR_EXISTS_OUTSIDE_SCOPE);
    info.value.data.scope = PMIX_INTERNAL;
    cr_expect_eq(get(0, "key", &info, 1, PMIX_SUCCESS), 3u);
}

/* The processes of NSPACE are connected under a name of their own, the last one first. */
static pmix_status_t connect_them(struct sx_server *server, void *arg)
{
    const pmix_proc_t procs[] = { { NSPACE, 1 }, { NSPACE, 0 } };
    const struct sx_membership_options options = {
        .name = "both", .kind = SX_MEMBERSHIP_CONNECTED, .procs = procs, .proc_count = 2
    };
    struct sx_membership_entry *entry;

    (void)arg;
    return sx_memberships_add(server, &options, &entry);
}

Test(host_get, of_a_member_of_connected_ones_is_of_the_process_itself)
{
    pmix_proc_t proc = { .nspace = "both", .rank = 0 };
    pmix_value_t *value;
    pmix_info_t which;

    load_u32(&which, "which", 1);
    PMIx_Info_qualifier(&which);
    cr_expect_eq(PMIx_Get(&proc, "key", &which, 1, &value), PMIX_ERR_NOT_FOUND);
    cr_assert_eq(sx_server_call(sx_server_get(), connect_them, NULL), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Get(&proc, "key", &which, 1, &value), PMIX_SUCCESS);
    cr_expect_eq(value->data.uint32, 71);
    PMIx_Value_destruct(value);
    free(value);
    proc.rank = 2;
    cr_expect_eq(PMIx_Get(&proc, "key", &which, 1, &value), PMIX_ERR_NOT_FOUND);
}

/* ---- under the name of a group --------------------------------------------------------------- */

/* Two processes of a job on two nodes, and one of a job that nobody knows. */
static pmix_status_t group_add(struct sx_server *server, void *arg)
{
    const pmix_proc_t procs[] = { { "mapped", 0 }, { "mapped", 2 }, { "elsewhere", 7 } };
    const struct sx_membership_options options = {
        .name = "both", .kind = SX_MEMBERSHIP_GROUP, .procs = procs, .proc_count = 3
    };
    struct sx_membership_entry *entry;

    (void)arg;
    return sx_memberships_add(server, &options, &entry);
}

static void group_begin(void)
{
    pmix_nspace_t mapped = "mapped";
    pmix_info_t infos[3];

    load_u32(&infos[0], PMIX_JOB_SIZE, 3);
    PMIx_Info_load(&infos[1], PMIX_NODE_MAP, "alpha,beta", PMIX_STRING);
    PMIx_Info_load(&infos[2], PMIX_PROC_MAP, "0;1,2", PMIX_STRING);
    cr_assert_eq(PMIx_server_register_nspace(mapped, 0, infos, 3, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    PMIx_Info_destruct(&infos[1]);
    PMIx_Info_destruct(&infos[2]);
    cr_assert_eq(sx_server_call(sx_server_get(), group_add, NULL), PMIX_SUCCESS);
}

static const struct {
    const char *key;
    pmix_status_t want;
    pmix_data_type_t type;
    uint32_t number;
    const char *text;
} of_both[] = {
    { PMIX_JOB_SIZE, PMIX_SUCCESS, PMIX_UINT32, 3, NULL },
    { PMIX_MAX_PROCS, PMIX_SUCCESS, PMIX_UINT32, 3, NULL },
    { PMIX_JOBID, PMIX_SUCCESS, PMIX_STRING, 0, "both" },
    { PMIX_NUM_NODES, PMIX_SUCCESS, PMIX_UINT32, 2, NULL },
    { "key", PMIX_ERR_NOT_FOUND, PMIX_UNDEF, 0, NULL },
};

Test(host_get, of_a_whole_group_is_what_follows_from_the_list)
{
    pmix_proc_t all;

    group_begin();
    PMIx_Load_procid(&all, "both", PMIX_RANK_WILDCARD);
    for (size_t i = 0; i < SX_COUNT(of_both); i++) {
        pmix_value_t *value = NULL;
        const pmix_status_t rc = PMIx_Get(&all, of_both[i].key, NULL, 0, &value);

        cr_expect_eq(rc, of_both[i].want, "%s: %d", of_both[i].key, rc);
        if (rc != PMIX_SUCCESS) {
            continue;
        }
        cr_expect_eq(value->type, of_both[i].type, "%s", of_both[i].key);
        if (value->type == PMIX_STRING) {
            cr_expect_str_eq(value->data.string, of_both[i].text);
        } else {
            cr_expect_eq(value->data.uint32, of_both[i].number, "%s: %u", of_both[i].key,
                         value->data.uint32);
        }
        PMIX_VALUE_FREE(value, 1);
    }
    cr_expect_eq(PMIx_Get(&(pmix_proc_t){ "neither", PMIX_RANK_WILDCARD }, PMIX_JOB_SIZE, NULL, 0,
                          &(pmix_value_t *){ NULL }),
                 PMIX_ERR_NOT_FOUND);
}

Test(host_get, resolves_the_members_of_a_group)
{
    pmix_proc_t *procs;
    size_t count;
    char *nodes;

    group_begin();
    cr_assert_eq(PMIx_Resolve_peers("beta", "both", &procs, &count), PMIX_SUCCESS);
    cr_assert_eq(count, 1);
    cr_expect(strcmp(procs[0].nspace, "both") == 0 && procs[0].rank == 1, "%s.%u", procs[0].nspace,
              procs[0].rank);
    free(procs);
    cr_assert_eq(PMIx_Resolve_nodes("both", &nodes), PMIX_SUCCESS);
    cr_expect_str_eq(nodes, "alpha,beta");
    free(nodes);
}

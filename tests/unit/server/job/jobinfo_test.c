/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobinfo_test.c - every form in which hosts give job data, and what is derived from it. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../control/engines.h"
#include "../hosted.h"
#include "base/call/role.h"
#include "shmem/store.h"

#define LIST_MAX 16

struct list {
    pmix_info_t infos[LIST_MAX];
    size_t count;
};

static void add(struct list *list, const char *key, const void *data, pmix_data_type_t type)
{
    cr_assert_lt(list->count, (size_t)LIST_MAX);
    cr_assert_eq(PMIx_Info_load(&list->infos[list->count++], key, data, type), PMIX_SUCCESS);
}

static void add_u32(struct list *list, const char *key, uint32_t number)
{
    add(list, key, &number, PMIX_UINT32);
}

static void add_rank(struct list *list, const char *key, pmix_rank_t rank)
{
    add(list, key, &rank, PMIX_PROC_RANK);
}

static void clear(struct list *list)
{
    while (list->count > 0) {
        PMIx_Info_destruct(&list->infos[--list->count]);
    }
}

/* Takes @inner over. */
static void add_list(struct list *list, const char *key, struct list *inner)
{
    pmix_data_array_t array = { .type = PMIX_INFO, .size = inner->count, .array = inner->infos };

    add(list, key, &array, PMIX_DATA_ARRAY);
    clear(inner);
}

static pmix_status_t job_try(const char *name, int local, struct list *list)
{
    pmix_nspace_t nspace;

    PMIx_Load_nspace(nspace, name);
    const pmix_status_t rc = PMIx_server_register_nspace(nspace, local, list->infos, list->count,
                                                         NULL, NULL);
    clear(list);
    return rc;
}

static void job(const char *name, int local, struct list *list)
{
    cr_assert_eq(job_try(name, local, list), PMIX_OPERATION_SUCCEEDED, "%s", name);
}

/* The value as text, "-" when there is none. */
static void expect_with(const char *name, pmix_rank_t rank, const char *key,
                        const pmix_info_t *info, size_t ninfo, const char *want)
{
    pmix_value_t *value = NULL;
    char got[512] = "-";
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, name, rank);
    const pmix_status_t rc = PMIx_Get(&proc, key, info, ninfo, &value);
    if (rc == PMIX_SUCCESS && value->type == PMIX_STRING) {
        snprintf(got, sizeof(got), "%s", value->data.string != NULL ? value->data.string : "NULL");
    } else if (rc == PMIX_SUCCESS) {
        int64_t number = 0;

        cr_assert_eq(PMIx_Value_get_number(value, &number, PMIX_INT64), PMIX_SUCCESS, "%s", key);
        snprintf(got, sizeof(got), "%lld:%u", (long long)number, value->type);
    } else {
        cr_assert_eq(rc, PMIX_ERR_NOT_FOUND, "%s", key);
    }
    cr_expect_str_eq(got, want, "%s.%u %s: \"%s\", not \"%s\"", name, rank, key, got, want);
    if (rc == PMIX_SUCCESS) {
        PMIx_Value_destruct(value);
        free(value);
    }
}

static void expect(const char *name, pmix_rank_t rank, const char *key, const char *want)
{
    expect_with(name, rank, key, NULL, 0, want);
}

/* Of the realm's row that is ours. */
static void expect_of(const char *name, const char *realm, const char *key, const char *want)
{
    pmix_info_t info;

    cr_assert_eq(PMIx_Info_load(&info, realm, NULL, PMIX_BOOL), PMIX_SUCCESS);
    expect_with(name, PMIX_RANK_WILDCARD, key, &info, 1, want);
}

#define ALL PMIX_RANK_WILDCARD
#define U32(number) #number ":14"
#define U16(number) #number ":13"
#define RANK(number) #number ":40"
_Static_assert(PMIX_UINT32 == 14 && PMIX_UINT16 == 13 && PMIX_PROC_RANK == 40, "as printed above");

/* A host's Get knows no realms, so the store is asked. */
struct question {
    enum sx_realm realm;
    uint32_t row;
    const char *key;
    char got[512];
};

static bool ask(void *arg, const char *nspace, const struct sx_store *store,
                const struct sx_membership *members)
{
    struct question *const question = arg;
    struct sx_item item;

    (void)nspace, (void)members;
    if (sx_store_find(store, question->realm, question->row, question->key, &item) !=
        PMIX_SUCCESS) {
        return true;
    }
    if (item.cell.type == PMIX_STRING) {
        snprintf(question->got, sizeof(question->got), "%s", (const char *)item.body);
    } else {
        snprintf(question->got, sizeof(question->got), "%llu:%u",
                 (unsigned long long)item.cell.bits, item.cell.type);
    }
    return true;
}

static void expect_in(const char *name, enum sx_realm realm, uint32_t row, const char *key,
                      const char *want)
{
    struct question question = { .realm = realm, .row = row, .key = key, .got = "-" };

    cr_assert_eq(sx_role_server_get()->each_store(name, ask, &question), PMIX_SUCCESS);
    cr_expect_str_eq(question.got, want, "%s %d.%u %s: %s", name, realm, row, key, question.got);
}

TestSuite(jobinfo, .init = hosted_begin, .fini = hosted_end);

static void add_written(struct list *list, const char *key, const char *text)
{
    pmix_regex2_t regex;

    cr_assert_eq(PMIx_generate_regex2(text, NULL, 0, &regex), PMIX_SUCCESS);
    add(list, key, &regex, PMIX_REGEX2);
    PMIx_Regex2_destruct(&regex);
}

Test(jobinfo, is_derived_from_maps_that_name_their_method)
{
    struct list list = { .count = 0 };

    add_written(&list, PMIX_NODE_MAP, "n1,n2");
    add_written(&list, PMIX_PROC_MAP, "0,2;1");
    job("written", 0, &list);
    expect("written", ALL, PMIX_NODE_LIST, "n1,n2");
    expect("written", ALL, PMIX_JOB_SIZE, U32(3));
    expect("written", 1, PMIX_HOSTNAME, "n2");
}

/* It is read back in its order, whether it ends with a NUL or not; another library's is not. */
Test(jobinfo, a_list_that_names_its_method_is_read_back)
{
    pmix_regex2_t regex = { .type = NULL };
    pmix_info_t must = { .key = "no.such.key", .flags = PMIX_INFO_REQD };
    char *text = NULL;

    cr_assert_eq(PMIx_generate_regex2("c,a,b", NULL, 0, &regex), PMIX_SUCCESS);
    cr_expect_eq(PMIx_parse_regex2(&regex, NULL, 0, &text), PMIX_SUCCESS);
    cr_expect_str_eq(text, "c,a,b");
    free(text);
    regex.len = 3;
    cr_expect_eq(PMIx_parse_regex2(&regex, NULL, 0, &text), PMIX_SUCCESS);
    cr_expect_str_eq(text, "c,a");
    free(text);
    cr_expect_eq(PMIx_parse_regex2(&regex, &must, 1, &text), PMIX_ERR_NOT_SUPPORTED);
    strcpy(regex.type, "rac");
    cr_expect_eq(PMIx_parse_regex2(&regex, NULL, 0, &text), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(PMIx_parse_regex2(&regex, NULL, 0, NULL), PMIX_ERR_BAD_PARAM);
    PMIx_Regex2_destruct(&regex);
    cr_expect_eq(PMIx_parse_regex2(&regex, NULL, 0, &text), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_generate_regex2(NULL, NULL, 0, &regex), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_generate_regex2("a", &must, 1, &regex), PMIX_ERR_NOT_SUPPORTED);
}

Test(jobinfo, is_derived_from_the_two_maps)
{
    char hostname[256] = "", nodes[300];
    struct list list = { .count = 0 };

    gethostname(hostname, sizeof(hostname) - 1);
    snprintf(nodes, sizeof(nodes), "n1,%s,n3", hostname);
    add(&list, PMIX_NODE_MAP, nodes, PMIX_STRING);
    add(&list, PMIX_PROC_MAP, "0;3,1-2;4", PMIX_STRING);
    job("maps", 3, &list);
    expect("maps", ALL, PMIX_JOB_SIZE, U32(5));
    expect("maps", ALL, PMIX_MAX_PROCS, U32(5));
    expect("maps", ALL, PMIX_UNIV_SIZE, U32(5));
    expect("maps", ALL, PMIX_NUM_NODES, U32(3));
    expect("maps", ALL, PMIX_NODE_LIST, nodes);
    expect("maps", ALL, PMIX_LOCAL_PEERS, "1,2,3");
    expect("maps", ALL, PMIX_LOCAL_SIZE, U32(3));
    expect("maps", ALL, PMIX_LOCALLDR, RANK(1));
    expect("maps", ALL, PMIX_JOB_NUM_APPS, U32(1));
    expect("maps", 4, PMIX_HOSTNAME, "n3");
    expect("maps", 4, PMIX_NODEID, U32(2));
    expect("maps", 4, PMIX_LOCAL_RANK, U16(0));
    expect("maps", 3, PMIX_LOCAL_RANK, U16(2));
    expect("maps", 2, PMIX_NODE_RANK, U16(1));
    expect("maps", 2, PMIX_APPNUM, U32(0));
}

Test(jobinfo, keeps_what_the_host_gave_and_its_types)
{
    struct list list = { .count = 0 }, rank = { .count = 0 };
    const int minus = -1, seven = 7;

    add_u32(&list, PMIX_JOB_SIZE, 2);
    add(&list, PMIX_NODE_MAP, "n1,n2", PMIX_STRING);
    add(&list, PMIX_PROC_MAP, "0;1", PMIX_STRING);
    add_u32(&list, PMIX_NODEID, 1);
    add_rank(&list, PMIX_LOCALLDR, 4294967293u); /* no rank is local */
    add(&list, PMIX_NUM_NODES, &seven, PMIX_INT);
    add(&rank, PMIX_APPNUM, &minus, PMIX_INT);
    add(&rank, PMIX_LOCALITY_STRING, NULL, PMIX_STRING);
    add_u32(&rank, PMIX_GLOBAL_RANK, 12);
    add(&rank, PMIX_RANK, &seven, PMIX_INT);
    rank.infos[3].value.data.integer = 1; /* last, and no PROC_RANK */
    add(&rank, PMIX_HOSTNAME, "other", PMIX_STRING);
    add_list(&list, PMIX_PROC_DATA, &rank);
    job("given", 0, &list);
    expect("given", ALL, PMIX_NUM_NODES, "7:6");
    expect("given", ALL, PMIX_LOCALLDR, RANK(4294967293));
    expect("given", ALL, PMIX_LOCAL_SIZE, U32(0));
    expect("given", 1, PMIX_APPNUM, "-1:6");
    expect("given", 1, PMIX_LOCALITY_STRING, "NULL");
    expect("given", 1, PMIX_GLOBAL_RANK, U32(12));
    expect("given", 1, PMIX_HOSTNAME, "other");
    expect("given", 1, PMIX_NODEID, U32(1));
    expect("given", 0, PMIX_HOSTNAME, "n1");
}

Test(jobinfo, of_a_job_that_is_all_here_needs_no_maps)
{
    char hostname[256] = "";
    struct list list = { .count = 0 };

    gethostname(hostname, sizeof(hostname) - 1);
    add_u32(&list, PMIX_JOB_SIZE, 3);
    job("here", 3, &list);
    expect("here", ALL, PMIX_LOCAL_PEERS, "0,1,2");
    expect("here", ALL, PMIX_NUM_NODES, U32(1));
    expect("here", 2, PMIX_HOSTNAME, hostname);
    expect("here", 2, PMIX_LOCAL_RANK, U16(2));
    expect("here", 2, PMIX_NODEID, U32(0));
}

Test(jobinfo, of_scattered_ranks_comes_from_their_registration_before_or_after)
{
    char hostname[256] = "";
    struct list list = { .count = 0 };

    gethostname(hostname, sizeof(hostname) - 1);
    hosted_client("some", 4);
    add_u32(&list, PMIX_JOB_SIZE, 9);
    job("some", 2, &list);
    expect("some", ALL, PMIX_LOCAL_PEERS, "-");
    expect("some", 4, PMIX_HOSTNAME, hostname);
    hosted_client("some", 1);
    expect("some", ALL, PMIX_LOCAL_PEERS, "1,4");
    expect("some", ALL, PMIX_LOCALLDR, RANK(1));
    expect("some", 1, PMIX_HOSTNAME, hostname);
    expect("some", ALL, PMIX_NUM_NODES, "-");
}

Test(jobinfo, may_be_nested_in_the_job_and_name_its_nodes)
{
    struct list list = { .count = 0 }, all = { .count = 0 }, node = { .count = 0 };

    add(&node, PMIX_HOSTNAME, "n2", PMIX_STRING); /* before the map that has it */
    add_u32(&node, PMIX_NODE_SIZE, 55);
    add_list(&all, PMIX_NODE_INFO_ARRAY, &node);
    add_u32(&all, PMIX_JOB_SIZE, 2);
    add(&all, PMIX_NODE_MAP, "n1,n2", PMIX_STRING);
    add(&all, PMIX_PROC_MAP, "0;1", PMIX_STRING);
    add_list(&list, PMIX_JOB_INFO_ARRAY, &all);
    job("nested", 0, &list);
    expect("nested", ALL, PMIX_JOB_SIZE, U32(2));
    expect("nested", 1, PMIX_HOSTNAME, "n2");
    expect_in("nested", SX_REALM_NODE, 1, PMIX_NODE_SIZE, U32(55));
    expect_in("nested", SX_REALM_NODE, 1, PMIX_LOCAL_PEERS, "1");
    expect_in("nested", SX_REALM_NODE, 0, PMIX_HOSTNAME, "n1");
    expect_in("nested", SX_REALM_NODE, 0, PMIX_NODE_SIZE, "-");
}

Test(jobinfo, numbers_nodes_that_have_names_only)
{
    struct list list = { .count = 0 }, node = { .count = 0 };

    add(&node, PMIX_HOSTNAME, "a", PMIX_STRING);
    add_list(&list, PMIX_NODE_INFO_ARRAY, &node);
    add(&node, PMIX_HOSTNAME, "b", PMIX_STRING);
    add_list(&list, PMIX_NODE_INFO_ARRAY, &node);
    add(&node, PMIX_HOSTNAME, "a", PMIX_STRING);
    add_u32(&node, PMIX_NODE_SIZE, 3);
    add_list(&list, PMIX_NODE_INFO_ARRAY, &node);
    job("names", 0, &list);
    expect("names", ALL, PMIX_NUM_NODES, U32(2));
    expect_in("names", SX_REALM_NODE, 0, PMIX_NODE_SIZE, U32(3));
    expect_in("names", SX_REALM_NODE, 1, PMIX_HOSTNAME, "b");
}

/* A job with the nodes "a", which its map may name, "b" and "c". */
static void resource_named(const char *name, bool has_map)
{
    static const char *const names[] = { "a", "b", "c" };
    struct list list = { .count = 0 }, node = { .count = 0 }, resources = { .count = 0 };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        add(&node, PMIX_HOSTNAME, names[i], PMIX_STRING);
        add_list(&list, PMIX_NODE_INFO_ARRAY, &node);
    }
    if (has_map) {
        add(&list, PMIX_NODE_MAP, "a", PMIX_STRING);
        add(&list, PMIX_PROC_MAP, "0", PMIX_STRING);
    }
    job(name, 0, &list);
    add(&node, PMIX_HOSTNAME, "c", PMIX_STRING);
    add_u32(&node, PMIX_NODE_SIZE, 3);
    add_list(&resources, PMIX_NODE_INFO_ARRAY, &node);
    cr_assert_eq(PMIx_server_register_resources(resources.infos, resources.count, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    expect_in(name, SX_REALM_NODE, 0, PMIX_NODE_SIZE, "-");
    expect_in(name, SX_REALM_NODE, 1, PMIX_NODE_SIZE, "-");
    expect_in(name, SX_REALM_NODE, 2, PMIX_NODE_SIZE, U32(3));
    cr_assert_eq(PMIx_server_deregister_resources(resources.infos, resources.count, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    expect_in(name, SX_REALM_NODE, 2, PMIX_NODE_SIZE, "-");
    clear(&resources);
}

Test(jobinfo, of_resources_lies_with_the_node_that_they_name)
{
    resource_named("no map", false);
    resource_named("map", true);
}

Test(jobinfo, knows_a_node_by_its_aliases_and_leaves_it_its_name)
{
    struct list list = { .count = 0 }, node = { .count = 0 };

    add(&node, PMIX_HOSTNAME, "a", PMIX_STRING);
    add(&node, PMIX_HOSTNAME_ALIASES, "a.here,b", PMIX_STRING);
    add_list(&list, PMIX_NODE_INFO_ARRAY, &node);
    add(&node, PMIX_HOSTNAME, "a.here", PMIX_STRING);
    add_u32(&node, PMIX_NODE_SIZE, 3);
    add_list(&list, PMIX_NODE_INFO_ARRAY, &node);
    job("aliases", 0, &list);
    expect("aliases", ALL, PMIX_NUM_NODES, U32(1));
    expect_in("aliases", SX_REALM_NODE, 0, PMIX_NODE_SIZE, U32(3));
    expect_in("aliases", SX_REALM_NODE, 0, PMIX_HOSTNAME, "a");
}

Test(jobinfo, of_applications_and_sessions_has_rows_of_its_own)
{
    struct list list = { .count = 0 }, inner = { .count = 0 };

    add_u32(&inner, PMIX_APPNUM, 1);
    add_u32(&inner, PMIX_APP_SIZE, 4);
    add_list(&list, PMIX_APP_INFO_ARRAY, &inner);
    add_u32(&inner, PMIX_SESSION_ID, 9);
    add_u32(&inner, PMIX_UNIV_SIZE, 77);
    add_list(&list, PMIX_SESSION_INFO_ARRAY, &inner);
    job("realms", 0, &list);
    expect_in("realms", SX_REALM_APP, 1, PMIX_APP_SIZE, U32(4));
    expect_in("realms", SX_REALM_SESSION, 0, PMIX_UNIV_SIZE, U32(77));
}

/* Sessions are called by numbers of 32 bits, and hosts make them from names. */
Test(jobinfo, of_sessions_is_found_by_any_number)
{
    static const uint32_t ids[] = { 17, 4000000000u, 3 };
    struct list list = { .count = 0 }, inner = { .count = 0 };

    add_u32(&list, PMIX_SESSION_ID, ids[1]); /* the job's own */
    for (uint32_t i = 0; i < 3; i++) {
        add_u32(&inner, PMIX_SESSION_ID, ids[i]);
        add_u32(&inner, PMIX_NODE_SIZE, 70 + i);
        add_list(&list, PMIX_SESSION_INFO_ARRAY, &inner);
    }
    job("sessions", 0, &list);
    expect_in("sessions", SX_REALM_SESSION, 0, PMIX_NODE_SIZE, U32(71));
    expect_in("sessions", SX_REALM_SESSION, 1, PMIX_NODE_SIZE, U32(70));
    expect_in("sessions", SX_REALM_SESSION, 2, PMIX_NODE_SIZE, U32(72));
    add(&inner, PMIX_SESSION_ID, "17", PMIX_STRING);
    add_list(&list, PMIX_SESSION_INFO_ARRAY, &inner);
    cr_expect_eq(job_try("no number", 0, &list), PMIX_ERR_TYPE_MISMATCH);
}

/* Ranks 0, 2 and 3 are of app 0, 1 and 4 of app 1. */
Test(jobinfo, of_applications_and_nodes_is_derived_from_their_ranks)
{
    struct list list = { .count = 0 }, rank = { .count = 0 };

    add(&list, PMIX_NODE_MAP, "n1,n2,n3", PMIX_STRING);
    add(&list, PMIX_PROC_MAP, "0-1;2;3,4", PMIX_STRING);
    for (uint32_t i = 1; i < 5; i += 3) {
        add_rank(&rank, PMIX_RANK, i);
        add_u32(&rank, PMIX_APPNUM, 1);
        add_list(&list, PMIX_PROC_DATA, &rank);
    }
    job("apps", 0, &list);
    expect("apps", ALL, PMIX_JOB_NUM_APPS, U32(2));
    expect_in("apps", SX_REALM_APP, 0, PMIX_APP_SIZE, U32(3));
    expect_in("apps", SX_REALM_APP, 0, PMIX_APPLDR, RANK(0));
    expect_in("apps", SX_REALM_APP, 0, PMIX_NUM_NODES, U32(3));
    expect_in("apps", SX_REALM_APP, 0, PMIX_MAX_PROCS, U32(3));
    expect_in("apps", SX_REALM_APP, 1, PMIX_APP_SIZE, U32(2));
    expect_in("apps", SX_REALM_APP, 1, PMIX_APPLDR, RANK(1));
    expect_in("apps", SX_REALM_APP, 1, PMIX_NUM_NODES, U32(2));
    expect_in("apps", SX_REALM_NODE, 2, PMIX_NUM_NODES, U32(1));
    expect_in("apps", SX_REALM_NODE, 2, PMIX_MAX_PROCS, U32(2));
}

Test(jobinfo, for_the_whole_job_holds_for_its_one_application_and_node)
{
    struct list list = { .count = 0 };

    add_u32(&list, PMIX_JOB_SIZE, 3);
    add_u32(&list, PMIX_MAX_PROCS, 12);
    add_u32(&list, PMIX_APPNUM, 9);
    job("one", 3, &list);
    expect("one", 2, PMIX_APPNUM, U32(9));
    expect("one", ALL, PMIX_JOB_NUM_APPS, U32(1));
    expect_of("one", PMIX_APP_INFO, PMIX_MAX_PROCS, U32(12));
    expect_of("one", PMIX_APP_INFO, PMIX_NUM_NODES, U32(1));
    expect_of("one", PMIX_APP_INFO, PMIX_APP_SIZE, U32(3));
    expect_of("one", PMIX_NODE_INFO, PMIX_MAX_PROCS, U32(12));
    expect_of("one", PMIX_NODE_INFO, PMIX_NUM_NODES, U32(1));
    expect_of("one", PMIX_SESSION_INFO, PMIX_UNIV_SIZE, U32(3));
}

Test(jobinfo, counts_the_ranks_it_is_notified_of)
{
    struct list list = { .count = 0 }, rank = { .count = 0 };

    add_rank(&rank, PMIX_RANK, 3);
    add_list(&list, PMIX_PROC_DATA, &rank);
    job("counted", 0, &list);
    expect("counted", ALL, PMIX_JOB_SIZE, U32(4));
}

Test(jobinfo, of_a_process_may_name_it_whole)
{
    struct list list = { .count = 0 }, rank = { .count = 0 };
    pmix_proc_t proc = { .nspace = "whole", .rank = 1 };

    for (int i = 0; i < 2; i++) {
        add(&rank, PMIX_PROCID, &proc, PMIX_PROC);
        add_u32(&rank, PMIX_APPNUM, 9);
        add_list(&list, PMIX_PROC_INFO_ARRAY, &rank);
        if (i == 0) {
            job("whole", 0, &list);
            expect("whole", 1, PMIX_APPNUM, U32(9));
            expect("whole", ALL, PMIX_JOB_SIZE, U32(2));
        } else {
            cr_expect_eq(job_try("half", 0, &list), PMIX_ERR_BAD_PARAM, "another job's process");
        }
    }
}

Test(jobinfo, that_contradicts_itself_is_refused)
{
    struct list list = { .count = 0 }, inner = { .count = 0 };

    add_u32(&list, PMIX_PROC_DATA, 1);
    cr_expect_eq(job_try("a", 0, &list), PMIX_ERR_BAD_PARAM, "no array");
    add_u32(&inner, PMIX_APPNUM, 1);
    add_list(&list, PMIX_PROC_DATA, &inner);
    cr_expect_eq(job_try("b", 0, &list), PMIX_ERR_BAD_PARAM, "whose data?");
    add_rank(&inner, PMIX_RANK, PMIX_RANK_LOCAL_NODE);
    add_list(&list, PMIX_PROC_DATA, &inner);
    cr_expect_eq(job_try("c", 0, &list), PMIX_ERR_BAD_PARAM, "no rank");
    add(&list, PMIX_NODE_MAP, "n1", PMIX_STRING);
    add(&list, PMIX_PROC_MAP, "0;1", PMIX_STRING);
    cr_expect_eq(job_try("d", 0, &list), PMIX_ERR_BAD_PARAM, "more lists than nodes");
    for (int i = 0; i < 8; i++) {
        struct list outer = { .count = 0 };

        add_u32(&inner, PMIX_SESSION_ID, 1);
        add_list(&outer, PMIX_SESSION_INFO_ARRAY, &inner);
        inner = outer;
    }
    cr_expect_eq(job_try("e", 0, &inner), PMIX_ERR_BAD_PARAM, "no end of nesting");
}

/* Infos that cannot be stored, the last of a list that otherwise can. */
enum refused {
    NODES,
    RANKS,
    RANKS_ALONE,
    NO_ARRAY,
    NO_TYPE,
    NO_VALUE,
    NO_KEY,
    IN_THE_JOB,
    REFUSED
};

static void add_refused(struct list *list, enum refused which)
{
    struct list inner = { .count = 0 };

    switch (which) {
    case NODES:
        add(list, PMIX_NODE_MAP, "pmix:garbage[", PMIX_STRING);
        add(list, PMIX_PROC_MAP, "x;y", PMIX_STRING);
        break;
    case RANKS:
        add(list, PMIX_NODE_MAP, "n1,n2", PMIX_STRING);
        add(list, PMIX_PROC_MAP, "0;1;2;3", PMIX_STRING);
        break;
    case RANKS_ALONE: /* beside the nodes that the job has; a new one has none */
        add(list, PMIX_PROC_MAP, "0;1;2;3", PMIX_STRING);
        break;
    case NO_ARRAY:
        add_u32(list, PMIX_PROC_DATA, 1);
        break;
    case IN_THE_JOB:
        add(&inner, PMIX_NODE_MAP, "n1", PMIX_STRING);
        add(&inner, PMIX_PROC_MAP, "0;1", PMIX_STRING);
        add_list(list, PMIX_JOB_INFO_ARRAY, &inner);
        break;
    default:
        add_u32(list, which == NO_KEY ? "" : "site.odd", 1);
        list->infos[list->count - 1].value.type = which == NO_TYPE    ? 999
                                                  : which == NO_VALUE ? PMIX_UNDEF
                                                                      : PMIX_UINT32;
        break;
    }
}

static void add_good(struct list *list, uint32_t size, const char *site)
{
    add_u32(list, PMIX_JOB_SIZE, size);
    add(list, "site.key", site, PMIX_STRING);
}

static size_t open_files(void)
{
    size_t count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        count += fcntl(fd, F_GETFD) != -1;
    }
    return count;
}

static pmix_status_t is_known(struct sx_server *server, void *arg)
{
    bool *const known = arg;

    *known = sx_nspace_find(server, "new") != NULL;
    return PMIX_SUCCESS;
}

/* Neither of a job that lives nor of a name that is not one, and what comes later is taken. */
Test(jobinfo, that_is_refused_changes_nothing)
{
    struct list list = { .count = 0 };

    add_good(&list, 2, "good");
    add(&list, PMIX_NODE_MAP, "n1,n2", PMIX_STRING);
    add(&list, PMIX_PROC_MAP, "0;1", PMIX_STRING);
    job("live", 1, &list);
    const size_t files = open_files();

    for (enum refused which = 0; which < REFUSED; which++) {
        bool known;

        add_good(&list, 7, "refused");
        add_refused(&list, which);
        cr_expect_neq(job_try("live", 1, &list), PMIX_OPERATION_SUCCEEDED, "%d", which);
        expect("live", ALL, PMIX_JOB_SIZE, U32(2));
        expect("live", ALL, "site.key", "good");
        expect("live", ALL, PMIX_PROC_MAP, "0;1");
        if (which == RANKS_ALONE) {
            continue;
        }
        add_good(&list, 7, "refused");
        add_refused(&list, which);
        cr_expect_neq(job_try("new", 1, &list), PMIX_OPERATION_SUCCEEDED, "%d", which);
        hosted_call(is_known, &known);
        cr_expect_not(known, "%d: the name stays", which);
        cr_expect_eq(open_files(), files, "%d: descriptors stay", which);
    }
    add(&list, "site.resource", "for all", PMIX_STRING);
    cr_expect_eq(PMIx_server_register_resources(list.infos, list.count, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    clear(&list);
    add(&list, "site.later", "taken", PMIX_STRING);
    job("live", 1, &list);
    expect("live", ALL, "site.later", "taken");
    expect("live", ALL, "site.resource", "for all");
}

Test(jobinfo, of_resources_that_is_refused_changes_nothing)
{
    struct list list = { .count = 0 };

    add_u32(&list, PMIX_JOB_SIZE, 2);
    job("live", 2, &list);
    add(&list, "site.first", "refused", PMIX_STRING);
    add_refused(&list, NO_TYPE);
    cr_expect_neq(PMIx_server_register_resources(list.infos, list.count, NULL, NULL),
                  PMIX_OPERATION_SUCCEEDED);
    clear(&list);
    expect("live", ALL, "site.first", "-");
}

static const struct {
    const char *key, *given;
    pmix_data_type_t type;
    pmix_status_t want;
} typed[] = {
    { PMIX_JOB_SIZE, "2", PMIX_STRING, PMIX_ERR_TYPE_MISMATCH },
    { PMIX_UNIV_SIZE, "2", PMIX_STRING, PMIX_ERR_TYPE_MISMATCH },
    { PMIX_LOCAL_RANK, "0", PMIX_STRING, PMIX_ERR_TYPE_MISMATCH },
    { PMIX_NODEID, NULL, PMIX_BOOL, PMIX_ERR_TYPE_MISMATCH },
    { PMIX_HOSTNAME, "\1\0\0\0", PMIX_UINT32, PMIX_ERR_TYPE_MISMATCH },
    { PMIX_NODE_MAP, "\1\0\0\0", PMIX_UINT32, PMIX_ERR_TYPE_MISMATCH },
    { PMIX_JOB_SIZE, "\375\377\377\377", PMIX_INT, PMIX_ERR_BAD_PARAM },  /* -3 */
    { PMIX_JOB_SIZE, "\0\0\0\0\0\1\0\0", PMIX_SIZE, PMIX_ERR_BAD_PARAM }, /* 2^40 */
    { PMIX_UNIV_SIZE, "\2\0\0\0", PMIX_INT, PMIX_OPERATION_SUCCEEDED },
    { PMIX_UNIV_SIZE, "\2\0\0\0\0\0\0\0", PMIX_SIZE, PMIX_OPERATION_SUCCEEDED },
    { PMIX_APPNUM, "\377\377\377\377", PMIX_INT,
      PMIX_OPERATION_SUCCEEDED }, /* as Slurm gives it, and -1 */
    { "example.own", "2", PMIX_STRING, PMIX_OPERATION_SUCCEEDED },
};

Test(jobinfo, of_another_type_than_it_must_have_is_refused)
{
    static const char *const arrays[] = { NULL, PMIX_JOB_INFO_ARRAY, PMIX_PROC_DATA };

    for (size_t i = 0; i < SX_COUNT(arrays) * SX_COUNT(typed); i++) {
        const size_t row = i % SX_COUNT(typed);
        const char *const array = arrays[i / SX_COUNT(typed)];
        struct list list = { .count = 0 }, outer = { .count = 0 };
        char name[32];

        snprintf(name, sizeof(name), "typed%zu", i);
        if (array != NULL && strcmp(array, PMIX_PROC_DATA) == 0) {
            add_rank(&list, PMIX_RANK, 0);
        }
        add(&list, typed[row].key, typed[row].given, typed[row].type);
        if (array != NULL) {
            add_list(&outer, array, &list);
        }
        cr_expect_eq(job_try(name, 0, array != NULL ? &outer : &list), typed[row].want, "%s in %s",
                     typed[row].key, array != NULL ? array : "the list");
    }
}

/* A size that the map contradicts is said once; one that it does not, or that is derived, is
 * not. */
Test(jobinfo, with_two_sizes_is_notified_of)
{
    static const struct {
        const char *name;
        uint32_t size;
        int lines;
    } rows[] = { { "none", 0, 1 }, { "many", 7, 1 }, { "same", 2, 0 } };
    const int log_fd = test_capture_stderr();
    struct list list = { .count = 0 };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char line[64];

        for (int again = 0; again < 2; again++) {
            add_u32(&list, PMIX_JOB_SIZE, rows[i].size);
            add(&list, PMIX_NODE_MAP, "n1", PMIX_STRING);
            add(&list, PMIX_PROC_MAP, "0,1", PMIX_STRING);
            job(rows[i].name, 2, &list);
        }
        snprintf(line, sizeof(line), "PMIX_JOB_SIZE of %s is %u", rows[i].name, rows[i].size);
        cr_expect_eq(test_count_lines(log_fd, line), (int)rows[i].lines, "%s", rows[i].name);
    }
    add(&list, PMIX_NODE_MAP, "n1", PMIX_STRING);
    add(&list, PMIX_PROC_MAP, "0,1", PMIX_STRING);
    job("derived", 2, &list);
    cr_expect_eq(test_count_lines(log_fd, "of derived"), 0);
}

/* So is a number of processes here.  A job of which none is here may have a map of other nodes. */
Test(jobinfo, with_two_numbers_of_local_processes_is_notified_of)
{
    static const struct {
        const char *name;
        int here, lines;
    } rows[] = { { "fewer", 1, 1 }, { "more", 3, 1 }, { "same", 2, 0 }, { "none", 0, 0 } };
    const int log_fd = test_capture_stderr();
    struct list list = { .count = 0 };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char line[80];

        for (int again = 0; again < 2; again++) {
            add(&list, PMIX_NODE_MAP, "n1", PMIX_STRING);
            add(&list, PMIX_PROC_MAP, "0,1", PMIX_STRING);
            job(rows[i].name, rows[i].here, &list);
        }
        snprintf(line, sizeof(line), "nlocalprocs of %s is %d, and its PMIX_PROC_MAP has 2 ranks",
                 rows[i].name, rows[i].here);
        cr_expect_eq(test_count_lines(log_fd, line), (int)rows[i].lines, "%s", rows[i].name);
    }
}

/* Fences and events would wait for a process that cannot come. */
Test(jobinfo, with_more_local_processes_than_processes_is_notified_of)
{
    static const struct {
        const char *name;
        uint32_t size; /* 0: not given */
        int here, lines;
    } rows[] = {
        { "more", 2, 3, 1 }, { "same", 2, 2, 0 }, { "fewer", 2, 1, 0 }, { "unknown", 0, 3, 0 }
    };
    const int log_fd = test_capture_stderr();
    struct list list = { .count = 0 };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char line[80];

        for (int again = 0; again < 2; again++) {
            if (rows[i].size != 0) {
                add_u32(&list, PMIX_JOB_SIZE, rows[i].size);
            }
            job(rows[i].name, rows[i].here, &list);
        }
        snprintf(line, sizeof(line), "nlocalprocs of %s is %d, and its PMIX_JOB_SIZE is %u",
                 rows[i].name, rows[i].here, rows[i].size);
        cr_expect_eq(test_count_lines(log_fd, line), rows[i].lines, "%s", rows[i].name);
    }
}

/* Lists of ranks have no nodes then. */
Test(jobinfo, with_one_map_alone_is_notified_of)
{
    static const struct {
        const char *name, *nodes, *ranks;
        uint32_t lines;
    } rows[] = { { "ranks", NULL, "0;1", 1 },
                 { "nodes", "n1,n2", NULL, 0 },
                 { "both", "n1,n2", "0;1", 0 },
                 { "neither", NULL, NULL, 0 } };
    const int log_fd = test_capture_stderr();
    struct list list = { .count = 0 };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char line[80];

        for (int again = 0; again < 2; again++) {
            add_u32(&list, PMIX_JOB_SIZE, 2);
            if (rows[i].nodes != NULL) {
                add(&list, PMIX_NODE_MAP, rows[i].nodes, PMIX_STRING);
            }
            if (rows[i].ranks != NULL) {
                add(&list, PMIX_PROC_MAP, rows[i].ranks, PMIX_STRING);
            }
            job(rows[i].name, 0, &list);
        }
        snprintf(line, sizeof(line), "PMIX_PROC_MAP of %s is not read", rows[i].name);
        cr_expect_eq(test_count_lines(log_fd, line), (int)rows[i].lines, "%s", rows[i].name);
    }
}

Test(jobinfo, of_10000_ranks_is_complete)
{
    struct list list = { .count = 0 };
    char *const ranks = malloc(10000 * 6 + 1), *at = ranks;

    for (unsigned rank = 0; rank < 10000; rank++) {
        at += sprintf(at, "%u%s", rank, rank % 2 == 1 && rank < 9999 ? ";" : ",");
    }
    char *const nodes = malloc(5000 * 6 + 1);
    at = nodes;
    for (unsigned node = 0; node < 5000; node++) {
        at += sprintf(at, "%sn%u", node == 0 ? "" : ",", node);
    }
    add(&list, PMIX_NODE_MAP, nodes, PMIX_STRING);
    add(&list, PMIX_PROC_MAP, ranks, PMIX_STRING);
    job("large", 0, &list);
    expect("large", 9999, PMIX_HOSTNAME, "n4999");
    expect("large", 9999, PMIX_LOCAL_RANK, U16(1));
    expect("large", ALL, PMIX_JOB_SIZE, U32(10000));
    free(ranks);
    free(nodes);
}

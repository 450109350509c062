/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* process_sets_test.c - the sets that a host names are listed for each of their members. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../hosted.h"
#include "base/util.h"
#include "server/job/job.h"

static pmix_status_t define(const char *set, const char *name, pmix_rank_t first, pmix_rank_t last)
{
    pmix_proc_t procs[8];
    size_t count = 0;

    for (pmix_rank_t rank = last; rank + 1 > first; rank--) { /* backwards: order means nothing */
        PMIx_Load_procid(&procs[count++], name, rank);
    }
    return PMIx_server_define_process_set(procs, count, set);
}

/* The names of a process, with commas; "-" for none. */
static void expect(const char *name, pmix_rank_t rank, const char *want)
{
    pmix_value_t *value;
    pmix_proc_t proc;
    char got[256] = "-";

    PMIx_Load_procid(&proc, name, rank);
    const pmix_status_t rc = PMIx_Get(&proc, PMIX_PSET_NAMES, NULL, 0, &value);
    if (rc == PMIX_SUCCESS) {
        const pmix_data_array_t *const array = value->data.darray;
        char **const names = array->array;

        cr_assert_eq(array->type, PMIX_STRING);
        got[0] = '\0';
        for (size_t i = 0; i < array->size; i++) {
            strcat(strcat(got, i == 0 ? "" : ","), names[i]);
        }
        PMIx_Value_destruct(value);
        free(value);
    }
    cr_expect_str_eq(got, want, "%s.%u: %s", name, rank, got);
}

static void begin(void)
{
    hosted_begin();
    hosted_job("job", 4, 4);
}

TestSuite(pset, .init = begin, .fini = hosted_end);

/* GR93 */
Test(pset, is_listed_for_each_member)
{
    cr_assert_eq(define("low", "job", 0, 1), PMIX_SUCCESS);
    cr_assert_eq(define("middle", "job", 1, 2), PMIX_SUCCESS);
    expect("job", 0, "low");
    expect("job", 1, "low,middle");
    expect("job", 2, "middle");
    expect("job", 3, "-");
}

Test(pset, of_a_wildcard_has_all_ranks)
{
    cr_assert_eq(define("one", "job", 2, 2), PMIX_SUCCESS);
    cr_assert_eq(define("all", "job", PMIX_RANK_WILDCARD, PMIX_RANK_WILDCARD), PMIX_SUCCESS);
    expect("job", 0, "all");
    expect("job", 2, "one,all");
    expect("job", 3, "all");
}

Test(pset, may_be_defined_before_its_namespace_is_there)
{
    cr_assert_eq(define("early", "later", 1, 1), PMIX_SUCCESS);
    cr_assert_eq(define("all", "later", PMIX_RANK_WILDCARD, PMIX_RANK_WILDCARD), PMIX_SUCCESS);
    expect("later", 1, "-");
    hosted_job("later", 2, 2);
    expect("later", 0, "all");
    expect("later", 1, "early,all");
    expect("job", 1, "-");
}

Test(pset, keeps_places_when_a_namespace_comes)
{
    const pmix_proc_t all[] = { { "job", 2 }, { "early", PMIX_RANK_WILDCARD } };
    const struct sx_membership_entry *entry;

    cr_assert_eq(PMIx_server_define_process_set(all, 2, "mixed"), PMIX_SUCCESS);
    entry = sx_memberships_find_set(sx_server_get(), "mixed");
    cr_expect_eq(sx_membership_size(&entry->published), 1);
    hosted_job("early", 2, 2); /* before "job" by its name */
    cr_expect_eq(sx_membership_size(&entry->published), 3);
    cr_expect_eq(sx_membership_rank(&entry->published, "job", 2), 0);
    cr_expect_eq(sx_membership_rank(&entry->published, "early", 1), 2);
    cr_expect_eq(entry->published.head.generation, 2);
    expect("early", 0, "mixed");
}

/* A client of user 1001 names whom it wants. */
static pmix_status_t define_by_client(struct sx_server *server, void *arg)
{
    static const pmix_proc_t wanted[] = {
        { "theirs", PMIX_RANK_WILDCARD },    { "ours", PMIX_RANK_WILDCARD },
        { "early", PMIX_RANK_WILDCARD },     { "away", PMIX_RANK_WILDCARD },
        { "ours away", PMIX_RANK_WILDCARD }, { "mixed", PMIX_RANK_WILDCARD }
    };
    static const pmix_proc_t named[] = { { "theirs", 1 }, { "ours", 0 }, { "early", 0 } };
    struct sx_client *const client = sx_client_find(sx_nspace_find(server, "mine"), 0);

    (void)arg;
    cr_assert_eq(sx_pset_define(server, client, wanted, SX_COUNT(wanted), "wanted"), PMIX_SUCCESS);
    cr_assert_eq(sx_pset_define(server, client, named, SX_COUNT(named), "named"), PMIX_SUCCESS);
    return PMIX_SUCCESS;
}

static void client_of(const char *name, pmix_rank_t rank, uid_t uid)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, name, rank);
    cr_assert_eq(PMIx_server_register_client(&proc, uid, uid, NULL, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

#define KEPT 1024u
#define KEPT_NAMES 8192u

/* Define sets of @ranks ranks and, if @all, of a job to come.  Return: how many there are now. */
static unsigned defined(struct sx_server *server, const char *names, unsigned most, uint32_t ranks,
                        bool all)
{
    struct sx_client *const client = sx_client_find(sx_nspace_find(server, "mine"), 0);
    pmix_proc_t *const procs = calloc(ranks + 1, sizeof(*procs));
    pmix_status_t rc = PMIX_SUCCESS;
    unsigned count = 0;
    char name[32];

    for (uint32_t i = 0; i <= ranks; i++) {
        PMIx_Load_procid(&procs[i], "later", i < ranks ? i : PMIX_RANK_WILDCARD);
    }
    while (count < most && rc == PMIX_SUCCESS) {
        snprintf(name, sizeof(name), "%s.%u", names, count);
        rc = sx_pset_define(server, client, procs, ranks + all, name);
        count += rc == PMIX_SUCCESS;
    }
    cr_expect(rc == PMIX_SUCCESS || rc == PMIX_ERR_OUT_OF_RESOURCE);
    free(procs);
    return count;
}

static pmix_status_t bounded_by_count(struct sx_server *server, void *arg)
{
    (void)arg;
    cr_expect_eq(defined(server, "ranks", KEPT / 2, 1, false), KEPT / 2);
    cr_expect_eq(defined(server, "jobs", KEPT + 10, 0, true), KEPT);
    cr_expect_eq(defined(server, "others", KEPT, 1, false), KEPT, "these are not looked at");
    return PMIX_SUCCESS;
}

static pmix_status_t bounded_by_names(struct sx_server *server, void *arg)
{
    (void)arg;
    cr_expect_eq(defined(server, "long", 4, KEPT_NAMES - 2, true), 2);
    cr_expect_eq(defined(server, "others", 1, KEPT_NAMES, false), 1);
    return PMIX_SUCCESS;
}

/* Each registration looks at those that name all of a job. */
Test(pset, of_jobs_are_few_of_one_client)
{
    hosted_job("mine", 1, 1);
    client_of("mine", 0, 1001);
    hosted_call(bounded_by_count, NULL);
}

Test(pset, of_jobs_of_one_client_have_few_names)
{
    hosted_job("mine", 1, 1);
    client_of("mine", 0, 1001);
    hosted_call(bounded_by_names, NULL);
}

static void job_away(const char *name, uint32_t uid)
{
    const uint32_t size = 1;
    pmix_info_t info[2];
    pmix_nspace_t nspace;

    PMIx_Load_nspace(nspace, name);
    PMIx_Info_load(&info[0], PMIX_JOB_SIZE, &size, PMIX_UINT32);
    PMIx_Info_load(&info[1], PMIX_USERID, &uid, PMIX_UINT32);
    cr_assert_eq(PMIx_server_register_nspace(nspace, 0, info, 2, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

/* What the host names stays, whoever they are. */
Test(pset, of_a_client_has_no_processes_of_another_user)
{
    hosted_job("mine", 1, 1);
    client_of("mine", 0, 1001);
    hosted_call(define_by_client, NULL);
    cr_assert_eq(define("hosts", "theirs", PMIX_RANK_WILDCARD, PMIX_RANK_WILDCARD), PMIX_SUCCESS);

    hosted_job("theirs", 2, 2);
    expect("theirs", 0, "hosts"); /* nobody knows yet whose they are */
    client_of("theirs", 0, 1002);
    client_of("theirs", 1, 1002);
    expect("theirs", 0, "hosts");
    expect("theirs", 1, "hosts");

    hosted_job("ours", 2, 2);
    client_of("ours", 0, 1001);
    client_of("ours", 1, 1001);
    expect("ours", 0, "wanted,named");
    expect("ours", 1, "wanted");

    client_of("early", 0, 1002); /* before its namespace */
    hosted_job("early", 1, 1);
    expect("early", 0, "-");

    job_away("away", 1002);
    expect("away", 0, "-");
    job_away("ours away", 1001);
    expect("ours away", 0, "wanted");

    hosted_job("mixed", 2, 2);
    client_of("mixed", 0, 1001);
    expect("mixed", 1, "wanted");
    client_of("mixed", 1, 1002);
    expect("mixed", 0, "-");
    expect("ours", 1, "wanted");
}

/* The client of "mine" is a tool for as long as it defines a set, and goes. */
static pmix_status_t tool_defines_and_goes(struct sx_server *server, void *arg)
{
    const pmix_proc_t member = { "ours", 1 };
    struct sx_client *const client = sx_client_find(sx_nspace_find(server, "mine"), 0);

    client->is_tool = *(const bool *)arg;
    cr_assert_eq(sx_pset_define(server, client, &member, 1, client->is_tool ? "tools" : "ranks"),
                 PMIX_SUCCESS);
    client->is_tool = false;
    sx_pset_client_gone(server, client);
    return PMIX_SUCCESS;
}

#define LARGE 5000u
#define SETS 3u

/* They name processes that are not there. */
static pmix_status_t large_sets_go(struct sx_server *server, void *arg)
{
    struct sx_client *const client = sx_client_find(sx_nspace_find(server, "mine"), 0);
    static pmix_proc_t members[LARGE];
    char name[16];

    (void)arg;
    for (uint32_t i = 0; i < LARGE; i++) {
        PMIx_Load_procid(&members[i], "nobody", i);
    }
    for (unsigned i = 0; i < SETS; i++) {
        const uint32_t before = client->share.spent;

        snprintf(name, sizeof(name), "large.%u", i);
        cr_assert_eq(sx_pset_define(server, client, members, LARGE, name), PMIX_SUCCESS);
        cr_expect_geq(client->share.spent - before, LARGE / 2, "it pays for each of them");
    }
    cr_assert_eq(server->memberships.kind_counts[SX_MEMBERSHIP_PSET], SETS);
    sx_pset_client_gone(server, client);
    cr_expect_eq(server->memberships.kind_counts[SX_MEMBERSHIP_PSET], SETS - 1, "one in a turn");
    return PMIX_SUCCESS;
}

Test(pset, that_is_large_is_paid_for_and_goes_alone)
{
    hosted_job("mine", 1, 1);
    client_of("mine", 0, 1001);
    hosted_call(large_sets_go, NULL);
}

Test(pset, of_a_tool_goes_with_the_job_of_its_first_process)
{
    bool is_tool = true;
    pmix_nspace_t ours;

    hosted_job("mine", 1, 1);
    client_of("mine", 0, 1001);
    hosted_job("ours", 2, 2);
    client_of("ours", 0, 1001);
    client_of("ours", 1, 1001);
    hosted_call(tool_defines_and_goes, &is_tool);
    is_tool = false;
    hosted_call(tool_defines_and_goes, &is_tool);
    expect("ours", 1, "tools");

    PMIx_Load_nspace(ours, "ours");
    PMIx_server_deregister_nspace(ours, NULL, NULL);
    cr_expect_eq(define("tools", "job", 0, 0), PMIX_SUCCESS, "the name is free");
    expect("job", 0, "tools");
}

Test(pset, stands_for_nobody)
{
    const pmix_proc_t member = { "job", 1 };

    cr_assert_eq(PMIx_server_define_process_set(&member, 1, "few"), PMIX_SUCCESS);
    expect("few", 0, "-");
    hosted_job("few", 1, 1);
    cr_expect_eq(define("job", "job", 0, 1), PMIX_SUCCESS, "a namespace has this name, too");
    expect("job", 1, "few,job");
}

Test(pset, that_is_deleted_is_not_listed)
{
    char low[] = "low", all[] = "all";

    cr_assert_eq(define("low", "job", 0, 1), PMIX_SUCCESS);
    cr_assert_eq(define("all", "job", 0, 3), PMIX_SUCCESS);
    cr_assert_eq(PMIx_server_delete_process_set(all), PMIX_SUCCESS);
    expect("job", 1, "low");
    expect("job", 3, "-");
    cr_assert_eq(PMIx_server_delete_process_set(low), PMIX_SUCCESS);
    expect("job", 1, "-");
    cr_expect_eq(PMIx_server_delete_process_set(low), PMIX_ERR_NOT_FOUND);
}

Test(pset, has_one_name_and_good_members)
{
    char longest[PMIX_MAX_KEYLEN + 2];
    pmix_proc_t endless;

    cr_assert_eq(define("low", "job", 0, 1), PMIX_SUCCESS);
    cr_expect_eq(define("low", "job", 2, 3), PMIX_EXISTS);
    expect("job", 2, "-");
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    cr_expect_eq(define(longest, "job", 0, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(define("", "job", 0, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(define("a,b", "job", 0, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(define("x", "", 0, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(define("x", "job", PMIX_RANK_LOCAL_NODE, PMIX_RANK_LOCAL_NODE),
                 PMIX_ERR_BAD_PARAM);
    memset(&endless, 'x', sizeof(endless));
    cr_expect_eq(PMIx_server_define_process_set(&endless, 1, "x"), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_define_process_set(NULL, 0, "x"), PMIX_ERR_BAD_PARAM);
}

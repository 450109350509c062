/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_proc_test.c - names are cut and closed, identifiers compare by the rules of the standard. */
#include <criterion/criterion.h>
#include <string.h>

#include <pmix.h>

#include "base/util.h"

Test(api_proc, names_are_cut_and_closed)
{
    char text[1024];
    pmix_proc_t proc, copy;
    pmix_key_t key;

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    memset(&proc, 0xff, sizeof(proc));
    PMIx_Load_nspace(proc.nspace, text);
    cr_assert_eq(strlen(proc.nspace), PMIX_MAX_NSLEN);
    PMIx_Load_key(key, text);
    cr_assert_eq(strlen(key), PMIX_MAX_KEYLEN);
    PMIx_Load_key(key, NULL);
    cr_assert_eq(key[0], '\0');
    PMIx_Load_procid(&proc, "job", 3);
    cr_assert_str_eq(proc.nspace, "job");
    cr_assert_eq(proc.nspace[PMIX_MAX_NSLEN], '\0');
    PMIx_Load_nspace(proc.nspace, proc.nspace);
    cr_assert_str_eq(proc.nspace, "job");
    PMIx_Xfer_procid(&copy, &proc);
    cr_assert_eq(memcmp(&copy, &proc, sizeof(proc)), 0);
    PMIx_Xfer_procid(NULL, &proc);
    PMIx_Xfer_procid(&copy, NULL);
    PMIx_Proc_load(NULL, "job", 1);
    PMIx_Load_nspace(NULL, "job");
    PMIx_Load_key(NULL, "key");
}

static const struct {
    const char *a, *b;
    bool key, nspace;
} names[] = {
    { "a", "a", true, true },    { "a", "b", false, false },  { "a", "", false, true },
    { "", "", true, true },      { NULL, "a", false, true },  { "a", NULL, false, true },
    { NULL, NULL, false, true }, { "ab", "a", false, false },
};

Test(api_proc, empty_namespaces_match_all)
{
    for (size_t i = 0; i < SX_COUNT(names); i++) {
        cr_expect_eq(PMIx_Check_key(names[i].a, names[i].b), names[i].key, "row %zu", i);
        cr_expect_eq(PMIx_Check_nspace(names[i].a, names[i].b), names[i].nspace, "row %zu", i);
    }
}

Test(api_proc, wildcard_matches_all_ranks)
{
    pmix_proc_t a = { .nspace = "job", .rank = 1 }, b = { .nspace = "job", .rank = 2 };

    cr_assert(PMIx_Check_rank(1, 1));
    cr_assert_not(PMIx_Check_rank(1, 2));
    cr_assert(PMIx_Check_rank(PMIX_RANK_WILDCARD, 2));
    cr_assert(PMIx_Check_rank(1, PMIX_RANK_WILDCARD));
    cr_assert_not(PMIx_Check_procid(&a, &b));
    b.rank = PMIX_RANK_WILDCARD;
    cr_assert(PMIx_Check_procid(&a, &b));
    strcpy(b.nspace, "other");
    cr_assert_not(PMIx_Check_procid(&a, &b));
    cr_assert_not(PMIx_Check_procid(NULL, &b));
    cr_assert_not(PMIx_Check_procid(&a, NULL));
}

Test(api_proc, what_is_invalid)
{
    pmix_proc_t proc = { .nspace = "job", .rank = 1 };

    cr_assert_not(PMIx_Procid_invalid(&proc));
    proc.rank = PMIX_RANK_INVALID;
    cr_assert(PMIx_Procid_invalid(&proc));
    proc = (pmix_proc_t){ .rank = 1 };
    cr_assert(PMIx_Procid_invalid(&proc));
    cr_assert(PMIx_Procid_invalid(NULL));
    cr_assert(PMIx_Nspace_invalid(NULL));
    cr_assert(PMIx_Nspace_invalid(""));
    cr_assert_not(PMIx_Nspace_invalid("x"));
    cr_assert(PMIx_Rank_valid(0));
    cr_assert_not(PMIx_Rank_valid(PMIX_RANK_VALID));
    cr_assert_not(PMIx_Rank_valid(PMIX_RANK_WILDCARD));
    cr_assert(PMIx_Check_reserved_key(PMIX_JOB_SIZE));
    cr_assert_not(PMIx_Check_reserved_key("my.pmix"));
    cr_assert_not(PMIx_Check_reserved_key("pmi"));
    cr_assert_not(PMIx_Check_reserved_key(NULL));
}

Test(api_proc, clusters_go_in_front)
{
    pmix_nspace_t cluster = "alpha", job = "job:1", both, a, b;

    PMIx_Multicluster_nspace_construct(both, cluster, job);
    cr_assert_str_eq(both, "alpha:job:1");
    memset(a, 0xff, sizeof(a));
    memset(b, 0xff, sizeof(b));
    PMIx_Multicluster_nspace_parse(both, a, b);
    cr_assert_str_eq(a, "alpha");
    cr_assert_str_eq(b, "job:1");
    PMIx_Multicluster_nspace_parse(cluster, a, b);
    cr_assert_str_eq(a, "alpha");
    cr_assert_str_eq(b, "");
    memset(cluster, 'c', 200);
    cluster[200] = '\0';
    memset(job, 'j', 60);
    job[60] = '\0';
    PMIx_Multicluster_nspace_construct(both, cluster, job);
    cr_assert_str_eq(both, "", "too long together");
    memset(both, 'x', sizeof(both));
    PMIx_Multicluster_nspace_parse(both, a, b);
    cr_assert_eq(strlen(a), PMIX_MAX_NSLEN);
    PMIx_Multicluster_nspace_construct(NULL, cluster, job);
    PMIx_Multicluster_nspace_construct(both, NULL, job);
    PMIx_Multicluster_nspace_parse(NULL, a, b);
    PMIx_Multicluster_nspace_parse(both, NULL, b);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* query_test.c - which words are qualifiers, and of which type. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/util.h"
#include "base/value/value.h"
#include "cli/query/query.h"

TestSuite(query_qualifier, .timeout = 60);

Test(query_qualifier, a_key_is_its_string_or_its_name)
{
    char longest[PMIX_MAX_KEYLEN + 2];

    cr_expect_str_eq(sx_query_key("PMIX_QUERY_NAMESPACES"), PMIX_QUERY_NAMESPACES);
    cr_expect_str_eq(sx_query_key("pmix.qry.ns"), "pmix.qry.ns");
    cr_expect_str_eq(sx_query_key("of.the.host"), "of.the.host");
    cr_expect_null(sx_query_key("PMIX_NONSENSE"));
    cr_expect_null(sx_query_key(""));
    memset(longest, 'k', sizeof(longest));
    longest[PMIX_MAX_KEYLEN + 1] = '\0';
    cr_expect_null(sx_query_key(longest));
    longest[PMIX_MAX_KEYLEN] = '\0';
    cr_expect_str_eq(sx_query_key(longest), longest);
}

Test(query_qualifier, the_key_says_the_type)
{
    static const struct {
        const char *key, *value;
        pmix_data_type_t type;
    } rows[] = {
        { "PMIX_NSPACE", "12", PMIX_STRING },
        { PMIX_RANK, "12", PMIX_UINT32 },
        { "PMIX_PSET_NAME", "true", PMIX_STRING },
        { "PMIX_QUERY_REFRESH_CACHE", NULL, PMIX_BOOL },
        { "PMIX_QUERY_REFRESH_CACHE", "false", PMIX_BOOL },
        { "PMIX_PROCID", "job.7.3", PMIX_PROC },
        { "PMIX_PROCID", "job.7.*", PMIX_PROC },
        { "of.the.host", NULL, PMIX_BOOL },
        { "of.the.host", "4294967295", PMIX_UINT32 },
        { "of.the.host", "4294967296", PMIX_STRING },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        pmix_info_t info;

        cr_assert(sx_query_qualifier(&info, rows[i].key, rows[i].value), "row %zu", i);
        cr_expect_eq(info.value.type, rows[i].type, "row %zu", i);
        PMIX_INFO_DESTRUCT(&info);
    }
}

Test(query_qualifier, a_process_is_a_namespace_and_a_rank)
{
    pmix_info_t info;

    cr_assert(sx_query_qualifier(&info, PMIX_PROCID, "job.7.3"));
    cr_expect_str_eq(info.value.data.proc->nspace, "job.7");
    cr_expect_eq(info.value.data.proc->rank, 3);
    PMIX_INFO_DESTRUCT(&info);
    cr_assert(sx_query_qualifier(&info, PMIX_PROCID, "job.7.*"));
    cr_expect_eq(info.value.data.proc->rank, PMIX_RANK_WILDCARD);
    PMIX_INFO_DESTRUCT(&info);
}

Test(query_qualifier, others_are_refused)
{
    static const struct {
        const char *key, *value;
    } rows[] = {
        { "PMIX_NONSENSE", "1" },
        { "", "1" },
        { "PMIX_RANK", NULL },
        { "PMIX_RANK", "-1" },
        { "PMIX_RANK", "x" },
        { "PMIX_RANK", "4294967296" },
        { "PMIX_NSPACE", NULL },
        { "PMIX_NSPACE", "" },
        { "PMIX_PROCID", "job" },
        { "PMIX_PROCID", ".3" },
        { "PMIX_PROCID", "job.x" },
        { "PMIX_PROCID", NULL },
        { "PMIX_QUERY_REFRESH_CACHE", "maybe" },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        pmix_info_t info;

        cr_expect_not(sx_query_qualifier(&info, rows[i].key, rows[i].value), "row %zu", i);
    }
}

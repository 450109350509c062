/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* nodemap_test.c - lists of nodes and ranks: what is read, and what is no such list. */
#include "server/job/job.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include <pmix_server.h>

#include "base/util.h"
#include "shmem/store.h"

#define NOWHERE UINT32_MAX

static const struct {
    const char *nodes, *ranks;
    size_t node_count;
    uint32_t rank_count, node_of_rank[6];
} good[] = {
    { "a", NULL, 1, 0, { 0 } },
    { "a,b", "0,1;2,3", 2, 4, { 0, 0, 1, 1 } },
    { "a,b", "0-2;3", 2, 4, { 0, 0, 0, 1 } },
    { "shmix:a,b", "shmix:1;0", 2, 2, { 1, 0 } },
    { "a,b,c", "0;;1", 3, 2, { 0, 2 } }, /* a node without ranks */
    { "a", "5", 1, 6, { NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE, 0 } },
    { "a", "", 1, 0, { 0 } },
    { "a", "3-3", 1, 4, { NOWHERE, NOWHERE, NOWHERE, 0 } },
};

Test(nodemap, notifies_each_ranks_node)
{
    for (size_t i = 0; i < SX_COUNT(good); i++) {
        struct sx_nodemap map;

        cr_assert_eq(sx_nodemap_read(&map, good[i].nodes, good[i].ranks), PMIX_SUCCESS, "%zu", i);
        cr_expect_eq(map.node_count, good[i].node_count, "%zu", i);
        cr_expect_str_eq(map.nodes[0], "a", "%zu", i);
        cr_assert_eq(map.rank_count, good[i].rank_count, "%zu", i);
        for (uint32_t rank = 0; rank < map.rank_count; rank++) {
            cr_expect_eq(map.node_of_rank[rank], good[i].node_of_rank[rank], "%zu %u", i, rank);
        }
        sx_nodemap_clear(&map);
        sx_nodemap_clear(&map);
    }
}

static const struct {
    const char *why, *nodes, *ranks;
} bad[] = {
    { "no node", "", NULL },
    { "no node but commas", ",,", NULL },
    { "more lists than nodes", "a", "0;1" },
    { "a rank twice", "a,b", "0;0" },
    { "a rank twice, in a range", "a", "0-3,2" },
    { "a range backwards", "a", "3-1" },
    { "a range without an end", "a", "3-" },
    { "a range below zero", "a", "3--1" },
    { "a rank below zero", "a", "-1" },
    { "no number", "a", "x" },
    { "something behind a number", "a", "1x" },
    { "the first rank that is too large", "a", "16777216" },
    { "a range that would fill memory", "a", "0-18446744073709551615" },
    { "a number of too many digits", "a", "99999999999999999999999" },
};

Test(nodemap, refuses_what_is_no_such_list)
{
    static const struct sx_nodemap empty;

    for (size_t i = 0; i < SX_COUNT(bad); i++) {
        struct sx_nodemap map;

        cr_expect_eq(sx_nodemap_read(&map, bad[i].nodes, bad[i].ranks), PMIX_ERR_BAD_PARAM, "%s",
                     bad[i].why);
        cr_expect_arr_eq(&map, &empty, sizeof(map), "%s: something is left", bad[i].why);
    }
}

Test(nodemap, reads_what_it_has_made)
{
    char *nodes = NULL, *ranks = NULL;
    struct sx_nodemap map;

    cr_assert_eq(PMIx_generate_regex("n1,n2", &nodes), PMIX_SUCCESS);
    cr_assert_eq(PMIx_generate_ppn("0;1-4", &ranks), PMIX_SUCCESS);
    cr_assert_eq(sx_nodemap_read(&map, nodes, ranks), PMIX_SUCCESS);
    cr_expect_eq(map.node_count, 2);
    cr_expect_eq(map.node_of_rank[4], 1);
    sx_nodemap_clear(&map);
    free(nodes);
    free(ranks);
    cr_expect_eq(PMIx_generate_regex(NULL, &nodes), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_generate_ppn("0", NULL), PMIX_ERR_BAD_PARAM);
}

Test(nodemap, parses_lists_of_its_own_method_alone)
{
    pmix_regex2_t regex;
    char *text = NULL;

    cr_assert_eq(PMIx_generate_regex2("n1,n2", NULL, 0, &regex), PMIX_SUCCESS);
    cr_assert_eq(PMIx_parse_regex2(&regex, NULL, 0, &text), PMIX_SUCCESS);
    cr_expect_str_eq(text, "n1,n2");
    free(text);
    regex.type[0] = 'x';
    cr_expect_eq(PMIx_parse_regex2(&regex, NULL, 0, &text), PMIX_ERR_NOT_SUPPORTED);
    PMIx_Regex2_destruct(&regex);
}

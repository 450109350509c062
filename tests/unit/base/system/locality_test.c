/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* locality_test.c - places are written as hosts and Open MPI read them, and any text is judged. */
#include "base/system/locality.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <pmix_server.h>

#include "base/util.h"

#define NODE PMIX_LOCALITY_SHARE_NODE
#define NUMA PMIX_LOCALITY_SHARE_NUMA
#define PACKAGE PMIX_LOCALITY_SHARE_PACKAGE
#define L3 PMIX_LOCALITY_SHARE_L3CACHE
#define L2 PMIX_LOCALITY_SHARE_L2CACHE
#define L1 PMIX_LOCALITY_SHARE_L1CACHE
#define CORE PMIX_LOCALITY_SHARE_CORE
#define THREAD PMIX_LOCALITY_SHARE_HWTHREAD

static hwloc_topology_t made_up(const char *synthetic)
{
    hwloc_topology_t topology;

    cr_assert_eq(hwloc_topology_init(&topology), 0);
    cr_assert_eq(hwloc_topology_set_synthetic(topology, synthetic), 0);
    cr_assert_eq(hwloc_topology_load(topology), 0);
    return topology;
}

Test(locality, each_level_that_is_touched_is_written_from_wide_to_narrow)
{
    static const struct {
        unsigned first, last;
        const char *want;
    } rows[] = {
        { 0, 0, "NM0:SK0:L30:L20:L10:CR0:HT0" },
        { 0, 1, "NM0:SK0:L30:L20:L10:CR0:HT0-1" },
        { 5, 5, "NM0:SK0:L31:L22:L12:CR2:HT5" },
        { 7, 8, "NM0-1:SK0-1:L31-2:L23-4:L13-4:CR3-4:HT7-8" },
        { 0, 15, "NM0-1:SK0-1:L30-3:L20-7:L10-7:CR0-7:HT0-15" },
        { 100, 200, "" },
    };
    hwloc_topology_t topology = made_up("pack:2 numa:1 l3:2 l2:2 l1:1 core:1 pu:2");
    hwloc_bitmap_t cpuset = hwloc_bitmap_alloc();

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char *text = NULL;

        hwloc_bitmap_zero(cpuset);
        hwloc_bitmap_set_range(cpuset, rows[i].first, (int)rows[i].last);
        cr_assert_eq(sx_locality_write(topology, cpuset, &text), PMIX_SUCCESS);
        cr_expect_str_eq(text, rows[i].want);
        free(text);
    }
    hwloc_bitmap_free(cpuset);
    hwloc_topology_destroy(topology);
}

Test(locality, a_machine_without_caches_has_no_cache_levels)
{
    hwloc_topology_t topology = made_up("pack:1 core:2 pu:1");
    hwloc_bitmap_t cpuset = hwloc_bitmap_alloc();
    char *text = NULL;

    hwloc_bitmap_set(cpuset, 1);
    cr_assert_eq(sx_locality_write(topology, cpuset, &text), PMIX_SUCCESS);
    cr_expect_str_eq(text, "NM0:SK0:CR1:HT1");
    free(text);
    hwloc_bitmap_free(cpuset);
    hwloc_topology_destroy(topology);
}

static const struct {
    const char *one, *other;
    pmix_locality_t want;
} shared[] = {
    { "NM0:SK0:L30:L20:L10:CR0:HT0", "NM0:SK0:L30:L20:L10:CR0:HT0",
      NODE | NUMA | PACKAGE | L3 | L2 | L1 | CORE | THREAD },
    { "NM0:SK0:L30:L20:L10:CR0:HT0", "NM0:SK0:L30:L20:L10:CR0:HT1",
      NODE | NUMA | PACKAGE | L3 | L2 | L1 | CORE },
    { "NM0:SK0:L30:L20:L10:CR0:HT0", "NM0:SK0:L30:L21:L11:CR1:HT2", NODE | NUMA | PACKAGE | L3 },
    { "NM0:SK0:L30:CR0", "NM1:SK1:L31:CR4", NODE },
    { "NM0-1:SK0-1", "NM1:SK1", NODE | NUMA | PACKAGE },
    { "hwloc:NM0:SK0", "NM0:SK1", NODE | NUMA },
    { "hwloc:NM0:SK0", "hwloc:NM0:SK0", NODE | NUMA | PACKAGE },
    { "HWLOC:NM0", "NM0", NODE | NUMA },
    { "CR0,4,8-11", "CR1-3,5-7,12-99", NODE },
    { "CR0,4,8-11", "CR1-3,5-8,12-99", NODE | CORE },
    { "CR99", "CR0,1,2,3,4,99", NODE | CORE },
    { "SK0", "CR0", NODE },                /* the same number on different levels */
    { "ZZ0:CR1", "ZZ0:CR1", NODE | CORE }, /* a level of a later version */
    { "SK0:CR1", "CR1:SK0", NODE | PACKAGE | CORE },
    { "", "", NODE },
    { "hwloc:", "NM0", NODE },
};

Test(locality, two_places_share_what_both_touch)
{
    for (size_t i = 0; i < SX_COUNT(shared); i++) {
        pmix_locality_t locality = 0x7777;

        cr_expect_eq(PMIx_Get_relative_locality(shared[i].one, shared[i].other, &locality),
                     PMIX_SUCCESS);
        cr_expect_eq(locality, shared[i].want, "\"%s\" and \"%s\": %#x, not %#x", shared[i].one,
                     shared[i].other, locality, shared[i].want);
        locality = 0x7777;
        cr_expect_eq(PMIx_Get_relative_locality(shared[i].other, shared[i].one, &locality),
                     PMIX_SUCCESS);
        cr_expect_eq(locality, shared[i].want, "\"%s\" and \"%s\" the other way round",
                     shared[i].one, shared[i].other);
    }
}

static const struct {
    const char *text;
    pmix_status_t want;
} refused[] = {
    { "NM", PMIX_ERR_BAD_PARAM },
    { "NM:", PMIX_ERR_BAD_PARAM },
    { "N", PMIX_ERR_BAD_PARAM },
    { ":", PMIX_ERR_BAD_PARAM },
    { "NM0:", PMIX_ERR_BAD_PARAM },
    { ":NM0", PMIX_ERR_BAD_PARAM },
    { "NM0::SK0", PMIX_ERR_BAD_PARAM },
    { "nm0", PMIX_ERR_BAD_PARAM },
    { "NMx", PMIX_ERR_BAD_PARAM },
    { "NM0x", PMIX_ERR_BAD_PARAM },
    { "NM0-", PMIX_ERR_BAD_PARAM },
    { "NM-0", PMIX_ERR_BAD_PARAM },
    { "NM0,", PMIX_ERR_BAD_PARAM },
    { "NM,0", PMIX_ERR_BAD_PARAM },
    { "NM3-1", PMIX_ERR_BAD_PARAM },
    { "NM3,1", PMIX_ERR_BAD_PARAM },
    { "NM1,1", PMIX_ERR_BAD_PARAM },
    { "NM0 ", PMIX_ERR_BAD_PARAM },
    { "NM4294967296", PMIX_ERR_BAD_PARAM },
    { "NM99999999999999999999", PMIX_ERR_BAD_PARAM },
    { "hwloc", PMIX_ERR_BAD_PARAM },
    { "hwloc:hwloc:NM0", PMIX_ERR_BAD_PARAM },
    { "other:NM0", PMIX_ERR_NOT_SUPPORTED },
    { "hwlocality:NM0", PMIX_ERR_NOT_SUPPORTED },
};

Test(locality, what_is_no_place_is_refused_and_writes_nothing)
{
    for (size_t i = 0; i < SX_COUNT(refused); i++) {
        pmix_locality_t locality = 0x7777;

        cr_expect_eq(PMIx_Get_relative_locality(refused[i].text, "NM0", &locality), refused[i].want,
                     "\"%s\"", refused[i].text);
        cr_expect_eq(PMIx_Get_relative_locality("NM0", refused[i].text, &locality), refused[i].want,
                     "\"%s\"", refused[i].text);
        cr_expect_eq(locality, 0x7777);
    }
}

Test(locality, null_is_refused)
{
    pmix_locality_t locality;
    pmix_cpuset_t cpuset;
    char *text;

    cr_expect_eq(PMIx_Get_relative_locality(NULL, "NM0", &locality), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Get_relative_locality("NM0", NULL, &locality), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Get_relative_locality("NM0", "NM0", NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Parse_cpuset_string(NULL, &cpuset), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_Parse_cpuset_string("0", NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_generate_cpuset(NULL, &cpuset), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_generate_cpuset("0", NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_generate_cpuset_string(NULL, &text), PMIX_ERR_BAD_PARAM);
}

/* ---- cpusets ------------------------------------------------------------------------------ */

static const struct {
    const char *text, *back;
} cpusets[] = {
    { "hwloc:0", "hwloc:0" },         { "0", "hwloc:0" },         { "0-3,8", "hwloc:0-3,8" },
    { "hwloc:0,1,2,3", "hwloc:0-3" }, { "hwloc:4-", "hwloc:4-" }, { "hwloc:", "hwloc:" },
    { "65535", "hwloc:65535" },
};

Test(locality, a_cpuset_survives_its_text)
{
    for (size_t i = 0; i < SX_COUNT(cpusets); i++) {
        pmix_cpuset_t cpuset, again;
        char *text = NULL;

        cr_assert_eq(PMIx_Parse_cpuset_string(cpusets[i].text, &cpuset), PMIX_SUCCESS, "\"%s\"",
                     cpusets[i].text);
        cr_expect_str_eq(cpuset.source, "hwloc");
        cr_assert_eq(PMIx_server_generate_cpuset_string(&cpuset, &text), PMIX_SUCCESS);
        cr_expect_str_eq(text, cpusets[i].back);
        cr_assert_eq(PMIx_server_generate_cpuset(text, &again), PMIX_SUCCESS);
        cr_expect(hwloc_bitmap_isequal(cpuset.bitmap, again.bitmap));
        free(text);
        PMIx_Cpuset_destruct(&cpuset);
        PMIx_Cpuset_destruct(&again);
        cr_expect_null(cpuset.source);
        cr_expect_null(cpuset.bitmap);
    }
}

Test(locality, what_is_no_cpuset_is_refused)
{
    static const struct {
        const char *text;
        pmix_status_t want;
    } rows[] = {
        { "", PMIX_ERR_BAD_PARAM },           { "hwloc", PMIX_ERR_BAD_PARAM },
        { "hwloc:x", PMIX_ERR_BAD_PARAM },    { "0,", PMIX_ERR_BAD_PARAM },
        { "3-1", PMIX_ERR_BAD_PARAM },        { "0x0000000f", PMIX_ERR_BAD_PARAM },
        { "-1", PMIX_ERR_BAD_PARAM },         { "0-65536", PMIX_ERR_BAD_PARAM },
        { "2147483647", PMIX_ERR_BAD_PARAM }, { "0-4294967295", PMIX_ERR_BAD_PARAM },
        { "1:2", PMIX_ERR_BAD_PARAM },        { "other:0", PMIX_ERR_NOT_SUPPORTED },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        pmix_cpuset_t cpuset = { .source = NULL };

        cr_expect_eq(PMIx_Parse_cpuset_string(rows[i].text, &cpuset), rows[i].want, "\"%s\"",
                     rows[i].text);
        cr_expect_null(cpuset.bitmap);
    }
}

Test(locality, a_cpuset_of_nobody_or_somebody_else_is_not_written)
{
    char hwloc[] = "hwloc", other[] = "other";
    hwloc_bitmap_t bitmap = hwloc_bitmap_alloc();
    pmix_cpuset_t cpuset = { .source = hwloc };
    char *text = NULL;

    cr_expect_eq(PMIx_server_generate_cpuset_string(&cpuset, &text), PMIX_ERR_BAD_PARAM);
    cpuset = (pmix_cpuset_t){ .bitmap = bitmap };
    cr_expect_eq(PMIx_server_generate_cpuset_string(&cpuset, &text), PMIX_ERR_BAD_PARAM);
    cpuset.source = other;
    cr_expect_eq(PMIx_server_generate_cpuset_string(&cpuset, &text), PMIX_ERR_NOT_SUPPORTED);
    cpuset.source = hwloc;
    cr_expect_eq(PMIx_server_generate_cpuset_string(&cpuset, NULL), PMIX_ERR_BAD_PARAM);
    hwloc_bitmap_set(bitmap, 70000);
    cr_expect_eq(PMIx_server_generate_cpuset_string(&cpuset, &text), PMIX_ERR_BAD_PARAM);
    cr_expect_null(text);
    hwloc_bitmap_free(bitmap);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* opaque_test.c - hwloc's objects can be copied, sent and freed; those of others are left alone. */
#include <criterion/criterion.h>
#include <hwloc.h>
#include <pmix.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/opaque.h"

#include "base/util.h"
#include "base/value/pack.h"
#include "base/value/value.h"

static char hwloc_source[] = "hwloc:2.9.0";
static char foreign_source[] = "foreign";

static pmix_topology_t synthetic(const char *description)
{
    hwloc_topology_t made;

    hwloc_topology_init(&made);
    cr_assert_eq(hwloc_topology_set_synthetic(made, description), 0);
    cr_assert_eq(hwloc_topology_load(made), 0);
    return (pmix_topology_t){ .source = strdup(hwloc_source), .topology = made };
}

static void expect_same_topology(const pmix_topology_t *a, const pmix_topology_t *b)
{
    char *a_text, *b_text;

    cr_assert_eq(sx_opaque_text(a, PMIX_TOPO, &a_text), PMIX_SUCCESS);
    cr_assert_eq(sx_opaque_text(b, PMIX_TOPO, &b_text), PMIX_SUCCESS);
    cr_assert_str_eq(a_text, b_text);
    free(a_text);
    free(b_text);
}

Test(opaque, a_topology_is_copied_and_packed)
{
    static const char *const machines[] = { "pu:1", "package:2 numa:2 l3:1 core:4 pu:2" };

    for (size_t i = 0; i < SX_COUNT(machines); i++) {
        pmix_topology_t topo = synthetic(machines[i]), copy, back;
        pmix_data_buffer_t b = { .base_ptr = NULL };
        size_t got;

        cr_assert_eq(sx_elements_copy(&copy, &topo, 1, PMIX_TOPO), PMIX_SUCCESS);
        cr_assert_eq(sx_pack(&b, &topo, 1, PMIX_TOPO), PMIX_SUCCESS);
        cr_assert_eq(sx_unpack(&b, &back, 1, &got, PMIX_TOPO), PMIX_SUCCESS);
        cr_assert_str_eq(back.source, hwloc_source);
        expect_same_topology(&topo, &copy);
        expect_same_topology(&topo, &back);
        sx_elements_destruct(&topo, 1, PMIX_TOPO);
        sx_elements_destruct(&copy, 1, PMIX_TOPO);
        sx_elements_destruct(&back, 1, PMIX_TOPO);
        free(b.base_ptr);
    }
}

Test(opaque, a_topology_that_is_cut_or_scribbled_upon_is_no_topology)
{
    pmix_topology_t topo = synthetic("numa:1 core:2 pu:1"), back = { .source = hwloc_source };
    char *text;

    cr_assert_eq(sx_opaque_text(&topo, PMIX_TOPO, &text), PMIX_SUCCESS);
    for (size_t len = strlen(text) - 20; len > 0; len = len * 3 / 4) {
        text[len] = '\0';
        cr_expect_eq(sx_opaque_parse(&back, PMIX_TOPO, text), PMIX_ERR_UNPACK_FAILURE, "%zu", len);
        cr_expect_null(back.topology);
    }
    cr_expect_eq(sx_opaque_parse(&back, PMIX_TOPO, ""), PMIX_ERR_UNPACK_FAILURE);
    cr_expect_eq(sx_opaque_parse(&back, PMIX_TOPO, "no XML"), PMIX_ERR_UNPACK_FAILURE);
    free(text);
    sx_elements_destruct(&topo, 1, PMIX_TOPO);
}

Test(opaque, topologies_travel_in_arrays)
{
    pmix_topology_t topos[2] = { synthetic("pu:1"), synthetic("core:2 pu:2") };
    const pmix_data_array_t array = { .type = PMIX_TOPO, .size = 2, .array = topos };
    pmix_data_array_t back = { .size = 0 };
    pmix_data_buffer_t b = { .base_ptr = NULL };
    size_t got;

    cr_assert_eq(sx_pack(&b, &array, 1, PMIX_DATA_ARRAY), PMIX_SUCCESS);
    cr_assert_eq(sx_unpack(&b, &back, 1, &got, PMIX_DATA_ARRAY), PMIX_SUCCESS);
    cr_assert_eq(back.type, PMIX_TOPO);
    cr_assert_eq(back.size, 2);
    for (size_t i = 0; i < 2; i++) {
        expect_same_topology(&topos[i], &((pmix_topology_t *)back.array)[i]);
    }
    sx_elements_destruct(topos, 2, PMIX_TOPO);
    sx_elements_destruct(&back, 1, PMIX_DATA_ARRAY);
    free(b.base_ptr);
}

Test(opaque, a_topology_is_printed_as_its_tree)
{
    pmix_topology_t topo = synthetic("package:2 core:1 pu:2"), none = { .source = NULL };
    char *text = NULL;

    cr_assert_eq(PMIx_Data_print(&text, NULL, &topo, PMIX_TOPO), PMIX_SUCCESS);
    cr_expect_not_null(strstr(text, "Machine#0{"), "%s", text);
    cr_expect_not_null(strstr(text, "Core#0{PU#0, PU#1}"), "%s", text);
    cr_expect_not_null(strstr(text, "Package#1{"), "%s", text);
    free(text);
    cr_assert_eq(PMIx_Data_print(&text, NULL, &none, PMIX_TOPO), PMIX_SUCCESS);
    cr_expect_null(strstr(text, "Machine"), "%s", text);
    free(text);
    sx_elements_destruct(&topo, 1, PMIX_TOPO);
}

Test(opaque, a_damaged_topology_never_reaches_hwloc)
{
    pmix_topology_t topo = synthetic("pu:1"), back;
    pmix_data_buffer_t b = { .base_ptr = NULL };
    size_t got;

    cr_assert_eq(sx_pack(&b, &topo, 1, PMIX_TOPO), PMIX_SUCCESS);
    for (size_t at = 30; at < b.bytes_used; at++) {
        b.base_ptr[at] ^= 1;
        cr_assert_neq(sx_unpack(&b, &back, 1, &got, PMIX_TOPO), PMIX_SUCCESS, "%zu", at);
        b.base_ptr[at] ^= 1;
    }
    for (size_t cut = 1; cut <= b.bytes_used; cut++) {
        pmix_data_buffer_t early = b;

        early.bytes_used -= cut;
        early.pack_ptr -= cut;
        cr_assert_eq(sx_unpack(&early, &back, 1, &got, PMIX_TOPO),
                     PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER, "%zu", cut);
    }
    sx_elements_destruct(&topo, 1, PMIX_TOPO);
    free(b.base_ptr);
}

static const struct {
    const char *text;
    pmix_status_t want;
} lists[] = {
    { "", PMIX_SUCCESS },
    { "0", PMIX_SUCCESS },
    { "0-3,8", PMIX_SUCCESS },
    { "0-", PMIX_SUCCESS },
    { "1,3,5-", PMIX_SUCCESS },
    { "65535", PMIX_SUCCESS },
    { "65536", PMIX_ERR_UNPACK_FAILURE },
    { "0-65536", PMIX_ERR_UNPACK_FAILURE },
    { "4294967296", PMIX_ERR_UNPACK_FAILURE },
    { "99999999999999999999999999", PMIX_ERR_UNPACK_FAILURE },
    { "3-1", PMIX_ERR_UNPACK_FAILURE },
    { "-3", PMIX_ERR_UNPACK_FAILURE },
    { "1-,3", PMIX_ERR_UNPACK_FAILURE },
    { "1,", PMIX_ERR_UNPACK_FAILURE },
    { ",1", PMIX_ERR_UNPACK_FAILURE },
    { "1 2", PMIX_ERR_UNPACK_FAILURE },
    { "0x1", PMIX_ERR_UNPACK_FAILURE },
    { "-", PMIX_ERR_UNPACK_FAILURE },
};

Test(opaque, a_cpuset_is_a_list_of_processors)
{
    for (size_t i = 0; i < SX_COUNT(lists); i++) {
        pmix_cpuset_t set = { .source = strdup(hwloc_source) }, copy, back;
        pmix_data_buffer_t b = { .base_ptr = NULL };
        char *text;
        size_t got;

        cr_expect_eq(sx_opaque_parse(&set, PMIX_PROC_CPUSET, lists[i].text), lists[i].want,
                     "\"%s\"", lists[i].text);
        cr_expect_eq(set.bitmap != NULL, lists[i].want == PMIX_SUCCESS);
        cr_assert_eq(sx_opaque_text(&set, PMIX_PROC_CPUSET, &text), PMIX_SUCCESS);
        if (lists[i].want == PMIX_SUCCESS) {
            cr_expect_str_eq(text, lists[i].text);
            cr_assert_eq(sx_elements_copy(&copy, &set, 1, PMIX_PROC_CPUSET), PMIX_SUCCESS);
            cr_assert_eq(sx_pack(&b, &set, 1, PMIX_PROC_CPUSET), PMIX_SUCCESS);
            cr_assert_eq(sx_unpack(&b, &back, 1, &got, PMIX_PROC_CPUSET), PMIX_SUCCESS);
            cr_expect(hwloc_bitmap_isequal(back.bitmap, set.bitmap), "%s", lists[i].text);
            cr_expect(hwloc_bitmap_isequal(copy.bitmap, set.bitmap), "%s", lists[i].text);
            sx_elements_destruct(&copy, 1, PMIX_PROC_CPUSET);
            sx_elements_destruct(&back, 1, PMIX_PROC_CPUSET);
        }
        free(text);
        free(b.base_ptr);
        sx_elements_destruct(&set, 1, PMIX_PROC_CPUSET);
    }
}

Test(opaque, a_cpuset_beyond_the_bound_is_not_sent)
{
    pmix_cpuset_t set = { .source = hwloc_source, .bitmap = hwloc_bitmap_alloc() };
    char *text;

    hwloc_bitmap_set(set.bitmap, SX_OPAQUE_CPU_MAX);
    cr_expect_eq(sx_opaque_text(&set, PMIX_PROC_CPUSET, &text), PMIX_ERR_BAD_PARAM);
    hwloc_bitmap_fill(set.bitmap);
    hwloc_bitmap_clr(set.bitmap, SX_OPAQUE_CPU_MAX);
    cr_expect_eq(sx_opaque_text(&set, PMIX_PROC_CPUSET, &text), PMIX_ERR_BAD_PARAM);
    sx_opaque_destruct(&set, PMIX_PROC_CPUSET);
    cr_assert_null(set.bitmap);
}

Test(opaque, nobody_knows_a_foreign_object)
{
    pmix_cpuset_t set = { .source = foreign_source, .bitmap = foreign_source }, copy_set;
    pmix_topology_t topo = { .source = NULL, .topology = foreign_source }, copy_topo;
    char *text;

    cr_expect_eq(sx_elements_copy(&copy_set, &set, 1, PMIX_PROC_CPUSET), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(sx_elements_copy(&copy_topo, &topo, 1, PMIX_TOPO), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(sx_opaque_text(&set, PMIX_PROC_CPUSET, &text), PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(sx_opaque_text(&topo, PMIX_TOPO, &text), PMIX_ERR_NOT_SUPPORTED);
    sx_opaque_destruct(&set, PMIX_PROC_CPUSET);
    sx_opaque_destruct(&topo, PMIX_TOPO);
    cr_expect_eq(set.bitmap, foreign_source);
    cr_expect_eq(topo.topology, foreign_source);
    set.bitmap = topo.topology = NULL;
    cr_expect_eq(sx_opaque_parse(&set, PMIX_PROC_CPUSET, "1"), PMIX_ERR_UNPACK_FAILURE);
    cr_expect_eq(sx_opaque_parse(&topo, PMIX_TOPO, "1"), PMIX_ERR_UNPACK_FAILURE);
    cr_expect_eq(sx_opaque_text(&set, PMIX_PROC_CPUSET, &text), PMIX_SUCCESS);
    cr_expect_null(text);
}

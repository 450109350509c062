/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* value_test.c - copies are deep and equal, destruction is complete and may be repeated, numbers
 * keep their value. */
#include <criterion/criterion.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/value.h"

#include "../samples.h"

Test(value, a_copy_of_any_type_is_equal_and_its_own)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; sample_is_value_type(type) && seed < 60; seed++) {
            pmix_value_t value, copy;

            sample_value(&value, type, seed, SAMPLE_DEPTH);
            cr_assert_eq(sx_value_copy(&copy, &value), PMIX_SUCCESS, "type %u", type);
            cr_assert_eq(sx_value_compare(&value, &copy), 0, "type %u seed %u", type, seed);
            sx_value_destruct(&value);
            free(sx_value_print(&copy)); /* under a sanitizer: nothing of the original is left */
            sx_value_destruct(&copy);
            sx_value_destruct(&copy);
            cr_assert_eq(copy.type, PMIX_UNDEF);
        }
    }
}

/* TQ87 */
Test(value, elements_of_any_type_are_copied_as_a_block)
{
    enum { COUNT = 4 };

    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        const struct sx_type *row = sx_type_find(type);

        for (unsigned seed = 0; sample_is_element_type(type) && seed < 20; seed++) {
            void *array = sample_array(type, COUNT, seed, SAMPLE_DEPTH);
            void *copy = malloc(COUNT * row->size_bytes);
            char zero[4 * 1024] = { 0 };

            memset(copy, 0x5a, COUNT * row->size_bytes);
            cr_assert_eq(sx_elements_copy(copy, array, COUNT, type), PMIX_SUCCESS);
            sx_elements_destruct(array, COUNT, type);
            cr_assert_eq(memcmp(array, zero, COUNT * row->size_bytes), 0, "%s", row->name);
            sx_elements_destruct(array, COUNT, type);
            sx_elements_destruct(copy, COUNT, type);
            free(array);
            free(copy);
        }
    }
}

Test(value, what_cannot_be_copied_leaves_nothing)
{
    char source[] = "foreign";
    pmix_cpuset_t cpusets[2] = { { .source = source }, { .source = source, .bitmap = cpusets } };
    pmix_cpuset_t copies[2];
    pmix_value_t value, copy;

    /* the first has no bitmap and is copied, the second undoes it */
    cr_assert_eq(sx_elements_copy(copies, cpusets, 2, PMIX_PROC_CPUSET), PMIX_ERR_NOT_SUPPORTED);
    value = (pmix_value_t){ .type = PMIX_INFO };
    cr_assert_eq(sx_value_copy(&copy, &value), PMIX_ERR_NOT_SUPPORTED);
    cr_assert_eq(copy.type, PMIX_UNDEF);
    value.type = 499;
    cr_assert_eq(sx_value_copy(&copy, &value), PMIX_ERR_UNKNOWN_DATA_TYPE);
    cr_assert_eq(sx_elements_copy(copies, cpusets, 1, 499), PMIX_ERR_UNKNOWN_DATA_TYPE);
}

Test(value, an_array_without_elements_is_copied_as_an_empty_one)
{
    pmix_data_array_t null_array = { .type = PMIX_INFO, .size = 2 };
    const pmix_value_t value = { .type = PMIX_DATA_ARRAY, .data.darray = &null_array };
    pmix_value_t copy;

    cr_assert_eq(PMIx_Value_xfer(&copy, &value), PMIX_SUCCESS);
    cr_assert_eq(copy.type, PMIX_DATA_ARRAY);
    cr_expect_eq(copy.data.darray->type, PMIX_INFO);
    cr_expect_eq(copy.data.darray->size, 0);
    cr_expect_null(copy.data.darray->array);
    PMIx_Value_destruct(&copy);
}

Test(value, what_is_borrowed_is_neither_copied_nor_freed)
{
    pmix_cpuset_t cpuset = { .source = NULL };
    pmix_value_t value, copy;

    cr_assert_eq(sx_value_load(&value, &cpuset, PMIX_PROC_CPUSET), PMIX_SUCCESS);
    cr_assert_eq(value.data.cpuset, &cpuset);
    cr_assert_eq(sx_value_copy(&copy, &value), PMIX_SUCCESS);
    cr_assert_eq(copy.data.cpuset, &cpuset);
    sx_value_destruct(&value);
    sx_value_destruct(&copy);
    cr_assert_eq(sx_value_load(&value, &cpuset, PMIX_POINTER), PMIX_SUCCESS);
    cr_assert_eq(value.data.ptr, &cpuset);
    sx_value_destruct(&value);
}

Test(value, the_value_of_a_persistent_info_stays_its_owners)
{
    pmix_info_t info = { .key = "k", .flags = PMIX_INFO_PERSISTENT }, copy;
    char text[] = "on the stack";

    info.value = (pmix_value_t){ .type = PMIX_STRING, .data.string = text };
    cr_assert_eq(sx_elements_copy(&copy, &info, 1, PMIX_INFO), PMIX_SUCCESS);
    cr_assert_neq(copy.value.data.string, text);
    cr_assert_eq(copy.flags, 0);
    sx_elements_destruct(&info, 1, PMIX_INFO);
    sx_elements_destruct(&copy, 1, PMIX_INFO);
    cr_assert_str_eq(text, "on the stack");
}

Test(value, hwloc_gets_its_objects_back)
{
    pmix_cpuset_t cpuset = { .source = strdup("hwloc:2.9.0"), .bitmap = hwloc_bitmap_alloc() };
    char foreign[] = "not a bitmap";
    pmix_cpuset_t other = { .source = strdup("other"), .bitmap = foreign };

    sx_elements_destruct(&cpuset, 1, PMIX_PROC_CPUSET);
    sx_elements_destruct(&other, 1, PMIX_PROC_CPUSET);
    cr_assert_null(cpuset.bitmap);
}

Test(value, load_without_data_is_true_or_empty)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        const struct sx_type *row = sx_type_find(type);
        pmix_value_t value, zero = { .type = type };
        const pmix_status_t rc = sx_value_load(&value, NULL, type);

        if (row == NULL && type != PMIX_UNDEF) {
            cr_expect_eq(rc, PMIX_ERR_UNKNOWN_DATA_TYPE, "type %u", type);
        } else if (row != NULL && row->in_value == SX_WHERE_NOWHERE) {
            cr_expect_eq(rc, PMIX_ERR_NOT_SUPPORTED, "type %u", type);
        } else {
            cr_expect_eq(rc, PMIX_SUCCESS, "type %u", type);
            zero.data.flag = type == PMIX_BOOL;
            cr_expect_eq(memcmp(&value.data, &zero.data, sizeof(value.data)), 0, "type %u", type);
            cr_expect_eq(value.type, type);
        }
        sx_value_destruct(&value);
    }
}

Test(value, load_copies_what_it_is_given)
{
    char text[] = "text", name[] = "job", long_name[300];
    pmix_proc_t proc = { .nspace = "job", .rank = 3 };
    struct timeval tv = { .tv_sec = 1, .tv_usec = 2 };
    pmix_envar_t envar = { .envar = name, .value = text, .separator = ':' };
    pmix_byte_object_t bytes = { .bytes = text, .size = 2 };
    int16_t number = -3;
    pmix_value_t value;

    cr_assert_eq(sx_value_load(&value, text, PMIX_STRING), PMIX_SUCCESS);
    cr_assert_str_eq(value.data.string, "text");
    cr_assert_neq(value.data.string, text);
    sx_value_destruct(&value);
    cr_assert_eq(sx_value_load(&value, text, PMIX_REGEX), PMIX_SUCCESS);
    cr_assert_eq(value.data.bo.size, 5);
    sx_value_destruct(&value);
    cr_assert_eq(sx_value_load(&value, name, PMIX_PROC_NSPACE), PMIX_SUCCESS);
    cr_assert_str_eq(*value.data.nspace, "job");
    sx_value_destruct(&value);
    memset(long_name, 'x', sizeof(long_name));
    long_name[sizeof(long_name) - 1] = '\0';
    cr_assert_eq(sx_value_load(&value, long_name, PMIX_PROC_NSPACE), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(value.type, PMIX_UNDEF);
    cr_assert_eq(sx_value_load(&value, &proc, PMIX_PROC), PMIX_SUCCESS);
    cr_assert_eq(value.data.proc->rank, 3);
    cr_assert_neq(value.data.proc, &proc);
    sx_value_destruct(&value);
    cr_assert_eq(sx_value_load(&value, &tv, PMIX_TIMEVAL), PMIX_SUCCESS);
    cr_assert_eq(value.data.tv.tv_usec, 2);
    sx_value_destruct(&value);
    cr_assert_eq(sx_value_load(&value, &envar, PMIX_ENVAR), PMIX_SUCCESS);
    cr_assert_str_eq(value.data.envar.value, "text");
    sx_value_destruct(&value);
    cr_assert_eq(sx_value_load(&value, &bytes, PMIX_BYTE_OBJECT), PMIX_SUCCESS);
    cr_assert_eq(value.data.bo.size, 2);
    sx_value_destruct(&value);
    cr_assert_eq(sx_value_load(&value, &number, PMIX_INT16), PMIX_SUCCESS);
    cr_assert_eq(value.data.int16, -3);
}

static const struct {
    pmix_value_t value;
    bool is_uint, is_int;
    uint64_t bits;
} numbers[] = {
    { { .type = PMIX_UINT8, .data.uint8 = 200 }, true, true, 200 },
    { { .type = PMIX_INT8, .data.int8 = -3 }, false, true, (uint64_t)-3 },
    { { .type = PMIX_INT, .data.integer = 5 }, true, true, 5 },
    { { .type = PMIX_INT64, .data.int64 = INT64_MIN }, false, true, UINT64_C(1) << 63 },
    { { .type = PMIX_UINT64, .data.uint64 = UINT64_MAX }, true, false, UINT64_MAX },
    { { .type = PMIX_SIZE, .data.size = 9 }, true, true, 9 },
    { { .type = PMIX_PROC_RANK, .data.rank = PMIX_RANK_WILDCARD }, true, true, 0xfffffffe },
    { { .type = PMIX_STATUS, .data.status = -24 }, false, true, (uint64_t)-24 },
    { { .type = PMIX_BOOL, .data.flag = true }, false, false, 0 },
    { { .type = PMIX_DOUBLE, .data.dval = 1 }, false, false, 0 },
    { { .type = PMIX_STRING }, false, false, 0 },
    { { .type = PMIX_UNDEF }, false, false, 0 },
};

Test(value, integers_are_read_only_if_they_fit)
{
    for (size_t i = 0; i < SX_COUNT(numbers); i++) {
        uint64_t u = 1;
        int64_t s = 1;

        cr_expect_eq(sx_value_get_uint(&numbers[i].value, &u) == PMIX_SUCCESS, numbers[i].is_uint,
                     "row %zu", i);
        cr_expect_eq(sx_value_get_int(&numbers[i].value, &s) == PMIX_SUCCESS, numbers[i].is_int,
                     "row %zu", i);
        cr_expect_eq(u, numbers[i].is_uint ? numbers[i].bits : 1, "row %zu", i);
        cr_expect_eq((uint64_t)s, numbers[i].is_int ? numbers[i].bits : 1, "row %zu", i);
    }
    cr_assert_eq(sx_value_get_uint(NULL, &(uint64_t){ 0 }), PMIX_ERR_BAD_PARAM);
}

Test(value, a_directive_is_true_by_being_there)
{
    static const struct {
        const char *text;
        bool want;
    } texts[] = { { "true", true }, { "T", true },   { "Yes", true },
                  { "y", true },    { "1", true },   { "false", false },
                  { "0", false },   { "no", false }, { "maybe", false } };
    pmix_value_t value = { .type = PMIX_UNDEF };

    cr_assert(sx_value_is_true(&value));
    for (size_t i = 0; i < SX_COUNT(texts); i++) {
        sx_value_load(&value, texts[i].text, PMIX_STRING);
        cr_expect_eq(sx_value_is_true(&value), texts[i].want, "%s", texts[i].text);
        sx_value_destruct(&value);
    }
    value = (pmix_value_t){ .type = PMIX_STRING };
    cr_assert_not(sx_value_is_true(&value));
    value = (pmix_value_t){ .type = PMIX_BOOL, .data.flag = true };
    cr_assert(sx_value_is_true(&value));
    value.data.flag = false;
    cr_assert_not(sx_value_is_true(&value));
    value = (pmix_value_t){ .type = PMIX_INT, .data.integer = -1 };
    cr_assert(sx_value_is_true(&value));
    value.data.integer = 0;
    cr_assert_not(sx_value_is_true(&value));
}

Test(value, infos_are_found_by_their_whole_key)
{
    pmix_info_t infos[2] = { { .key = "pmix.job" }, { .key = "pmix.job.size" } };

    cr_assert_eq(sx_info_find(infos, 2, "pmix.job.size"), &infos[1]);
    cr_assert_eq(sx_info_find(infos, 2, "pmix.job"), &infos[0]);
    cr_assert_null(sx_info_find(infos, 2, "pmix.jo"));
    cr_assert_null(sx_info_find(NULL, 2, "pmix.job"));
    cr_assert_null(sx_info_find(infos, 0, "pmix.job"));
}

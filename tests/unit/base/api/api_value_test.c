/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_value_test.c - PMIx_Value_*: unload hands out a copy, numbers keep their value, NULL is an
 * error and never a crash. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>

#include "../samples.h"

Test(api_value, null_is_refused)
{
    pmix_value_t value = { .type = PMIX_INT };
    void *data = NULL;
    size_t size;
    int number;

    cr_assert_eq(PMIx_Value_load(NULL, "x", PMIX_STRING), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Value_xfer(NULL, &value), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Value_xfer(&value, NULL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Value_unload(NULL, &data, &size), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Value_unload(&value, NULL, &size), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Value_unload(&value, &data, NULL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Value_compare(NULL, &value), PMIX_VALUE_COMPARISON_NOT_AVAIL);
    cr_assert_eq(PMIx_Value_compare(&value, NULL), PMIX_VALUE_COMPARISON_NOT_AVAIL);
    cr_assert_eq(PMIx_Value_true(NULL), PMIX_NON_BOOL);
    cr_assert_eq(PMIx_Value_get_number(NULL, &number, PMIX_INT), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Value_get_number(&value, NULL, PMIX_INT), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Value_get_size(NULL, &size), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Value_get_size(&value, NULL), PMIX_ERR_BAD_PARAM);
    PMIx_Value_construct(NULL);
    PMIx_Value_destruct(NULL);
    PMIx_Value_free(NULL, 3);
    cr_assert_null(PMIx_Value_create(0));
}

Test(api_value, unload_hands_out_a_copy)
{
    pmix_proc_t proc = { .nspace = "job", .rank = 3 }, out;
    pmix_envar_t envar = { .envar = (char[]){ "A" }, .value = (char[]){ "b" } }, *got;
    pmix_byte_object_t bytes = { .bytes = (char[]){ "xyz" }, .size = 3 };
    uint32_t number = 7, back = 0;
    pmix_value_t value;
    void *data;
    size_t size;

    PMIx_Value_load(&value, &number, PMIX_UINT32);
    data = &back;
    cr_assert_eq(PMIx_Value_unload(&value, &data, &size), PMIX_SUCCESS);
    cr_assert(data == &back && back == 7 && size == sizeof(back));
    data = NULL;
    size = 4711;
    cr_assert_eq(PMIx_Value_unload(&value, &data, &size), PMIX_ERR_BAD_PARAM);
    cr_assert(data == NULL && size == 4711);

    PMIx_Value_load(&value, "text", PMIX_STRING);
    data = NULL;
    cr_assert_eq(PMIx_Value_unload(&value, &data, &size), PMIX_SUCCESS);
    cr_assert_neq(data, value.data.string);
    cr_assert_str_eq(data, "text");
    cr_assert_eq(size, 4);
    free(data);
    PMIx_Value_destruct(&value);

    PMIx_Value_load(&value, &proc, PMIX_PROC);
    data = &out;
    cr_assert_eq(PMIx_Value_unload(&value, &data, &size), PMIX_SUCCESS);
    cr_assert(size == sizeof(out) && out.rank == 3);
    PMIx_Value_destruct(&value);

    PMIx_Value_load(&value, &envar, PMIX_ENVAR);
    data = NULL;
    cr_assert_eq(PMIx_Value_unload(&value, &data, &size), PMIX_SUCCESS);
    PMIx_Value_destruct(&value);
    got = data;
    cr_assert_str_eq(got->value, "b");
    PMIx_Envar_free(got, 1);

    PMIx_Value_load(&value, &bytes, PMIX_BYTE_OBJECT);
    cr_assert_eq(PMIx_Value_unload(&value, &data, &size), PMIX_SUCCESS);
    PMIx_Value_destruct(&value);
    cr_assert_eq(size, 3);
    cr_assert_eq(memcmp(data, "xyz", 3), 0);
    free(data);

    PMIx_Value_load(&value, &proc, PMIX_POINTER);
    cr_assert_eq(PMIx_Value_unload(&value, &data, &size), PMIX_SUCCESS);
    cr_assert_eq(data, &proc);
    value.type = PMIX_UNDEF;
    cr_assert_eq(PMIx_Value_unload(&value, &data, &size), PMIX_ERR_BAD_PARAM);
    value.type = 499;
    cr_assert_eq(PMIx_Value_unload(&value, &data, &size), PMIX_ERR_UNKNOWN_DATA_TYPE);
}

Test(api_value, unload_works_for_every_type)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; sample_is_value_type(type) && seed < 20; seed++) {
            const struct sx_type *const row = sx_type_find(type);
            const bool has_room = row->kind == SX_TYPE_PLAIN && row->in_value == SX_WHERE_UNION;
            uint64_t room[4];
            pmix_value_t value;
            void *data = has_room ? room : NULL;
            size_t size = 4711;

            sample_value(&value, type, seed, SAMPLE_DEPTH);
            cr_assert_eq(PMIx_Value_unload(&value, &data, &size), PMIX_SUCCESS, "type %u", type);
            cr_assert_neq(size, 4711);
            if (data != NULL && sx_type_find(type)->kind == SX_TYPE_STRUCT) {
                sx_elements_destruct(data, 1, type);
            }
            if (!has_room) {
                free(data);
            }
            PMIx_Value_destruct(&value);
        }
    }
}

Test(api_value, compare_says_which_is_greater)
{
    pmix_value_t three = { .type = PMIX_INT, .data.integer = 3 };
    pmix_value_t five = { .type = PMIX_INT, .data.integer = 5 };
    pmix_value_t other = { .type = PMIX_UINT, .data.uint = 5 };

    cr_assert_eq(PMIx_Value_compare(&three, &three), PMIX_EQUAL);
    cr_assert_eq(PMIx_Value_compare(&three, &five), PMIX_VALUE2_GREATER);
    cr_assert_eq(PMIx_Value_compare(&five, &three), PMIX_VALUE1_GREATER);
    cr_assert_eq(PMIx_Value_compare(&five, &other), PMIX_VALUE_TYPE_DIFFERENT);
}

static const struct {
    const char *text;
    pmix_boolean_t want;
} truths[] = {
    { NULL, PMIX_BOOL_TRUE },     { "", PMIX_BOOL_TRUE },       { "  ", PMIX_BOOL_TRUE },
    { "true", PMIX_BOOL_TRUE },   { "TRUE", PMIX_BOOL_TRUE },   { "yes", PMIX_BOOL_TRUE },
    { "y", PMIX_BOOL_TRUE },      { "t", PMIX_BOOL_TRUE },      { "1", PMIX_BOOL_TRUE },
    { " 42", PMIX_BOOL_TRUE },    { "0", PMIX_BOOL_FALSE },     { "00", PMIX_BOOL_FALSE },
    { "false", PMIX_BOOL_FALSE }, { "No", PMIX_BOOL_FALSE },    { "n", PMIX_BOOL_FALSE },
    { "f", PMIX_BOOL_FALSE },     { "perhaps", PMIX_NON_BOOL }, { "-", PMIX_NON_BOOL },
};

Test(api_value, truth_of_texts)
{
    for (size_t i = 0; i < SX_COUNT(truths); i++) {
        pmix_info_t info;

        cr_assert_eq(PMIx_Info_load(&info, "k", truths[i].text, PMIX_STRING), PMIX_SUCCESS);
        cr_expect_eq(PMIx_Value_true(&info.value), truths[i].want, "%s", truths[i].text);
        cr_expect_eq(PMIx_Info_true(&info), truths[i].want, "%s", truths[i].text);
        PMIx_Info_destruct(&info);
    }
    cr_assert_eq(PMIx_Value_true(&(pmix_value_t){ .type = PMIX_UNDEF }), PMIX_BOOL_TRUE);
    cr_assert_eq(PMIx_Value_true(&(pmix_value_t){ .type = PMIX_BOOL }), PMIX_BOOL_FALSE);
    cr_assert_eq(PMIx_Value_true(&(pmix_value_t){ .type = PMIX_INT }), PMIX_NON_BOOL);
    cr_assert_eq(PMIx_Info_true(NULL), PMIX_NON_BOOL);
}

static const struct {
    const char *why;
    pmix_value_t value;
    pmix_data_type_t to;
    pmix_status_t want;
    double number;
} numbers[] = {
    { "widen", { .type = PMIX_UINT8, .data.uint8 = 200 }, PMIX_INT64, PMIX_SUCCESS, 200 },
    { "narrow", { .type = PMIX_INT64, .data.int64 = -128 }, PMIX_INT8, PMIX_SUCCESS, -128 },
    { "too small",
      { .type = PMIX_INT64, .data.int64 = -129 },
      PMIX_INT8,
      PMIX_ERR_LOST_PRECISION,
      0 },
    { "too big", { .type = PMIX_INT, .data.integer = 128 }, PMIX_INT8, PMIX_ERR_LOST_PRECISION, 0 },
    { "largest", { .type = PMIX_INT, .data.integer = 127 }, PMIX_INT8, PMIX_SUCCESS, 127 },
    { "too big, unsigned",
      { .type = PMIX_INT, .data.integer = 256 },
      PMIX_UINT8,
      PMIX_ERR_LOST_PRECISION,
      0 },
    { "sign", { .type = PMIX_INT, .data.integer = -1 }, PMIX_UINT64, PMIX_ERR_CHANGE_SIGN, 0 },
    { "beyond signed",
      { .type = PMIX_UINT64, .data.uint64 = UINT64_MAX },
      PMIX_INT64,
      PMIX_ERR_LOST_PRECISION,
      0 },
    { "float to int", { .type = PMIX_FLOAT, .data.fval = -4 }, PMIX_INT, PMIX_SUCCESS, -4 },
    { "fraction", { .type = PMIX_DOUBLE, .data.dval = 0.5 }, PMIX_INT, PMIX_ERR_LOST_PRECISION, 0 },
    { "huge float",
      { .type = PMIX_DOUBLE, .data.dval = 1e300 },
      PMIX_UINT64,
      PMIX_ERR_LOST_PRECISION,
      0 },
    { "int to double", { .type = PMIX_PID, .data.pid = 42 }, PMIX_DOUBLE, PMIX_SUCCESS, 42 },
    { "int to float", { .type = PMIX_SIZE, .data.size = 42 }, PMIX_FLOAT, PMIX_SUCCESS, 42 },
    { "rank", { .type = PMIX_PROC_RANK, .data.rank = 9 }, PMIX_UINT32, PMIX_SUCCESS, 9 },
    { "status", { .type = PMIX_STATUS, .data.status = -24 }, PMIX_STATUS, PMIX_SUCCESS, -24 },
    { "bool", { .type = PMIX_BOOL, .data.flag = true }, PMIX_INT, PMIX_ERR_BAD_PARAM, 0 },
    { "to bool", { .type = PMIX_INT, .data.integer = 1 }, PMIX_BOOL, PMIX_ERR_BAD_PARAM, 0 },
    { "string", { .type = PMIX_STRING }, PMIX_INT, PMIX_ERR_BAD_PARAM, 0 },
    { "to string", { .type = PMIX_INT }, PMIX_STRING, PMIX_ERR_BAD_PARAM, 0 },
    { "unknown", { .type = PMIX_INT }, 499, PMIX_ERR_BAD_PARAM, 0 },
};

Test(api_value, a_number_keeps_its_value_or_is_refused)
{
    for (size_t i = 0; i < SX_COUNT(numbers); i++) {
        pmix_value_t got = { .type = numbers[i].to };
        double number = -1;

        cr_expect_eq(PMIx_Value_get_number(&numbers[i].value, &got.data, numbers[i].to),
                     numbers[i].want, "%s", numbers[i].why);
        if (numbers[i].want == PMIX_SUCCESS) {
            cr_expect_eq(PMIx_Value_get_number(&got, &number, PMIX_DOUBLE), PMIX_SUCCESS);
            cr_expect_eq(number, numbers[i].number, "%s: %g", numbers[i].why, number);
        }
    }
}

Test(api_value, size_counts_what_is_behind_pointers)
{
    pmix_info_t infos[2] = { { .key = "a" }, { .key = "b" } };
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 2, .array = infos };
    pmix_value_t value = { .type = PMIX_INT };
    char text[] = "four";
    size_t size;

    cr_assert_eq(PMIx_Value_get_size(&value, &size), PMIX_SUCCESS);
    cr_assert_eq(size, sizeof(int));
    value = (pmix_value_t){ .type = PMIX_STRING, .data.string = text };
    cr_assert_eq(PMIx_Value_get_size(&value, &size), PMIX_SUCCESS);
    cr_assert_eq(size, 4);
    infos[1].value = value;
    cr_assert_eq(PMIx_Info_get_size(&infos[1], &size), PMIX_SUCCESS);
    cr_assert_eq(size, sizeof(pmix_info_t) + 4);
    value = (pmix_value_t){ .type = PMIX_DATA_ARRAY, .data.darray = &array };
    cr_assert_eq(PMIx_Value_get_size(&value, &size), PMIX_SUCCESS);
    cr_assert_eq(size, sizeof(array) + sizeof(infos) + 4);
    value.type = 499;
    cr_assert_eq(PMIx_Value_get_size(&value, &size), PMIX_ERR_UNKNOWN_DATA_TYPE);
}

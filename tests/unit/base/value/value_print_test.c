/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* value_print_test.c - one line for any value, readable for the usual ones. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/value/value.h"

#include "../samples.h"

static void expect_text(pmix_data_type_t type, const void *data, const char *want)
{
    pmix_value_t value;
    char *text;

    cr_assert_eq(sx_value_load(&value, data, type), PMIX_SUCCESS);
    text = sx_value_print(&value);
    cr_expect_str_eq(text, want);
    free(text);
    sx_value_destruct(&value);
}

Test(value_print, usual_values_read_well)
{
    pmix_proc_t proc = { .nspace = "job", .rank = 3 };
    pmix_info_t info = { .key = "pmix.job.size" };
    pmix_data_array_t array = { .type = PMIX_INFO, .size = 1, .array = &info };
    struct timeval tv = { .tv_sec = 1, .tv_usec = 20 };
    char bytes[40] = { 1, 2 };
    pmix_byte_object_t object = { .bytes = bytes, .size = 2 };

    info.value = (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = 4 };
    expect_text(PMIX_UNDEF, NULL, "PMIX_UNDEF");
    expect_text(PMIX_UINT32, &(uint32_t){ 7 }, "7");
    expect_text(PMIX_INT8, &(int8_t){ -7 }, "-7");
    expect_text(PMIX_BOOL, &(bool){ true }, "true");
    expect_text(PMIX_FLOAT, &(float){ 0.5f }, "0.5");
    expect_text(PMIX_DOUBLE, &(double){ 0.1 }, "0.1");
    expect_text(PMIX_STATUS, &(pmix_status_t){ PMIX_ERR_TIMEOUT }, "PMIX_ERR_TIMEOUT");
    expect_text(PMIX_STATUS, &(pmix_status_t){ -77777 }, "-77777");
    expect_text(PMIX_PROC_RANK, &(pmix_rank_t){ 12 }, "12");
    expect_text(PMIX_PROC_RANK, &(pmix_rank_t){ PMIX_RANK_WILDCARD }, "PMIX_RANK_WILDCARD");
    expect_text(PMIX_SCOPE, &(pmix_scope_t){ PMIX_GLOBAL }, "PMIX_GLOBAL");
    expect_text(PMIX_STRING, "a \"b\"\n\x01", "\"a \\\"b\\\"\\n\\x01\"");
    expect_text(PMIX_STRING, NULL, "NULL");
    expect_text(PMIX_PROC, &proc, "job:3");
    expect_text(PMIX_PROC, NULL, "NULL");
    expect_text(PMIX_PROC_NSPACE, "job", "\"job\"");
    expect_text(PMIX_TIMEVAL, &tv, "1.000020");
    expect_text(PMIX_BYTE_OBJECT, &object, "<2 bytes 01 02>");
    object.size = sizeof(bytes);
    expect_text(PMIX_DATA_ARRAY, &array, "PMIX_INFO[1]{pmix.job.size=4}");
}

Test(value_print, any_value_is_one_line)
{
    for (pmix_data_type_t type = 0; type < SAMPLE_TYPES; type++) {
        for (unsigned seed = 0; seed < 20; seed++) {
            pmix_value_t value;
            char *text;

            sample_value(&value, type, seed, SAMPLE_DEPTH);
            text = sx_value_print(&value);
            cr_assert_not_null(text);
            cr_assert_null(strchr(text, '\n'));
            cr_assert_gt(strlen(text), 0u);
            free(text);
            sx_value_destruct(&value);
            if (sample_is_element_type(type)) {
                sample_array_value(&value, type, 3, seed);
                free(sx_value_print(&value));
                sx_value_destruct(&value);
            }
        }
    }
}

Test(value_print, wrong_types_print_as_such)
{
    pmix_value_t value = { .type = 499 };
    char *text = sx_value_print(&value);

    cr_assert_str_eq(text, "<type 499>");
    free(text);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_list_test.c - info lists keep their order, own what they copy and borrow what is inserted. */
#include <criterion/criterion.h>
#include <string.h>

#include <pmix.h>

static void expect_keys(void *list, const char *want)
{
    char keys[64] = "";
    void *next = NULL;
    pmix_info_t *info = PMIx_Info_list_get_info(list, NULL, &next);

    for (; info != NULL; info = next == NULL ? NULL : PMIx_Info_list_get_info(list, next, &next)) {
        strcat(keys, info->key);
    }
    cr_expect_str_eq(keys, want);
    cr_expect_eq(PMIx_Info_list_get_size(list), strlen(want));
}

Test(api_list, infos_come_out_in_order)
{
    void *list = PMIx_Info_list_start();
    uint32_t number = 7;
    pmix_value_t value = { .type = PMIX_UINT32, .data.uint32 = 8 };
    pmix_data_array_t array;
    pmix_info_t info;

    expect_keys(list, "");
    cr_assert_eq(PMIx_Info_list_convert(list, &array), PMIX_ERR_EMPTY);
    cr_assert_null(array.array);
    cr_assert_eq(PMIx_Info_list_add(list, "b", &number, PMIX_UINT32), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_list_add(list, "c", "text", PMIX_STRING), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_list_prepend(list, "a", NULL, PMIX_BOOL), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_list_add_value(list, "d", &value), PMIX_SUCCESS);
    PMIx_Info_load(&info, "e", "copied", PMIX_STRING);
    cr_assert_eq(PMIx_Info_list_xfer(list, &info), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    expect_keys(list, "abcde");
    cr_assert_eq(PMIx_Info_list_convert(list, &array), PMIX_SUCCESS);
    PMIx_Info_list_release(list);
    cr_assert_eq(array.type, PMIX_INFO);
    cr_assert_eq(array.size, 5);
    cr_assert_str_eq(((pmix_info_t *)array.array)[4].value.data.string, "copied");
    cr_assert_eq(((pmix_info_t *)array.array)[3].value.data.uint32, 8);
    PMIx_Data_array_destruct(&array);
}

Test(api_list, an_inserted_info_keeps_its_value)
{
    char text[] = "on the stack";
    pmix_info_t info = { .key = "k" };
    void *list = PMIx_Info_list_start();
    pmix_data_array_t array;

    info.value = (pmix_value_t){ .type = PMIX_STRING, .data.string = text };
    cr_assert_eq(PMIx_Info_list_insert(list, &info), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_list_convert(list, &array), PMIX_SUCCESS);
    PMIx_Info_list_release(list);
    cr_assert_str_eq(((pmix_info_t *)array.array)->value.data.string, text);
    cr_assert_neq(((pmix_info_t *)array.array)->value.data.string, text);
    PMIx_Data_array_destruct(&array);
    cr_assert_str_eq(text, "on the stack");
}

Test(api_list, unique_replaces_or_keeps)
{
    void *list = PMIx_Info_list_start(), *next;
    pmix_value_t value = { .type = PMIX_STRING, .data.string = (char[]){ "three" } };
    pmix_info_t info = { .key = "a", .value = value };

    cr_assert_eq(PMIx_Info_list_add_unique(list, "a", "one", PMIX_STRING, false), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_list_add_unique(list, "b", "x", PMIX_STRING, false), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_list_add_unique(list, "a", "two", PMIX_STRING, false), PMIX_SUCCESS);
    expect_keys(list, "ab");
    cr_assert_str_eq(PMIx_Info_list_get_info(list, NULL, &next)->value.data.string, "one");
    cr_assert_eq(PMIx_Info_list_add_unique(list, "a", "two", PMIX_STRING, true), PMIX_SUCCESS);
    cr_assert_str_eq(PMIx_Info_list_get_info(list, NULL, &next)->value.data.string, "two");
    cr_assert_eq(PMIx_Info_list_add_value_unique(list, "a", &value, true), PMIX_SUCCESS);
    cr_assert_str_eq(PMIx_Info_list_get_info(list, NULL, &next)->value.data.string, "three");
    cr_assert_eq(PMIx_Info_list_xfer_unique(list, &info, false), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_list_xfer_unique(list, &info, true), PMIX_SUCCESS);
    expect_keys(list, "ab");
    PMIx_Info_list_release(list);
}

Test(api_list, null_and_nonsense_are_refused)
{
    void *list = PMIx_Info_list_start(), *next;
    pmix_value_t value = { .type = PMIX_UNDEF }, bad = { .type = 499 };
    pmix_info_t info = { .key = "k" };
    pmix_data_array_t array;

    cr_assert_eq(PMIx_Info_list_add(NULL, "k", NULL, PMIX_BOOL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_list_add(list, NULL, NULL, PMIX_BOOL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_list_add(list, "k", NULL, 499), PMIX_ERR_UNKNOWN_DATA_TYPE);
    cr_assert_eq(PMIx_Info_list_prepend(NULL, "k", NULL, PMIX_BOOL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_list_add_value(list, "k", NULL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_list_add_value(NULL, "k", &value), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_list_add_value(list, "k", &bad), PMIX_ERR_UNKNOWN_DATA_TYPE);
    cr_assert_eq(PMIx_Info_list_xfer(list, NULL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_list_xfer(NULL, &info), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_list_insert(list, NULL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_list_insert(NULL, &info), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_list_convert(NULL, &array), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_list_convert(list, NULL), PMIX_ERR_BAD_PARAM);
    cr_assert_null(PMIx_Info_list_get_info(NULL, NULL, &next));
    cr_assert_null(PMIx_Info_list_get_info(list, NULL, NULL));
    cr_assert_null(PMIx_Info_list_get_info(list, NULL, &next));
    cr_assert_eq(PMIx_Info_list_get_size(NULL), 0);
    expect_keys(list, "");
    PMIx_Info_list_release(list);
    PMIx_Info_list_release(NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_info_test.c - loading, copying and marking infos. */
#include <criterion/criterion.h>
#include <string.h>

#include <pmix.h>

#include "base/util.h"

Test(api_info, load_sets_key_and_value)
{
    char long_key[PMIX_MAX_KEYLEN + 2];
    uint32_t number = 7;
    pmix_info_t info;

    memset(&info, 0xff, sizeof(info));
    cr_assert_eq(PMIx_Info_load(&info, "key", &number, PMIX_UINT32), PMIX_SUCCESS);
    cr_assert_str_eq(info.key, "key");
    cr_assert_eq(info.flags, 0);
    cr_assert_eq(info.value.data.uint32, 7);
    cr_assert_eq(PMIx_Info_load(&info, "key", NULL, PMIX_BOOL), PMIX_SUCCESS);
    cr_assert(info.value.data.flag);
    cr_assert_eq(PMIx_Info_load(NULL, "key", NULL, PMIX_BOOL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_load(&info, NULL, NULL, PMIX_BOOL), PMIX_ERR_BAD_PARAM);
    memset(long_key, 'x', sizeof(long_key));
    long_key[PMIX_MAX_KEYLEN + 1] = '\0';
    cr_assert_eq(PMIx_Info_load(&info, long_key, NULL, PMIX_BOOL), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_load(&info, long_key + 1, NULL, PMIX_BOOL), PMIX_SUCCESS);
}

Test(api_info, xfer_is_deep)
{
    pmix_info_t info, copy;

    PMIx_Info_load(&info, "key", "text", PMIX_STRING);
    PMIx_Info_required(&info);
    cr_assert_eq(PMIx_Info_xfer(&copy, &info), PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    cr_assert_str_eq(copy.key, "key");
    cr_assert_str_eq(copy.value.data.string, "text");
    cr_assert(PMIx_Info_is_required(&copy));
    PMIx_Info_destruct(&copy);
    cr_assert_eq(PMIx_Info_xfer(NULL, &info), PMIX_ERR_BAD_PARAM);
    cr_assert_eq(PMIx_Info_xfer(&info, NULL), PMIX_ERR_BAD_PARAM);
}

static const struct {
    void (*set)(pmix_info_t *info);
    bool (*is)(const pmix_info_t *info);
    pmix_info_directives_t flag;
} marks[] = {
    { PMIx_Info_required, PMIx_Info_is_required, PMIX_INFO_REQD },
    { PMIx_Info_processed, PMIx_Info_was_processed, PMIX_INFO_REQD_PROCESSED },
    { PMIx_Info_set_end, PMIx_Info_is_end, PMIX_INFO_ARRAY_END },
    { PMIx_Info_qualifier, PMIx_Info_is_qualifier, PMIX_INFO_QUALIFIER },
    { PMIx_Info_persistent, PMIx_Info_is_persistent, PMIX_INFO_PERSISTENT },
};

Test(api_info, each_mark_is_one_bit)
{
    pmix_info_t info = { .flags = 0 };

    for (size_t i = 0; i < SX_COUNT(marks); i++) {
        info.flags = 0;
        cr_expect_not(marks[i].is(&info), "mark %zu", i);
        marks[i].set(&info);
        cr_expect_eq(info.flags, marks[i].flag);
        cr_expect(marks[i].is(&info), "mark %zu", i);
        marks[i].set(NULL);
        cr_expect_not(marks[i].is(NULL));
    }
    info.flags = UINT32_MAX;
    cr_assert_not(PMIx_Info_is_optional(&info));
    PMIx_Info_optional(&info);
    cr_assert(PMIx_Info_is_optional(&info));
    cr_assert_eq(info.flags, UINT32_MAX & ~(uint32_t)PMIX_INFO_REQD);
    PMIx_Info_optional(NULL);
    cr_assert_not(PMIx_Info_is_optional(NULL));
}

/* ---- list ------------------------------------------------------------------------------------ */

/* Info lists keep their order, own what they copy and borrow what is inserted. */

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

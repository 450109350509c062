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

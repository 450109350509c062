/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* api_names_test.c - every code has a text, every known one its name. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <pmix.h>
#include <shmix.h>

Test(api_names, codes_are_called_by_their_constants)
{
    cr_expect_str_eq(PMIx_Error_string(PMIX_SUCCESS), "PMIX_SUCCESS");
    cr_expect_str_eq(PMIx_Error_string(PMIX_ERR_TIMEOUT), "PMIX_ERR_TIMEOUT");
    cr_expect_str_eq(PMIx_Error_string(SHMIX_ERR_EVENTS_LOST), "SHMIX_ERR_EVENTS_LOST");
    cr_expect_str_eq(PMIx_Error_string(SHMIX_ERR_VALUES_LOST), "SHMIX_ERR_VALUES_LOST");
    cr_expect_str_eq(PMIx_Error_string(PMIX_PROC_HAS_DISCONNECTED), "PMIX_PROC_HAS_DISCONNECTED");
    cr_expect_eq(PMIx_Error_code("SHMIX_ERR_EVENTS_LOST"), SHMIX_ERR_EVENTS_LOST);
    cr_expect_str_eq(PMIx_Error_string(-400), "PMIX_ERR_PROC_KILLED_BY_CMD");
    cr_expect_str_eq(PMIx_Proc_state_string(PMIX_PROC_STATE_ABORTED), "PMIX_PROC_STATE_ABORTED");
    cr_expect_str_eq(PMIx_Scope_string(PMIX_GLOBAL), "PMIX_GLOBAL");
    cr_expect_str_eq(PMIx_Scope_string(PMIX_DEL_LOCAL), "PMIX_DEL_LOCAL");
    cr_expect_str_eq(PMIx_Persistence_string(PMIX_PERSIST_APP), "PMIX_PERSIST_APP");
    cr_expect_str_eq(PMIx_Data_range_string(PMIX_RANGE_LOCAL), "PMIX_RANGE_LOCAL");
    cr_expect_str_eq(PMIx_Data_type_string(PMIX_UNDEF), "PMIX_UNDEF");
    cr_expect_str_eq(PMIx_Data_type_string(PMIX_DATA_ARRAY), "PMIX_DATA_ARRAY");
    cr_expect_str_eq(PMIx_Data_type_string(PMIX_COMMAND), "PMIX_COMMAND");
    cr_expect_str_eq(PMIx_Alloc_directive_string(PMIX_ALLOC_NEW), "PMIX_ALLOC_NEW");
    cr_expect_str_eq(PMIx_Alloc_inheritance_string(PMIX_ALLOC_INHERIT_CHILD), "CHILD");
    cr_expect_str_eq(PMIx_Alloc_inheritance_string(PMIX_ALLOC_INHERIT_CHILD_DEFAULT),
                     "CHILD_DEFAULT");
    cr_expect_str_eq(PMIx_Error_string(PMIX_ERR_IOF_XOFF), "PMIX_ERR_IOF_XOFF");
    cr_expect_str_eq(PMIx_Job_state_string(PMIX_JOB_STATE_RUNNING), "PMIX_JOB_STATE_RUNNING");
    cr_expect_str_eq(PMIx_Link_state_string(PMIX_LINK_UP), "PMIX_LINK_UP");
    cr_expect_str_eq(PMIx_Device_type_string(PMIX_DEVTYPE_GPU), "PMIX_DEVTYPE_GPU");
    cr_expect_str_eq(PMIx_Value_comparison_string(PMIX_EQUAL), "PMIX_EQUAL");
    cr_expect_str_eq(PMIx_Group_operation_string(PMIX_GROUP_DESTRUCT), "PMIX_GROUP_DESTRUCT");
    cr_expect_str_eq(PMIx_Group_operation_string(PMIX_GROUP_CANCEL), "PMIX_GROUP_CANCEL");
    cr_expect_str_eq(PMIx_Resource_block_directive_string(PMIX_RESOURCE_BLOCK_DEFINE),
                     "PMIX_RESOURCE_BLOCK_DEFINE");
    cr_expect_str_eq(PMIx_IOF_channel_string(PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL),
                     "STDOUT|STDERR");
    cr_expect_str_eq(PMIx_IOF_channel_string(PMIX_FWD_NO_CHANNELS), "NONE");
    cr_expect_str_eq(PMIx_IOF_channel_string(PMIX_FWD_ALL_CHANNELS), "ALL");
}

/* TQ88 */
Test(api_names, no_code_is_without_a_text)
{
    for (int i = 0; i <= UINT16_MAX; i++) {
        cr_assert_not_null(PMIx_Data_type_string((pmix_data_type_t)i));
        cr_assert_not_null(PMIx_IOF_channel_string((pmix_iof_channel_t)i));
    }
    for (int i = 0; i <= UINT8_MAX; i++) {
        cr_assert_not_null(PMIx_Proc_state_string((pmix_proc_state_t)i));
        cr_assert_not_null(PMIx_Scope_string((pmix_scope_t)i));
        cr_assert_not_null(PMIx_Persistence_string((pmix_persistence_t)i));
        cr_assert_not_null(PMIx_Data_range_string((pmix_data_range_t)i));
        cr_assert_not_null(PMIx_Alloc_directive_string((pmix_alloc_directive_t)i));
        cr_assert_not_null(PMIx_Alloc_inheritance_string((pmix_alloc_inheritance_t)i));
        cr_assert_not_null(PMIx_Job_state_string((pmix_job_state_t)i));
        cr_assert_not_null(PMIx_Link_state_string((pmix_link_state_t)i));
        cr_assert_not_null(PMIx_Resource_block_directive_string((uint8_t)i));
    }
    cr_assert_not_null(PMIx_Device_type_string(UINT64_MAX));
    cr_assert_not_null(PMIx_Device_type_string(3));
    cr_assert_not_null(PMIx_Value_comparison_string((pmix_value_cmp_t)77));
    cr_assert_not_null(PMIx_Group_operation_string((pmix_group_operation_t)77));
    cr_assert_not_null(PMIx_Error_string(INT32_MIN));
    cr_assert_not_null(PMIx_Error_string(INT32_MAX));
}

Test(api_names, error_names_lead_back_to_their_codes)
{
    unsigned known = 0;

    for (pmix_status_t code = -4000; code <= 0; code++) {
        const char *name = PMIx_Error_string(code);

        if (strncmp(name, "PMIX_", 5) == 0) {
            cr_assert_eq(PMIx_Error_code(name), code, "%s", name);
            known++;
        }
    }
    cr_assert_gt(known, 140u);
    cr_assert_eq(PMIx_Error_code("PMIX_ERR_JOB_TERMINATED"), PMIX_EVENT_JOB_END, "an alias");
    cr_assert_eq(PMIx_Error_code("pmix_Err_Not_Found"), PMIX_ERR_NOT_FOUND);
    cr_assert_eq(PMIx_Error_code("nonsense"), INT32_MIN);
    cr_assert_eq(PMIx_Error_code(NULL), INT32_MIN);
}

Test(api_names, attributes_are_found_in_both_directions)
{
    cr_expect_str_eq(PMIx_Get_attribute_string("PMIX_JOB_SIZE"), PMIX_JOB_SIZE);
    cr_expect_str_eq(PMIx_Get_attribute_name(PMIX_JOB_SIZE), "PMIX_JOB_SIZE");
    cr_expect_str_eq(PMIx_Get_attribute_name("pmix.jctrl.ckptsig"),
                     "PMIX_JOB_CTRL_CHECKPOINT_SIGNAL");
    cr_expect_str_eq(PMIx_Get_attribute_name("pmix.qry.quals"), "PMIX_QUERY_QUALIFIERS");
    cr_expect_str_eq(PMIx_Get_attribute_string("PMIX_ALLOC_NETWORK_ID"), "pmix.alloc.netid");
    cr_expect_str_eq(PMIx_Get_attribute_string("no such name"), "no such name");
    cr_expect_str_eq(PMIx_Get_attribute_name("no.such.key"), "no.such.key");
    cr_expect_not_null(PMIx_Get_attribute_string(NULL));
    cr_expect_not_null(PMIx_Get_attribute_name(NULL));
}

Test(api_names, later_spellings_of_a_key_are_known)
{
    cr_expect_str_eq(PMIx_Get_attribute_name("pmix.fabdev.coord"),
                     "PMIX_FABRIC_DEVICE_COORDINATES");
    cr_expect_str_eq(PMIx_Get_attribute_name("pmix.jctrl.ckpttime"),
                     "PMIX_JOB_CTRL_CHECKPOINT_TIMEOUT");
    cr_expect_str_eq(PMIx_Get_attribute_name("pmix.pthrdnm"), "PMIX_PROGRESS_THREAD_NAME");
    cr_expect_str_eq(PMIx_Get_attribute_name("pmix.qry.supqual"),
                     "PMIX_QUERY_SUPPORTED_QUALIFIERS");
    cr_expect_str_eq(PMIx_Get_attribute_string("PMIX_PROGRESS_THREAD_NAME"), "pmix.evname");
}

static void expect_text(char *text, const char *want)
{
    cr_expect_str_eq(text, want);
    free(text);
}

Test(api_names, values_become_texts_that_the_caller_frees)
{
    pmix_info_t info = { .key = "pmix.job.size", .flags = PMIX_INFO_REQD };
    pmix_proc_t proc = { .nspace = "job", .rank = 3 };
    pmix_app_t app = { .maxprocs = 2 };
    pmix_resource_unit_t unit = { .type = PMIX_DEVTYPE_GPU, .count = 4 };

    info.value = (pmix_value_t){ .type = PMIX_UINT32, .data.uint32 = 7 };
    expect_text(PMIx_Value_string(&info.value), "PMIX_UINT32: 7");
    expect_text(PMIx_Info_string(&info), "pmix.job.size (REQUIRED) PMIX_UINT32: 7");
    expect_text(PMIx_Info_directives_string(0), "OPTIONAL");
    expect_text(PMIx_Info_directives_string(PMIX_INFO_REQD | PMIX_INFO_QUALIFIER),
                "REQUIRED|QUALIFIER");
    expect_text(PMIx_Proc_string(&proc), "job:3");
    expect_text(PMIx_App_string(&app), "{NULL, {}, {}, NULL, 2, PMIX_INFO[0]{}}");
    expect_text(PMIx_Resource_unit_string(&unit), "{PMIX_DEVTYPE_GPU, 4}");
    expect_text(PMIx_Value_string(NULL), "NULL");
    expect_text(PMIx_Info_string(NULL), "NULL");
    expect_text(PMIx_Proc_string(NULL), "NULL");
    expect_text(PMIx_App_string(NULL), "NULL");
    expect_text(PMIx_Resource_unit_string(NULL), "NULL");
}

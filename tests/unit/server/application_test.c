/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* application_test.c - there is nothing to prepare, and hosts are told so. */
#include <criterion/criterion.h>
#include <string.h>

#include "hosted.h"

static pmix_nspace_t job = "job";
static int done;

TestSuite(application, .init = hosted_begin, .fini = hosted_end);

static void wait_done(int want)
{
    while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != want) {
    }
}

static void on_setup(pmix_status_t status, pmix_info_t info[], size_t ninfo, void *cbdata,
                     pmix_op_cbfunc_t released, void *released_cbdata)
{
    cr_expect_eq(status, PMIX_SUCCESS);
    cr_expect(info == NULL && ninfo == 0);
    cr_expect_eq(cbdata, &job);
    released(PMIX_SUCCESS, released_cbdata); /* hosts do not ask whether it is there */
    __atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
}

static void on_support(pmix_status_t status, void *cbdata)
{
    cr_expect_eq(status, PMIX_SUCCESS);
    cr_expect_eq(cbdata, &job);
    __atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
}

Test(application, setup_gives_an_empty_list)
{
    pmix_info_t info;

    cr_assert_eq(PMIx_Info_load(&info, PMIX_SETUP_APP_ALL, NULL, PMIX_BOOL), PMIX_SUCCESS);
    info.flags = PMIX_INFO_REQD;
    cr_assert_eq(PMIx_server_setup_application(job, &info, 1, on_setup, &job), PMIX_SUCCESS);
    wait_done(1);
    cr_assert_eq(PMIx_server_setup_local_support(job, NULL, 0, on_support, &job), PMIX_SUCCESS);
    wait_done(2);
    cr_assert_eq(PMIx_server_setup_local_support(job, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

Test(application, setup_refuses_what_it_cannot_do)
{
    pmix_nspace_t endless;
    pmix_info_t info;

    cr_assert_eq(PMIx_Info_load(&info, PMIX_ALLOC_FABRIC, NULL, PMIX_BOOL), PMIX_SUCCESS);
    cr_assert_eq(PMIx_server_setup_application(job, &info, 1, on_setup, &job), PMIX_SUCCESS);
    wait_done(1);
    info.flags = PMIX_INFO_REQD;
    memset(endless, 'x', sizeof(endless));
    cr_expect_eq(PMIx_server_setup_application(job, &info, 1, on_setup, &job),
                 PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(PMIx_server_setup_local_support(job, &info, 1, on_support, &job),
                 PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(PMIx_server_setup_application(endless, NULL, 0, on_setup, &job),
                 PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_setup_application(job, NULL, 1, on_setup, &job), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_setup_application(job, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_setup_local_support(endless, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(done, 1, "a refused call does not call back");
}

Test(application_alone, setup_needs_a_server)
{
    cr_expect_eq(PMIx_server_setup_application(job, NULL, 0, on_setup, &job), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_server_setup_local_support(job, NULL, 0, NULL, NULL), PMIX_ERR_INIT);
}

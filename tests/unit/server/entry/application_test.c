/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* application_test.c - variables that a launcher sends along, and the processes that get them. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../hosted.h"

static pmix_nspace_t job = "job";
static int done;

#define SENT_MAX 64
static pmix_info_t sent[SENT_MAX];
static size_t sent_count;

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
    cr_expect_eq(cbdata, &job);
    while (sent_count > 0) {
        PMIx_Info_destruct(&sent[--sent_count]);
    }
    for (size_t i = 0; i < ninfo && i < SENT_MAX; i++) {
        cr_expect_eq(PMIx_Info_xfer(&sent[sent_count++], &info[i]), PMIX_SUCCESS);
    }
    released(PMIX_SUCCESS, released_cbdata); /* hosts do not ask whether it is there */
    __atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
}

static void on_support(pmix_status_t status, void *cbdata)
{
    cr_expect_eq(status, PMIX_SUCCESS);
    cr_expect_eq(cbdata, &job);
    __atomic_add_fetch(&done, 1, __ATOMIC_RELEASE);
}

/* Return: what setup_fork makes of @name in the environment of @nspace's process, which had @had;
 * "" when it is not there. */
static const char *forked(const char *nspace, const char *name, const char *had)
{
    static char value[256];
    const size_t len = strlen(name);
    pmix_proc_t proc = { .rank = 0 };
    char **env = NULL;

    snprintf(proc.nspace, sizeof(proc.nspace), "%s", nspace);
    if (had != NULL) {
        cr_assert_eq(PMIx_Argv_append_nosize(&env, had), PMIX_SUCCESS);
    }
    cr_assert_eq(PMIx_server_setup_fork(&proc, &env), PMIX_SUCCESS);
    value[0] = '\0';
    for (char **at = env; *at != NULL; at++) {
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=') {
            snprintf(value, sizeof(value), "%s", *at + len + 1);
        }
    }
    PMIx_Argv_free(env);
    return value;
}

static pmix_status_t support_one(const char *nspace, const char *key, const char *name,
                                 const char *value)
{
    pmix_envar_t envar = { .envar = (char *)(uintptr_t)name, .value = (char *)(uintptr_t)value };
    pmix_info_t info;
    pmix_nspace_t its;

    snprintf(its, sizeof(its), "%s", nspace);
    cr_assert_eq(PMIx_Info_load(&info, key, &envar, PMIX_ENVAR), PMIX_SUCCESS);
    const pmix_status_t rc = PMIx_server_setup_local_support(its, &info, 1, NULL, NULL);

    PMIx_Info_destruct(&info);
    return rc;
}

Test(application, what_the_launcher_has_set_reaches_the_processes_of_the_job)
{
    static const char *const keys[] = { PMIX_SETUP_APP_ENVARS, PMIX_SETUP_APP_ALL };
    pmix_info_t info;

    setenv("SHMIX_CARRIED", "1", 1);
    setenv("SHMIX_SERVER_CARRIED", "1", 1);
    setenv("CARRIED", "1", 1);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(PMIx_Info_load(&info, keys[i], NULL, PMIX_BOOL), PMIX_SUCCESS);
        info.flags = PMIX_INFO_REQD;
        cr_assert_eq(PMIx_server_setup_application(job, &info, 1, on_setup, &job), PMIX_SUCCESS);
        wait_done(1 + i);
        cr_expect_gt(sent_count, 0);
    }
    cr_assert_eq(PMIx_server_setup_local_support(job, sent, sent_count, on_support, &job),
                 PMIX_SUCCESS);
    wait_done(3);
    cr_expect_str_eq(forked("job", "SHMIX_CARRIED", NULL), "1");
    cr_expect_str_eq(forked("job", "SHMIX_CARRIED", "SHMIX_CARRIED=own"), "own");
    cr_expect_str_eq(forked("job", "SHMIX_SERVER_CARRIED", NULL), "", "the way to a server");
    cr_expect_str_eq(forked("job", "CARRIED", NULL), "", "none of ours");
    cr_expect_str_eq(forked("other", "SHMIX_CARRIED", NULL), "", "of another job");
}

Test(application, what_is_kept_for_a_job_goes_with_it)
{
    cr_assert_eq(PMIx_server_register_nspace(job, 0, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    cr_assert_eq(support_one("job", PMIX_SET_ENVAR, "A", "1"), PMIX_OPERATION_SUCCEEDED);
    cr_assert_eq(support_one("job", PMIX_SET_ENVAR, "A", "2"), PMIX_OPERATION_SUCCEEDED);
    cr_expect_str_eq(forked("job", "A", "A=0"), "2", "the later one counts");
    PMIx_server_deregister_nspace(job, NULL, NULL);
    cr_expect_str_eq(forked("job", "A", "A=0"), "0");
}

Test(application, what_is_kept_is_bounded)
{
    char name[32];

    for (int i = 0; i < 64; i++) {
        cr_assert_eq(support_one("job", PMIX_SET_ENVAR, "A", "1"), PMIX_OPERATION_SUCCEEDED);
    }
    cr_expect_eq(support_one("job", PMIX_SET_ENVAR, "A", "1"), PMIX_ERR_OUT_OF_RESOURCE);
    for (int i = 1; i < 256; i++) {
        snprintf(name, sizeof(name), "job.%d", i);
        cr_assert_eq(support_one(name, PMIX_SET_ENVAR, "A", "1"), PMIX_OPERATION_SUCCEEDED);
    }
    cr_expect_eq(support_one("one more", PMIX_SET_ENVAR, "A", "1"), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(support_one("job.1", PMIX_SET_ENVAR, "A=", "1"), PMIX_ERR_BAD_PARAM);
}

Test(application, setup_that_is_not_asked_for_anything_gives_an_empty_list)
{
    setenv("SHMIX_CARRIED", "1", 1);
    cr_assert_eq(PMIx_server_setup_application(job, NULL, 0, on_setup, &job), PMIX_SUCCESS);
    wait_done(1);
    cr_expect_eq(sent_count, 0);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* inventory_test.c - what a host calls before its first job, and after its last one, succeeds. */
#include <criterion/criterion.h>
#include <semaphore.h>
#include <stdlib.h>

#include <pmix.h>
#include <pmix_server.h>

static sem_t done;

static void begin(void)
{
    static pmix_server_module_t module;

    sem_init(&done, 0, 0);
    cr_assert_eq(PMIx_server_init(&module, NULL, 0), PMIX_SUCCESS);
}

static void end(void)
{
    cr_expect_eq(PMIx_server_finalize(), PMIX_SUCCESS);
    sem_destroy(&done);
}

TestSuite(inventory, .init = begin, .fini = end);

static void on_list(pmix_status_t status, pmix_info_t *info, size_t ninfo, void *cbdata,
                    pmix_release_cbfunc_t release, void *release_cbdata)
{
    cr_expect_eq(status, PMIX_SUCCESS);
    cr_expect(info == NULL && ninfo == 0);
    cr_expect_eq(cbdata, &done);
    release(release_cbdata); /* hosts do not ask whether it is there */
    sem_post(&done);
}

static void on_done(pmix_status_t status, void *cbdata)
{
    cr_expect_eq(status, PMIX_SUCCESS);
    cr_expect_eq(cbdata, &done);
    sem_post(&done);
}

Test(inventory, collecting_gives_an_empty_list)
{
    cr_assert_eq(PMIx_server_collect_inventory(NULL, 0, on_list, &done), PMIX_SUCCESS);
    sem_wait(&done);
    cr_expect_eq(PMIx_server_collect_inventory(NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(PMIx_server_collect_inventory(NULL, 1, on_list, &done), PMIX_ERR_BAD_PARAM);
}

Test(inventory, delivering_succeeds)
{
    pmix_info_t info;

    cr_assert_eq(PMIx_Info_load(&info, "a.device", "eth0", PMIX_STRING), PMIX_SUCCESS);
    cr_assert_eq(PMIx_server_deliver_inventory(&info, 1, NULL, 0, on_done, &done), PMIX_SUCCESS);
    sem_wait(&done);
    cr_expect_eq(PMIx_server_deliver_inventory(&info, 1, NULL, 0, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    cr_expect_eq(PMIx_server_deliver_inventory(NULL, 1, NULL, 0, NULL, NULL), PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&info);
}

Test(inventory, required_directives_are_refused)
{
    pmix_info_t directive;

    cr_assert_eq(PMIx_Info_load(&directive, "a.directive", NULL, PMIX_BOOL), PMIX_SUCCESS);
    cr_assert_eq(PMIx_server_deliver_inventory(NULL, 0, &directive, 1, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
    directive.flags = PMIX_INFO_REQD;
    cr_expect_eq(PMIx_server_collect_inventory(&directive, 1, on_list, &done),
                 PMIX_ERR_NOT_SUPPORTED);
    cr_expect_eq(PMIx_server_deliver_inventory(NULL, 0, &directive, 1, NULL, NULL),
                 PMIX_ERR_NOT_SUPPORTED);
}

Test(inventory, a_host_may_deregister_a_handler_that_it_never_had)
{
    cr_expect_eq(PMIx_Deregister_event_handler(0, NULL, NULL), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Deregister_event_handler(4711, on_done, &done), PMIX_SUCCESS);
    sem_wait(&done);
}

Test(inventory_alone, needs_a_server)
{
    cr_expect_eq(PMIx_server_collect_inventory(NULL, 0, on_list, &done), PMIX_ERR_INIT);
    cr_expect_eq(PMIx_server_deliver_inventory(NULL, 0, NULL, 0, NULL, NULL), PMIX_ERR_INIT);
}

Test(inventory_alone, maps_are_made_without_a_server)
{
    char *nodes = NULL;
    char *ranks = NULL;

    cr_assert_eq(PMIx_generate_regex("n1,n2", &nodes), PMIX_SUCCESS);
    cr_assert_eq(PMIx_generate_ppn("0,1;2", &ranks), PMIX_SUCCESS);
    cr_expect_str_eq(nodes, "shmix:n1,n2");
    cr_expect_str_eq(ranks, "shmix:0,1;2");
    free(nodes);
    free(ranks);
}

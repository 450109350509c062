/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* upcall_test.c - who waits for all ranks hears of it once, when the last one has come. */
#include "launch/pmi/upcall.h"

#include <criterion/criterion.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "launch/job/job.h"

#define NUMBER 2u

static struct sx_run_jobs jobs;
static int come_fd;

static void begin(void)
{
    static struct sx_run_app app = { .rank_count = 3 };
    const struct sx_run_options options = { .apps = &app, .app_count = 1 };

    come_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    cr_assert_geq(come_fd, 0);
    sx_run_jobs_init(&jobs, &options);
    sx_run_jobs_name(&jobs, "shmix-1-2", "/t/s");
    sx_mailbox_init(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    sx_run_upcall_add(jobs.at[0]);
    sx_run_upcall_notify_come(come_fd, NUMBER, jobs.at[0]->rank_count);
}

static void end(void)
{
    sx_run_upcall_deinit();
    sx_run_jobs_deinit(&jobs);
    close(come_fd);
}

TestSuite(run_upcall, .init = begin, .fini = end);

static void connects(pmix_rank_t rank)
{
    pmix_proc_t proc;

    PMIx_Load_procid(&proc, jobs.at[0]->nspace, rank);
    cr_assert_eq(sx_run_upcall_module.client_connected(&proc, NULL, NULL, NULL),
                 PMIX_OPERATION_SUCCEEDED);
}

static uint64_t said(void)
{
    uint64_t number = 0;

    (void)!read(come_fd, &number, sizeof(number));
    return number;
}

Test(run_upcall, all_ranks_have_come_with_the_last_one)
{
    connects(0);
    connects(2);
    connects(0); /* once more */
    cr_expect_eq(said(), 0);
    sx_run_upcall_count(jobs.at[0], 1); /* in its own way */
    cr_expect_eq(said(), NUMBER);
    sx_run_upcall_forget(jobs.at[0], 1);
    connects(1);
    cr_expect_eq(said(), 0, "once");
}

static void on_answer(pmix_status_t status, pmix_proc_t *proc, void *cbdata)
{
    (void)proc;
    *(pmix_status_t *)cbdata = status;
}

Test(run_upcall, a_tool_is_enough)
{
    pmix_status_t status = PMIX_ERROR;

    connects(0);
    sx_run_upcall_module.tool_connected(NULL, 0, on_answer, &status);
    cr_expect_eq(status, PMIX_SUCCESS);
    cr_expect_eq(said(), NUMBER);
}

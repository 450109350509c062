/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobs_test.c - applications become one job, or one each: ranks, order, names. */
#include "launch/job/job.h"

#include <criterion/criterion.h>

#include "base/util.h"

static struct sx_run_jobs jobs;

static struct sx_run_options three(bool separate)
{
    static struct sx_run_app apps[3];

    apps[0] = (struct sx_run_app){ .rank_count = 2 };
    apps[1] = (struct sx_run_app){ .rank_count = 3 };
    apps[2] = (struct sx_run_app){ .rank_count = 1 };
    return (struct sx_run_options){ .apps = apps, .app_count = 3, .separate_jobs = separate };
}

Test(run_job, ranks_count_on_through_the_applications_of_one_job)
{
    const struct sx_run_options options = three(false);
    static const uint32_t app_of[] = { 0, 0, 1, 1, 1, 2 };

    sx_run_jobs_init(&jobs, &options);
    sx_run_jobs_name(&jobs, "shmix-1-2", "/t/s");
    cr_assert_eq(jobs.count, 1);
    cr_expect_eq(jobs.at[0]->rank_count, 6);
    cr_expect_eq(jobs.at[0]->app_count, 3);
    cr_expect_eq(options.apps[1].first_rank, 2);
    cr_expect_eq(options.apps[2].first_rank, 5);
    for (uint32_t rank = 0; rank < SX_COUNT(app_of); rank++) {
        cr_expect_eq(sx_run_job_app(jobs.at[0], rank) - options.apps, app_of[rank], "rank %u",
                     rank);
    }
    cr_expect_str_eq(jobs.at[0]->nspace, "shmix-1-2");
    cr_expect_str_eq(jobs.at[0]->dir, "/t/s/shmix-1-2");
    cr_expect_str_eq(jobs.at[0]->name, "the job");
    cr_expect_str_eq(jobs.at[0]->prefix, "");
    sx_run_jobs_deinit(&jobs);
    sx_run_jobs_deinit(&jobs);
}

Test(run_job, ranks_of_separate_jobs_begin_at_0_and_have_places_of_their_own)
{
    const struct sx_run_options options = three(true);
    static const uint32_t first[] = { 0, 2, 5 };

    sx_run_jobs_init(&jobs, &options);
    sx_run_jobs_name(&jobs, "shmix-1-2", "/t/s");
    cr_assert_eq(jobs.count, 3);
    for (uint32_t i = 0; i < jobs.count; i++) {
        cr_expect_eq(jobs.at[i]->number, i);
        cr_expect_eq(jobs.at[i]->first, first[i]);
        cr_expect_eq(jobs.at[i]->app_count, 1);
        cr_expect_eq(jobs.at[i]->rank_count, options.apps[i].rank_count);
        cr_expect_eq(options.apps[i].first_rank, 0);
        cr_expect_eq(sx_run_job_app(jobs.at[i], 0), &options.apps[i]);
    }
    cr_expect_str_eq(jobs.at[0]->nspace, "shmix-1-2");
    cr_expect_str_eq(jobs.at[2]->nspace, "shmix-1-2.2");
    cr_expect_str_eq(jobs.at[2]->dir, "/t/s/shmix-1-2.2");
    cr_expect_str_eq(jobs.at[2]->name, "job 2");
    cr_expect_str_eq(jobs.at[2]->prefix, "job 2, ");
    sx_run_jobs_deinit(&jobs);
}

Test(run_job, one_that_is_added_goes_where_those_before_it_leave_room)
{
    const struct sx_run_options options = three(true);
    static struct sx_run_app app = { .rank_count = 4 };
    const struct sx_run_options more = { .apps = &app, .app_count = 1, .rank_count = 4 };

    sx_run_jobs_init(&jobs, &options);
    sx_run_jobs_name(&jobs, "shmix-1-2", "/t/s");
    const struct sx_run_job *const before = jobs.at[2];
    cr_expect_eq(sx_run_jobs_places(&jobs), 6);
    for (uint32_t i = 3; i < 40; i++) { /* the table grows, and its jobs stay where they are */
        struct sx_run_job *const job = sx_run_jobs_add(&jobs, &more);

        cr_assert_eq(job, jobs.at[i]);
        cr_expect_eq(job->number, i);
        cr_expect_eq(job->first, 6);
        cr_expect_eq(job->rank_count, 4);
        cr_expect_eq(job->options, &more);
        job->state = SX_RUN_OVER;
    }
    cr_expect_eq(jobs.count, 40);
    cr_expect_eq(jobs.at[2], before);
    cr_expect_str_eq(jobs.at[39]->nspace, "shmix-1-2.39");
    cr_expect_str_eq(jobs.at[39]->dir, "/t/s/shmix-1-2.39");
    cr_expect_str_eq(jobs.at[39]->prefix, "job 39, ");
    cr_expect_eq(sx_run_jobs_places(&jobs), 6, "what is over takes no place");
    sx_run_jobs_remove(&jobs, jobs.at[20]);
    cr_expect_eq(jobs.count, 39);
    cr_expect_eq(jobs.at[20]->number, 21, "the others keep their order");
    cr_expect_eq(sx_run_jobs_add(&jobs, &more)->number, 40, "a number does not come again");
    sx_run_jobs_deinit(&jobs);
}

/* Jobs of which each begins before the one before it has ended. */
Test(run_job, jobs_that_overlap_take_the_places_of_those_that_are_over)
{
    const struct sx_run_options options = three(true);
    static struct sx_run_app app = { .rank_count = 4 }, small = { .rank_count = 1 };
    const struct sx_run_options more = { .apps = &app, .app_count = 1, .rank_count = 4 };
    const struct sx_run_options one = { .apps = &small, .app_count = 1, .rank_count = 1 };
    uint32_t first;

    sx_run_jobs_init(&jobs, &options);
    sx_run_jobs_name(&jobs, "shmix-1-2", "/t/s");
    struct sx_run_job *last = sx_run_jobs_add(&jobs, &more);
    for (uint32_t i = 0; i < 100; i++) {
        struct sx_run_job *const job = sx_run_jobs_add(&jobs, &more);

        cr_assert_eq(job->first + last->first, 6 + 10);
        cr_assert_leq(sx_run_jobs_places(&jobs), 14);
        last->state = SX_RUN_OVER;
        last = job;
    }
    cr_expect_eq(sx_run_jobs_places_with(&jobs, 4, &first), 14);
    cr_expect_eq(first, last->first == 6 ? 10 : 6);
    jobs.at[0]->state = jobs.at[1]->state = jobs.at[2]->state = SX_RUN_OVER;
    cr_expect_eq(sx_run_jobs_add(&jobs, &one)->first, 0);
    cr_expect_eq(sx_run_jobs_places_with(&jobs, 100, &first), 100 + first);
    cr_expect_eq(first, sx_run_jobs_places(&jobs));
    sx_run_jobs_deinit(&jobs);
}

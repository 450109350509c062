/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* jobs.c - jobs are made from the list of applications; the first one has the session's name. */
#include "launch/job/job.h"

#include <stdlib.h>

#include "base/clock.h"
#include "launch/common/say.h"

/* ---- one job --------------------------------------------------------------------------------- */

static struct sx_run_job *job_append(struct sx_run_jobs *jobs, const struct sx_run_options *options,
                                     struct sx_run_app *apps)
{
    struct sx_run_job *const job = sx_cli_calloc(1, sizeof(*job));

    *job = (struct sx_run_job){ .number = jobs->numbered++, .options = options, .apps = apps };
    job->begun_ns = sx_now_ns();
    job->first = sx_run_jobs_places(jobs);
    job->loss_awaited = job->failed_rank = UINT32_MAX;
    job->reports.fd = job->report_fd = -1;
    if (jobs->count == jobs->room) {
        jobs->room = 2 * jobs->room + 4;
        jobs->at = sx_cli_realloc(jobs->at, jobs->room, sizeof(*jobs->at));
    }
    return jobs->at[jobs->count++] = job;
}

static void job_take_app(struct sx_run_job *job, struct sx_run_app *app)
{
    app->first_rank = job->rank_count;
    job->app_count++;
    job->rank_count += app->rank_count;
}

static void job_make_ranks(struct sx_run_job *job)
{
    job->ranks = sx_cli_calloc(job->rank_count, sizeof(*job->ranks));
    for (uint32_t i = 0; i < job->rank_count; i++) {
        job->ranks[i].streams[0].watch.fd = job->ranks[i].streams[1].watch.fd = -1;
    }
}

static void job_name(struct sx_run_job *job, const struct sx_run_jobs *jobs, bool alone)
{
    const uint32_t number = job->number;

    job->nspace = number == 0 ? sx_cli_strdup(jobs->session)
                              : sx_cli_printf("%s.%u", jobs->session, number);
    job->dir = sx_cli_printf("%s/%s", jobs->dir, job->nspace);
    job->name = alone ? sx_cli_strdup("the job") : sx_cli_printf("job %u", number);
    job->prefix = alone ? sx_cli_strdup("") : sx_cli_printf("job %u, ", number);
}

/* ---- all jobs -------------------------------------------------------------------------------- */

uint32_t sx_run_jobs_places(const struct sx_run_jobs *jobs)
{
    uint32_t end = 0;

    for (uint32_t i = 0; i < jobs->count; i++) {
        const struct sx_run_job *const job = jobs->at[i];

        if (job->state != SX_RUN_OVER && job->first + job->rank_count > end) {
            end = job->first + job->rank_count;
        }
    }
    return end;
}

static bool is_gap(const struct sx_run_jobs *jobs, uint32_t first, uint32_t rank_count)
{
    bool is = true;

    for (uint32_t i = 0; is && i < jobs->count; i++) {
        const struct sx_run_job *const job = jobs->at[i];

        is = job->state == SX_RUN_OVER || first >= job->first + job->rank_count ||
             first + rank_count <= job->first;
    }
    return is;
}

uint32_t sx_run_jobs_places_with(const struct sx_run_jobs *jobs, uint32_t rank_count,
                                 uint32_t *ret_first)
{
    const uint32_t places = sx_run_jobs_places(jobs);
    uint32_t first = is_gap(jobs, 0, rank_count) ? 0 : places;

    for (uint32_t i = 0; i < jobs->count; i++) {
        const uint32_t end = jobs->at[i]->first + jobs->at[i]->rank_count;

        if (jobs->at[i]->state != SX_RUN_OVER && end < first && is_gap(jobs, end, rank_count)) {
            first = end;
        }
    }
    if (ret_first != NULL) {
        *ret_first = first;
    }
    return first + rank_count > places ? first + rank_count : places;
}

void sx_run_jobs_init(struct sx_run_jobs *jobs, const struct sx_run_options *options)
{
    struct sx_run_job *job = NULL;

    *jobs = (struct sx_run_jobs){ .at = NULL };
    for (uint32_t i = 0; i < options->app_count; i++) {
        if (job == NULL || options->separate_jobs) {
            job = job_append(jobs, options, &options->apps[i]);
        }
        job_take_app(job, &options->apps[i]);
    }
    for (uint32_t i = 0; i < jobs->count; i++) {
        job_make_ranks(jobs->at[i]);
    }
}

void sx_run_jobs_name(struct sx_run_jobs *jobs, const char *session, const char *dir)
{
    jobs->session = session;
    jobs->dir = dir;
    for (uint32_t i = 0; i < jobs->count; i++) {
        job_name(jobs->at[i], jobs, jobs->count == 1);
    }
}

struct sx_run_job *sx_run_jobs_add(struct sx_run_jobs *jobs, const struct sx_run_options *options)
{
    uint32_t first;

    (void)sx_run_jobs_places_with(jobs, options->rank_count, &first);
    struct sx_run_job *const job = job_append(jobs, options, options->apps);

    job->first = first;
    for (uint32_t i = 0; i < options->app_count; i++) {
        job_take_app(job, &options->apps[i]);
    }
    job_make_ranks(job);
    job_name(job, jobs, false);
    return job;
}

static void job_free(struct sx_run_job *job)
{
    free(job->nspace);
    free(job->dir);
    free(job->root);
    free(job->name);
    free(job->prefix);
    free(job->ranks);
    free(job->bereft_by);
    free(job);
}

void sx_run_jobs_remove(struct sx_run_jobs *jobs, struct sx_run_job *job)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < jobs->count; i++) {
        if (jobs->at[i] != job) {
            jobs->at[kept++] = jobs->at[i];
        }
    }
    jobs->count = kept;
    job_free(job);
}

void sx_run_jobs_deinit(struct sx_run_jobs *jobs)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        job_free(jobs->at[i]);
    }
    free(jobs->at);
    *jobs = (struct sx_run_jobs){ .at = NULL };
}

const struct sx_run_app *sx_run_job_app(const struct sx_run_job *job, uint32_t rank)
{
    uint32_t low = 0, high = job->app_count - 1;

    while (low < high) {
        const uint32_t middle = high - (high - low) / 2;

        if (job->apps[middle].first_rank <= rank) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return &job->apps[low];
}

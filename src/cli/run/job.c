/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* job.c - jobs are cut out of the list of applications; the first one has the session's name. */
#include "cli/run/job.h"

#include <stdlib.h>

#include "base/clock.h"
#include "cli/say.h"

static void job_init(struct sx_run_job *job)
{
    job->ranks = sx_cli_calloc(job->rank_count, sizeof(*job->ranks));
    for (uint32_t i = 0; i < job->rank_count; i++) {
        job->ranks[i].streams[0].watch.fd = job->ranks[i].streams[1].watch.fd = -1;
    }
    job->kill_ns = job->term_ns = SX_DEADLINE_NEVER;
    job->reaction_ns = job->unwanted_ns = job->lost_ns = SX_DEADLINE_NEVER;
    job->loss_awaited = UINT32_MAX;
}

void sx_run_jobs_init(struct sx_run_jobs *jobs, const struct sx_run_options *options)
{
    struct sx_run_job *job = NULL;
    uint32_t first = 0;

    *jobs = (struct sx_run_jobs){ .at = sx_cli_calloc(options->app_count, sizeof(*jobs->at)) };
    for (uint32_t i = 0; i < options->app_count; i++) {
        struct sx_run_app *const app = &options->apps[i];

        if (job == NULL || options->separate_jobs) {
            job = &jobs->at[jobs->count];
            *job = (struct sx_run_job){ .number = jobs->count++, .apps = app, .first = first };
        }
        app->first_rank = job->rank_count;
        job->app_count++;
        job->rank_count += app->rank_count;
        first += app->rank_count;
    }
    for (uint32_t i = 0; i < jobs->count; i++) {
        job_init(&jobs->at[i]);
    }
}

void sx_run_jobs_name(struct sx_run_jobs *jobs, const char *session, const char *dir)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        struct sx_run_job *const job = &jobs->at[i];
        const bool alone = jobs->count == 1;

        job->nspace = i == 0 ? sx_cli_strdup(session) : sx_cli_printf("%s.%u", session, i);
        job->dir = sx_cli_printf("%s/%s", dir, job->nspace);
        job->name = alone ? sx_cli_strdup("the job") : sx_cli_printf("job %u", i);
        job->prefix = alone ? sx_cli_strdup("") : sx_cli_printf("job %u, ", i);
    }
}

void sx_run_jobs_deinit(struct sx_run_jobs *jobs)
{
    for (uint32_t i = 0; i < jobs->count; i++) {
        struct sx_run_job *const job = &jobs->at[i];

        free(job->nspace);
        free(job->dir);
        free(job->name);
        free(job->prefix);
        free(job->ranks);
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

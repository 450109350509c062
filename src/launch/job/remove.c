/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* remove.c - undo what launch/job/spawned.c has made. */
#include "launch/job/remove.h"

#include "launch/ask/spawn_request.h"
#include "launch/job/failure.h"
#include "launch/job/leftovers.h"
#include "launch/job/record.h"
#include "launch/job/session.h"
#include "launch/job/spawned.h"
#include "launch/job/stack_report.h"
#include "launch/job/start.h"
#include "launch/pmi/pmi1.h"
#include "launch/stdio/push.h"

void sx_run_past_close(struct sx_run_job *job)
{
    if (job->request != NULL) {
        sx_run_report_deinit(&job->request->late);
    }
    sx_run_failure_deinit(job);
    sx_run_pmi1_deinit(job);
    for (uint32_t i = 0; i < job->rank_count; i++) {
        sx_run_stream_deinit(&job->ranks[i].streams[0]);
        sx_run_stream_deinit(&job->ranks[i].streams[1]);
        job->ranks[i].feed = sx_run_feed_free(job->ranks[i].feed);
    }
}

/* Whether a process that the ranks have left may still write to the streams. */
static bool is_heard(const struct sx_run_job *job)
{
    for (uint32_t i = 0; i < job->spawned; i++) {
        if (job->ranks[i].streams[0].watch.fd >= 0 || job->ranks[i].streams[1].watch.fd >= 0) {
            return true;
        }
    }
    return false;
}

static bool can_go(struct sx_run_job *job)
{
    return job->over && job->request != NULL && job->aborts == NULL && !is_heard(job) &&
           sx_run_start_is_done(job) && sx_run_upcall_remove(job);
}

static void job_go(struct sx_run_state *run, struct sx_run_job *job)
{
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        if (run->jobs->at[i]->parent == job) {
            run->jobs->at[i]->parent = NULL;
        }
    }
    sx_run_record_past(run->setup->record, job);
    sx_run_past_close(job);
    sx_run_leftovers_remove(run->setup->janitor, job);
    sx_session_remove_inner(job->dir);
    sx_run_child_deinit(job);
    sx_run_jobs_remove(run->jobs, job);
}

void sx_run_past_remove(struct sx_run_state *run)
{
    for (uint32_t i = run->jobs->count; i > 0; i--) {
        if (can_go(run->jobs->at[i - 1])) {
            job_go(run, run->jobs->at[i - 1]);
        }
    }
}

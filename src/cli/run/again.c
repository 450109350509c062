/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* again.c - one life after the other, under the same name. */
#include "cli/run/again.h"

#include "base/clock.h"
#include "cli/run/end.h"
#include "cli/run/host.h"
#include "cli/run/pmi1.h"
#include "cli/run/start.h"
#include "cli/say.h"

#define STARTS_A_TURN 8
#define DRAIN_BYTES_MAX (2u << 20)        /* more than any pipe holds by default limits */
#define LOSS_TIME_NS (10 * SX_NS_PER_SEC) /* for the server to hear of an end */

bool sx_run_again_is_pending(const struct sx_run_job *job, uint32_t rank)
{
    return job->ranks[rank].again && !job->ranks[rank].unwanted && !job->ending;
}

bool sx_run_again_note(struct sx_run_job *job, uint32_t rank)
{
    struct sx_run_rank *const its = &job->ranks[rank];

    if (its->restarts >= sx_run_job_app(job, rank)->restarts_max) {
        return false;
    }
    its->again = true;
    its->again_ns = sx_deadline_ns(sx_now_ns(), LOSS_TIME_NS);
    job->again++;
    return true;
}

static void forget(struct sx_run_job *job, struct sx_run_rank *its)
{
    its->again = false;
    job->again--;
}

/* What it has written is passed on.  What goes on writing to its pipes was left by it, and is not
 * waited for.  Return: false while somebody who takes it is not ready. */
static bool stream_end(struct sx_run_stream *stream)
{
    size_t total = 0, got = 1;

    while (stream->watch.fd >= 0 && got > 0 && total < DRAIN_BYTES_MAX) {
        if (!sx_run_stream_is_ready(stream)) {
            return false;
        }
        got = sx_run_stream_read(stream);
        total += got;
    }
    return true;
}

/* The server has ended what was open with it, and is ready for another process. */
static bool is_known_to_be_gone(const struct sx_run_job *job, uint32_t rank)
{
    return job->ranks[rank].loss_heard || !sx_run_host_is_client(job, rank);
}

static void begin(struct sx_run_job *job, uint32_t rank)
{
    struct sx_run_rank *const its = &job->ranks[rank];

    sx_run_stream_deinit(&its->streams[0]);
    sx_run_stream_deinit(&its->streams[1]);
    job->untold -= its->untold;
    its->untold = its->lost = its->loss_heard = false;
    its->restarts++;
    sx_run_host_rank_again(job, rank);
    sx_run_start_rank(job, rank);
}

/* Return: whether a process was started. */
static bool look(struct sx_run_job *job, uint32_t rank)
{
    struct sx_run_rank *const its = &job->ranks[rank];

    if (its->unwanted) {
        forget(job, its);
        sx_run_host_rank_gone(job, rank);
    } else if (!is_known_to_be_gone(job, rank)) {
        if (sx_now_ns() >= its->again_ns) {
            sx_run_end(job, SX_EXIT_FAILURE,
                       "%srank %u cannot be started again: its PMIx client is another process, "
                       "which lives on; ending %s",
                       job->prefix, rank, job->name);
        }
    } else if (sx_run_start_can(job) && stream_end(&its->streams[0]) &&
               stream_end(&its->streams[1])) {
        forget(job, its);
        begin(job, rank);
        return true;
    }
    return false;
}

void sx_run_again_some(struct sx_run_state *run)
{
    uint32_t started = 0;

    for (uint32_t i = 0; i < run->jobs->count; i++) {
        struct sx_run_job *const job = run->jobs->at[i];

        for (uint32_t rank = 0; rank < job->spawned && sx_run_again_any(job); rank++) {
            if (job->ranks[rank].again && started < STARTS_A_TURN) {
                started += look(job, rank);
            }
        }
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* restart.c - one process after the other, under the same rank. */
#include "launch/job/state.h"

#include "base/clock.h"
#include "launch/common/say.h"
#include "launch/pmi/host.h"
#include "launch/pmi/pmi1.h"

#define STARTS_A_TURN 8
#define DRAIN_BYTES_MAX (2u << 20)        /* more than any pipe holds by default limits */
#define LOOK_NS (5 * SX_NS_PER_MS)        /* between checks of a rank that may come back */
#define LOSS_TIME_NS (10 * SX_NS_PER_SEC) /* for the server to notice an end */

bool sx_run_again_is_pending(const struct sx_run_job *job, uint32_t rank)
{
    return job->ranks[rank].again && !job->ranks[rank].unwanted && !job->ending;
}

uint64_t sx_run_again_pause_ns(uint32_t restarts, uint64_t pause_ns, uint64_t lived_ns)
{
    if (restarts == 0 || lived_ns >= SX_RUN_AGAIN_SHORT_NS) {
        return 0;
    }
    if (pause_ns == 0) {
        return SX_RUN_AGAIN_PAUSE_MIN_NS;
    }
    return pause_ns < SX_RUN_AGAIN_PAUSE_MAX_NS / 2 ? 2 * pause_ns : SX_RUN_AGAIN_PAUSE_MAX_NS;
}

bool sx_run_again_has_line(struct sx_run_job *job, uint32_t *ret_untold)
{
    const uint32_t count = ++job->restarts;
    const bool has = count <= SX_RUN_AGAIN_LINES || (count & (count - 1)) == 0;

    *ret_untold = job->restarts_untold;
    job->restarts_untold = has ? 0 : job->restarts_untold + 1;
    return has;
}

void sx_run_again_over(struct sx_run_job *job)
{
    if (job->restarts_untold > 0) {
        sx_run_say(job->run, "%s: %u more restarts have had no line, %u have been in all",
                   job->name, job->restarts_untold, job->restarts);
        job->restarts_untold = 0;
    }
}

bool sx_run_again_note(struct sx_run_job *job, uint32_t rank)
{
    struct sx_run_rank *const its = &job->ranks[rank];

    if (its->restarts >= sx_run_job_app(job, rank)->restarts_max) {
        return false;
    }
    const uint64_t now_ns = sx_run_now_ns(&job->run->loop);

    its->again = true;
    its->again_ns = sx_deadline_ns(now_ns, LOSS_TIME_NS);
    its->pause_ns = sx_run_again_pause_ns(its->restarts, its->pause_ns, now_ns - its->begun_ns);
    its->again_from_ns = sx_deadline_ns(now_ns, its->pause_ns);
    job->again++;
    sx_run_again_look(job, 0);
    return true;
}

static void forget(struct sx_run_job *job, struct sx_run_rank *its)
{
    its->again = false;
    job->again--;
}

/* Pass on the rank's output.  A process that it left may continue to write to its pipes, and is not
 * waited for.  Return: false while a sink of the output is not ready. */
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

/* The server has ended all open operations of the rank, and is ready for another process. */
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
    its->begun_ns = sx_run_now_ns(&job->run->loop);
    sx_run_host_rank_again(job, rank);
    sx_run_start_rank(job, rank);
}

/* Return: whether a process was started. */
static bool look(struct sx_run_job *job, uint32_t rank, uint64_t now_ns)
{
    struct sx_run_rank *const its = &job->ranks[rank];

    if (its->unwanted) {
        forget(job, its);
        sx_run_host_rank_gone(job, rank);
    } else if (!is_known_to_be_gone(job, rank)) {
        if (now_ns >= its->again_ns) {
            sx_run_end(job, SX_EXIT_FAILURE,
                       "%srank %u cannot be started again: its PMIx client is another process, "
                       "which lives on; ending %s",
                       job->prefix, rank, job->name);
        }
    } else if (now_ns >= its->again_from_ns && sx_run_start_can(job) &&
               stream_end(&its->streams[0]) && stream_end(&its->streams[1])) {
        forget(job, its);
        begin(job, rank);
        return true;
    }
    return false;
}

/* The time until a rank may be restarted; a check is due before, or a short time after it. */
static uint64_t pause_left_ns(const struct sx_run_job *job, uint64_t now_ns)
{
    uint64_t until_ns = SX_DEADLINE_NEVER;

    for (uint32_t i = 0; i < job->spawned; i++) {
        const struct sx_run_rank *const its = &job->ranks[i];

        if (its->again && its->again_from_ns < until_ns) {
            until_ns = its->again_from_ns;
        }
    }
    return until_ns < now_ns + LOOK_NS ? LOOK_NS : until_ns - now_ns;
}

/* Restart those ranks that can be started by now, some each turn. */
static void look_due(void *arg, uint64_t now_ns)
{
    struct sx_run_job *const job = arg;
    uint32_t started = 0;

    for (uint32_t rank = 0; rank < job->spawned && sx_run_again_any(job); rank++) {
        if (job->ranks[rank].again && started < STARTS_A_TURN) {
            started += look(job, rank, now_ns);
        }
    }
    if (sx_run_again_any(job)) {
        sx_run_again_look(job, started < STARTS_A_TURN ? pause_left_ns(job, now_ns) : 0);
    }
}

void sx_run_again_look(struct sx_run_job *job, uint64_t delay_ns)
{
    if (sx_run_again_any(job)) {
        sx_run_after(&job->run->loop, &job->restart, delay_ns, look_due, job);
    }
}

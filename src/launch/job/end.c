/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* end.c - each end is reported once, and passed on to every job that it concerns. */
#include "launch/job/state.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "launch/common/say.h"
#include "launch/job/diagnose.h"
#include "launch/job/record.h"

static void say_list(struct sx_run_state *run, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

static void say_list(struct sx_run_state *run, const char *fmt, va_list args)
{
    char *line = sx_say_line(fmt, args);

    sx_run_record_said(run->setup->record, line);
    sx_run_sink_put(run->sink_of[1], run, line, strlen(line));
    free(line);
}

void sx_run_say(struct sx_run_state *run, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say_list(run, fmt, args);
    va_end(args);
}

void sx_run_code(const struct sx_run_job *job, int code)
{
    if (job->run->code == 0 && !sx_run_child_ends_apart(job)) {
        job->run->code = code;
        sx_run_record_reason(job->run->setup->record);
    }
}

void sx_run_end_fate(struct sx_run_job *job, pmix_status_t fate)
{
    if (job->fate == PMIX_SUCCESS) {
        job->fate = fate;
    }
}

static void job_signal(const struct sx_run_job *job, int number)
{
    for (uint32_t i = 0; i < job->spawned; i++) {
        if (job->ranks[i].alive) {
            kill(-job->ranks[i].pid, number);
        }
    }
}

void sx_run_signal(struct sx_run_state *run, int number)
{
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        job_signal(run->jobs->at[i], number);
    }
}

static void job_kill(struct sx_run_job *job)
{
    if (!job->killed) {
        job->killed = true;
        job_signal(job, SIGKILL);
    }
}

/* Return: false when the job is ending already. */
static bool end_begin(struct sx_run_job *job, int code)
{
    if (job->ending) {
        return false;
    }
    job->ending = true;
    job->end_code = code;
    sx_run_end_fate(job, PMIX_ERR_JOB_CANCELED);
    if (!sx_run_child_is_awaited(job)) { /* else the end is the caller's to deal with */
        sx_run_code(job, code);
    }
    return true;
}

/* ---- connected jobs -------------------------------------------------------------------------- */

/* Return: the exit code for which @job ends; 0: none.  The cause may be a failure of this job or of
 * another one, an abort, the time limit, or anything else. */
static int failure_code(const struct sx_run_job *job)
{
    return job->failed_rank != UINT32_MAX ? job->failed_code : job->end_code;
}

static bool depends_on(const struct sx_run_job *job, uint32_t number)
{
    for (uint32_t i = 0; i < job->bereft_count; i++) {
        if (job->bereft_by[i] == number) {
            return true;
        }
    }
    return false;
}

/* Ranks of @job depend on a rank of job @number.  Jobs that were removed are dropped: there are no
 * more numbers than jobs. */
static void depends_add(struct sx_run_job *job, uint32_t number)
{
    const struct sx_run_jobs *const jobs = job->run->jobs;
    uint32_t *const by = sx_cli_calloc(jobs->count + 1, sizeof(*by));
    uint32_t count = 0;

    for (uint32_t i = 0; i < jobs->count; i++) {
        if (jobs->at[i]->number == number || depends_on(job, jobs->at[i]->number)) {
            by[count++] = jobs->at[i]->number;
        }
    }
    free(job->bereft_by);
    job->bereft_by = by;
    job->bereft_count = count;
}

/* Whether @job ends with @other when @other ends before its time, for whatever reason.  It does if
 * it is connected with ranks of @other that have died. */
static bool is_bereft(const struct sx_run_job *job, const struct sx_run_job *other)
{
    const bool apart = (job->parent == other && sx_run_child_is_separate(job)) ||
                       (other->parent == job && sx_run_child_is_separate(other));

    return depends_on(job, other->number) && failure_code(other) != 0 && !apart &&
           job->options->on_failure != SX_RUN_ON_FAILURE_NOTIFY;
}

static void bereft_end(struct sx_run_job *job, const struct sx_run_job *other)
{
    sx_run_end_told(job, failure_code(other), UINT32_MAX,
                    "%s goes with %s, with which it is connected", job->name, other->name);
}

/* End the jobs that @of has spawned, and those that depend on its dead ranks. */
static void others_end(struct sx_run_job *of, int code)
{
    for (uint32_t i = 0; i < of->run->jobs->count; i++) {
        struct sx_run_job *const job = of->run->jobs->at[i];

        if (job->over) {
            continue;
        }
        if (job->parent == of && !sx_run_child_is_separate(job)) {
            sx_run_end(job, code, "%s goes with %s, which has spawned it", job->name, of->name);
        } else if (is_bereft(job, of)) {
            bereft_end(job, of);
        }
    }
}

void sx_run_end_bereft(struct sx_run_job *job, const struct sx_run_job *dead)
{
    depends_add(job, dead->number);
    if (dead->ending && !job->over && is_bereft(job, dead)) {
        bereft_end(job, dead);
    }
}

uint64_t sx_run_end_grace_ns(const struct sx_run_state *run, uint64_t grace_ns)
{
    const uint64_t said_ns = run->setup->options->kill_grace_ns;

    return said_ns == SX_RUN_GRACE_BY_CAUSE ? grace_ns : said_ns;
}

static void kill_due(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    job_kill(arg);
}

static void end_signal(struct sx_run_job *job, int number, uint64_t grace_ns)
{
    sx_timer_remove(&job->term);
    sx_run_after(&job->run->loop, &job->kill, sx_run_end_grace_ns(job->run, grace_ns), kill_due,
                 job);
    job_signal(job, number);
    job_signal(job, SIGCONT); /* a stopped rank receives no other signal */
}

void sx_run_end(struct sx_run_job *job, int code, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    if (end_begin(job, code)) {
        say_list(job->run, fmt, args);
        end_signal(job, SIGTERM, SX_RUN_GRACE_NS);
        others_end(job, code);
    }
    va_end(args);
}

bool sx_run_end_all(struct sx_run_state *run, int code, int number, uint64_t grace_ns,
                    const char *fmt, ...)
{
    va_list args;
    bool any = false;

    run->closing = true;
    for (uint32_t i = 0; i < run->jobs->count; i++) {
        struct sx_run_job *const job = run->jobs->at[i];

        sx_run_end_handled(job);
        if (end_begin(job, code)) {
            any = true;
            end_signal(job, number, grace_ns);
        }
    }
    va_start(args, fmt);
    if (any) {
        say_list(run, fmt, args);
    }
    va_end(args);
    return any;
}

void sx_run_end_hurry(struct sx_run_job *job)
{
    if (sx_run_is_awaited(&job->term)) {
        sx_run_end_handled(job);
    } else if (job->ending) {
        job_kill(job);
    }
}

/* ---- handlers run before the end ------------------------------------------------------------- */

/* All that has to be published has been: wait for the handlers. */
static void end_ask(struct sx_run_job *job)
{
    job->loss_awaited = UINT32_MAX;
    if (!sx_run_host_await_handlers(job)) {
        sx_run_end_handled(job);
    }
}

/* Not all handlers have been called in their time. */
static void term_due(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    end_signal(arg, SIGTERM, SX_RUN_GRACE_NS);
}

void sx_run_end_told(struct sx_run_job *job, int code, uint32_t rank, const char *fmt, ...)
{
    const uint64_t grace_ns = job->options->event_grace_ns;
    va_list args;

    if (job->ending) {
        return;
    }
    sx_run_child_acts(job);
    end_begin(job, code);
    va_start(args, fmt);
    say_list(job->run, fmt, args);
    va_end(args);
    others_end(job, code);
    if (grace_ns == 0) {
        end_signal(job, SIGTERM, SX_RUN_GRACE_NS);
        return;
    }
    sx_run_after(&job->run->loop, &job->term, grace_ns, term_due, job);
    if (rank != UINT32_MAX && !job->ranks[rank].loss_heard && sx_run_host_is_client(job, rank)) {
        job->loss_awaited = rank; /* the server sees the end too, a moment before or after */
    } else {
        end_ask(job);
    }
}

void sx_run_end_loss_heard(struct sx_run_job *job, uint32_t rank)
{
    job->ranks[rank].loss_heard = true;
    sx_run_again_look(job, 0);
    if (sx_run_is_awaited(&job->term) && job->loss_awaited == rank) {
        end_ask(job);
    }
}

void sx_run_end_handled(struct sx_run_job *job)
{
    if (sx_run_is_awaited(&job->term)) {
        end_signal(job, SIGTERM, SX_RUN_GRACE_NS);
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

static void limit_due(void *arg, uint64_t now_ns)
{
    struct sx_run_job *const job = arg;

    (void)now_ns;
    if (!sx_run_report_late(job)) {
        sx_run_end_fate(job, PMIX_ERR_TIMEOUT);
        sx_run_end(job, SX_RUN_EXIT_TIMEOUT, "%s has not ended in its time (PMIX_JOB_TIMEOUT)",
                   job->name);
    }
}

void sx_run_end_limit(struct sx_run_job *job, uint64_t limit_ns)
{
    if (limit_ns == 0) {
        sx_timer_remove(&job->timeout);
    } else {
        sx_run_after(&job->run->loop, &job->timeout, limit_ns, limit_due, job);
    }
}

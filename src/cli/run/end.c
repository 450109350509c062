/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* end.c - said once, and to everybody. */
#include "cli/run/end.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

static void say_list(struct sx_run_state *job, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

static void say_list(struct sx_run_state *job, const char *fmt, va_list args)
{
    char *line = sx_say_line(fmt, args);

    sx_run_sink_put(job->sink_of[1], job, line, strlen(line));
    free(line);
}

void sx_run_say(struct sx_run_state *job, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say_list(job, fmt, args);
    va_end(args);
}

void sx_run_signal(struct sx_run_state *job, int number)
{
    for (uint32_t i = 0; i < job->spawned; i++) {
        if (job->ranks[i].alive) {
            kill(-job->ranks[i].pid, number);
        }
    }
}

void sx_run_kill(struct sx_run_state *job)
{
    if (!job->killed) {
        job->killed = true;
        sx_run_signal(job, SIGKILL);
    }
}

void sx_run_code(struct sx_run_state *job, int code)
{
    if (job->code == 0) {
        job->code = code;
    }
}

static bool end_begin(struct sx_run_state *job, int code, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Return: false when it ends already. */
static bool end_begin(struct sx_run_state *job, int code, const char *fmt, va_list args)
{
    if (job->ending) {
        return false;
    }
    job->ending = true;
    sx_run_code(job, code);
    say_list(job, fmt, args);
    return true;
}

static void end_signal(struct sx_run_state *job, int number, uint64_t grace_ns)
{
    job->term_ns = SX_DEADLINE_NEVER;
    job->kill_ns = sx_deadline_ns(sx_now_ns(), grace_ns);
    sx_run_signal(job, number);
    sx_run_signal(job, SIGCONT); /* a stopped rank hears no other signal */
}

void sx_run_end(struct sx_run_state *job, int code, int number, uint64_t grace_ns, const char *fmt,
                ...)
{
    va_list args;

    va_start(args, fmt);
    if (end_begin(job, code, fmt, args)) {
        end_signal(job, number, grace_ns);
    }
    va_end(args);
}

/* ---- those who have handlers first ----------------------------------------------------------- */

/* What has to be published has been. */
static void end_ask(struct sx_run_state *job)
{
    job->loss_awaited = UINT32_MAX;
    if (!sx_run_host_await_handlers(job->setup->host)) {
        sx_run_end_handled(job);
    }
}

void sx_run_end_told(struct sx_run_state *job, int code, uint32_t rank, const char *fmt, ...)
{
    const uint64_t grace_ns = job->setup->options->kill_grace_ns;
    va_list args;
    bool begun;

    va_start(args, fmt);
    begun = end_begin(job, code, fmt, args);
    va_end(args);
    if (!begun) {
        return;
    }
    if (grace_ns == 0) {
        end_signal(job, SIGTERM, SX_RUN_GRACE_NS);
        return;
    }
    job->kill_ns = SX_DEADLINE_NEVER;
    job->term_ns = sx_deadline_ns(sx_now_ns(), grace_ns);
    if (rank != UINT32_MAX && !job->ranks[rank].loss_heard &&
        sx_run_host_is_client(job->setup->host, rank)) {
        job->loss_awaited = rank; /* the server sees its end as we do, a moment before or after */
    } else {
        end_ask(job);
    }
}

void sx_run_end_loss_heard(struct sx_run_state *job, uint32_t rank)
{
    job->ranks[rank].loss_heard = true;
    if (job->term_ns != SX_DEADLINE_NEVER && job->loss_awaited == rank) {
        end_ask(job);
    }
}

void sx_run_end_handled(struct sx_run_state *job)
{
    if (job->term_ns != SX_DEADLINE_NEVER) {
        end_signal(job, SIGTERM, SX_RUN_GRACE_NS);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run_end.c - said once, and to everybody. */
#include "cli/run_end.h"

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

void sx_run_end(struct sx_run_state *job, int code, int number, uint64_t grace_ns, const char *fmt,
                ...)
{
    va_list args;

    if (job->ending) {
        return;
    }
    job->ending = true;
    sx_run_code(job, code);
    va_start(args, fmt);
    say_list(job, fmt, args);
    va_end(args);
    job->kill_ns = sx_deadline_ns(sx_now_ns(), grace_ns);
    sx_run_signal(job, number);
    sx_run_signal(job, SIGCONT); /* a stopped rank hears no other signal */
}

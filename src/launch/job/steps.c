/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* steps.c - one clock for each launcher, read when a step has ended. */
#include "launch/job/steps.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "launch/common/say.h"
#include "launch/job/end.h"

static uint64_t begin_ns; /* 0: steps are not wanted */

void sx_run_steps_begin(bool told)
{
    begin_ns = told ? sx_now_ns() : 0;
}

void sx_run_step(struct sx_run_state *run, const char *fmt, ...)
{
    va_list args;
    char *what;

    if (begin_ns == 0) {
        return;
    }
    va_start(args, fmt);
    what = sx_cli_vprintf(fmt, args);
    va_end(args);
    const double ms = (double)(sx_now_ns() - begin_ns) / 1e6;

    if (run != NULL) {
        sx_run_say(run, "%.3f ms: %s", ms, what);
    } else {
        sx_say("%.3f ms: %s", ms, what);
    }
    free(what);
}

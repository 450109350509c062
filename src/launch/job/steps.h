/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* steps.h - the steps of a launch and when each was done, for --verbose. */
#ifndef SX_LAUNCH_JOB_STEPS_H
#define SX_LAUNCH_JOB_STEPS_H

#include <stdbool.h>

struct sx_run_state;

/* From now on print each step with the time since this call, if wanted. */
void sx_run_steps_begin(bool told);

/* A step is done.  @run: its queue keeps the output in order; NULL: it has not begun. */
void sx_run_step(struct sx_run_state *run, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif

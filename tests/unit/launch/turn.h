/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* turn.h - one turn of the launcher's loop, which waits no longer than a test says. */
#ifndef TESTS_UNIT_LAUNCH_TURN_H
#define TESTS_UNIT_LAUNCH_TURN_H

#include "base/clock.h"
#include "launch/job/loop.h"

static inline void turn_is_late(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    *(bool *)arg = true;
}

/* Return: false when nothing was called within @ms. */
static inline bool turn(struct sx_run_loop *loop, uint64_t ms)
{
    static struct sx_timer limit;
    bool late = false;

    sx_run_after(loop, &limit, ms * SX_NS_PER_MS, turn_is_late, &late);
    sx_run_loop_turn(loop, ms == 0);
    sx_timer_remove(&limit);
    return !late;
}

#endif

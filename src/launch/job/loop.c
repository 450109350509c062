/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* loop.c - a turn is a run that its own hook stops. */
#include "launch/job/loop.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/util.h"
#include "launch/common/say.h"

void sx_run_signals(sigset_t *ret_set)
{
    static const int numbers[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGTSTP,
                                   SIGCONT, SIGUSR1, SIGUSR2, SIGCHLD, SIGWINCH };

    sigemptyset(ret_set);
    for (size_t i = 0; i < SX_COUNT(numbers); i++) {
        sigaddset(ret_set, numbers[i]);
    }
}

uint64_t sx_run_now_ns(const struct sx_run_loop *loop)
{
    return sx_now_ns() - loop->stopped_ns;
}

static uint64_t loop_clock(void *arg)
{
    return sx_run_now_ns(arg);
}

static bool loop_is_busy(void *arg)
{
    return ((const struct sx_run_loop *)arg)->busy;
}

static void turn_end(void *arg, uint64_t now_ns)
{
    (void)now_ns;
    sx_loop_stop(((const struct sx_run_loop *)arg)->loop);
}

/* The janitor ends the ranks, as after any end of the launcher without a goodbye. */
static void loop_broken(void *arg, uint64_t now_ns)
{
    (void)arg;
    (void)now_ns;
    sx_say("the launcher cannot wait for its ranks any longer; the job is ended");
    fflush(stdout);
    _exit(SX_EXIT_FAILURE);
}

/* The status of a call that has set errno, if it could. */
static int why_of(pmix_status_t status)
{
    return status == PMIX_SUCCESS ? 0 : errno != 0 ? errno : ENOMEM;
}

int sx_run_loop_init(struct sx_run_loop *loop)
{
    errno = 0;
    const int why = why_of(sx_loop_new(&loop->loop));

    if (why == 0) {
        sx_loop_set_clock(loop->loop, loop_clock, loop);
        sx_loop_set_hooks(loop->loop, &(struct sx_loop_hooks){ .about_to_sleep = loop_is_busy,
                                                               .turn = turn_end,
                                                               .broken = loop_broken,
                                                               .arg = loop });
    }
    return why;
}

void sx_run_loop_deinit(struct sx_run_loop *loop)
{
    loop->loop = sx_loop_free(loop->loop);
}

void sx_run_loop_turn(struct sx_run_loop *loop, bool busy)
{
    loop->busy = busy;
    sx_loop_run(loop->loop);
}

int sx_run_watch(struct sx_run_loop *loop, struct sx_poll *poll, uint32_t events)
{
    poll->events = events;
    errno = 0;
    return why_of(sx_poll_add(loop->loop, poll));
}

void sx_run_unwatch(struct sx_poll *poll)
{
    sx_poll_remove(poll);
    poll->fd = -1;
}

void sx_run_after(struct sx_run_loop *loop, struct sx_timer *timer, uint64_t delay_ns,
                  sx_loop_fn fn, void *arg)
{
    timer->fn = fn;
    timer->arg = arg;
    if (sx_timer_add(loop->loop, timer, sx_deadline_ns(sx_run_now_ns(loop), delay_ns)) !=
        PMIX_SUCCESS) {
        sx_cli_no_memory();
    }
}

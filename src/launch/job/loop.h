/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* loop.h - the launcher's loop (control/loop.h), one turn at a time, and its clock.
 *
 * The clock stands still while the user has stopped the launcher (Ctrl-Z, SIGTSTP): the ranks are
 * stopped too, so no deadline of theirs may pass.  All timers here are of that clock: time limits,
 * graces, pauses before restarts.  Three times run on: the time that --report and the events show,
 * as the user's clock does; deadlines inside the server, which does not stop serving for tools; and
 * everything after a SIGSTOP, which nobody can notice.  One thread. */
#ifndef SX_LAUNCH_JOB_LOOP_H
#define SX_LAUNCH_JOB_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "control/loop.h"

/* Its address stays until deinit. */
struct sx_run_loop {
    struct sx_loop *loop; /* NULL: none */
    uint64_t stopped_ns;  /* the clock is so far behind the system's */
    bool busy;            /* this turn does not wait */
};

/* Return: 0 or errno.  Deinit is safe on a zeroed one, and drops all sources. */
int sx_run_loop_init(struct sx_run_loop *loop);
void sx_run_loop_deinit(struct sx_run_loop *loop);

/* Wait, unless @busy, and call the functions of what is ready or due. */
void sx_run_loop_turn(struct sx_run_loop *loop, bool busy);

/* Call poll->fn with poll->arg while @events (POLLIN, POLLOUT) hold for poll->fd.  Return: 0 or
 * errno. */
int sx_run_watch(struct sx_run_loop *loop, struct sx_poll *poll, uint32_t events);
/* Take @poll out, and set its fd to -1; the descriptor stays open. */
void sx_run_unwatch(struct sx_poll *poll);

/* The signals that the launcher handles. */
void sx_run_signals(sigset_t *ret_set);

/* The time of the loop's clock. */
uint64_t sx_run_now_ns(const struct sx_run_loop *loop);

/* Call @fn in @delay_ns, once; a former call of @timer is dropped. */
void sx_run_after(struct sx_run_loop *loop, struct sx_timer *timer, uint64_t delay_ns,
                  sx_loop_fn fn, void *arg);
/* Whether the call is still to come. */
static inline bool sx_run_is_awaited(const struct sx_timer *timer)
{
    return timer->source.loop != NULL;
}

#endif

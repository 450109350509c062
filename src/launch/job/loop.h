/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* loop.h - the launcher's wait: descriptors with a function each, on epoll.
 *
 * Loops nest: a loop can watch the descriptor of another loop, so that one call pauses thousands of
 * readers.  One thread. */
#ifndef SX_LAUNCH_JOB_LOOP_H
#define SX_LAUNCH_JOB_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* The owner keeps the storage until the loop is gone.  An event may be pending for a watch that was
 * removed in the same turn, and is dropped then. */
struct sx_run_watch {
    int fd; /* -1: not watched */
    void (*fn)(void *arg, uint32_t events);
    void *arg;
};

struct sx_run_loop {
    int fd; /* -1: none */
};

#define SX_RUN_LOOP_NULL ((struct sx_run_loop){ .fd = -1 })

/* Return: 0 or errno. */
int sx_run_loop_init(struct sx_run_loop *loop);
void sx_run_loop_deinit(struct sx_run_loop *loop);

/* Call watch->fn while @events (EPOLLIN, EPOLLOUT; 0: none) hold for watch->fd.  Return: 0 or
 * errno; EPERM: the file is always ready (a regular file). */
int sx_run_loop_add(struct sx_run_loop *loop, struct sx_run_watch *watch, uint32_t events);
int sx_run_loop_modify(struct sx_run_loop *loop, struct sx_run_watch *watch, uint32_t events);
/* Take the watch out and set its fd to -1; the descriptor stays open. */
void sx_run_loop_remove(struct sx_run_loop *loop, struct sx_run_watch *watch);

/* Do not call the watch's function, not even for the descriptor's end, until it is added again. */
void sx_run_loop_pause(struct sx_run_loop *loop, struct sx_run_watch *watch);

/* Wait at most @timeout_ms (-1: for ever) and call the functions of ready watches.  Return: how
 * many were called. */
int sx_run_loop_turn(struct sx_run_loop *loop, int timeout_ms);

#endif

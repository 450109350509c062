/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* loop.c - epoll, level-triggered. */
#include "launch/job/loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/util.h"

#define EVENTS_MAX 64

int sx_run_loop_init(struct sx_run_loop *loop)
{
    loop->fd = epoll_create1(EPOLL_CLOEXEC);
    return loop->fd < 0 ? errno : 0;
}

void sx_run_loop_deinit(struct sx_run_loop *loop)
{
    if (loop->fd >= 0) {
        close(loop->fd);
    }
    *loop = SX_RUN_LOOP_NULL;
}

static int control(struct sx_run_loop *loop, int op, struct sx_run_watch *watch, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = watch };

    return epoll_ctl(loop->fd, op, watch->fd, &event) == 0 ? 0 : errno;
}

int sx_run_loop_add(struct sx_run_loop *loop, struct sx_run_watch *watch, uint32_t events)
{
    return control(loop, EPOLL_CTL_ADD, watch, events);
}

int sx_run_loop_modify(struct sx_run_loop *loop, struct sx_run_watch *watch, uint32_t events)
{
    return control(loop, EPOLL_CTL_MOD, watch, events);
}

void sx_run_loop_remove(struct sx_run_loop *loop, struct sx_run_watch *watch)
{
    if (watch->fd >= 0) {
        control(loop, EPOLL_CTL_DEL, watch, 0);
        watch->fd = -1;
    }
}

void sx_run_loop_pause(struct sx_run_loop *loop, struct sx_run_watch *watch)
{
    control(loop, EPOLL_CTL_DEL, watch, 0);
}

int sx_run_loop_turn(struct sx_run_loop *loop, int timeout_ms)
{
    struct epoll_event events[EVENTS_MAX];
    const int count = epoll_wait(loop->fd, events, SX_COUNT(events), timeout_ms);

    for (int i = 0; i < count; i++) {
        struct sx_run_watch *watch = events[i].data.ptr;

        if (watch->fd >= 0) {
            watch->fn(watch->arg, events[i].events);
        }
    }
    return count < 0 ? 0 : count;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* loop_epoll.c - the engine for every kernel: level-triggered epoll, then recvmsg and accept4.
 *
 * The record of a removed source is put on a deferred-free list (the graveyard), since events that
 * epoll_wait has already returned may still point at it; the graveyard is emptied when these have
 * been dispatched.  Two sources may watch one descriptor (receive and writable): the second watches
 * a duplicate, because epoll accepts a descriptor only once. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/util.h"
#include "control/loop_engine.h"

#define EVENT_COUNT_MAX 64

struct epoll_op {
    struct sx_list link; /* in ->ops, or in ->graveyard */
    struct sx_loop *loop;
    struct sx_source *source; /* NULL: removed */
    enum sx_source_kind kind;
    int fd;      /* what epoll watches */
    bool own_fd; /* a duplicate of ours */
    struct sx_accept_rest rest;
};

struct epoll_state {
    int fd;
    int event_count;
    struct epoll_event events[EVENT_COUNT_MAX];
    struct sx_list ops;
    struct sx_list graveyard;
};

static int epoll_open(struct sx_loop *loop)
{
    struct epoll_state *state = calloc(1, sizeof(*state));

    if (state == NULL) {
        return ENOMEM;
    }
    state->fd = epoll_create1(EPOLL_CLOEXEC);
    if (state->fd < 0) {
        const int err = errno;

        free(state);
        return err;
    }
    sx_list_init(&state->ops);
    sx_list_init(&state->graveyard);
    loop->state = state;
    return 0;
}

static void empty_graveyard(struct epoll_state *state)
{
    struct sx_list *node;

    while ((node = sx_list_pop(&state->graveyard)) != NULL) {
        free(SX_LIST_ENTRY(node, struct epoll_op, link));
    }
}

/* Stop watching; the record waits in the graveyard. */
static void bury(struct epoll_state *state, struct epoll_op *op)
{
    struct epoll_event unused = { 0 };

    epoll_ctl(state->fd, EPOLL_CTL_DEL, op->fd, &unused);
    if (op->own_fd) {
        close(op->fd);
    }
    sx_loop_accept_rest_deinit(&op->rest);
    op->source = NULL;
    sx_list_remove(&op->link);
    sx_list_append(&state->graveyard, &op->link);
}

static void epoll_close(struct sx_loop *loop)
{
    struct epoll_state *state = loop->state;

    SX_LIST_EACH(node, &state->ops) {
        struct epoll_op *op = SX_LIST_ENTRY(node, struct epoll_op, link);

        op->source->loop = NULL;
        op->source->engine = NULL;
        bury(state, op);
    }
    empty_graveyard(state);
    close(state->fd);
    free(state);
    loop->state = NULL;
}

static int epoll_start(struct sx_loop *loop)
{
    (void)loop;
    return 0;
}

static int epoll_wait_for(struct sx_loop *loop, uint64_t timeout_ns)
{
    struct epoll_state *state = loop->state;
    int timeout_ms = -1;

    if (timeout_ns != SX_DEADLINE_NEVER) {
        /* Rounded up: a timer is never early, and the loop does not spin over the last part. */
        const uint64_t ms = timeout_ns / SX_NS_PER_MS + (timeout_ns % SX_NS_PER_MS != 0);

        timeout_ms = ms > INT_MAX ? INT_MAX : (int)ms;
    }
    state->event_count = epoll_wait(state->fd, state->events, EVENT_COUNT_MAX, timeout_ms);
    if (state->event_count < 0) {
        state->event_count = 0;
        return errno == EINTR ? 0 : errno;
    }
    return 0;
}

static int watch(const struct epoll_state *state, int ctl, struct epoll_op *op, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = op };

    return epoll_ctl(state->fd, ctl, op->fd, &event) == 0 ? 0 : errno;
}

static void resume_accept(void *arg, uint64_t now_ns)
{
    struct epoll_op *op = arg;

    (void)now_ns;
    watch(op->loop->state, EPOLL_CTL_MOD, op, EPOLLIN);
}

static void dispatch_op(struct sx_loop *loop, struct epoll_op *op, uint32_t revents,
                        uint64_t now_ns)
{
    if (op->kind == SX_SOURCE_POLL) {
        struct sx_poll *poll = SX_CONTAINER(op->source, struct sx_poll, source);

        poll->fn(poll->arg, revents, now_ns);
    } else if (op->kind == SX_SOURCE_RECV) {
        sx_loop_receive_ready(loop, SX_CONTAINER(op->source, struct sx_recv, source), now_ns);
    } else {
        const int err = sx_loop_accept_ready(&op->source, &op->rest, now_ns);

        if (err != 0 && op->source != NULL) {
            watch(loop->state, EPOLL_CTL_MOD, op, 0);
            sx_loop_accept_rest(&op->source, &op->rest, err, now_ns, resume_accept, op);
        }
    }
}

static void epoll_dispatch(struct sx_loop *loop, uint64_t now_ns)
{
    struct epoll_state *state = loop->state;

    for (int i = 0; i < state->event_count; i++) {
        struct epoll_op *op = state->events[i].data.ptr;

        if (op->source != NULL) {
            dispatch_op(loop, op, state->events[i].events, now_ns);
        }
    }
    state->event_count = 0;
    empty_graveyard(state);
}

/* A source with @ready is silent until sx_recv_take. */
static uint32_t receive_events(const struct sx_recv *recv)
{
    return recv->ready == NULL ? EPOLLIN : EPOLLIN | EPOLLONESHOT;
}

static int epoll_add(struct sx_loop *loop, struct sx_source *source, enum sx_source_kind kind)
{
    struct epoll_state *state = loop->state;
    uint32_t events = EPOLLIN;
    int fd;

    switch (kind) {
    case SX_SOURCE_POLL:
        fd = SX_CONTAINER(source, struct sx_poll, source)->fd;
        events = SX_CONTAINER(source, struct sx_poll, source)->events;
        break;
    case SX_SOURCE_ACCEPT:
        fd = SX_CONTAINER(source, struct sx_accept, source)->fd;
        break;
    case SX_SOURCE_RECV:
        fd = SX_CONTAINER(source, struct sx_recv, source)->fd;
        events = receive_events(SX_CONTAINER(source, struct sx_recv, source));
        break;
    default:
        return EOPNOTSUPP;
    }
    struct epoll_op *op = calloc(1, sizeof(*op));

    if (op == NULL) {
        return ENOMEM;
    }
    *op = (struct epoll_op){ .loop = loop, .source = source, .kind = kind, .fd = fd };
    int err = watch(state, EPOLL_CTL_ADD, op, events);

    if (err == EEXIST) {
        op->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        op->own_fd = op->fd >= 0;
        err = op->own_fd ? watch(state, EPOLL_CTL_ADD, op, events) : errno;
    }
    if (err != 0) {
        if (op->own_fd) {
            close(op->fd);
        }
        free(op);
        return err;
    }
    if (kind == SX_SOURCE_ACCEPT) {
        sx_loop_accept_rest_init(&op->rest, loop);
    }
    sx_list_append(&state->ops, &op->link);
    source->engine = op;
    return 0;
}

static int epoll_modify(struct sx_poll *poll)
{
    return watch(poll->source.loop->state, EPOLL_CTL_MOD, poll->source.engine, poll->events);
}

static void epoll_resume(struct sx_recv *recv)
{
    watch(recv->source.loop->state, EPOLL_CTL_MOD, recv->source.engine, receive_events(recv));
}

static void epoll_remove(struct sx_source *source)
{
    bury(source->loop->state, source->engine);
}

const struct sx_loop_engine sx_loop_engine_epoll = {
    .name = "epoll",
    .open = epoll_open,
    .close = epoll_close,
    .start = epoll_start,
    .wait = epoll_wait_for,
    .dispatch = epoll_dispatch,
    .add = epoll_add,
    .modify = epoll_modify,
    .resume = epoll_resume,
    .remove = epoll_remove,
};

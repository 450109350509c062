/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* loop_engine.h - the functions that an engine has for loop.c, and those that engines share;
 * private to control.
 *
 * loop.c owns posts, timers, hooks and the turn; an engine owns the waiting and the sources.  An
 * engine keeps a record of its own for each source (source->engine): the record outlives the
 * source where the kernel may still report on it, so a source may be removed, and its storage
 * freed, inside any callback. */
#ifndef SX_CONTROL_LOOP_ENGINE_H
#define SX_CONTROL_LOOP_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/loop.h"

/* The source is the first member of struct sx_poll, sx_accept, sx_recv and sx_futex. */
enum sx_source_kind {
    SX_SOURCE_POLL = 1,
    SX_SOURCE_ACCEPT,
    SX_SOURCE_RECV,
    SX_SOURCE_FUTEX,
};

/* Functions that can fail return 0 or an errno value. */
struct sx_loop_engine {
    const char *name;
    int (*open)(struct sx_loop *loop);   /* sets loop->state; any thread */
    void (*close)(struct sx_loop *loop); /* forgets every source, frees loop->state */
    int (*start)(struct sx_loop *loop);  /* on the loop's thread, before it waits; may repeat */
    /* Sleep until something happens, at most @timeout_ns: 0 asks without sleeping,
     * SX_DEADLINE_NEVER sleeps without a timeout.  Calls nothing back. */
    int (*wait)(struct sx_loop *loop, uint64_t timeout_ns);
    void (*dispatch)(struct sx_loop *loop, uint64_t now_ns); /* call back what has happened */
    int (*add)(struct sx_loop *loop, struct sx_source *source, enum sx_source_kind kind);
    int (*modify)(struct sx_poll *poll);      /* poll->events has changed */
    void (*resume)(struct sx_recv *recv);     /* it has called ready: check for messages again */
    void (*remove)(struct sx_source *source); /* clears source->loop and ->engine */
};

extern const struct sx_loop_engine sx_loop_engine_uring;
extern const struct sx_loop_engine sx_loop_engine_epoll;

struct sx_loop_heap_entry {
    uint64_t deadline_ns;
    uint64_t order; /* equal deadlines run in the order of adding */
    struct sx_timer *timer;
};

struct sx_loop {
    const struct sx_loop_engine *engine;
    void *state; /* the engine's */

    _Atomic(struct sx_loop_post *) posts; /* newest first; a mark when stopped */
    struct sx_poll wake;                  /* an eventfd: posts and stop of other threads */
    bool is_broken;                       /* the engine's wait has failed */
    bool own_posts;                       /* posted by the loop's own thread, without the eventfd */
    atomic_bool stop;
    atomic_uintptr_t thread; /* 0 while not running */

    struct sx_loop_hooks hooks;
    uint64_t (*clock)(void *arg);
    void *clock_arg;

    struct sx_loop_heap_entry *heap;
    size_t heap_count, heap_capacity;
    uint64_t heap_order;

    /* Written by the loop's thread only, read by any. */
    _Atomic uint64_t turns, sleeps, wakeups, posts_run;

    /* For messages received with recvmsg(2): valid during one callback. */
    _Alignas(8) uint8_t buffer[SX_RECV_BYTES_MAX];
};

/* An accept source that has failed rests for a second; the first failure is logged.  Where there
 * have been no descriptors for SX_ACCEPT_RESTS_MAX rests, waiting peers are accepted one by one on
 * a spare one: so the server can refuse them with that error. */
#define SX_ACCEPT_RESTS_MAX 5
struct sx_accept_rest {
    struct sx_loop *loop; /* NULL: not an accept source */
    struct sx_timer timer;
    sx_loop_fn resume;
    void *arg;
    int spare_fd;   /* -1: in use, or there was none */
    unsigned count; /* rests since the last connection, SX_ACCEPT_RESTS_MAX at most */
    bool logged;
};

void sx_loop_accept_rest_init(struct sx_accept_rest *rest, struct sx_loop *loop);
void sx_loop_accept_rest_deinit(struct sx_accept_rest *rest); /* all zero: no effect */

/* Log (once until the next success) that accepting on the source at *@live failed with @err and
 * call @resume(@arg) in a second, or soon when a peer was accepted on the spare descriptor.  *@live
 * may be NULL (removed) when this returns. */
void sx_loop_accept_rest(struct sx_source *const *live, struct sx_accept_rest *rest, int err,
                         uint64_t now_ns, sx_loop_fn resume, void *arg);

/* A connection came in the ordinary way. */
void sx_loop_accept_works(struct sx_accept_rest *rest);

/* Accept what waits on the accept source at *@live and hand it out, until nothing waits, a bound
 * is reached or *@live has become NULL (removed).  Return: 0 or the errno that stopped it. */
int sx_loop_accept_ready(struct sx_source *const *live, struct sx_accept_rest *rest,
                         uint64_t now_ns);

/* There is a message for @recv: call its owner, or receive it with recvmsg(2) and hand it out.
 * @recv may be removed and freed when this returns. */
void sx_loop_receive_ready(struct sx_loop *loop, struct sx_recv *recv, uint64_t now_ns);

#endif

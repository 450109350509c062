/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* loop.h - one thread's wait for everything: sockets, descriptors, timers, futex words, posts.
 *
 * Two engines with one behaviour: io_uring, and epoll where that is refused.  Chosen at run time;
 * SHMIX_LOOP=uring|epoll forces one (uring forced and refused is an error).  All callbacks run on
 * the thread that runs the loop; all functions but sx_loop_post and sx_loop_stop belong to that
 * thread (or to the creator before the loop runs).  An idle loop sleeps without a timeout. */
#ifndef SX_CONTROL_LOOP_H
#define SX_CONTROL_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pmix_common.h>

struct sx_loop;

/* Called with the clock of this turn. */
typedef void (*sx_loop_fn)(void *arg, uint64_t now_ns);

/* Return: PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED when a forced engine is refused;
 * PMIX_ERR_OUT_OF_RESOURCE. */
pmix_status_t sx_loop_new(struct sx_loop **ret_loop);
struct sx_loop *sx_loop_free(struct sx_loop *loop);     /* drops all sources; NULL is fine */
const char *sx_loop_engine(const struct sx_loop *loop); /* "io_uring" or "epoll" */

/* Run until sx_loop_stop; posts that were accepted have then run.  May be called again, by the
 * same thread. */
void sx_loop_run(struct sx_loop *loop);
/* Any thread, also before the run.  @loop must not be freed while this or sx_loop_post runs. */
void sx_loop_stop(struct sx_loop *loop);

/* Before every sleep: @about_to_sleep returns true when there is work after all (the loop then
 * polls without sleeping and asks again); @awake runs after a sleep.  For lanes. */
struct sx_loop_hooks {
    bool (*about_to_sleep)(void *arg);
    sx_loop_fn awake; /* after each wait that could sleep */
    sx_loop_fn turn;  /* once per turn, after all its callbacks */
    /* Once: the kernel refuses the wait.  No source is served from here on; posts and timers are,
     * so that the owner can end.  Without this hook the run ends. */
    sx_loop_fn broken;
    void *arg;
};
void sx_loop_set_hooks(struct sx_loop *loop, const struct sx_loop_hooks *hooks);

/* Ask @clock for the time from now on (NULL: CLOCK_MONOTONIC); for tests. */
void sx_loop_set_clock(struct sx_loop *loop, uint64_t (*clock)(void *arg), void *arg);

/* ---- work from other threads -------------------------------------------------------------- */

/* The poster owns the storage; @fn runs once on the loop thread, in the order of posting, and may
 * free it.  Return: PMIX_SUCCESS, or PMIX_ERR_NOT_AVAILABLE after the loop has
 * stopped (not run). */
struct sx_loop_post {
    struct sx_loop_post *next;
    sx_loop_fn fn;
    void *arg;
};
pmix_status_t sx_loop_post(struct sx_loop *loop, struct sx_loop_post *post);
bool sx_loop_is_own_thread(const struct sx_loop *loop);

/* ---- sources: caller-owned storage, added and removed; removal is safe inside any callback ---
 * Storage is zeroed before its first use.  Removing what is not added does nothing.  A source is
 * removed before its descriptor is closed and before its storage goes. */

struct sx_source {
    struct sx_loop *loop; /* NULL: not added */
    void *engine;         /* the engine's own */
};

/* Readiness of any descriptor (pidfd, eventfd, pipe); level: called while @events hold. */
struct sx_poll {
    struct sx_source source;
    int fd;
    uint32_t events; /* POLLIN, POLLOUT */
    void (*fn)(void *arg, uint32_t revents, uint64_t now_ns);
    void *arg;
};
pmix_status_t sx_poll_add(struct sx_loop *loop, struct sx_poll *poll);
pmix_status_t sx_poll_modify(struct sx_poll *poll, uint32_t events);
void sx_poll_remove(struct sx_poll *poll);

/* A listening socket, non-blocking: @fn gets each new connection (close-on-exec, non-blocking),
 * which it owns, at most SX_ACCEPT_BATCH_MAX a turn.  When descriptors run out the source pauses
 * (logged once) and tries again after a second.  When they stay out, @fn gets waiting peers one at
 * a time, on a spare descriptor, to answer them with that error. */
#define SX_ACCEPT_BATCH_MAX 16
struct sx_accept {
    struct sx_source source;
    int fd;
    void (*fn)(void *arg, int fd, uint64_t now_ns);
    void *arg;
};
pmix_status_t sx_accept_add(struct sx_loop *loop, struct sx_accept *accept);
void sx_accept_remove(struct sx_accept *accept);

/* Messages of one connected SEQPACKET socket.  @fn gets every message, a NULL @bytes at the orderly
 * end or an error: then the source has removed itself.  No descriptors are taken: the kernel
 * refuses them to their sender, or the message stays in the socket and @fn is called, which has to
 * close the connection.  At most one message a turn.  With @ready the owner decides when: @ready is
 * called once for a waiting message.  After that there is no call and no receive until
 * sx_recv_take. */
#define SX_RECV_BYTES_MAX 8192u
struct sx_recv_message {
    const void *bytes; /* 8-aligned, valid during the call; NULL: the peer has gone */
    size_t size;
    bool truncated; /* longer than SX_RECV_BYTES_MAX */
    bool rights;    /* it carries descriptors; there are no bytes */
};
struct sx_recv {
    struct sx_source source;
    int fd;
    void (*fn)(void *arg, const struct sx_recv_message *message, uint64_t now_ns);
    sx_loop_fn ready; /* NULL: @fn is called at once */
    void *arg;
};
pmix_status_t sx_recv_add(struct sx_loop *loop, struct sx_recv *recv);
/* After @ready: call @fn with one message, if there is one, and watch for more.  @recv may be
 * removed and freed when this returns. */
void sx_recv_take(struct sx_recv *recv, uint64_t now_ns);
void sx_recv_remove(struct sx_recv *recv);

/* A deadline; one shot.  Adding an added timer moves it; equal deadlines run in the order of
 * adding; when @fn runs the timer has been removed. */
struct sx_timer {
    struct sx_source source;
    uint64_t deadline_ns;
    sx_loop_fn fn;
    void *arg;
    size_t heap_index;
};
pmix_status_t sx_timer_add(struct sx_loop *loop, struct sx_timer *timer, uint64_t deadline_ns);
void sx_timer_remove(struct sx_timer *timer);

/* A word that another process changes and wakes (a client's life word): @fn runs once when it no
 * longer has the value @seen, or was woken; the source has then removed itself.  Return:
 * PMIX_SUCCESS; PMIX_ERR_NOT_SUPPORTED where the engine or the kernel cannot (epoll, < 6.7). */
struct sx_futex {
    struct sx_source source;
    _Atomic uint32_t *word;
    uint32_t seen;
    sx_loop_fn fn;
    void *arg;
};
pmix_status_t sx_futex_add(struct sx_loop *loop, struct sx_futex *futex);
void sx_futex_remove(struct sx_futex *futex);

/* Counters for tests and reports. */
struct sx_loop_stats {
    uint64_t turns, sleeps, wakeups, posts;
};
struct sx_loop_stats sx_loop_stats(const struct sx_loop *loop);

#endif

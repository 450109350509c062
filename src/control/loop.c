/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* loop.c - the turn of the loop: ask the hooks, wait, call back, run posts and due timers.
 *
 *     +--> about_to_sleep? --no work--> wait --> awake --> sources, posts, timers --> turn --+
 *     |         \---------work--------> wait without sleeping ------^                        |
 *     +----------------------------- until sx_loop_stop -------------------------------------+
 *
 * Posts are a stack that any thread pushes and the loop takes whole and reverses, so posting takes
 * no lock.  The first push onto an empty stack rings the eventfd; later ones find it rung.  At the
 * end of a run the stack gets a mark that refuses further posts; what was accepted has then run.
 * The engine that waits is chosen here, once. */
#include "control/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/util.h"
#include "control/loop_engine.h"
#include "control/socket.h"

#define SX_ACCEPT_REST_NS SX_NS_PER_SEC
#define SX_ACCEPT_NEXT_NS (10 * SX_NS_PER_MS) /* until the one before is gone */

static struct sx_loop_post stopped_mark;

/* ---- choice of the engine ----------------------------------------------------------------- */

static bool is_out_of_files(int err)
{
    return err == EMFILE || err == ENFILE;
}

static const char *advice(int err)
{
    return is_out_of_files(err) ? " (raise the limit of open files: ulimit -n)"
                                : sx_refused_advice(err);
}

static int is_valgrinds(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    return strstr(info->dlpi_name, "/vgpreload_") != NULL;
}

/* Valgrind takes io_uring_enter for a call that does not wait: while the loop is in it, no other
 * thread of the process runs. */
static bool is_under_valgrind(void)
{
    return dl_iterate_phdr(is_valgrinds, NULL) != 0;
}

static pmix_status_t open_engine(struct sx_loop *loop)
{
    const char *forced = getenv("SHMIX_LOOP");
    const bool want_uring = forced != NULL && strcmp(forced, "uring") == 0;
    const bool want_epoll = forced != NULL && strcmp(forced, "epoll") == 0;
    int err;

    if (forced != NULL && *forced != '\0' && !want_uring && !want_epoll) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM,
                        "SHMIX_LOOP is '%s': set it to uring or epoll, or unset it", forced);
    }
    if (want_uring && is_under_valgrind()) {
        return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                        "SHMIX_LOOP=uring, but under valgrind no thread runs while another one "
                        "waits in io_uring; unset SHMIX_LOOP");
    }
    if (!want_epoll && !is_under_valgrind()) {
        loop->engine = &sx_loop_engine_uring;
        err = loop->engine->open(loop);
        if (err == 0) {
            return PMIX_SUCCESS;
        }
        if (want_uring && is_out_of_files(err)) {
            return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "cannot set up io_uring: %s%s", strerror(err),
                            advice(err));
        }
        if (want_uring) {
            return SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                            "SHMIX_LOOP=uring, but io_uring is refused here: %s; unset SHMIX_LOOP",
                            strerror(err));
        }
        sx_log(SX_LOG_DEBUG, "io_uring is refused (%s), using epoll", strerror(err));
    }
    loop->engine = &sx_loop_engine_epoll;
    err = loop->engine->open(loop);
    if (err != 0) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "cannot set up epoll: %s%s", strerror(err),
                        advice(err));
    }
    return PMIX_SUCCESS;
}

/* ---- posts -------------------------------------------------------------------------------- */

static void ring_wake(struct sx_loop *loop)
{
    const uint64_t one = 1;
    ssize_t n;

    do {
        n = write(loop->wake.fd, &one, sizeof(one));
    } while (n < 0 && errno == EINTR); /* EAGAIN: the counter is full, so it is rung anyway */
}

/* Take all posts, leaving @rest in their place, and run them in the order of posting. */
static void run_posts(struct sx_loop *loop, struct sx_loop_post *rest, uint64_t now_ns)
{
    loop->own_posts = false;
    /* P1 <- P0 (sx_loop_post): the fields of every post that is found are visible. */
    struct sx_loop_post *taken = atomic_exchange_explicit(&loop->posts, rest, memory_order_acquire);
    struct sx_loop_post *ordered = NULL;

    if (taken == &stopped_mark) {
        return;
    }
    while (taken != NULL) {
        struct sx_loop_post *next = taken->next;

        taken->next = ordered;
        ordered = taken;
        taken = next;
    }
    while (ordered != NULL) {
        struct sx_loop_post *next = ordered->next; /* fn may free the post */

        atomic_fetch_add_explicit(&loop->posts_run, 1, memory_order_relaxed); /* a report */
        ordered->fn(ordered->arg, now_ns);
        ordered = next;
    }
}

static void on_wake(void *arg, uint32_t revents, uint64_t now_ns)
{
    struct sx_loop *loop = arg;
    uint64_t count;

    (void)revents;
    (void)now_ns;
    if (read(loop->wake.fd, &count, sizeof(count)) == (ssize_t)sizeof(count)) {
        atomic_fetch_add_explicit(&loop->wakeups, 1, memory_order_relaxed); /* a report */
    }
    loop->own_posts = true; /* run them in this turn, after the sources */
}

pmix_status_t sx_loop_post(struct sx_loop *loop, struct sx_loop_post *post)
{
    /* relaxed: a guess, corrected by the exchange below. */
    struct sx_loop_post *head = atomic_load_explicit(&loop->posts, memory_order_relaxed);

    do {
        if (head == &stopped_mark) {
            return PMIX_ERR_NOT_AVAILABLE;
        }
        post->next = head;
        /* P0 -> P1 (run_posts).  From success on the post belongs to the loop. */
    } while (!atomic_compare_exchange_weak_explicit(&loop->posts, &head, post, memory_order_release,
                                                    memory_order_relaxed));
    if (head == NULL) {
        if (sx_loop_is_own_thread(loop)) {
            loop->own_posts = true;
        } else {
            ring_wake(loop);
        }
    }
    return PMIX_SUCCESS;
}

bool sx_loop_is_own_thread(const struct sx_loop *loop)
{
    /* relaxed: only the thread itself ever stores the value that makes this true for it. */
    return atomic_load_explicit(&loop->thread, memory_order_relaxed) == (uintptr_t)pthread_self();
}

/* ---- life --------------------------------------------------------------------------------- */

static uint64_t real_clock(void *arg)
{
    (void)arg;
    return sx_now_ns();
}

pmix_status_t sx_loop_new(struct sx_loop **ret_loop)
{
    struct sx_loop *loop = calloc(1, sizeof(*loop));

    if (loop == NULL) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "no memory for the loop");
    }
    loop->clock = real_clock;
    const pmix_status_t rc = open_engine(loop);

    if (rc != PMIX_SUCCESS) {
        free(loop);
        return rc;
    }
    loop->wake.events = POLLIN;
    loop->wake.fn = on_wake;
    loop->wake.arg = loop;
    loop->wake.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->wake.fd < 0 || sx_poll_add(loop, &loop->wake) != PMIX_SUCCESS) {
        const int err = loop->wake.fd < 0 ? errno : ENOMEM;

        sx_loop_free(loop);
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "eventfd2: %s: a loop cannot be woken%s",
                        strerror(err), advice(err));
    }
    *ret_loop = loop;
    return PMIX_SUCCESS;
}

struct sx_loop *sx_loop_free(struct sx_loop *loop)
{
    if (loop == NULL) {
        return NULL;
    }
    loop->engine->close(loop);
    for (size_t i = 0; i < loop->heap_count; i++) {
        loop->heap[i].timer->source.loop = NULL;
    }
    free(loop->heap);
    if (loop->wake.fd >= 0) {
        close(loop->wake.fd);
    }
    free(loop);
    return NULL;
}

const char *sx_loop_engine(const struct sx_loop *loop)
{
    return loop->engine->name;
}

void sx_loop_set_hooks(struct sx_loop *loop, const struct sx_loop_hooks *hooks)
{
    loop->hooks = *hooks;
}

void sx_loop_set_clock(struct sx_loop *loop, uint64_t (*clock)(void *arg), void *arg)
{
    loop->clock = clock != NULL ? clock : real_clock;
    loop->clock_arg = arg;
}

/* ---- timers: a binary heap, earliest first ------------------------------------------------ */

static bool heap_before(const struct sx_loop_heap_entry *a, const struct sx_loop_heap_entry *b)
{
    return a->deadline_ns != b->deadline_ns ? a->deadline_ns < b->deadline_ns : a->order < b->order;
}

static void heap_put(struct sx_loop *loop, size_t index, struct sx_loop_heap_entry entry)
{
    loop->heap[index] = entry;
    entry.timer->heap_index = index;
}

static void heap_up(struct sx_loop *loop, size_t index)
{
    const struct sx_loop_heap_entry entry = loop->heap[index];

    while (index > 0 && heap_before(&entry, &loop->heap[(index - 1) / 2])) {
        heap_put(loop, index, loop->heap[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    heap_put(loop, index, entry);
}

static void heap_down(struct sx_loop *loop, size_t index)
{
    const struct sx_loop_heap_entry entry = loop->heap[index];

    for (;;) {
        size_t child = 2 * index + 1;

        if (child + 1 < loop->heap_count &&
            heap_before(&loop->heap[child + 1], &loop->heap[child])) {
            child++;
        }
        if (child >= loop->heap_count || !heap_before(&loop->heap[child], &entry)) {
            break;
        }
        heap_put(loop, index, loop->heap[child]);
        index = child;
    }
    heap_put(loop, index, entry);
}

pmix_status_t sx_timer_add(struct sx_loop *loop, struct sx_timer *timer, uint64_t deadline_ns)
{
    sx_timer_remove(timer);
    if (!SX_ARRAY_RESERVE(loop->heap, loop->heap_count, loop->heap_capacity, 16)) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "no memory for %zu timers", loop->heap_count + 1);
    }
    timer->source.loop = loop;
    timer->deadline_ns = deadline_ns;
    const size_t last = loop->heap_count++;

    heap_put(loop, last,
             (struct sx_loop_heap_entry){
                 .deadline_ns = deadline_ns, .order = loop->heap_order++, .timer = timer });
    heap_up(loop, last);
    return PMIX_SUCCESS;
}

void sx_timer_remove(struct sx_timer *timer)
{
    struct sx_loop *loop = timer->source.loop;

    if (loop == NULL) {
        return;
    }
    const size_t index = timer->heap_index;

    sx_assert(index < loop->heap_count && loop->heap[index].timer == timer);
    timer->source.loop = NULL;
    loop->heap_count--;
    if (index < loop->heap_count) {
        struct sx_timer *moved = loop->heap[loop->heap_count].timer;

        heap_put(loop, index, loop->heap[loop->heap_count]);
        heap_up(loop, index);
        heap_down(loop, moved->heap_index);
    }
}

/* Run what is due; timers that callbacks add wait for the next turn, so this ends. */
static void run_timers(struct sx_loop *loop, uint64_t now_ns)
{
    const uint64_t order_limit = loop->heap_order;

    while (loop->heap_count > 0 && loop->heap[0].deadline_ns <= now_ns &&
           loop->heap[0].order < order_limit) {
        struct sx_timer *timer = loop->heap[0].timer;

        sx_timer_remove(timer);
        timer->fn(timer->arg, now_ns);
    }
}

/* ---- the turn ----------------------------------------------------------------------------- */

static uint64_t read_clock(const struct sx_loop *loop)
{
    return loop->clock(loop->clock_arg);
}

static uint64_t time_to_sleep_ns(const struct sx_loop *loop)
{
    if (loop->own_posts || atomic_load_explicit(&loop->stop, memory_order_acquire)) {
        return 0;
    }
    if (loop->heap_count == 0 || loop->heap[0].deadline_ns == SX_DEADLINE_NEVER) {
        return SX_DEADLINE_NEVER;
    }
    const uint64_t now_ns = read_clock(loop);

    return loop->heap[0].deadline_ns > now_ns ? loop->heap[0].deadline_ns - now_ns : 0;
}

/* Wait for posts and timers alone. */
static void wake_wait(struct sx_loop *loop, uint64_t timeout_ns)
{
    struct pollfd wake = { .fd = loop->wake.fd, .events = POLLIN };
    const uint64_t timeout_ms = timeout_ns / SX_NS_PER_MS + 1;

    (void)poll(&wake, 1, timeout_ns == 0 ? 0 : timeout_ms > INT_MAX ? -1 : (int)timeout_ms);
    on_wake(loop, 0, 0);
}

/* Return: false when the run has to end. */
static bool turn_wait(struct sx_loop *loop, uint64_t timeout_ns)
{
    if (loop->is_broken) {
        wake_wait(loop, timeout_ns);
        return true;
    }
    const int err = loop->engine->wait(loop, timeout_ns);

    if (err == 0) {
        return true;
    }
    (void)SX_RAISE(PMIX_ERROR, "the loop cannot wait any longer (%s): %s%s", loop->engine->name,
                   strerror(err), sx_refused_advice(err));
    if (loop->hooks.broken == NULL) {
        return false;
    }
    loop->is_broken = true;
    loop->hooks.broken(loop->hooks.arg, read_clock(loop));
    return true;
}

static bool one_turn(struct sx_loop *loop)
{
    const struct sx_loop_hooks *hooks = &loop->hooks;
    uint64_t timeout_ns = time_to_sleep_ns(loop);
    bool may_sleep = timeout_ns > 0;

    if (may_sleep && hooks->about_to_sleep != NULL) {
        may_sleep = !hooks->about_to_sleep(hooks->arg);
        /* The hook may itself have posted or added a timer. */
        timeout_ns = may_sleep ? time_to_sleep_ns(loop) : 0;
    }
    if (may_sleep) {
        atomic_fetch_add_explicit(&loop->sleeps, 1, memory_order_relaxed); /* a report */
    }
    const bool goes_on = turn_wait(loop, timeout_ns);
    const uint64_t now_ns = read_clock(loop);

    if (!goes_on) {
        return false;
    }
    if (may_sleep && hooks->awake != NULL) {
        hooks->awake(hooks->arg, now_ns);
    }
    if (!loop->is_broken) {
        loop->engine->dispatch(loop, now_ns);
    }
    if (loop->own_posts) {
        run_posts(loop, NULL, now_ns);
    }
    run_timers(loop, now_ns);
    if (hooks->turn != NULL) {
        hooks->turn(hooks->arg, now_ns);
    }
    atomic_fetch_add_explicit(&loop->turns, 1, memory_order_relaxed); /* a report */
    return true;
}

void sx_loop_run(struct sx_loop *loop)
{
    struct sx_loop_post *mark = &stopped_mark;

    /* relaxed: see sx_loop_is_own_thread. */
    atomic_store_explicit(&loop->thread, (uintptr_t)pthread_self(), memory_order_relaxed);
    atomic_compare_exchange_strong(&loop->posts, &mark, NULL); /* a second run */
    const int err = loop->engine->start(loop);

    if (err != 0) {
        (void)SX_RAISE(PMIX_ERROR, "the loop cannot start (%s): %s", loop->engine->name,
                       strerror(err));
    } else {
        /* S1 <- S0 (sx_loop_stop): what the stopper wrote before is visible after the run. */
        while (!atomic_load_explicit(&loop->stop, memory_order_acquire) && one_turn(loop)) {
        }
    }
    run_posts(loop, &stopped_mark, read_clock(loop));
    atomic_store(&loop->stop, false);
    atomic_store_explicit(&loop->thread, 0, memory_order_relaxed);
}

void sx_loop_stop(struct sx_loop *loop)
{
    /* S0 -> S1 (sx_loop_run). */
    atomic_store_explicit(&loop->stop, true, memory_order_release);
    if (!sx_loop_is_own_thread(loop)) {
        ring_wake(loop);
    }
}

struct sx_loop_stats sx_loop_stats(const struct sx_loop *loop)
{
    /* relaxed: counters for reports order nothing. */
    return (struct sx_loop_stats){
        .turns = atomic_load_explicit(&loop->turns, memory_order_relaxed),
        .sleeps = atomic_load_explicit(&loop->sleeps, memory_order_relaxed),
        .wakeups = atomic_load_explicit(&loop->wakeups, memory_order_relaxed),
        .posts = atomic_load_explicit(&loop->posts_run, memory_order_relaxed),
    };
}

/* ---- sources ------------------------------------------------------------------------------ */

static pmix_status_t add_source(struct sx_loop *loop, struct sx_source *source,
                                enum sx_source_kind kind, int fd)
{
    sx_assert(source->loop == NULL);
    const int err = loop->engine->add(loop, source, kind);

    if (err == 0) {
        source->loop = loop;
        return PMIX_SUCCESS;
    }
    if (kind == SX_SOURCE_FUTEX && err == EOPNOTSUPP) {
        return PMIX_ERR_NOT_SUPPORTED; /* expected: callers have other means */
    }
    return SX_RAISE(sx_status_from_errno(err), "cannot watch descriptor %d: %s", fd, strerror(err));
}

static void remove_source(struct sx_source *source)
{
    if (source->loop != NULL) {
        source->loop->engine->remove(source);
        source->loop = NULL;
        source->engine = NULL;
    }
}

pmix_status_t sx_poll_add(struct sx_loop *loop, struct sx_poll *poll)
{
    return add_source(loop, &poll->source, SX_SOURCE_POLL, poll->fd);
}

pmix_status_t sx_poll_modify(struct sx_poll *poll, uint32_t events)
{
    poll->events = events;
    const int err = poll->source.loop->engine->modify(poll);

    return err == 0 ? PMIX_SUCCESS
                    : SX_RAISE(sx_status_from_errno(err), "cannot watch descriptor %d: %s",
                               poll->fd, strerror(err));
}

void sx_poll_remove(struct sx_poll *poll)
{
    remove_source(&poll->source);
}

pmix_status_t sx_accept_add(struct sx_loop *loop, struct sx_accept *accept)
{
    return add_source(loop, &accept->source, SX_SOURCE_ACCEPT, accept->fd);
}

void sx_accept_remove(struct sx_accept *accept)
{
    remove_source(&accept->source);
}

pmix_status_t sx_recv_add(struct sx_loop *loop, struct sx_recv *recv)
{
    sx_socket_refuse_rights(recv->fd);
    return add_source(loop, &recv->source, SX_SOURCE_RECV, recv->fd);
}

void sx_recv_remove(struct sx_recv *recv)
{
    remove_source(&recv->source);
}

pmix_status_t sx_futex_add(struct sx_loop *loop, struct sx_futex *futex)
{
    return add_source(loop, &futex->source, SX_SOURCE_FUTEX, -1);
}

void sx_futex_remove(struct sx_futex *futex)
{
    remove_source(&futex->source);
}

/* ---- what engines share ------------------------------------------------------------------- */

static void spare_take(struct sx_accept_rest *rest)
{
    if (rest->spare_fd < 0) {
        rest->spare_fd = fcntl(rest->loop->wake.fd, F_DUPFD_CLOEXEC, 0);
    }
}

void sx_loop_accept_rest_init(struct sx_accept_rest *rest, struct sx_loop *loop)
{
    *rest = (struct sx_accept_rest){ .loop = loop, .spare_fd = -1 };
    spare_take(rest);
}

void sx_loop_accept_rest_deinit(struct sx_accept_rest *rest)
{
    if (rest->loop == NULL) {
        return;
    }
    sx_timer_remove(&rest->timer);
    if (rest->spare_fd >= 0) {
        close(rest->spare_fd);
    }
    rest->loop = NULL;
}

void sx_loop_accept_works(struct sx_accept_rest *rest)
{
    rest->logged = false;
    rest->count = 0;
}

/* Give the spare descriptor to a waiting peer.  Return: false when none waits, or another thread
 * was quicker to take it. */
static bool spare_use(struct sx_source *const *live, struct sx_accept_rest *rest, uint64_t now_ns)
{
    struct sx_accept *const accept = SX_CONTAINER(*live, struct sx_accept, source);

    if (rest->spare_fd < 0) {
        return false;
    }
    close(rest->spare_fd);
    rest->spare_fd = -1;
    const int fd = accept4(accept->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0) {
        spare_take(rest);
        return false;
    }
    accept->fn(accept->arg, fd, now_ns);
    return true;
}

static void rest_over(void *arg, uint64_t now_ns)
{
    struct sx_accept_rest *const rest = arg;

    spare_take(rest); /* before another peer is accepted on it */
    rest->resume(rest->arg, now_ns);
}

void sx_loop_accept_rest(struct sx_source *const *live, struct sx_accept_rest *rest, int err,
                         uint64_t now_ns, sx_loop_fn resume, void *arg)
{
    uint64_t rest_ns = SX_ACCEPT_REST_NS;

    if (!rest->logged) {
        rest->logged = true;
        sx_log(SX_LOG_WARN, "cannot accept connections: %s; new clients wait%s", strerror(err),
               advice(err));
    }
    if (rest->count < SX_ACCEPT_RESTS_MAX) {
        rest->count++;
    } else if (is_out_of_files(err) && spare_use(live, rest, now_ns)) {
        rest_ns = SX_ACCEPT_NEXT_NS;
    }
    if (*live == NULL) {
        return; /* removed by the new connection's owner */
    }
    rest->resume = resume;
    rest->arg = arg;
    rest->timer.fn = rest_over;
    rest->timer.arg = rest;
    if (sx_timer_add(rest->loop, &rest->timer, sx_deadline_ns(now_ns, rest_ns)) != PMIX_SUCCESS) {
        rest_over(rest, now_ns); /* no memory even for that: try again at once */
    }
}

int sx_loop_accept_ready(struct sx_source *const *live, struct sx_accept_rest *rest,
                         uint64_t now_ns)
{
    for (int i = 0; i < SX_ACCEPT_BATCH_MAX && *live != NULL; i++) {
        struct sx_accept *accept = SX_CONTAINER(*live, struct sx_accept, source);
        const int fd = accept4(accept->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            sx_loop_accept_works(rest);
            accept->fn(accept->arg, fd, now_ns);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return 0;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            return errno;
        }
    }
    return 0;
}

static void receive(struct sx_loop *loop, struct sx_recv *recv, uint64_t now_ns)
{
    struct sx_recv_message message;
    const enum sx_socket_next next = sx_socket_can_refuse_rights() ? SX_SOCKET_MESSAGE
                                                                   : sx_socket_look(recv->fd);

    if (next == SX_SOCKET_RIGHTS) {
        message = (struct sx_recv_message){ .rights = true };
        recv->fn(recv->arg, &message, now_ns);
        return;
    }
    const int err = sx_socket_receive_plain(recv->fd, loop->buffer, sizeof(loop->buffer), &message);

    if (err == EAGAIN || err == EWOULDBLOCK) {
        return;
    }
    if (err != 0 || message.bytes == NULL) {
        const struct sx_recv_message gone = { .bytes = NULL };

        sx_recv_remove(recv);
        recv->fn(recv->arg, &gone, now_ns);
        return;
    }
    recv->fn(recv->arg, &message, now_ns);
}

void sx_loop_receive_ready(struct sx_loop *loop, struct sx_recv *recv, uint64_t now_ns)
{
    if (recv->ready != NULL) {
        recv->ready(recv->arg, now_ns);
    } else {
        receive(loop, recv, now_ns);
    }
}

void sx_recv_take(struct sx_recv *recv, uint64_t now_ns)
{
    struct sx_loop *loop = recv->source.loop;

    if (loop != NULL) {
        loop->engine->resume(recv);
        receive(loop, recv, now_ns);
    }
}

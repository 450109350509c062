/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wait.c - the only wait of a client, and the thread that runs callbacks.
 *
 *     PMIX_EXTERNAL_PROGRESS: none --first task--> queue --PMIx_Progress, or the end--> run
 *     else:                   none --first need--> a thread of the library, until the end
 *
 * Every blocking call enters here (sx_wait_until), and so does the progress thread.  That thread
 * exists from the first non-blocking call or event handler on.
 *
 * A callback may make any blocking call, because a waiting thread pumps for itself and runs no
 * callbacks meanwhile.  So nothing here may wait until a callback has run.  Where that cannot be
 * avoided (PMIx_Finalize waits for running callbacks), a callback that would wait for itself is
 * refused with PMIX_ERR_NOT_SUPPORTED.  On the thread of a server in this process every wait is
 * refused (base/call/role.h). */
#include "client/link/wait.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/call/role.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "base/system/locality.h"
#include "client/link/link.h"
#include "ring/bell.h"

/* ---- threads --------------------------------------------------------------------------------- */

/* The choices of the first PMIx_Init, and their use when a thread begins. */

#define NAME_SIZE 16 /* length of a thread's name in Linux, with the NUL */

/* Constant while there is a thread. */
static struct {
    char name[NAME_SIZE];
    struct sx_cpus place;
    bool has_place;
} chosen;

pmix_status_t sx_thread_choose(const struct sx_init_options *options)
{
    const char *const called = options->thread_name;

    memset(chosen.name, 0, sizeof(chosen.name));
    if (called != NULL) {
        memcpy(chosen.name, called, strnlen(called, sizeof(chosen.name) - 1));
    }
    return sx_cpus_choose(options->thread_cpus, options->thread_bound, &chosen.place,
                          &chosen.has_place);
}

void sx_thread_settle(void)
{
    if (chosen.name[0] != '\0') {
        (void)pthread_setname_np(pthread_self(), chosen.name);
    }
    if (chosen.has_place && !sx_cpus_bind(&chosen.place)) {
        sx_log(SX_LOG_ERROR, "the progress thread cannot be bound any more");
    }
}

bool sx_thread_is_called(const char *called)
{
    return strncmp(chosen.name, called, sizeof(chosen.name) - 1) == 0;
}

int sx_thread_create(pthread_t *ret_thread, void *(*start)(void *), void *arg)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int err = pthread_create(ret_thread, NULL, start, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err;
}

#define SX_PROGRESS_BATCH 64u /* tasks and events between two polls of ring and socket */

/* ---- sleeping ----------------------------------------------------------------------------- */

#define SX_SLEEP_WORDS_MAX (SX_LINKS_MAX * 3 + 1 + SX_RING_CLASS_MAX / 2)
#define SX_LOOK_AGAIN_NS UINT64_C(1000000) /* for several rings, if one word alone can wake */

struct sx_sleep {
    struct sx_bell_watch watch[SX_SLEEP_WORDS_MAX];
    const struct sx_door
        *passed[SX_SLEEP_WORDS_MAX]; /* the next sleeper at this door is woken, too; or NULL */
    size_t count;
    bool looks_again; /* not every word can wake it */
};

static void watch_add(struct sx_sleep *sleep, const struct sx_door *door, bool passes_on)
{
    sleep->passed[sleep->count] = passes_on ? door : NULL;
    sleep->watch[sleep->count++] = sx_door_watch(door);
}

/* Watch the words that change when @link, which is live, has news. */
static void link_watch(struct sx_sleep *sleep, const struct sx_link *link)
{
    const struct sx_ring_header *const ring = link->ring.header;

    watch_add(sleep, sx_link_sleeps_by_any(link) ? &ring->any : &ring->doors[SX_CLASS_COLLECTIVE],
              true);
    watch_add(sleep, &link->slot->bell, false);
    sleep->passed[sleep->count] = NULL;
    sleep->watch[sleep->count++] = (struct sx_bell_watch){
        .word = link->board.life_word,
        .seen = sx_board_life_seen(&link->board),
    };
}

/* Watch the doors of the event classes that some handler may want, for the progress thread only. */
static void classes_watch(struct sx_sleep *sleep, const struct sx_link *link)
{
    for (uint32_t i = 1; i < SX_RING_CLASS_MAX && !sx_link_sleeps_by_any(link); i++) {
        if ((link->classes >> i & 1) != 0) {
            watch_add(sleep, &link->ring.header->doors[i], true);
        }
    }
}

/* Read all words that change with news; the caller pumps afterwards. */
static void sleep_prepare(struct sx_sleep *sleep, const struct sx_link *link)
{
    sleep->count = 0;
    sleep->looks_again = false;
    if (sx_link_is_live(link)) {
        link_watch(sleep, link);
    }
    watch_add(sleep, &sx_process.local, false);
}

/* The same for the thread that calls handlers: of all links. */
static void sleep_prepare_all(struct sx_sleep *sleep)
{
    struct sx_process *const p = &sx_process;
    unsigned live = 0;

    sleep->count = 0;
    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < p->link_count; i++) {
        if (sx_link_is_live(p->links[i])) {
            link_watch(sleep, p->links[i]);
            classes_watch(sleep, p->links[i]);
            live++;
        }
    }
    pthread_mutex_unlock(&p->lock);
    watch_add(sleep, &p->local, false);
    sleep->looks_again = live > 1 && !sx_bell_has_waitv();
}

/* @arg: struct sx_sleep. */
static bool sleep_has_news(void *arg)
{
    const struct sx_sleep *const sleep = arg;

    return sx_bell_changed(sleep->watch, sleep->count);
}

static pmix_status_t sleep_until(const struct sx_sleep *sleep, uint64_t deadline_ns)
{
    const uint64_t again_ns = sleep->looks_again ? sx_deadline_ns(sx_now_ns(), SX_LOOK_AGAIN_NS)
                                                 : SX_DEADLINE_NEVER;
    const pmix_status_t rc = sx_bell_wait(sleep->watch, sleep->count, SX_BELL_ALL,
                                          again_ns < deadline_ns ? again_ns : deadline_ns);

    for (size_t i = 0; i < sleep->count; i++) {
        if (sleep->passed[i] != NULL) {
            sx_door_pass_on(sleep->passed[i], &sleep->watch[i], SX_BELL_ALL);
        }
    }
    return rc;
}

/* ---- waiting ------------------------------------------------------------------------------ */

void sx_pump(void)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    sx_links_pump_locked();
    pthread_mutex_unlock(&p->lock);
}

void sx_links_close(void)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    for (unsigned i = 0; i < p->link_count; i++) {
        (void)sx_link_end_locked(p->links[i]);
    }
    pthread_cond_broadcast(&p->linked);
    while (p->waiter_count != 0) {
        pthread_cond_wait(&p->quiet, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

pmix_status_t sx_wait_until(struct sx_link *link, bool (*done)(void *arg), void *arg,
                            unsigned yield_count, uint64_t deadline_ns)
{
    struct sx_process *const p = &sx_process;
    struct sx_sleep sleep;
    pmix_status_t slept = PMIX_SUCCESS, rc;
    bool over = false;

    rc = sx_role_may_wait();
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    pthread_mutex_lock(&p->lock);
    p->waiter_count++;
    pthread_mutex_unlock(&p->lock);
    for (;;) {
        if (yield_count != 0) { /* the request was just sent, without an answer yet */
            sx_spin_yield(&p->wait_spin);
            yield_count = sx_spin_is_crowded(&p->wait_spin) ? 1 : yield_count; /* then we sleep */
        }
        sleep_prepare(&sleep, link);
        pthread_mutex_lock(&p->lock);
        sx_link_pump_locked(link);
        rc = sx_link_status(link);
        if (done(arg)) {
            rc = PMIX_SUCCESS;
            over = true;
        } else if (rc != PMIX_SUCCESS || slept == PMIX_ERR_TIMEOUT) {
            rc = rc != PMIX_SUCCESS ? rc : PMIX_ERR_TIMEOUT;
            over = true;
        }
        if (over) {
            break; /* with the lock */
        }
        pthread_mutex_unlock(&p->lock);
        if (yield_count > 1) {
            yield_count--;
        } else {
            yield_count = 0;
            if (!sx_spin(&p->wait_spin, sleep_has_news, &sleep)) {
                slept = sleep_until(&sleep, deadline_ns);
            }
        }
    }
    if (--p->waiter_count == 0) {
        pthread_cond_broadcast(&p->quiet);
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

/* ---- the progress thread ------------------------------------------------------------------ */

/* The next task to run that is not in the queue. */
static struct sx_task *intake_take(const struct sx_process *p)
{
    struct sx_task *task = NULL;

    for (size_t i = 0; p->intakes[i] != NULL && task == NULL; i++) {
        task = p->intakes[i]->take != NULL ? p->intakes[i]->take() : NULL;
    }
    return task;
}

/* The time when some row wants to poll again without news. */
static uint64_t intake_due(const struct sx_process *p)
{
    uint64_t due_ns = SX_DEADLINE_NEVER;

    for (size_t i = 0; p->intakes[i] != NULL; i++) {
        const uint64_t row_ns = p->intakes[i]->due != NULL ? p->intakes[i]->due()
                                                           : SX_DEADLINE_NEVER;

        due_ns = row_ns < due_ns ? row_ns : due_ns;
    }
    return due_ns;
}

/* Some tasks, and events when there is no task.  Return: false when there was nothing to do. */
static bool run_some(struct sx_process *p, uint64_t generation)
{
    for (unsigned i = 0; i < SX_PROGRESS_BATCH; i++) {
        pthread_mutex_lock(&p->lock);
        const bool mine = p->thread_generation == generation;
        struct sx_list *const node = mine ? sx_list_pop(&p->tasks) : NULL;
        const bool stop = !mine || (node == NULL && p->thread_stop);
        struct sx_task *task = node != NULL ? SX_LIST_ENTRY(node, struct sx_task, node) : NULL;

        if (task == NULL && !stop) {
            task = intake_take(p);
        }
        pthread_mutex_unlock(&p->lock);
        if (stop) {
            return true; /* the caller polls again */
        }
        if (task == NULL) {
            return i > 0;
        }
        task->run(task);
    }
    return true;
}

static void *progress_main(void *arg)
{
    struct sx_process *const p = &sx_process;
    const uint64_t generation = (uint64_t)(uintptr_t)arg;

    sx_thread_settle();
    for (;;) {
        struct sx_sleep sleep;

        sleep_prepare_all(&sleep);
        pthread_mutex_lock(&p->lock);
        if (p->thread_generation != generation) {
            pthread_mutex_unlock(&p->lock);
            return NULL; /* stopped by its own callback; another one may run already */
        }
        sx_links_pump_locked();
        const bool stop = sx_list_empty(&p->tasks) && p->thread_stop;
        const uint64_t due_ns = intake_due(p);
        pthread_mutex_unlock(&p->lock);
        if (stop) {
            return NULL;
        }
        if (!run_some(p, generation) && !sx_spin(&p->event_spin, sleep_has_news, &sleep)) {
            (void)sleep_until(&sleep, due_ns);
        }
    }
}

pmix_status_t sx_progress_start(void)
{
    struct sx_process *const p = &sx_process;
    int err = 0;

    pthread_mutex_lock(&p->lock);
    if (p->external) {
        p->thread_running = true;
    } else if (!p->thread_running) {
        p->thread_stop = false;
        p->thread_generation++;
        err = sx_thread_create(&p->thread, progress_main, (void *)(uintptr_t)p->thread_generation);
        p->thread_running = err == 0;
    }
    pthread_mutex_unlock(&p->lock);
    if (err != 0) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE,
                        "cannot start the progress thread (errno %d); see RLIMIT_NPROC and the "
                        "memory limit",
                        err);
    }
    return PMIX_SUCCESS;
}

static bool is_own_thread_locked(const struct sx_process *p)
{
    return (p->external ? p->progressing : p->thread_running) &&
           pthread_equal(p->thread, pthread_self());
}

bool sx_progress_is_own_thread(void)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    const bool own = is_own_thread_locked(p);
    pthread_mutex_unlock(&p->lock);
    return own;
}

static void run_queued(struct sx_process *p)
{
    struct sx_list *node;

    pthread_mutex_lock(&p->lock);
    while ((node = sx_list_pop(&p->tasks)) != NULL) {
        struct sx_task *const task = SX_LIST_ENTRY(node, struct sx_task, node);

        pthread_mutex_unlock(&p->lock);
        task->run(task);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
}

void sx_progress_run(void)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    const bool mine = p->external && !p->progressing;
    if (mine) {
        p->progressing = true;
        p->thread = pthread_self();
        (void)sx_wakefd_arm_locked();
        sx_links_pump_locked();
    }
    pthread_mutex_unlock(&p->lock);
    if (mine) {
        struct sx_task *task;

        do {
            run_queued(p);
            pthread_mutex_lock(&p->lock);
            task = intake_take(p);
            pthread_mutex_unlock(&p->lock);
            if (task != NULL) {
                task->run(task);
            }
        } while (task != NULL);
        pthread_mutex_lock(&p->lock);
        p->progressing = false;
        if (p->progress_watchers != 0) {
            sx_local_ring_locked();
        } else {
            sx_wakefd_write_locked();
        }
        pthread_mutex_unlock(&p->lock);
    }
}

void sx_progress_watch(void)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    p->progress_watchers++;
    pthread_mutex_unlock(&p->lock);
}

void sx_progress_unwatch(void)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    p->progress_watchers--;
    pthread_mutex_unlock(&p->lock);
}

/* Another thread may be in a callback: this waits for it, as for the end of the thread. */
static void external_stop(struct sx_process *p)
{
    if (!sx_progress_is_own_thread()) {
        sx_progress_watch();
        for (;;) {
            const struct sx_bell_watch watch = sx_door_watch(&p->local);

            sx_progress_run();
            pthread_mutex_lock(&p->lock);
            const bool over = !p->progressing && sx_list_empty(&p->tasks);
            pthread_mutex_unlock(&p->lock);
            if (over) {
                break;
            }
            (void)sx_bell_wait(&watch, 1, SX_BELL_ALL, SX_DEADLINE_NEVER);
        }
        sx_progress_unwatch();
    } else {
        run_queued(p);
    }
    pthread_mutex_lock(&p->lock);
    p->thread_running = false;
    pthread_mutex_unlock(&p->lock);
}

void sx_progress_stop(void)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    if (!p->thread_running) {
        pthread_mutex_unlock(&p->lock);
        return;
    }
    if (p->external) {
        pthread_mutex_unlock(&p->lock);
        external_stop(p);
        return;
    }
    const pthread_t thread = p->thread;
    const bool own = is_own_thread_locked(p);
    p->thread_stop = true;
    sx_local_ring_locked();
    pthread_mutex_unlock(&p->lock);
    if (own) {
        run_queued(p);
        pthread_detach(thread);
    } else {
        pthread_join(thread, NULL);
    }
    pthread_mutex_lock(&p->lock);
    p->thread_running = false;
    p->thread_generation++;
    pthread_mutex_unlock(&p->lock);
}

void sx_task_post(struct sx_task *task)
{
    struct sx_process *const p = &sx_process;

    pthread_mutex_lock(&p->lock);
    sx_task_post_locked(task);
    if (!is_own_thread_locked(p)) { /* that thread polls again before it sleeps */
        sx_local_ring_locked();
    }
    pthread_mutex_unlock(&p->lock);
}

static void *alone_main(void *arg)
{
    struct sx_task *const task = arg;

    sx_callbacks_enter();
    task->run(task);
    sx_callbacks_done();
    return NULL;
}

pmix_status_t sx_task_run_alone(struct sx_task *task)
{
    pthread_t thread;

    sx_callbacks_add();
    if (sx_thread_create(&thread, alone_main, task) != 0) {
        sx_callbacks_done();
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    pthread_detach(thread);
    return PMIX_SUCCESS;
}

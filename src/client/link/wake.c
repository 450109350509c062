/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wake.c - this process is woken for news of its own: its threads by the local door, a program that
 * sleeps in poll(2) by the descriptor of shmix_fd. */
#include "client/link/wait.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/status.h"
#include "client/link/link.h"
#include "ring/bell.h"
#include "ring/life.h"
#include "ring/sleeper.h"

/* ---- shmix_fd -------------------------------------------------------------------------------- */

/* An epoll descriptor over two others: the server's socket, and an eventfd of our own.
 *
 *     NONE --shmix_fd--> AWAKE --arm--> ASLEEP --a byte is written--> RUNG --arm--> ASLEEP
 *
 * The server writes at most one byte per sleep (ring/sleeper.h).  This process writes the eventfd
 * for its own news.  The end of the server's socket counts as news once.  Then it is taken out, so
 * that a lost server does not keep the descriptor readable for ever. */

/* The bell rings for all classes.  This class has events, too, so some wake-ups are for nothing. */
#define BELL_BIT (1u << (SX_RING_CLASS_MAX - 1))

/* Under sx_process.lock, but `used`. */
static struct {
    atomic_bool used;
    bool written; /* the eventfd has been written and not read */
    bool opening; /* by a thread that waits for the server; others wait for it */
    int epoll_fd, event_fd;
    struct sx_link *link; /* while `used`: of the server */
    int server_fd;        /* -1: without a server, or it is gone */
} wakefd = { .epoll_fd = -1, .event_fd = -1, .server_fd = -1 };

bool sx_wakefd_is_used(void)
{
    /* relaxed: the state that it guards is checked under lock. */
    return atomic_load_explicit(&wakefd.used, memory_order_relaxed);
}

/* ---- silence and noise ---------------------------------------------------------------------- */

static void written_clear(void)
{
    uint64_t count;

    if (wakefd.written) {
        (void)!read(wakefd.event_fd, &count, sizeof(count));
        wakefd.written = false;
    }
}

static void wakefd_write(void)
{
    const uint64_t one = 1;

    if (!wakefd.written) {
        wakefd.written = true;
        (void)!write(wakefd.event_fd, &one, sizeof(one));
    }
}

static void server_fd_close(void)
{
    if (wakefd.server_fd >= 0) {
        (void)epoll_ctl(wakefd.epoll_fd, EPOLL_CTL_DEL, wakefd.server_fd, NULL);
        close(wakefd.server_fd);
        wakefd.server_fd = -1;
    }
}

/* The classes that any user in this process wants to be woken for. */
static uint32_t classes_wanted(const struct sx_process *p)
{
    uint32_t classes = 0;

    for (size_t i = 0; p->intakes[i] != NULL; i++) {
        classes |= p->intakes[i]->poll_classes != NULL ? p->intakes[i]->poll_classes() : 0;
    }
    if (p->external) {
        classes |= BELL_BIT | wakefd.link->classes;
        classes |= sx_list_empty(&wakefd.link->collectives) ? 0 : 1u << SX_CLASS_COLLECTIVE;
    }
    return classes;
}

static bool server_is_gone(void)
{
    /* acquire: the poll that follows finds what the server wrote before its end. */
    return !sx_link_is_live(wakefd.link) ||
           !sx_board_slot_lives(wakefd.link->slot, wakefd.link->slot_claims) ||
           !sx_board_server_lives(&wakefd.link->board);
}

/* Callbacks wait for PMIx_Progress. */
static bool progress_is_due(const struct sx_process *p)
{
    if (!p->external || p->progressing) {
        return false;
    }
    for (size_t i = 0; p->intakes[i] != NULL; i++) {
        if (p->intakes[i]->waits != NULL && p->intakes[i]->waits()) {
            return true;
        }
    }
    return !sx_list_empty(&p->tasks);
}

static bool somebody_is_behind(const struct sx_process *p)
{
    for (size_t i = 0; p->intakes[i] != NULL; i++) {
        if (p->intakes[i]->poll_waits != NULL && p->intakes[i]->poll_waits()) {
            return true;
        }
    }
    return false;
}

/* Return: true when this process sleeps only from now on, or has no server from now on. */
static bool sleep_begin(struct sx_process *p)
{
    if (wakefd.server_fd < 0) {
        return false;
    }
    if (server_is_gone()) {
        server_fd_close();
        return true;
    }
    sx_sleeper_classes(wakefd.link->lane.line, classes_wanted(p));
    const enum sx_sleep sleep = sx_sleeper_sleep(wakefd.link->lane.line, wakefd.link->slot,
                                                 wakefd.server_fd);

    if (sleep == SX_SLEEP_ENDED) {
        server_fd_close();
    }
    return sleep != SX_SLEEP_NOTHING_NEW;
}

bool sx_wakefd_arm_locked(void)
{
    struct sx_process *const p = &sx_process;

    if (!sx_wakefd_is_used()) {
        return false;
    }
    const bool armed = sleep_begin(p);
    /* After arming, later news ring again; the callers check for news that arrived before. */
    if (progress_is_due(p) || somebody_is_behind(p)) {
        wakefd_write();
    } else {
        written_clear();
    }
    return armed;
}

void sx_wakefd_write_locked(void)
{
    if (sx_wakefd_is_used() && progress_is_due(&sx_process)) {
        wakefd_write();
    }
}

void sx_wakefd_want_locked(void)
{
    struct sx_process *const p = &sx_process;

    if (sx_wakefd_is_used() && wakefd.server_fd >= 0) {
        sx_sleeper_classes(wakefd.link->lane.line, classes_wanted(p));
    }
}

void sx_wakefd_reader_opened_locked(void)
{
    if (sx_wakefd_is_used()) {
        sx_wakefd_want_locked();
        wakefd_write();
    }
}

/* ---- open and close ------------------------------------------------------------------------- */

static void close_all(void)
{
    if (wakefd.server_fd >= 0) {
        close(wakefd.server_fd); /* the set, which a forked child shares, is left as it is */
        wakefd.server_fd = -1;
    }
    if (wakefd.event_fd >= 0) {
        close(wakefd.event_fd);
    }
    if (wakefd.epoll_fd >= 0) {
        close(wakefd.epoll_fd);
    }
    wakefd.event_fd = wakefd.epoll_fd = -1;
    wakefd.written = wakefd.opening = false;
    atomic_store(&wakefd.used, false);
}

void sx_wakefd_deinit(void)
{
    pthread_mutex_lock(&sx_process.lock);
    close_all();
    pthread_mutex_unlock(&sx_process.lock);
}

void sx_wakefd_forget(void)
{
    close_all();
}

static bool watch(int fd)
{
    struct epoll_event event = { .events = EPOLLIN };

    return epoll_ctl(wakefd.epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool sx_wakefd_begin(void *arg)
{
    (void)arg;
    if (wakefd.opening) {
        return false;
    }
    wakefd.opening = true;
    return true;
}

int sx_wakefd_end_locked(void)
{
    wakefd.opening = false;
    return wakefd.epoll_fd;
}

pmix_status_t sx_wakefd_open_locked(struct sx_link *link, int server_fd)
{
    wakefd.link = link;
    wakefd.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    wakefd.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wakefd.epoll_fd < 0 || wakefd.event_fd < 0 || !watch(wakefd.event_fd) ||
        (server_fd >= 0 && !watch(server_fd))) {
        const pmix_status_t rc = SX_RAISE(sx_status_from_errno(errno),
                                          "a descriptor to poll: %s (raise ulimit -n)",
                                          strerror(errno));

        close_all();
        if (server_fd >= 0) {
            close(server_fd);
        }
        return rc;
    }
    wakefd.server_fd = server_fd;
    atomic_store(&wakefd.used, true);
    wakefd_write(); /* news so far must be checked */
    return PMIX_SUCCESS;
}

/* ---- the local door -------------------------------------------------------------------------- */

/* The door that rings for events of this process alone. */

void sx_local_ring_locked(void)
{
    struct sx_process *const p = &sx_process;

    sx_door_ring(&p->local, SX_BELL_ALL, 0);
    sx_wakefd_write_locked();
    /* Without waitv our threads sleep on the ring's word.  A thread that is about to sleep there
     * may miss this, but it polls again within a second. */
    for (unsigned i = 0; i < p->link_count && !sx_bell_has_waitv(); i++) {
        const struct sx_ring_header *const ring = p->links[i]->ring.header;

        if (ring != NULL) {
            sx_life_notify(sx_door_watch(&ring->any).word);
        }
    }
}

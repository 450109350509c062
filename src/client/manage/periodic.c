/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* periodic.c - a list of tasks, and a thread that runs those that are due. */
#include "client/manage/manage.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/util.h"
#include "client/link/wait.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; /* of CLOCK_MONOTONIC; made with the thread */
static struct sx_list periodics = SX_LIST_INIT(periodics); /* under lock, as all below */
static struct sx_periodic *running;
static uint64_t last_number;
static pthread_t thread;
static bool has_thread, stopping;

/* ---- the thread ------------------------------------------------------------------------------ */

static void end_locked(struct sx_periodic *periodic)
{
    if (periodic == running) {
        periodic->ended = true;
        return;
    }
    sx_list_remove(&periodic->link);
    periodic->free(periodic);
}

static struct sx_periodic *next_locked(void)
{
    struct sx_periodic *next = NULL;

    SX_LIST_EACH(it, &periodics) {
        struct sx_periodic *const periodic = SX_LIST_ENTRY(it, struct sx_periodic, link);

        if (next == NULL || periodic->due_ns < next->due_ns) {
            next = periodic;
        }
    }
    return next;
}

static void run_locked(struct sx_periodic *periodic)
{
    running = periodic;
    pthread_mutex_unlock(&lock);
    periodic->run(periodic);
    pthread_mutex_lock(&lock);
    running = NULL;
    /* Not counted from the due time: after a long stop the task runs once, and not for each
     * period. */
    periodic->due_ns = sx_deadline_ns(sx_now_ns(), periodic->period_ns);
    if (periodic->ended) {
        end_locked(periodic);
    }
}

static void *run_periodics(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&lock);
    while (!stopping) {
        struct sx_periodic *const next = next_locked();
        const uint64_t due_ns = next != NULL ? next->due_ns : SX_DEADLINE_NEVER;

        if (due_ns == SX_DEADLINE_NEVER) {
            pthread_cond_wait(&changed, &lock);
        } else if (due_ns > sx_now_ns()) {
            const struct timespec until = sx_timespec(due_ns);

            pthread_cond_timedwait(&changed, &lock, &until);
        } else {
            run_locked(next);
        }
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static bool thread_start_locked(void)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attr);
    pthread_condattr_destroy(&attr);
    has_thread = sx_thread_create(&thread, run_periodics, NULL) == 0;
    return has_thread;
}

void sx_periodics_stop(void)
{
    pthread_mutex_lock(&lock);
    const bool had_thread = has_thread;
    const pthread_t ending = thread;

    has_thread = false;
    stopping = had_thread;
    if (had_thread) {
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
    if (had_thread) {
        pthread_join(ending, NULL);
        pthread_cond_destroy(&changed);
    }
    pthread_mutex_lock(&lock);
    stopping = false;
    SX_LIST_EACH(it, &periodics) {
        end_locked(SX_LIST_ENTRY(it, struct sx_periodic, link));
    }
    pthread_mutex_unlock(&lock);
}

void sx_periodics_forked(void)
{
    pthread_mutex_init(&lock, NULL);
    sx_list_init(&periodics);
    running = NULL;
    has_thread = stopping = false;
}

/* ---- its tasks ------------------------------------------------------------------------------- */

static struct sx_periodic *find_locked(uint64_t number)
{
    SX_LIST_EACH(it, &periodics) {
        struct sx_periodic *const periodic = SX_LIST_ENTRY(it, struct sx_periodic, link);

        if (periodic->number == number) {
            return periodic;
        }
    }
    return NULL;
}

/* Return: SX_PERIODICS_MAX when all are taken. */
static uint32_t place_locked(void)
{
    uint32_t taken = 0, place = 0;

    SX_LIST_EACH(it, &periodics) {
        taken |= 1u << SX_LIST_ENTRY(it, struct sx_periodic, link)->place;
    }
    while (place < SX_PERIODICS_MAX && (taken & 1u << place) != 0) {
        place++;
    }
    return place;
}
static_assert(SX_PERIODICS_MAX < 32, "a bit each");

static bool has_called_locked(const char *id)
{
    SX_LIST_EACH(it, &periodics) {
        const struct sx_periodic *const periodic = SX_LIST_ENTRY(it, struct sx_periodic, link);

        if (!periodic->ended && strcmp(periodic->id, id) == 0) {
            return true;
        }
    }
    return false;
}

static pmix_status_t prepare_locked(struct sx_periodic *periodic)
{
    if (periodic->id[0] != '\0' && has_called_locked(periodic->id)) {
        return PMIX_ERR_EXISTS;
    }
    periodic->place = place_locked();
    if (periodic->place == SX_PERIODICS_MAX) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "there are %u monitors already: cancel some",
                        SX_PERIODICS_MAX);
    }
    if (stopping || (!has_thread && !thread_start_locked())) {
        return SX_RAISE(PMIX_ERR_OUT_OF_RESOURCE, "no thread can be made for a monitor");
    }
    periodic->number = ++last_number;
    periodic->due_ns = SX_DEADLINE_NEVER;
    sx_list_append(&periodics, &periodic->link);
    return PMIX_SUCCESS;
}

pmix_status_t sx_periodic_prepare(struct sx_periodic *periodic, uint32_t *ret_place,
                                  uint64_t *ret_number)
{
    pthread_mutex_lock(&lock);
    const pmix_status_t rc = prepare_locked(periodic);

    if (rc == PMIX_SUCCESS) {
        *ret_place = periodic->place;
        *ret_number = periodic->number;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

void sx_periodic_go(uint64_t number)
{
    pthread_mutex_lock(&lock);
    struct sx_periodic *const periodic = find_locked(number);

    if (periodic != NULL) {
        periodic->due_ns = sx_deadline_ns(sx_now_ns(), periodic->at_once ? 0 : periodic->period_ns);
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
}

void sx_periodic_end(uint64_t number)
{
    pthread_mutex_lock(&lock);
    struct sx_periodic *const periodic = find_locked(number);

    if (periodic != NULL) {
        end_locked(periodic);
    }
    pthread_mutex_unlock(&lock);
}

bool sx_periodics_end_called(const char *id)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    SX_LIST_EACH(it, &periodics) {
        struct sx_periodic *const periodic = SX_LIST_ENTRY(it, struct sx_periodic, link);

        if (!periodic->ended && (id[0] == '\0' || strcmp(periodic->id, id) == 0)) {
            end_locked(periodic);
            found = true;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

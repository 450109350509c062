/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* thread.c - what the first PMIx_Init chooses, and what is used when a thread begins. */
#include "client/link/thread.h"

#include <hwloc.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "base/locality.h"
#include "base/status.h"

#define NAME_SIZE 16 /* what Linux keeps of a thread's name, with the NUL */

/* Constant while there is a thread. */
static char name[NAME_SIZE];
static cpu_set_t place;
static bool has_place;

/* The processors of @text that this process may use. */
static pmix_status_t place_read(const char *text, cpu_set_t *ret_place)
{
    pmix_cpuset_t cpuset = { .source = NULL };
    cpu_set_t allowed;
    const pmix_status_t rc = sx_locality_cpuset_read(text, &cpuset);
    unsigned cpu;

    if (rc != PMIX_SUCCESS) {
        return SX_RAISE(PMIX_ERR_BAD_PARAM, "\"%s\" names no processors, as \"0-3,8\" does", text);
    }
    CPU_ZERO(ret_place);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        hwloc_bitmap_foreach_begin(cpu, (hwloc_const_bitmap_t)cpuset.bitmap)
        {
            if (cpu >= CPU_SETSIZE) {
                break; /* of a set without an end, too */
            }
            if (CPU_ISSET(cpu, &allowed)) {
                CPU_SET(cpu, ret_place);
            }
        }
        hwloc_bitmap_foreach_end();
    }
    PMIx_Cpuset_destruct(&cpuset);
    return CPU_COUNT(ret_place) != 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_AVAILABLE;
}

pmix_status_t sx_thread_choose(const struct sx_init_options *options)
{
    const char *const called = options->thread_name;
    const char *const where = options->thread_cpus;

    memset(name, 0, sizeof(name));
    has_place = false;
    if (called != NULL) {
        memcpy(name, called, strnlen(called, sizeof(name) - 1));
    }
    if (where == NULL) {
        return PMIX_SUCCESS;
    }
    const pmix_status_t rc = place_read(where, &place);
    has_place = rc == PMIX_SUCCESS;
    if (rc != PMIX_ERR_NOT_AVAILABLE) {
        return rc;
    }
    if (options->thread_bound) {
        return SX_RAISE(rc, "this process may use none of the processors \"%s\"", where);
    }
    sx_log(SX_LOG_INFO, "the progress thread is not bound: \"%s\" is not for this process", where);
    return PMIX_SUCCESS;
}

void sx_thread_settle(void)
{
    if (name[0] != '\0') {
        (void)pthread_setname_np(pthread_self(), name);
    }
    if (has_place && pthread_setaffinity_np(pthread_self(), sizeof(place), &place) != 0) {
        sx_log(SX_LOG_ERROR, "the progress thread cannot be bound any more");
    }
}

bool sx_thread_is_called(const char *called)
{
    return strncmp(name, called, sizeof(name) - 1) == 0;
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

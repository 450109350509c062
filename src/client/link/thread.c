/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* thread.c - the choices of the first PMIx_Init, and their use when a thread begins. */
#include "client/link/thread.h"

#include <signal.h>
#include <string.h>

#include "base/status.h"
#include "base/system/cpus.h"

#define NAME_SIZE 16 /* length of a thread's name in Linux, with the NUL */

/* Constant while there is a thread. */
static char name[NAME_SIZE];
static struct sx_cpus place;
static bool has_place;

pmix_status_t sx_thread_choose(const struct sx_init_options *options)
{
    const char *const called = options->thread_name;

    memset(name, 0, sizeof(name));
    if (called != NULL) {
        memcpy(name, called, strnlen(called, sizeof(name) - 1));
    }
    return sx_cpus_choose(options->thread_cpus, options->thread_bound, &place, &has_place);
}

void sx_thread_settle(void)
{
    if (name[0] != '\0') {
        (void)pthread_setname_np(pthread_self(), name);
    }
    if (has_place && !sx_cpus_bind(&place)) {
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* callbacks.c - the number of callbacks under way. */
#include "base/call/callbacks.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t fewer = PTHREAD_COND_INITIALIZER;
static unsigned count; /* under lock */
static __thread bool is_inside;

void sx_callbacks_add(void)
{
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
}

void sx_callbacks_done(void)
{
    pthread_mutex_lock(&lock);
    count--;
    pthread_cond_broadcast(&fewer);
    pthread_mutex_unlock(&lock);
}

void sx_callbacks_enter(void)
{
    is_inside = true;
}

void sx_callbacks_wait(void)
{
    pthread_mutex_lock(&lock);
    while (count > (is_inside ? 1 : 0)) {
        pthread_cond_wait(&fewer, &lock);
    }
    pthread_mutex_unlock(&lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* waiter.h - one thread waits, without a limit, until another thread reports a status.
 *
 * A waiter lives on the stack of the thread that waits.  The other thread does not touch it after
 * sx_waiter_wake. */
#ifndef SX_BASE_WAITER_H
#define SX_BASE_WAITER_H

#include <pthread.h>
#include <stdbool.h>

#include <pmix_common.h>

struct sx_waiter {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool done;
    pmix_status_t status;
};

#define SX_WAITER_INIT                                                      \
    {                                                                       \
        .lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER \
    }

static inline void sx_waiter_wake(struct sx_waiter *waiter, pmix_status_t status)
{
    pthread_mutex_lock(&waiter->lock);
    waiter->status = status;
    waiter->done = true;
    pthread_cond_signal(&waiter->cond);
    pthread_mutex_unlock(&waiter->lock);
}

/* A pmix_op_cbfunc_t, whose @cbdata is the waiter. */
static inline void sx_waiter_op_done(pmix_status_t status, void *cbdata)
{
    sx_waiter_wake(cbdata, status);
}

/* Return: the status that was reported. */
static inline pmix_status_t sx_waiter_wait(struct sx_waiter *waiter)
{
    pthread_mutex_lock(&waiter->lock);
    while (!waiter->done) {
        pthread_cond_wait(&waiter->cond, &waiter->lock);
    }
    pthread_mutex_unlock(&waiter->lock);
    return waiter->status;
}

#endif

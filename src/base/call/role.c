/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* role.c - the one pointer through which client-side entry points find a server in this process. */
#include "base/call/role.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

static _Atomic(const struct sx_role_server *) role_server;
static __thread bool is_servers_thread;

void sx_role_server_set(const struct sx_role_server *server)
{
    /* R0 -> A0 (sx_role_server_get): the table is filled before it can be found. */
    atomic_store_explicit(&role_server, server, memory_order_release);
}

const struct sx_role_server *sx_role_server_get(void)
{
    /* A0 <- R0 (sx_role_server_set): seeing the table means seeing its entries. */
    return atomic_load_explicit(&role_server, memory_order_acquire);
}

void sx_role_thread_enter(void)
{
    is_servers_thread = true;
}

pmix_status_t sx_role_may_wait(void)
{
    return !is_servers_thread
               ? PMIX_SUCCESS
               : SX_RAISE(PMIX_ERR_NOT_SUPPORTED,
                          "in an upcall or an event handler of a server, this call would wait for "
                          "itself: give it a callback if it can have one, or make it in another "
                          "thread");
}

/* ---- callbacks ------------------------------------------------------------------------------- */

/* The number of callbacks under way. */

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

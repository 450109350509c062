/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_handlers.c - the table of this process's handlers. */
#include "client/call/event.h"
#include "client/link/process.h"

static void table_make(void)
{
    sx_handlers_init(&sx_process.handlers);
}

struct sx_handlers *sx_event_handlers(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, table_make);
    return &sx_process.handlers;
}

bool sx_event_has_handlers(void)
{
    struct sx_handlers *const handlers = sx_event_handlers();

    pthread_mutex_lock(&sx_handlers_lock);
    const bool any = handlers->count != 0;
    pthread_mutex_unlock(&sx_handlers_lock);
    return any;
}

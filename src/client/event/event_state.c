/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_state.c - the state of events of this process, and what a fork does to it. */
#include "client/event/event_state.h"

#include "client/event/event.h"

struct sx_events sx_events = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .registered = SX_LIST_INIT(sx_events.registered),
    .waiting = SX_LIST_INIT(sx_events.waiting),
    .late = SX_LIST_INIT(sx_events.late),
    .declared = SX_LIST_INIT(sx_events.declared),
};

static void table_make(void)
{
    sx_handlers_init(&sx_events.handlers);
}

struct sx_handlers *sx_event_handlers(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, table_make);
    return &sx_events.handlers;
}

bool sx_event_has_handlers(void)
{
    struct sx_handlers *const handlers = sx_event_handlers();

    pthread_mutex_lock(&sx_handlers_lock);
    const bool any = handlers->count != 0;
    pthread_mutex_unlock(&sx_handlers_lock);
    return any;
}

void sx_event_forked(void)
{
    sx_list_init(&sx_events.waiting);
    sx_list_init(&sx_events.late);
    sx_events.registrations = 0;
    sx_events.locals_handled = sx_events.locals_taken = sx_events.locals_posted;
}

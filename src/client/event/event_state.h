/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_state.h - the state of events in this process, shared by the files of this folder. */
#ifndef SX_CLIENT_EVENT_EVENT_STATE_H
#define SX_CLIENT_EVENT_EVENT_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/call/handlers.h"
#include "base/list.h"

struct sx_events {
    struct sx_handlers handlers;
    pthread_mutex_t lock;      /* taken after the process's lock */
    struct sx_list registered; /* under `lock`: the wishes of handlers at the server */

    /* Under the process's lock: events that wait for the progress thread.  The state of a ring is
     * with its link. */
    struct sx_list waiting;  /* struct sx_event_item */
    struct sx_list late;     /* the same: kept events for a late handler alone */
    struct sx_list declared; /* the same: of PMIx_Init, for later handlers */
    unsigned declared_count;
    uint64_t declared_last;    /* number of the newest */
    uint64_t declared_in_hand; /* its handlers are running; used by the progress thread only */
    bool late_turn;            /* the last event was taken from `late` */
    uint64_t late_lists;       /* number of lists of late events so far */
    bool failure_waits;        /* PMIX_ERR_COMM_FAILURE is among the events */
    unsigned registrations;    /* under way: no event is handed out meanwhile */
    bool in_hand;              /* an event was taken out; its handlers may still run */
    /* Own events in `waiting` are numbered: the newest, the last one that was taken out, and the
     * last one whose handlers have been called. */
    uint64_t locals_posted, locals_taken, locals_handled;
    bool locals_awaited; /* a PMIx_Finalize waits for these */
};

extern struct sx_events sx_events;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_state.h - what this process knows of events, for the files that deal with them. */
#ifndef SX_CLIENT_EVENT_EVENT_STATE_H
#define SX_CLIENT_EVENT_EVENT_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/call/handlers.h"
#include "base/list.h"

struct sx_events {
    struct sx_handlers handlers;
    pthread_mutex_t lock;      /* behind the process's lock */
    struct sx_list registered; /* under it: what handlers asked the server for */

    /* Under the process's lock: events that wait for the progress thread.  What is known of a ring
     * is with its link. */
    struct sx_list waiting;  /* struct sx_event_item */
    struct sx_list late;     /* the same: kept ones for a late handler alone */
    struct sx_list declared; /* the same: by PMIx_Init, for handlers yet to come */
    unsigned declared_count;
    uint64_t declared_last;    /* number of the newest */
    uint64_t declared_in_hand; /* whose handlers the progress thread is calling; that thread's */
    bool late_turn;            /* one of these was taken out last */
    uint64_t late_lists;       /* of them that have come */
    bool failure_waits;        /* PMIX_ERR_COMM_FAILURE is among the events */
    unsigned registrations;    /* under way: no event is handed out meanwhile */
    bool in_hand;              /* one was taken out, and its handlers may still be running */
    /* Of the events of our own in `waiting`, which are numbered: the newest, the last one that was
     * taken out, and the last one whose handlers have been called. */
    uint64_t locals_posted, locals_taken, locals_handled;
    bool locals_awaited; /* a PMIx_Finalize waits for these */
};

extern struct sx_events sx_events;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_state.h - the state of events in this process, and the items that wait in its queues:
 * shared by the files of this folder. */
#ifndef SX_CLIENT_EVENT_EVENT_STATE_H
#define SX_CLIENT_EVENT_EVENT_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/call/handlers.h"
#include "base/list.h"
#include "client/link/op.h"

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

/* ---- pages ----------------------------------------------------------------------------------- */

/* Memory for queued events: many in one block.
 *
 * A page is filled from its beginning and freed with the last of its events.  The newest page is
 * filled again instead, so single events cost no allocation.  A few pages are kept for bursts of
 * events (256 KiB at most).  An event whose handler never completes keeps its page. */

struct sx_event_page;

/* @size bytes, aligned to 8; large ones have a page of their own.  Under lock.  Return: NULL when
 * memory is short; else release *ret_page once. */
void *sx_event_page_take_locked(size_t size, struct sx_event_page **ret_page);
/* Any thread. */
void sx_event_page_release(struct sx_event_page *page);
/* Free all pages that are kept for later events.  Under lock. */
void sx_event_page_drop_locked(void);

/* ---- items ----------------------------------------------------------------------------------- */

/* An event as bytes, until a handler is to be called. */
struct sx_event_item {
    struct sx_task task;
    struct sx_event_page *page; /* the page in which the item lies */
    struct sx_link *link;       /* the event is from its server; NULL: an own event */
    uint64_t
        number; /* of the event; 0 for an own event, and the highest number for the server's end */
    bool is_range; /* ask for number..last instead of delivering */
    uint64_t last;
    bool has_only; /* late: for the handler `only`, before events newer than `upto` */
    size_t only;
    uint64_t upto;
    bool is_local;
    uint64_t local_number; /* events.locals_posted; 0: the item is not counted */
    bool is_failure;       /* PMIX_ERR_COMM_FAILURE */
    bool is_unreached;     /* reports how many own events are lost by now */
    uint64_t declared; /* its number among the declarations of PMIx_Init, 0: not a declaration */
    size_t before;  /* declared: for handlers below this id; later ones get it as late handlers */
    uint64_t lists; /* lists of late events so far: an own event follows all of them */
    uint8_t word;   /* enum sx_group_word: the strongest answer of its handlers */
    size_t size;
    _Alignas(8) uint8_t bytes[]; /* struct sx_event and its variable part */
};

static inline struct sx_event_item *sx_event_item_of(struct sx_list *node)
{
    return SX_LIST_ENTRY(node, struct sx_event_item, task.node);
}

/* Copy @bytes.  Under lock.  Return: NULL when memory is short, logged. */
struct sx_event_item *sx_event_item_new_locked(struct sx_link *link, const void *bytes,
                                               size_t size);
void sx_event_item_free(struct sx_event_item *item);

/* Keep a declaration for later handlers; a duplicate is dropped.  Under lock. */
void sx_event_declared_keep_locked(const struct sx_event_item *item);
/* SHMIX_ERR_EVENTS_LOST; @own: the lost events were published here.  Return: NULL when memory is
 * short. */
struct sx_event_item *sx_event_lost_item(uint64_t count, bool own);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_state.c - the state of events of this process, what a fork does to it, and the memory of
 * queued events.
 *
 * Pages are reference-counted; this file has a reference to the newest one.
 *
 *     newest --full, or alone in use--> full --the last user goes--> spare, or freed
 *        ^------------------------------------------------------------'
 */
#include "client/event/event_state.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
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

/* ---- pages ----------------------------------------------------------------------------------- */

#define PAGE_BYTES ((size_t)16384)
#define SPARES_MAX 16u /* twice the pages of a late handler's kept events */

struct sx_event_page {
    atomic_uint users;
    bool is_alone; /* made for one large event */
    size_t used;
    _Alignas(8) uint8_t bytes[];
};

static struct sx_event_page *newest; /* under lock */

/* Spare pages: malloc would give their memory back to the kernel, which clears each page of it
 * before the next use.  Any thread. */
static _Atomic(struct sx_event_page *) spares[SPARES_MAX];

static struct sx_event_page *page_new(size_t size, bool is_alone)
{
    struct sx_event_page *const page = malloc(sizeof(*page) + size);

    if (page != NULL) {
        atomic_init(&page->users, 1);
        page->is_alone = is_alone;
        page->used = 0;
    }
    return page;
}

/* Return: NULL when there is none. */
static struct sx_event_page *spare_take(void)
{
    struct sx_event_page *page = NULL;

    for (size_t i = 0; i < SPARES_MAX && page == NULL; i++) {
        /* relaxed: only a first check.  A-spare <- R-spare (page_end). */
        if (atomic_load_explicit(&spares[i], memory_order_relaxed) != NULL) {
            page = atomic_exchange_explicit(&spares[i], NULL, memory_order_acquire);
        }
    }
    return page;
}

/* The page has no user. */
static void page_end(struct sx_event_page *page)
{
    for (size_t i = 0; i < SPARES_MAX && !page->is_alone; i++) {
        struct sx_event_page *none = NULL;

        /* R-spare -> A-spare: its next user fills it after its last user.  relaxed: a slot in
         * use. */
        if (atomic_compare_exchange_strong_explicit(&spares[i], &none, page, memory_order_release,
                                                    memory_order_relaxed)) {
            return;
        }
    }
    free(page);
}

void sx_event_page_release(struct sx_event_page *page)
{
    /* R-page -> A-page: the page is freed or filled again after all its users. */
    if (atomic_fetch_sub_explicit(&page->users, 1, memory_order_acq_rel) == 1) {
        page_end(page);
    }
}

static void newest_release(void)
{
    struct sx_event_page *const page = newest;

    newest = NULL; /* first, so that a child that is forked meanwhile finds no freed page */
    if (page != NULL) {
        sx_event_page_release(page);
    }
}

void sx_event_page_drop_locked(void)
{
    struct sx_event_page *page;

    newest_release();
    while ((page = spare_take()) != NULL) {
        free(page);
    }
}

/* Return: the newest page, which has room for @size bytes; NULL when memory is short. */
static struct sx_event_page *newest_with_room(size_t size)
{
    /* A-page <- R-page: this is the only user, and no other can be added without the lock. */
    if (newest != NULL && atomic_load_explicit(&newest->users, memory_order_acquire) == 1) {
        newest->used = 0;
    }
    if (newest != NULL && size > PAGE_BYTES - newest->used) {
        newest_release();
    }
    if (newest == NULL && (newest = spare_take()) != NULL) {
        /* relaxed: no other thread has this page yet. */
        atomic_store_explicit(&newest->users, 1, memory_order_relaxed);
        newest->used = 0;
    } else if (newest == NULL) {
        newest = page_new(PAGE_BYTES, false);
    }
    return newest;
}

void *sx_event_page_take_locked(size_t size, struct sx_event_page **ret_page)
{
    const size_t padded = (size_t)sx_align_up(size, 8);
    struct sx_event_page *const page = padded > PAGE_BYTES / 4 ? page_new(padded, true)
                                                               : newest_with_room(padded);

    if (page == NULL) {
        return NULL;
    }
    if (page == newest) { /* relaxed: only this thread has used it so far */
        atomic_fetch_add_explicit(&page->users, 1, memory_order_relaxed);
    }
    void *const at = page->bytes + page->used;

    page->used += padded;
    *ret_page = page;
    return at;
}

/* ---- items ----------------------------------------------------------------------------------- */

struct sx_event_item *sx_event_item_new_locked(struct sx_link *link, const void *bytes, size_t size)
{
    struct sx_event_page *page;
    struct sx_event_item *const item = sx_event_page_take_locked(sizeof(*item) + size, &page);

    if (item == NULL) {
        sx_log(SX_LOG_ERROR, "an event is lost: memory is short");
        return NULL;
    }
    *item = (struct sx_event_item){ .page = page, .link = link, .size = size };
    sx_list_init(&item->task.node);
    if (size > 0) {
        memcpy(item->bytes, bytes, size);
    }
    return item;
}

void sx_event_item_free(struct sx_event_item *item)
{
    sx_event_page_release(item->page);
}

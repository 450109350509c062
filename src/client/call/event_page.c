/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_page.c - count the users of a page; the newest one has us for a user, too. */
#include "client/call/event_page.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/util.h"

#define PAGE_BYTES ((size_t)16384)

struct sx_event_page {
    atomic_uint users;
    size_t used;
    _Alignas(8) uint8_t bytes[];
};

static struct sx_event_page *newest; /* under lock */

static struct sx_event_page *page_new(size_t size)
{
    struct sx_event_page *const page = malloc(sizeof(*page) + size);

    if (page != NULL) {
        atomic_init(&page->users, 1);
        page->used = 0;
    }
    return page;
}

void sx_event_page_release(struct sx_event_page *page)
{
    /* R-page -> A-page: it is freed or filled again after all its users. */
    if (atomic_fetch_sub_explicit(&page->users, 1, memory_order_acq_rel) == 1) {
        free(page);
    }
}

void sx_event_page_drop_locked(void)
{
    struct sx_event_page *const page = newest;

    newest = NULL; /* first: a child that is forked meanwhile does not find a page that is gone */
    if (page != NULL) {
        sx_event_page_release(page);
    }
}

/* Return: the newest page, which has room for @size bytes; NULL when memory is short. */
static struct sx_event_page *newest_with_room(size_t size)
{
    /* A-page <- R-page: nobody but us, and nobody else can become a user without the lock. */
    if (newest != NULL && atomic_load_explicit(&newest->users, memory_order_acquire) == 1) {
        newest->used = 0;
    }
    if (newest != NULL && size > PAGE_BYTES - newest->used) {
        sx_event_page_drop_locked();
    }
    if (newest == NULL) {
        newest = page_new(PAGE_BYTES);
    }
    return newest;
}

void *sx_event_page_take_locked(size_t size, struct sx_event_page **ret_page)
{
    const size_t padded = (size_t)sx_align_up(size, 8);
    struct sx_event_page *const page = padded > PAGE_BYTES / 4 ? page_new(padded)
                                                               : newest_with_room(padded);

    if (page == NULL) {
        return NULL;
    }
    if (page == newest) { /* relaxed: it is used for the first time where this is seen */
        atomic_fetch_add_explicit(&page->users, 1, memory_order_relaxed);
    }
    void *const at = page->bytes + page->used;

    page->used += padded;
    *ret_page = page;
    return at;
}

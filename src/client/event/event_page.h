/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_page.h - memory for queued events: many in one block.
 *
 * A page is filled from its beginning and freed with the last of its events.  The newest page is
 * filled again instead, so single events cost no allocation.  A few pages are kept for bursts of
 * events (256 KiB at most).  An event whose handler never completes keeps its page. */
#ifndef SX_CLIENT_EVENT_EVENT_PAGE_H
#define SX_CLIENT_EVENT_EVENT_PAGE_H

#include <stddef.h>

struct sx_event_page;

/* @size bytes, aligned to 8; large ones have a page of their own.  Under lock.  Return: NULL when
 * memory is short; else release *ret_page once. */
void *sx_event_page_take_locked(size_t size, struct sx_event_page **ret_page);
/* Any thread. */
void sx_event_page_release(struct sx_event_page *page);
/* Free all pages that are kept for later events.  Under lock. */
void sx_event_page_drop_locked(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pages.h - memory for many bytes that are about to be written.
 *
 * A page that the kernel has not given yet costs a fault when it is first written, ten times as
 * much as the copy of its bytes.  One call for all of them saves a quarter of that. */
#ifndef SX_BASE_SYSTEM_PAGES_H
#define SX_BASE_SYSTEM_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SX_PAGES_MIN_BYTES ((size_t)128 << 10) /* from here one call for all is cheaper */

/* As malloc, and for free; the caller writes all of it now.  Any thread may call. */
void *sx_pages_malloc(size_t size);

/* Bytes that grow.  From SX_PAGES_OWN_BYTES on they have pages of their own: these grow without a
 * copy, and many of them are given back by a thread.  Zeroed: none. */
#define SX_PAGES_OWN_BYTES ((size_t)2 << 20)
struct sx_pages {
    uint8_t *at; /* 8-aligned */
    size_t size;
};

/* Make @size bytes of them, of which the first @used are kept.  Return: false without memory, and
 * then nothing has changed. */
bool sx_pages_grow(struct sx_pages *pages, size_t used, size_t size);
/* Give back whole pages of the first @used bytes, where that is worth it: they are no longer bytes
 * of @pages.  Return: how many bytes. */
size_t sx_pages_give_front(struct sx_pages *pages, size_t used);
/* Safe when zeroed, and twice. */
void sx_pages_free(struct sx_pages *pages);

/* Unmap @size bytes from @at on, which are whole pages, and close @fd if it is not -1.  Many of
 * them wait in a queue for one of SX_PAGES_THREADS_MAX threads.  The caller unmaps few of them
 * itself, and many of them only when there is no memory for an entry, or no thread. */
#define SX_PAGES_THREADS_MAX 2
void sx_pages_unmap(void *at, size_t size, int fd, bool are_many);

/* free @at, of which malloc has given @size bytes or more; NULL: nothing.  A thread does it for
 * many of them, as above. */
void sx_pages_give_back(void *at, size_t size);

/* A process is about to fill @size bytes for another one.  While more than
 * SX_PAGES_WAITING_MAX_BYTES wait to be given back, unmap as many of those.  So what is received
 * never adds to more than these: one value of the largest size waits without a cost for others. */
#define SX_PAGES_WAITING_MAX_BYTES ((size_t)1 << 30)
void sx_pages_make_room(size_t size);

/* Small blocks that are freed become one with their free neighbours at once.  Without this, malloc
 * keeps them, and joins all of them in one later call: 8 ms for the groups of a job that ends.  For
 * a program's own main; a library leaves malloc to its program. */
void sx_heap_join_at_once(void);

#endif

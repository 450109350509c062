/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pages.c - take the pages of an allocation that the kernel has not given yet.
 *
 * To ask for pages that are there costs half of what it saves where they are not.  So the last one
 * is checked first: malloc grows at the end. */
#include "base/system/pages.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/list.h"
#include "base/system/process.h"
#include "base/util.h"

#define SX_MADV_POPULATE_WRITE 23    /* Linux 5.14; older headers lack it */
#define MANY_BYTES ((size_t)8 << 20) /* to be unmapped by a thread; fewer: 0.6 ms */
#define PIECE_BYTES ((size_t)4 << 20)

static bool is_fresh(uint8_t *page)
{
    unsigned char state = 1;

    return mincore(page, SX_PAGE_BYTES, &state) == 0 && (state & 1) == 0;
}

/* Where the kernel cannot, or has no memory left, the first touch decides.  The pages at both ends
 * may have bytes of others. */
static void populate(uint8_t *at, size_t size)
{
    const size_t before = sx_align_up((uintptr_t)at, SX_PAGE_BYTES) - (uintptr_t)at;
    const size_t whole = (size - before) / SX_PAGE_BYTES * SX_PAGE_BYTES;
    const int err = errno;

    if (is_fresh(at + before + whole - SX_PAGE_BYTES)) {
        (void)madvise(at + before, whole, SX_MADV_POPULATE_WRITE);
    }
    errno = err;
}

void *sx_pages_malloc(size_t size)
{
    void *const at = malloc(size);

    if (at != NULL && size >= SX_PAGES_MIN_BYTES) {
        populate(at, size);
    }
    return at;
}

/* ---- bytes that grow ------------------------------------------------------------------------ */

bool sx_pages_grow(struct sx_pages *pages, size_t used, size_t size)
{
    if (size < SX_PAGES_OWN_BYTES) {
        uint8_t *const at = pages->size < SX_PAGES_OWN_BYTES ? realloc(pages->at, size) : NULL;

        *pages = at != NULL ? (struct sx_pages){ .at = at, .size = size } : *pages;
        return at != NULL;
    }
    const bool is_own = pages->size >= SX_PAGES_OWN_BYTES;
    const size_t whole = sx_align_up(size, SX_PAGE_BYTES);
    void *const at = is_own ? mremap(pages->at, pages->size, whole, MREMAP_MAYMOVE)
                            : mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                   -1, 0);

    if (at == MAP_FAILED) {
        return false;
    }
    if (!is_own) {
        if (used > 0) {
            memcpy(at, pages->at, used);
        }
        free(pages->at);
    }
    *pages = (struct sx_pages){ .at = at, .size = whole };
    return true;
}

size_t sx_pages_give_front(struct sx_pages *pages, size_t used)
{
    const size_t own = pages->size < SX_PAGES_OWN_BYTES ? pages->size : SX_PAGES_OWN_BYTES;
    const size_t most = pages->size - own; /* the rest still has pages of its own */
    const size_t size = (used < most ? used : most) / SX_PAGE_BYTES * SX_PAGE_BYTES;

    if (size < SX_PAGES_OWN_BYTES) {
        return 0;
    }
    sx_pages_unmap(pages->at, size, -1, size >= MANY_BYTES);
    pages->at += size;
    pages->size -= size;
    return size;
}

void sx_pages_free(struct sx_pages *pages)
{
    if (pages->size < SX_PAGES_OWN_BYTES) {
        free(pages->at);
    } else {
        sx_pages_unmap(pages->at, pages->size, -1, pages->size >= MANY_BYTES);
    }
    *pages = (struct sx_pages){ .at = NULL };
}

/* ---- unmap ----------------------------------------------------------------------------------
 *
 *     many are freed --> WAITING --a thread takes it--> unmapped in pieces
 *                           \--sx_pages_make_room--> some of its last pages are unmapped
 *
 * A thread takes the next entry until there is none, and ends then: while something waits, there is
 * a thread.  A process that receives them pays six times as much for new pages as a thread does to
 * unmap old ones.  So entries wait only when many are freed together, as by a job that ends. */

struct unmapping {
    struct sx_list link; /* queue.waiting */
    uint8_t *at;
    size_t size;
    int fd;
    void *block; /* of malloc, which has these pages; NULL: they are mapped by themselves */
};

static struct {
    pthread_mutex_t lock;
    struct sx_list waiting; /* first those with a descriptor */
    unsigned threads;
    bool survives_fork;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .waiting = SX_LIST_INIT(queue.waiting) };
static atomic_size_t waiting_bytes; /* without a descriptor; written under the lock */

/* In the child of a fork, which has no threads.  A descriptor may mean another file there when it
 * is closed, so entries of the parent are left as they are. */
static void queue_forked(void)
{
    pthread_mutex_init(&queue.lock, NULL);
    sx_list_init(&queue.waiting);
    queue.threads = 0;
    atomic_store(&waiting_bytes, 0);
}

static void queue_begin(void)
{
    queue.survives_fork = pthread_atfork(NULL, NULL, queue_forked) == 0;
}

/* Unmap the last @size bytes. */
static void last_unmap(struct unmapping *what, size_t size)
{
    what->size -= size;
    if (what->block != NULL) {
        (void)madvise(what->at + what->size, size, MADV_DONTNEED);
    } else {
        munmap(what->at + what->size, size);
    }
}

/* All pages are unmapped. */
static void unmap_end(const struct unmapping *what)
{
    free(what->block);
    if (what->fd >= 0) {
        close(what->fd);
    }
}

/* In pieces: while the kernel unmaps one, no other thread of this process can map memory. */
static void unmap_in_pieces(struct unmapping *what)
{
    while (what->size > 0) {
        last_unmap(what, what->size < PIECE_BYTES ? what->size : PIECE_BYTES);
    }
    unmap_end(what);
}

/* Return: NULL when nothing waits: then the calling thread is to end. */
static struct unmapping *queue_take(void)
{
    pthread_mutex_lock(&queue.lock);
    struct sx_list *const node = sx_list_pop(&queue.waiting);
    struct unmapping *const what = node == NULL ? NULL
                                                : SX_LIST_ENTRY(node, struct unmapping, link);

    if (what == NULL) {
        queue.threads--;
    } else if (what->fd < 0) {
        atomic_fetch_sub(&waiting_bytes, what->size);
    }
    pthread_mutex_unlock(&queue.lock);
    return what;
}

static void *queue_run(void *arg)
{
    struct unmapping *what;

    (void)arg;
    while ((what = queue_take()) != NULL) {
        unmap_in_pieces(what);
        free(what);
    }
    return NULL;
}

/* Under the lock.  Return: false when there is no thread, and none can be had. */
static bool thread_ensure(void)
{
    if (queue.threads < SX_PAGES_THREADS_MAX && sx_thread_detached(queue_run, NULL)) {
        queue.threads++;
    }
    return queue.threads > 0;
}

/* Return: false when memory is out, or threads: the caller unmaps @what. */
static bool queue_add(const struct unmapping *what)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct unmapping *const moved = malloc(sizeof(*moved));

    pthread_once(&once, queue_begin);
    if (moved == NULL || !queue.survives_fork) {
        free(moved);
        return false;
    }
    *moved = *what;
    pthread_mutex_lock(&queue.lock);
    const bool is_added = thread_ensure();

    if (is_added && moved->fd >= 0) {
        sx_list_append(queue.waiting.next, &moved->link); /* before the first */
    } else if (is_added) {
        sx_list_append(&queue.waiting, &moved->link);
        atomic_fetch_add(&waiting_bytes, moved->size);
    }
    pthread_mutex_unlock(&queue.lock);
    if (!is_added) {
        free(moved);
    }
    return is_added;
}

static void unmap(struct unmapping what, bool are_many)
{
    if (!are_many || !queue_add(&what)) {
        unmap_in_pieces(&what);
    }
}

void sx_pages_unmap(void *at, size_t size, int fd, bool are_many)
{
    unmap((struct unmapping){ .at = at, .size = size, .fd = fd }, are_many);
}

/* Under the lock.  The pages of a file are freed by the close, all of them at once: they are left
 * to the threads. */
static void last_waiting_unmap(size_t size)
{
    struct unmapping *const what = SX_LIST_ENTRY(queue.waiting.prev, struct unmapping, link);

    if (sx_list_empty(&queue.waiting) || what->fd >= 0) {
        return;
    }
    size = size < what->size ? size : what->size;
    atomic_fetch_sub(&waiting_bytes, size);
    last_unmap(what, size);
    if (what->size == 0) {
        sx_list_remove(&what->link);
        unmap_end(what);
        free(what);
    }
}

void sx_pages_make_room(size_t size)
{
    /* relaxed: it is a bound, and the lock orders the rest. */
    if (atomic_load_explicit(&waiting_bytes, memory_order_relaxed) > SX_PAGES_WAITING_MAX_BYTES) {
        pthread_mutex_lock(&queue.lock);
        last_waiting_unmap(sx_align_up(size, SX_PAGE_BYTES));
        pthread_mutex_unlock(&queue.lock);
    }
}

void sx_pages_give_back(void *at, size_t size)
{
    const size_t before = sx_align_up((uintptr_t)at, SX_PAGE_BYTES) - (uintptr_t)at;

    if (size < MANY_BYTES) {
        free(at);
        return;
    }
    unmap((struct unmapping){ .at = (uint8_t *)at + before,
                              .size = (size - before) / SX_PAGE_BYTES * SX_PAGE_BYTES,
                              .fd = -1,
                              .block = at },
          true);
}

/* ---- small blocks ---------------------------------------------------------------------------- */

void sx_heap_join_at_once(void)
{
#ifdef M_MXFAST
    (void)mallopt(M_MXFAST, 0);
#endif
}

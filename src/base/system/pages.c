/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pages.c - take the pages of an allocation that the kernel has not given yet.
 *
 * To ask for pages that are there costs half of what it saves where they are not.  So the last one
 * is checked first: malloc grows at the end. */
#include "base/system/pages.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/process.h"
#include "base/util.h"

#define SX_MADV_POPULATE_WRITE 23    /* Linux 5.14; older headers lack it */
#define MANY_BYTES ((size_t)8 << 20) /* to be unmapped by a thread; fewer take no time */
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

void sx_pages_free(struct sx_pages *pages)
{
    if (pages->size < SX_PAGES_OWN_BYTES) {
        free(pages->at);
    } else {
        sx_pages_unmap(pages->at, pages->size, -1, pages->size >= MANY_BYTES);
    }
    *pages = (struct sx_pages){ .at = NULL };
}

/* ---- unmap ---------------------------------------------------------------------------------- */

struct unmapping {
    uint8_t *at;
    size_t size;
    int fd;
    void *block; /* of malloc, which has these pages; NULL: they are mapped by themselves */
};

static atomic_uint under_way; /* by threads */

static void piece_unmap(const struct unmapping *what, size_t off, size_t size)
{
    if (what->block != NULL) {
        (void)madvise(what->at + off, size, MADV_DONTNEED);
    } else {
        munmap(what->at + off, size);
    }
}

/* In pieces: while the kernel unmaps one, no other thread of this process can map memory. */
static void unmap_in_pieces(const struct unmapping *what)
{
    size_t left = what->size;

    while (left > PIECE_BYTES) {
        left -= PIECE_BYTES;
        piece_unmap(what, left, PIECE_BYTES);
    }
    piece_unmap(what, 0, left);
    free(what->block);
    if (what->fd >= 0) {
        close(what->fd);
    }
}

static void *unmap_run(void *arg)
{
    unmap_in_pieces(arg);
    free(arg);
    atomic_fetch_sub(&under_way, 1);
    return NULL;
}

static void unmap(const struct unmapping *what, bool are_many)
{
    const bool by_thread = are_many && atomic_fetch_add(&under_way, 1) < SX_PAGES_UNMAPPINGS_MAX;
    struct unmapping *const moved = by_thread ? malloc(sizeof(*moved)) : NULL;

    if (moved != NULL) {
        *moved = *what;
        if (sx_thread_detached(unmap_run, moved)) {
            return;
        }
        free(moved);
    }
    if (are_many) {
        atomic_fetch_sub(&under_way, 1);
    }
    unmap_in_pieces(what);
}

void sx_pages_unmap(void *at, size_t size, int fd, bool are_many)
{
    unmap(&(struct unmapping){ .at = at, .size = size, .fd = fd }, are_many);
}

void sx_pages_give_back(void *at, size_t size)
{
    const size_t before = sx_align_up((uintptr_t)at, SX_PAGE_BYTES) - (uintptr_t)at;

    if (size < MANY_BYTES) {
        free(at);
        return;
    }
    unmap(&(struct unmapping){ .at = (uint8_t *)at + before,
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

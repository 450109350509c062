/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pages.c - take the pages of an allocation that the kernel has not given yet.
 *
 * To ask for pages that are there costs half of what it saves where they are not.  So the last one
 * is checked first: malloc grows at the end. */
#include "base/system/pages.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/util.h"

#define SX_MADV_POPULATE_WRITE 23 /* Linux 5.14; older headers lack it */

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

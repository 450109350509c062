/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* allocations.h - count this program's allocations, the library's among them, or refuse them.
 *
 * For one file of a program: it defines malloc, calloc and realloc.  A file that wants to refuse
 * allocations defines ALLOCATION_REFUSED(size) before it includes this.  A sanitizer has these
 * functions itself: nothing is counted and nothing refused when SANITIZED. */
#ifndef SX_TESTS_ALLOCATIONS_H
#define SX_TESTS_ALLOCATIONS_H

#include <stdatomic.h>
#include <stddef.h>

#include "support/sanitized.h"

#ifndef ALLOCATION_REFUSED
#define ALLOCATION_REFUSED(size) false
#endif

/* The library finds the functions by this, although the tests hide what they define. */
#define SEEN_BY_ALL __attribute__((visibility("default")))

/* How many there were so far. */
static atomic_ulong allocations __attribute__((unused));

#if !SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *at, size_t size);
SEEN_BY_ALL void *malloc(size_t size);
SEEN_BY_ALL void *calloc(size_t count, size_t size);
SEEN_BY_ALL void *realloc(void *at, size_t size);

void *malloc(size_t size)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    return ALLOCATION_REFUSED(size) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    return ALLOCATION_REFUSED(count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *at, size_t size)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    return ALLOCATION_REFUSED(size) ? NULL : __libc_realloc(at, size);
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* util.h - what C lacks: counts, alignment, checked arithmetic, container_of, a full fence. */
#ifndef SX_BASE_UTIL_H
#define SX_BASE_UTIL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SX_CACHELINE_BYTES 64
#define SX_PAGE_BYTES 4096
#define SX_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SX_CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Round up to @align, a power of two; the caller has bounded @n below 2^63. */
static inline uint64_t sx_align_up(uint64_t n, uint64_t align)
{
    return (n + align - 1) & ~(align - 1);
}

static inline bool sx_is_pow2(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* Return: false and *ret untouched when the result does not fit. */
static inline bool sx_add_size(size_t a, size_t b, size_t *ret)
{
    size_t sum;

    if (__builtin_add_overflow(a, b, &sum)) {
        return false;
    }
    *ret = sum;
    return true;
}

static inline bool sx_mul_size(size_t a, size_t b, size_t *ret)
{
    size_t product;

    if (__builtin_mul_overflow(a, b, &product)) {
        return false;
    }
    *ret = product;
    return true;
}

/* True when [off, off + len) lies inside [0, limit), without overflow. */
static inline bool sx_range_fits(uint64_t off, uint64_t len, uint64_t limit)
{
    return off <= limit && len <= limit - off;
}

/* Set the results of a call of the Standard to none, which they stay unless it succeeds.  @results
 * is where the caller's pointer is; either may be NULL. */
static inline void sx_results_none(void *results, size_t *count)
{
    if (results != NULL) {
        memset(results, 0, sizeof(void *));
    }
    if (count != NULL) {
        *count = 0;
    }
}

/* The fence of order seq_cst: stores before it are seen before loads after it. */
static inline void sx_barrier(void)
{
#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && !defined(__clang__)
/* The compiler's race detector cannot follow fences; here they order atomics, which it does not
 * check for races. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
    atomic_thread_fence(memory_order_seq_cst);
#if defined(__SANITIZE_THREAD__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* heap.h - the append-only allocator inside a segment; nothing is ever freed or moved.
 *
 * One writer.  Memory from sx_heap_alloc is invisible to readers until a reference to it is stored
 * with release, or the end is published. */
#ifndef SX_SHMEM_HEAP_H
#define SX_SHMEM_HEAP_H

#include "shmem/segment.h"

struct sx_heap {
    struct sx_segment *seg; /* borrowed */
    uint64_t next_off;
};

void sx_heap_init(struct sx_heap *heap, struct sx_segment *seg, uint64_t start_off);

/* @size bytes at an 8-aligned (or @align, a power of two >= 8) offset, zeroed, memory taken from
 * the kernel, used_bytes advanced (release).  Return: PMIX_SUCCESS; PMIX_ERR_OUT_OF_RESOURCE when
 * the reserve or the memory is out (nothing changed). */
pmix_status_t sx_heap_alloc(struct sx_heap *heap, uint64_t size, uint64_t align, uint64_t *ret_off);

/* Take the memory for allocations of @size bytes in total, alignment included, without making
 * them: they cannot fail afterwards, so a change of several parts happens whole or not at all.
 * Return: as sx_heap_alloc. */
pmix_status_t sx_heap_reserve(struct sx_heap *heap, uint64_t size);

/* The same in steps, of @most bytes each: a long allocation costs its caller no long time.  Return:
 * true when all is there, or cannot be had: then sx_heap_reserve returns the error. */
bool sx_heap_prepare(struct sx_heap *heap, uint64_t size, uint64_t most);

#endif

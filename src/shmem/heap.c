/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* heap.c - hand out the bytes of a segment from front to back.
 *
 * The heap has one state, next_off, which only grows; used_bytes in the segment's header follows it
 * and is the bound of readers.  Bytes past next_off have never been written, so they are the zeros
 * that the kernel gave.  Bounded by the size of the segment. */
#include "shmem/segment.h"

#include "base/status.h"

void sx_heap_init(struct sx_heap *heap, struct sx_segment *seg, uint64_t start_off)
{
    sx_assert(seg->owner);
    sx_assert(start_off >= SX_SEGMENT_BODY_OFF && start_off <= seg->size_bytes);
    *heap = (struct sx_heap){ .seg = seg, .next_off = start_off };
    /* R-used -> A-used (sx_reach): the bytes below are the owner's published header. */
    atomic_store_explicit(&sx_segment_header(seg)->used_bytes, start_off, memory_order_release);
}

pmix_status_t sx_heap_reserve(struct sx_heap *heap, uint64_t size)
{
    if (!sx_range_fits(heap->next_off, size, heap->seg->size_bytes)) {
        return PMIX_ERR_OUT_OF_RESOURCE; /* expected: the owner moves to a larger segment */
    }
    return sx_segment_back(heap->seg, heap->next_off + size);
}

bool sx_heap_prepare(struct sx_heap *heap, uint64_t size, uint64_t most)
{
    const uint64_t end = heap->next_off + size, backed = heap->seg->backed_bytes;

    if (!sx_range_fits(heap->next_off, size, heap->seg->size_bytes) || end <= backed) {
        return true;
    }
    return sx_segment_back(heap->seg, end - backed > most ? backed + most : end) != PMIX_SUCCESS ||
           heap->seg->backed_bytes >= end;
}

pmix_status_t sx_heap_alloc(struct sx_heap *heap, uint64_t size, uint64_t align, uint64_t *ret_off)
{
    sx_assert(sx_is_pow2(align) && align >= 8);
    const uint64_t off = sx_align_up(heap->next_off, align);
    if (size > heap->seg->size_bytes) {
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    const uint64_t padded = sx_align_up(size, 8);
    const pmix_status_t rc = sx_heap_reserve(heap, off - heap->next_off + padded);
    if (rc != PMIX_SUCCESS) {
        return rc;
    }
    heap->next_off = off + padded;
    /* R-used -> A-used (sx_reach): a reader that is led to these bytes may go there. */
    atomic_store_explicit(&sx_segment_header(heap->seg)->used_bytes, heap->next_off,
                          memory_order_release);
    *ret_off = off;
    return PMIX_SUCCESS;
}

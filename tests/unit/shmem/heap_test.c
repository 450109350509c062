/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* heap_test.c - allocations are aligned, zeroed, announced, and refused without a trace. */
#include <criterion/criterion.h>

#include "shmem/segment.h"

static void test_create(struct sx_segment *seg, bool private_memory)
{
    const struct sx_segment_options options = { .kind = SX_SEGMENT_STORE,
                                                .nspace = "heap",
                                                .size_bytes = 256 << 10,
                                                .private_memory = private_memory };

    cr_assert_eq(sx_segment_create(seg, &options), PMIX_SUCCESS);
}

static uint64_t test_used(const struct sx_segment *seg)
{
    return atomic_load(&sx_segment_header(seg)->used_bytes);
}

Test(heap, allocations_are_aligned_zeroed_and_below_the_end)
{
    static const struct {
        uint64_t size, align, want_off, want_end;
    } rows[] = {
        { 1, 8, 384, 392 },        { 0, 8, 392, 392 },         { 16, 8, 392, 408 },
        { 8, 64, 448, 456 },       { 4096, 4096, 4096, 8192 }, { 100000, 8, 8192, 108192 },
        { 1, 64, 108224, 108232 },
    };
    for (unsigned shared = 0; shared < 2; shared++) {
        struct sx_segment seg;
        struct sx_heap heap;
        uint64_t off;

        test_create(&seg, shared == 0);
        sx_heap_init(&heap, &seg, SX_SEGMENT_BODY_OFF);
        for (size_t i = 0; i < SX_COUNT(rows); i++) {
            cr_assert_eq(sx_heap_alloc(&heap, rows[i].size, rows[i].align, &off), PMIX_SUCCESS);
            cr_expect_eq(off, rows[i].want_off, "%zu: %lu", i, (unsigned long)off);
            cr_expect_eq(test_used(&seg), rows[i].want_end);
            for (uint64_t j = 0; j < rows[i].size; j++) {
                cr_assert_eq(seg.base[off + j], 0);
                seg.base[off + j] = 0xff;
            }
        }
        sx_segment_deinit(&seg);
    }
}

Test(heap, what_does_not_fit_changes_nothing)
{
    struct sx_segment seg;
    struct sx_heap heap;
    uint64_t off = 77;

    test_create(&seg, false);
    sx_heap_init(&heap, &seg, SX_SEGMENT_BODY_OFF);
    const uint64_t room = seg.size_bytes - SX_SEGMENT_BODY_OFF;
    cr_expect_eq(sx_heap_alloc(&heap, room + 1, 8, &off), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(sx_heap_alloc(&heap, UINT64_MAX, 8, &off), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(sx_heap_alloc(&heap, room, 64, &off), PMIX_SUCCESS, "384 is 64-aligned");
    cr_expect_eq(off, SX_SEGMENT_BODY_OFF);
    cr_expect_eq(sx_heap_alloc(&heap, 1, 8, &off), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(sx_heap_alloc(&heap, 0, 8, &off), PMIX_SUCCESS);
    cr_expect_eq(test_used(&seg), seg.size_bytes);
    sx_segment_deinit(&seg);
}

Test(heap, what_was_reserved_can_be_had)
{
    struct sx_segment seg;
    struct sx_heap heap;
    uint64_t off;

    test_create(&seg, false);
    sx_heap_init(&heap, &seg, SX_SEGMENT_BODY_OFF);
    cr_assert_eq(sx_heap_reserve(&heap, 200000), PMIX_SUCCESS);
    cr_expect_eq(test_used(&seg), SX_SEGMENT_BODY_OFF, "reserving shows nothing");
    cr_expect_geq(seg.backed_bytes, SX_SEGMENT_BODY_OFF + 200000);
    for (unsigned i = 0; i < 25; i++) {
        cr_expect_eq(sx_heap_alloc(&heap, 8000, 8, &off), PMIX_SUCCESS);
    }
    cr_expect_eq(sx_heap_reserve(&heap, 62000), PMIX_ERR_OUT_OF_RESOURCE);
    sx_segment_deinit(&seg);
}

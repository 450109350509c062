/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* placement_test.c - asking for placement is safe on every machine. */
#include <criterion/criterion.h>
#include <sys/mman.h>

#include "shmem/placement.h"
#include "shmem/segment.h"

Test(placement, a_machine_has_a_node)
{
    cr_expect_geq(sx_placement_node_count(), 1);
    cr_expect_leq(sx_placement_node_count(), 1024);
}

Test(placement, interleaved_memory_can_be_used)
{
    const size_t size = 1 << 20;
    unsigned char *const at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                   -1, 0);

    cr_assert_neq(at, MAP_FAILED);
    cr_assert_eq(sx_placement_interleave(at, size), PMIX_SUCCESS);
    for (size_t i = 0; i < size; i += 4096) {
        at[i] = 1;
    }
    munmap(at, size);
}

Test(placement, a_segment_can_ask_for_it)
{
    struct sx_segment seg;
    const struct sx_segment_options options = {
        .kind = SX_SEGMENT_STORE, .nspace = "numa", .size_bytes = 1 << 20, .interleave = true
    };

    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    sx_segment_deinit(&seg);
}

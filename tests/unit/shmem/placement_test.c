/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* placement_test.c - asking for placement is safe on every machine. */
#include <criterion/criterion.h>
#include <sys/mman.h>

#include "base/util.h"
#include "shmem/placement.h"
#include "shmem/segment.h"

Test(placement, a_machine_has_a_node)
{
    struct sx_node_set nodes;
    const unsigned count = sx_placement_nodes(&nodes);

    cr_expect_geq(count, 1);
    cr_expect_leq(count, SX_NODE_MAX);
    cr_expect_leq(sx_node_set_count(&nodes), count);
}

Test(placement, sets_hold_the_first_and_the_last_node)
{
    struct sx_node_set set = { .words = { 0 } };

    sx_node_set_add(&set, 0);
    sx_node_set_add(&set, 64);
    sx_node_set_add(&set, SX_NODE_MAX - 1);
    cr_expect(sx_node_set_has(&set, 0) && sx_node_set_has(&set, SX_NODE_MAX - 1));
    cr_expect(!sx_node_set_has(&set, 1) && !sx_node_set_has(&set, SX_NODE_MAX - 2));
    cr_expect_eq(sx_node_set_count(&set), 3);
}

/* What the kernel takes, and what it refuses: memory is there in any case. */
Test(placement, placed_memory_can_be_used)
{
    static const struct {
        enum sx_placement_kind kind;
        int node; /* -1: none */
    } rows[] = {
        { SX_PLACE_ANYWHERE, -1 }, { SX_PLACE_NEAR, 0 },   { SX_PLACE_NEAR, SX_NODE_MAX - 1 },
        { SX_PLACE_NEAR, -1 },     { SX_PLACE_SPREAD, 0 }, { SX_PLACE_SPREAD, SX_NODE_MAX - 1 },
        { SX_PLACE_SPREAD, -1 },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        const size_t size = 1 << 20;
        unsigned char *const at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct sx_placement placement = { .kind = rows[i].kind };

        cr_assert_neq(at, MAP_FAILED);
        if (rows[i].node >= 0) {
            sx_node_set_add(&placement.nodes, (unsigned)rows[i].node);
        }
        sx_placement_apply(&placement, at, size);
        for (size_t byte = 0; byte < size; byte += 4096) {
            at[byte] = 1;
        }
        munmap(at, size);
    }
    sx_placement_apply(NULL, NULL, 0);
}

Test(placement, a_segment_can_ask_for_it)
{
    struct sx_placement placement = { .kind = SX_PLACE_SPREAD };
    struct sx_segment seg;

    (void)sx_placement_nodes(&placement.nodes);
    const struct sx_segment_options options = {
        .kind = SX_SEGMENT_STORE, .nspace = "numa", .size_bytes = 1 << 20, .placement = &placement
    };

    cr_assert_eq(sx_segment_create(&seg, &options), PMIX_SUCCESS);
    sx_segment_deinit(&seg);
}

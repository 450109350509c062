/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* record_test.c - every lane message has its row, and is nothing but what its row says. */
#include "ring/record.h"

#include "../base/bodies.h"

Test(record, every_lane_kind_has_a_row_and_nothing_else_has)
{
    for (uint32_t kind = 0; kind <= UINT16_MAX; kind++) {
        const struct sx_lane_spec *const spec = sx_lane_spec(kind);

        cr_expect_eq(spec != NULL, kind >= SX_LANE_PUT && kind < SX_LANE_SPEC_MAX);
        cr_expect_gt(sx_lane_cost(kind, 0), 0);
        cr_expect(spec == NULL || sx_lane_cost(kind, 4096) >= sx_lane_cost(kind, 0) + 4);
    }
    cr_expect_null(sx_lane_spec(UINT32_MAX));
}

Test(record, every_lane_message_keeps_the_bounds_of_its_signature)
{
    for (uint32_t kind = SX_LANE_PUT; kind < SX_LANE_SPEC_MAX; kind++) {
        body_judge(sx_lane_spec(kind)->name, sx_lane_spec(kind)->body);
    }
}

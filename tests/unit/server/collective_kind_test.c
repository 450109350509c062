/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* collective_kind_test.c - each kind has its row, and what is none has none. */
#include "server/engine/collective_kind.h"

#include <criterion/criterion.h>

#include "ring/record.h"

Test(collective_kind, of_a_fence_counts_who_has_arrived_and_misses_who_has_not)
{
    const struct sx_kind *const fence = sx_kind_of(SX_COLLECTIVE_FENCE);

    cr_assert_not_null(fence);
    cr_expect_eq(fence->before.died, PMIX_ERR_LOST_CONNECTION);
    cr_expect_eq(fence->before.departed, PMIX_ERR_PARTIAL_SUCCESS);
    cr_expect_eq(fence->after.died, PMIX_SUCCESS);
    cr_expect_eq(fence->after.departed, PMIX_SUCCESS);
    cr_expect_eq(fence->incomplete, PMIX_ERR_PARTIAL_SUCCESS);
}

Test(collective_kind, of_an_unknown_number_is_none)
{
    static const uint32_t numbers[] = { 0, SX_COLLECTIVE_GROUP_DESTRUCT + 1, UINT32_MAX };

    for (size_t i = 0; i < SX_COUNT(numbers); i++) {
        cr_expect_null(sx_kind_of(numbers[i]), "%u", numbers[i]);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* array_test.c - an array keeps its elements when it grows, and itself when it cannot. */
#include "base/array.h"

#include <criterion/criterion.h>

static bool is_refused;
#define ALLOCATION_REFUSED(size) is_refused
#include "support/allocations.h"
#include "support/sanitized.h"

Test(array, its_room_doubles_and_its_elements_stay)
{
    unsigned *all = NULL;
    size_t capacity = 0;

    for (unsigned count = 0; count < 100; count++) {
        cr_assert(SX_ARRAY_RESERVE(all, count, capacity, 3));
        cr_expect_eq(capacity, count < 3 ? 3 : count < 6 ? 6 : capacity, "%u", count);
        all[count] = count;
    }
    for (unsigned i = 0; i < 100; i++) {
        cr_expect_eq(all[i], i);
    }
    cr_expect_eq(capacity, 192);
    free(all);
}

Test(array, without_memory_it_stays_as_it_was)
{
    unsigned *all = NULL;
    size_t capacity = 0;

    if (SANITIZED) {
        cr_skip_test("a sanitizer has the allocator");
    }
    cr_assert(SX_ARRAY_RESERVE(all, 0u, capacity, 1));
    all[0] = 4711;
    is_refused = true;
    cr_expect_not(SX_ARRAY_RESERVE(all, 1u, capacity, 1));
    is_refused = false;
    cr_expect_eq(capacity, 1);
    cr_expect_eq(all[0], 4711);
    free(all);
}

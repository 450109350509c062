/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* results_test.c - as many ends are kept as a client has under way, the newest ones. */
#include "server/model/nspace.h"

#include <criterion/criterion.h>

/* The newest @kept of @count are there. */
static void expect(const struct sx_results *results, size_t kept, uint32_t count)
{
    cr_assert_eq(sx_results_count(results), kept);
    for (size_t i = 0; i < kept; i++) {
        cr_expect_eq(sx_results_at(results, i).op, count - kept + i);
        cr_expect_eq(sx_results_at(results, i).status, -(int32_t)(count - kept + i));
        cr_expect_eq(sx_results_at(results, i).subject, UINT64_C(1) << 32 | (count - kept + i));
    }
}

Test(results, are_kept_in_their_order_also_when_there_is_room_for_more)
{
    static const size_t under_way[] = { 1, 16, 17, 1000, 3 };
    struct sx_results results = { .all = NULL };
    uint32_t count = 0;
    size_t room = 0, kept = 0;

    for (size_t i = 0; i < sizeof(under_way) / sizeof(under_way[0]); i++) {
        cr_assert(sx_results_reserve(&results, under_way[i]));
        cr_expect_geq(results.capacity, under_way[i]);
        cr_expect_geq(results.capacity, room, "it does not shrink");
        room = results.capacity;
        expect(&results, kept, count);
        for (size_t n = 0; n < 2 * room + 1; n++, count++) {
            sx_results_keep(&results, (struct sx_result){ .op = count,
                                                          .status = -(int32_t)count,
                                                          .subject = UINT64_C(1) << 32 | count });
            kept += kept < room;
            expect(&results, kept, count + 1);
        }
    }
    sx_results_clear(&results);
    cr_expect_eq(sx_results_count(&results), 0);
}

Test(results, of_a_client_that_has_never_arrived_are_not_kept)
{
    struct sx_results results = { .all = NULL };

    sx_results_keep(&results, (struct sx_result){ .op = 1 });
    cr_expect_eq(sx_results_count(&results), 0);
}

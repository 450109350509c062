/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_state_test.c - which events share memory, and when it is used again. */
#include <criterion/criterion.h>

#include <stdint.h>
#include <string.h>

#include "client/event/event_state.h"
#include "support/allocations.h"

Test(event_page, events_that_come_and_go_use_the_same_memory)
{
    struct sx_event_page *page;
    const void *const first = sx_event_page_take_locked(100, &page);

    cr_assert_not_null(first);
    for (int i = 0; i < 1000; i++) {
        sx_event_page_release(page);
        cr_assert_eq(sx_event_page_take_locked(100, &page), first);
    }
    sx_event_page_release(page);
    sx_event_page_drop_locked();
    sx_event_page_drop_locked();
}

Test(event_page, one_that_stays_keeps_its_bytes)
{
    struct sx_event_page *page, *first_page;
    uint8_t *const first = sx_event_page_take_locked(10, &first_page);

    memset(first, 0xa5, 10);
    for (int i = 0; i < 1000; i++) {
        uint8_t *const next = sx_event_page_take_locked(99, &page);

        cr_assert_eq((uintptr_t)next % 8, 0);
        memset(next, 0, 99);
        sx_event_page_release(page);
    }
    for (int i = 0; i < 10; i++) {
        cr_expect_eq(first[i], 0xa5);
    }
    cr_expect_neq(page, first_page, "it was full, and others took another one");
    sx_event_page_drop_locked();
    sx_event_page_release(first_page);
}

#define MANY 512

Test(event_page, events_that_come_many_at_a_time_use_the_same_memory)
{
    static struct sx_event_page *pages[MANY];
    unsigned long before = 0;

    for (int round = 0; round < 3; round++) {
        if (round == 1) {
            before = allocations;
        }
        for (int i = 0; i < MANY; i++) {
            memset(sx_event_page_take_locked(280, &pages[i]), round, 280);
        }
        for (int i = 0; i < MANY; i++) {
            sx_event_page_release(pages[i]);
        }
    }
    cr_expect_eq(allocations, before);
    sx_event_page_drop_locked();
}

Test(event_page, a_large_one_is_alone)
{
    struct sx_event_page *small_page, *large_page;
    const size_t large = 100000;

    cr_assert_not_null(sx_event_page_take_locked(8, &small_page));
    void *const at = sx_event_page_take_locked(large, &large_page);
    cr_assert_not_null(at);
    memset(at, 0, large);
    cr_expect_neq(small_page, large_page);
    sx_event_page_release(large_page);
    sx_event_page_release(small_page);
    sx_event_page_drop_locked();
}

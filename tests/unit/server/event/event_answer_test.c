/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* event_answer_test.c - kept events are listed one after the other, as large as they are. */
#include "../block_build.h"
#include "server/event/event_answer.h"

#include <criterion/criterion.h>
#include <string.h>

#include <pmix.h>

/* An entry whose event carries @size bytes. */
static struct sx_event_entry entry_of(uint64_t number, size_t size)
{
    static char bytes[1u << 16];
    const pmix_proc_t source = { .nspace = "job", .rank = 0 };
    pmix_byte_object_t object = { .bytes = bytes, .size = size };
    struct sx_event_entry entry = { .number = number };
    pmix_info_t info;

    PMIx_Info_load(&info, "bytes", &object, PMIX_BYTE_OBJECT);
    cr_assert_eq(block_build(-2000, &source, PMIX_RANGE_LOCAL, &info, 1, &entry.block),
                 PMIX_SUCCESS);
    PMIx_Info_destruct(&info);
    return entry;
}

Test(event_answer, lists_events_with_their_numbers_and_losses)
{
    struct sx_event_answer answer;
    size_t at = sizeof(struct sx_event_list);

    cr_assert_eq(sx_event_answer_init(&answer), PMIX_SUCCESS);
    cr_expect_eq(sx_event_answer_list(&answer)->count, 0);
    cr_expect_eq(answer.size, at);
    for (uint64_t number = 1; number <= 40; number++) { /* grows beyond its first room */
        const struct sx_event_entry entry = entry_of(number, 13 * number);

        cr_assert_eq(sx_event_answer_add(&answer, &entry, number % 3), PMIX_SUCCESS);
        sx_event_block_release(entry.block);
    }
    cr_expect_eq(sx_event_answer_list(&answer)->count, 40);
    for (uint64_t number = 1; number <= 40; number++) {
        struct sx_event_kept kept;
        struct sx_event event;

        cr_assert(at + sizeof(kept) + sizeof(event) <= answer.size);
        cr_expect_eq(at % 8, 0);
        memcpy(&kept, answer.bytes + at, sizeof(kept));
        memcpy(&event, answer.bytes + at + sizeof(kept), sizeof(event));
        cr_expect_eq(kept.lost, number % 3);
        cr_expect_eq(event.number, number);
        cr_expect_eq(event.code, -2000);
        at += sizeof(kept) + sx_align_up(kept.size, 8);
    }
    cr_expect_eq(at, answer.size);
    sx_event_answer_deinit(&answer);
    sx_event_answer_deinit(&answer);
}

Test(event_answer, takes_one_event_whatever_its_size_and_others_to_the_last_byte)
{
    const struct sx_event_entry entry = entry_of(1, 30000);
    const size_t each = sizeof(struct sx_event_kept) + sx_align_up(entry.block->size, 8);
    const size_t two = sizeof(struct sx_event_list) + 2 * each;
    struct sx_event_answer answer;

    cr_assert_eq(sx_event_answer_init(&answer), PMIX_SUCCESS);
    cr_expect(sx_event_answer_fits(&answer, &entry, 1));
    cr_assert_eq(sx_event_answer_add(&answer, &entry, 0), PMIX_SUCCESS);
    cr_expect_not(sx_event_answer_fits(&answer, &entry, two - 1));
    cr_expect(sx_event_answer_fits(&answer, &entry, two));
    sx_event_answer_deinit(&answer);
    sx_event_block_release(entry.block);
}

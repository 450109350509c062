/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* eventreplay_test.c - a reader that was overtaken gets all there is, in order and with the losses
 * in their places, by questions each of which costs little, wherever in the log it stands. */
#include <criterion/criterion.h>
#include <string.h>

#include <pmix.h>

#include "../block_build.h"
#include "client/event/event_list.h"
#include "server/event/lapped_readers.h"

#define CODE (-2000)

static struct sx_event_history history;
static struct sx_eventlog job;

static void begin(void)
{
    sx_event_history_init(&history, 1u << 20, UINT64_C(1) << 30);
    sx_eventlog_init(&job);
}

static void end(void)
{
    sx_eventlog_clear(&history, &job);
    sx_event_history_deinit(&history);
    cr_assert_eq(history.bytes, 0);
}

TestSuite(eventreplay, .init = begin, .fini = end);

/* An event of @size bytes of payload; for rank @target alone, unless that is the wildcard. */
static void log_add(size_t size, pmix_rank_t target)
{
    const pmix_proc_t source = { .nspace = "job", .rank = 0 };
    pmix_proc_t aim = { .nspace = "job", .rank = target };
    char *const bytes = calloc(1, size + 1);
    pmix_byte_object_t object = { .bytes = bytes, .size = size };
    struct sx_event_block *block = NULL;
    pmix_info_t info[2];

    cr_assert_not_null(bytes);
    cr_assert_eq(PMIx_Info_load(&info[0], "bytes", &object, PMIX_BYTE_OBJECT), PMIX_SUCCESS);
    cr_assert_eq(PMIx_Info_load(&info[1], PMIX_EVENT_CUSTOM_RANGE, &aim, PMIX_PROC), PMIX_SUCCESS);
    cr_assert_eq(block_build(CODE, &source,
                             target == PMIX_RANK_WILDCARD ? PMIX_RANGE_NAMESPACE
                                                          : PMIX_RANGE_CUSTOM,
                             info, target == PMIX_RANK_WILDCARD ? 1 : 2, &block),
                 PMIX_SUCCESS);
    job.newest++;
    sx_eventlog_add(&history, &job, block, job.newest, job.newest);
    sx_event_block_release(block);
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
    free(bytes);
}

/* A number that is not kept. */
static void log_skip(void)
{
    job.newest++;
}

struct reading {
    uint64_t events, lost, messages, looks, looks_max, bytes_max;
};

/* Rank 1 reads from @first to the end, as a client does. */
static struct reading read_from(uint64_t first)
{
    struct reading reading = { .events = 0 };

    while (first <= job.newest) {
        const struct sx_event_replay wanted = { .first = first, .last = UINT64_MAX };
        struct sx_event_list_rest rest;
        struct sx_event_listed listed;
        struct sx_event_answer answer;
        struct sx_event_replayed replayed;
        uint64_t before = first;

        cr_assert_eq(sx_event_answer_init(&answer), PMIX_SUCCESS);
        cr_assert_eq(sx_event_replay(&job, "job", 1, &wanted, &answer, &replayed), PMIX_SUCCESS);
        sx_event_list_open(&rest, answer.bytes, answer.size);
        cr_assert_gt(rest.next, first, "it goes on");
        if (rest.count > 1 && answer.size > reading.bytes_max) {
            reading.bytes_max = answer.size;
        }
        reading.lost += rest.lost;
        while (sx_event_list_next(&rest, &listed) == PMIX_SUCCESS) {
            cr_assert(listed.number >= before && listed.number < rest.next, "in order");
            before = listed.number + 1;
            reading.lost += listed.lost;
            reading.events++;
        }
        cr_assert_eq(rest.count, 0);
        reading.messages++;
        reading.looks += replayed.looks;
        reading.looks_max = replayed.looks > reading.looks_max ? replayed.looks : reading.looks_max;
        first = rest.next;
        sx_event_answer_deinit(&answer);
    }
    return reading;
}

/* The whole way costs what there is to read, not its square. */
Test(eventreplay, costs_the_same_for_each_event_however_many_are_kept)
{
    enum { EVENTS = 100000 };

    for (int i = 0; i < EVENTS; i++) {
        log_add(8, PMIX_RANK_WILDCARD);
    }
    const struct reading all = read_from(1);
    const struct reading last = read_from(EVENTS - 999);

    cr_expect_eq(all.events, EVENTS);
    cr_expect_eq(all.lost, 0);
    cr_expect_leq(all.bytes_max, SX_KEPT_FRAME_BYTES);
    cr_expect_eq(last.events, 1000);
    cr_log_info("1,000 events of the last %d: %d messages, %d places looked at", EVENTS,
                (int)last.messages, (int)last.looks);
    cr_expect_leq(last.messages, 1000 / 40);
    cr_expect_leq(last.looks, 1000 + last.messages * 20);
    cr_expect_leq(all.messages, EVENTS / 40);
    cr_expect_leq(all.looks, EVENTS + all.messages * 20);
}

Test(eventreplay, says_what_is_lost_in_its_place)
{
    const struct sx_event_replay wanted = { .first = 1, .last = 9 };
    static const uint64_t numbers[] = { 3, 4, 7 }, lost[] = { 2, 0, 2 };
    struct sx_event_list_rest rest;
    struct sx_event_listed listed;
    struct sx_event_answer answer;
    struct sx_event_replayed replayed;

    for (int i = 1; i <= 12; i++) {
        if (i == 3 || i == 4 || i == 7 || i == 11) {
            log_add(8, PMIX_RANK_WILDCARD);
        } else {
            log_skip();
        }
    }
    cr_assert_eq(sx_event_answer_init(&answer), PMIX_SUCCESS);
    cr_assert_eq(sx_event_replay(&job, "job", 1, &wanted, &answer, &replayed), PMIX_SUCCESS);
    sx_event_list_open(&rest, answer.bytes, answer.size);
    for (size_t i = 0; i < SX_COUNT(numbers); i++) {
        cr_assert_eq(sx_event_list_next(&rest, &listed), PMIX_SUCCESS);
        cr_expect_eq(listed.number, numbers[i]);
        cr_expect_eq(listed.lost, lost[i]);
    }
    cr_expect_eq(sx_event_list_next(&rest, &listed), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(rest.lost, 2);
    cr_expect_eq(rest.next, 10);
    sx_event_answer_deinit(&answer);
    cr_expect_eq(read_from(1).lost, 8);
    cr_expect_eq(read_from(8).events, 1);
}

/* Nothing of it is for the reader, or each event is for many: a question still costs little. */
Test(eventreplay, a_question_is_bounded_whatever_the_log_has)
{
    for (int i = 0; i < 5000; i++) {
        log_add(8, 2);
    }
    log_add(8, 1);
    struct reading reading = read_from(1);

    cr_expect_eq(reading.events, 1);
    cr_expect_eq(reading.lost, 0);
    cr_expect_leq(reading.looks_max, SX_REPLAY_LOOKS_MAX + 2);
    cr_expect_gt(reading.messages, 1);
    cr_expect_leq(reading.messages, 12);
}

/* A large event travels alone, and those around it as many as fit. */
Test(eventreplay, an_event_larger_than_a_frame_comes_alone)
{
    log_add(100, PMIX_RANK_WILDCARD);
    log_add(50000, PMIX_RANK_WILDCARD);
    log_add(100, PMIX_RANK_WILDCARD);
    log_add(100, PMIX_RANK_WILDCARD);
    const struct reading reading = read_from(1);

    cr_expect_eq(reading.events, 4);
    cr_expect_eq(reading.messages, 3);
    cr_expect_leq(reading.bytes_max, SX_KEPT_FRAME_BYTES);
}

Test(eventreplay, an_absurd_range_is_an_empty_one)
{
    static const struct sx_event_replay rows[] = {
        { 0, 0 }, { UINT64_MAX, UINT64_MAX }, { UINT64_MAX, 0 }, { 3, 2 }, { 9, UINT64_MAX },
    };

    log_add(8, PMIX_RANK_WILDCARD);
    log_add(8, PMIX_RANK_WILDCARD);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct sx_event_answer answer;
        struct sx_event_replayed replayed;

        cr_assert_eq(sx_event_answer_init(&answer), PMIX_SUCCESS);
        cr_expect_eq(sx_event_replay(&job, "job", 1, &rows[i], &answer, &replayed), PMIX_SUCCESS);
        cr_expect_eq(sx_event_answer_list(&answer)->count, 0, "row %zu", i);
        cr_expect_eq(sx_event_answer_list(&answer)->lost, 0, "row %zu", i);
        sx_event_answer_deinit(&answer);
    }
}

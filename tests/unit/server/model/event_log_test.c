/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* eventlog_test.c - what is kept, for how long, in which order, and what goes first. */
#include <criterion/criterion.h>

#include <pmix.h>

#include "../block_build.h"
#include "server/model/event_log.h"

static struct sx_event_history history;
static struct sx_eventlog job, other;

static void begin(size_t cache_max, uint64_t bytes_max)
{
    sx_event_history_init(&history, cache_max, bytes_max);
    sx_eventlog_init(&job);
    sx_eventlog_init(&other);
}

static void end(void)
{
    sx_eventlog_end(&history, &job);
    sx_eventlog_end(&history, &other);
    sx_event_history_deinit(&history);
    cr_assert_eq(history.bytes, 0);
    cr_assert_eq(history.cache_count, 0);
}

static struct sx_event_block *block_of(pmix_status_t code, pmix_data_range_t range)
{
    const pmix_proc_t source = { .nspace = "job", .rank = 0 };
    struct sx_event_block *block = NULL;

    cr_assert_eq(block_build(code, &source, range, NULL, 0, &block), PMIX_SUCCESS);
    return block;
}

/* Its record has the number of the event, times ten. */
static void log_add(struct sx_eventlog *log, pmix_status_t code, pmix_data_range_t range)
{
    struct sx_event_block *block = block_of(code, range);

    log->newest++;
    sx_eventlog_add(&history, log, block, log->newest, 10 * log->newest);
    sx_event_block_release(block);
}

/* The numbers kept from @first on, as a count and the two ends. */
static size_t kept(const struct sx_eventlog *log, uint64_t first, uint64_t *ret_oldest,
                   uint64_t *ret_newest)
{
    struct sx_eventlog_cursor cursor;
    struct sx_event_entry *entry;
    size_t count = 0;

    *ret_oldest = *ret_newest = 0;
    sx_eventlog_seek(&cursor, log, first);
    while ((entry = sx_eventlog_next(&cursor)) != NULL) {
        cr_assert(entry->number > *ret_newest, "in order");
        *ret_oldest = count == 0 ? entry->number : *ret_oldest;
        *ret_newest = entry->number;
        count++;
    }
    return count;
}

/* EV61, EV68: those of one code, the newest first, HELD and LOOSE, with others of its bucket alone;
 * and from any of them on. */
/* As long as it takes. */
static void release(struct sx_eventlog *log, uint64_t seq)
{
    size_t left = SIZE_MAX;

    cr_assert(sx_eventlog_release(&history, log, seq, &left));
}

static void all_read(struct sx_eventlog *log, uint64_t unread_from)
{
    size_t left = SIZE_MAX;

    cr_assert(sx_eventlog_read(&history, log, unread_from, &left));
}

Test(eventlog, finds_the_events_of_one_code)
{
    const pmix_status_t code = -2000, alike = code - (pmix_status_t)SX_EVENTLOG_BUCKETS;
    const uint64_t expected[] = { 6, 5, 3, 2, 1 };
    struct sx_event_entry *entry = NULL;

    begin(8, 1 << 20);
    cr_assert_null(sx_eventlog_before_of(&job, code, NULL));
    cr_assert_null(sx_eventlog_find_of(&job, code, 1));
    log_add(&job, code, PMIX_RANGE_NAMESPACE);
    log_add(&job, alike, PMIX_RANGE_NAMESPACE);
    log_add(&job, code, PMIX_RANGE_LOCAL);
    log_add(&job, code - 1, PMIX_RANGE_LOCAL);
    log_add(&job, alike, PMIX_RANGE_LOCAL);
    log_add(&job, code, PMIX_RANGE_NAMESPACE);
    release(&job, 10); /* number 1 is LOOSE now */
    for (size_t i = 0; i < SX_COUNT(expected); i++) {
        entry = sx_eventlog_before_of(&job, code, entry);
        cr_assert_not_null(entry);
        cr_assert_eq(entry->number, expected[i]);
        cr_assert_eq(sx_eventlog_find_of(&job, code, expected[i]), entry);
    }
    cr_assert_null(sx_eventlog_before_of(&job, code, entry));
    cr_assert_null(sx_eventlog_find_of(&job, code, 4), "of another code");
    cr_assert_null(sx_eventlog_find_of(&job, code, 7), "to come");
    sx_eventlog_remove(&history, entry);
    cr_assert_null(sx_eventlog_find_of(&job, code, 1), "gone");
    end();
    cr_assert_null(sx_eventlog_before_of(&job, code, NULL), "cleared");
}

/* Both ways, over places whose events have gone. */
Test(eventlog, goes_back_as_it_goes_forth)
{
    struct sx_eventlog_cursor cursor;
    uint64_t expected = 19;

    begin(512, 1 << 20);
    for (int i = 0; i < 20; i++) {
        log_add(&job, -2000, PMIX_RANGE_NAMESPACE);
    }
    for (uint64_t number = 3; number <= 18; number += 5) {
        sx_eventlog_remove(&history, sx_eventlog_find_of(&job, -2000, number));
    }
    sx_eventlog_seek(&cursor, &job, 20);
    for (const struct sx_event_entry *entry; (entry = sx_eventlog_before(&cursor)) != NULL;) {
        cr_assert_eq(entry->number, expected);
        expected -= expected % 5 == 4 ? 2 : 1;
    }
    cr_assert_eq(expected, 0);
    end();
}

static bool is_of_code(const struct sx_event_block *block, const void *code)
{
    return sx_event_block_head((struct sx_event_block *)(uintptr_t)block)->code ==
           *(const pmix_status_t *)code;
}

/* A namespace begins with some of what was kept before it: as if there had never been more. */
Test(eventlog, what_is_sifted_is_found_by_its_new_numbers)
{
    const pmix_status_t wanted = -2000;
    uint64_t oldest, newest;

    begin(64, 1 << 20);
    for (int i = 0; i < 90; i++) { /* 27 to 90 are left */
        log_add(&job, i % 3 == 0 ? wanted : wanted - 1, PMIX_RANGE_GLOBAL);
    }
    sx_eventlog_sift(&history, &job, is_of_code, &wanted);
    cr_assert_eq(job.newest, 21);
    cr_assert_eq(kept(&job, 1, &oldest, &newest), 21);
    cr_assert(oldest == 1 && newest == 21);
    cr_assert_eq(kept(&job, 20, &oldest, &newest), 2);
    cr_assert(oldest == 20 && newest == 21);
    for (int i = 0; i < 60; i++) {
        log_add(&job, wanted, PMIX_RANGE_GLOBAL);
    }
    cr_assert_eq(kept(&job, 1, &oldest, &newest), 64);
    cr_assert(oldest == 18 && newest == 81);
    end();
}

/* EV68, EV69, EV72: the newest few, oldest out first. */
Test(eventlog, keeps_the_newest_without_a_job)
{
    uint64_t oldest, newest;

    begin(4, SX_EVENTLOG_BYTES_DEFAULT);
    for (int i = 0; i < 9; i++) {
        log_add(&job, -1, PMIX_RANGE_GLOBAL);
    }
    cr_assert_eq(kept(&job, 0, &oldest, &newest), 4);
    cr_assert_eq(oldest, 6);
    cr_assert_eq(newest, 9);
    cr_assert_eq(kept(&job, 8, &oldest, &newest), 2);
    cr_assert_eq(oldest, 8);
    cr_assert_eq(kept(&job, 10, &oldest, &newest), 0);
    end();
}

/* EV70: past the size, until all have had them. */
Test(eventlog, holds_job_events_until_all_have_had_them)
{
    uint64_t oldest, newest;

    begin(4, SX_EVENTLOG_BYTES_DEFAULT);
    for (int i = 0; i < 20; i++) {
        log_add(&job, -1, PMIX_RANGE_NAMESPACE);
    }
    cr_assert_eq(kept(&job, 0, &oldest, &newest), 20);
    release(&job, 100); /* ten of them */
    cr_assert_eq(kept(&job, 0, &oldest, &newest), 14);
    cr_assert_eq(oldest, 7);
    release(&job, UINT64_MAX);
    cr_assert_eq(kept(&job, 0, &oldest, &newest), 4);
    cr_assert_eq(oldest, 17);
    cr_assert_eq(job.held_count, 0);
    end();
}

/* Of any range: what a reader has not had stays, beyond the newest few, until it has. */
Test(eventlog, keeps_what_a_reader_has_not_had)
{
    uint64_t oldest, newest;

    begin(4, SX_EVENTLOG_BYTES_DEFAULT);
    all_read(&job, 31); /* number 4 on */
    for (int i = 0; i < 20; i++) {
        log_add(&job, -1, PMIX_RANGE_LOCAL);
    }
    cr_assert_eq(kept(&job, 0, &oldest, &newest), 17);
    cr_assert_eq(oldest, 4);
    cr_assert_eq(sx_eventlog_unread(&history, &job), 13);
    all_read(&job, 181);
    cr_assert_eq(kept(&job, 0, &oldest, &newest), 4);
    cr_assert_eq(oldest, 17);
    cr_assert_eq(sx_eventlog_unread(&history, &job), 0);
    all_read(&job, UINT64_MAX);
    log_add(&job, -1, PMIX_RANGE_LOCAL);
    cr_assert_eq(kept(&job, 0, &oldest, &newest), 4);
    end();
}

/* A reader that goes may leave many: they go in pieces, whatever comes meanwhile. */
Test(eventlog, lets_go_in_pieces_what_all_have_had)
{
    enum { EVENTS = 1000, PIECE = 100, CACHE = 4 };
    uint64_t oldest, newest;
    unsigned pieces = 0;
    bool is_over = false;

    begin(CACHE, SX_EVENTLOG_BYTES_DEFAULT);
    for (int i = 0; i < EVENTS; i++) {
        log_add(&job, -1, PMIX_RANGE_NAMESPACE);
    }
    while (!is_over) {
        const size_t before = job.held_count + job.loose_count;
        size_t left = PIECE;

        is_over = sx_eventlog_release(&history, &job, UINT64_MAX, &left);
        cr_expect_leq(before - job.held_count - job.loose_count, PIECE);
        pieces++;
    }
    cr_expect_geq(pieces, EVENTS / PIECE);
    cr_expect_eq(kept(&job, 0, &oldest, &newest), CACHE);
    cr_expect_eq(oldest, EVENTS - CACHE + 1);
    end();
}

/* EV63: order holds across the two kinds, whichever is released when. */
Test(eventlog, keeps_the_order_of_numbers)
{
    uint64_t oldest, newest;

    begin(100, SX_EVENTLOG_BYTES_DEFAULT);
    for (int i = 0; i < 30; i++) {
        log_add(&job, -1, i % 3 == 0 ? PMIX_RANGE_NAMESPACE : PMIX_RANGE_LOCAL);
    }
    cr_assert_eq(kept(&job, 0, &oldest, &newest), 30);
    release(&job, 150);
    cr_assert_eq(kept(&job, 0, &oldest, &newest), 30);
    cr_assert_eq(kept(&job, 13, &oldest, &newest), 18);
    cr_assert_eq(oldest, 13);
    end();
}

/* Any place is found by halving, and those that have gone cost little; what is left is always
 * right. */
Test(eventlog, finds_any_place_in_few_steps)
{
    enum { EVENTS = 20000, LOOSE = 5000 };
    struct sx_eventlog_cursor cursor;
    uint64_t oldest, newest;

    begin(LOOSE, UINT64_C(1) << 30);
    for (int i = 1; i <= EVENTS; i++) { /* one in three is HELD */
        log_add(&job, -1, i % 3 == 0 ? PMIX_RANGE_NAMESPACE : PMIX_RANGE_LOCAL);
    }
    cr_expect_eq(kept(&job, 0, &oldest, &newest), EVENTS / 3 + LOOSE);
    cr_expect_eq(oldest, 3);
    for (uint64_t number = 1; number <= EVENTS + 1; number += 97) {
        sx_eventlog_seek(&cursor, &job, number);
        const struct sx_event_entry *const entry = sx_eventlog_next(&cursor);
        const bool is_kept = number % 3 == 0 || number > EVENTS - LOOSE * 3 / 2;

        cr_assert_leq(cursor.visited, 16 + 2, "a place is gone, the one behind it is not");
        cr_assert(entry != NULL || number > EVENTS);
        cr_assert(entry == NULL || (is_kept ? entry->number == number : entry->number > number));
    }
    release(&job, UINT64_MAX);
    cr_expect_eq(kept(&job, 0, &oldest, &newest), LOOSE);
    cr_expect_eq(oldest, EVENTS - LOOSE + 1);
    end();
}

/* EV66, EV71: a namespace to come begins with what is of no job, and with nothing else. */
Test(eventlog, seeds_with_events_without_a_job)
{
    uint64_t oldest, newest;

    begin(3, SX_EVENTLOG_BYTES_DEFAULT);
    for (int i = 0; i < 5; i++) {
        struct sx_event_block *block = block_of(-i, PMIX_RANGE_SESSION);

        job.newest++;
        sx_eventlog_add(&history, &job, block, job.newest, job.newest);
        sx_event_history_keep(&history, block);
        sx_event_block_release(block);
        log_add(&job, -100, PMIX_RANGE_NAMESPACE);
    }
    sx_eventlog_seed(&history, &other);
    cr_assert_eq(kept(&other, 0, &oldest, &newest), 3);
    cr_assert_eq(newest, 3);
    cr_assert_eq(other.newest, 3);
    end();
}

/* One event's bytes are there once, however many namespaces have it. */
Test(eventlog, shares_bytes_and_gives_them_back)
{
    struct sx_event_block *block;
    size_t all = SIZE_MAX;

    begin(4, SX_EVENTLOG_BYTES_DEFAULT);
    block = block_of(-1, PMIX_RANGE_LOCAL);
    sx_eventlog_add(&history, &job, block, ++job.newest, 1);
    const uint64_t once = history.bytes;

    sx_eventlog_add(&history, &other, block, ++other.newest, 1);
    cr_assert_eq(history.bytes, once + SX_EVENTLOG_ENTRY_BYTES);
    sx_event_block_release(block);
    sx_eventlog_end(&history, &job);
    sx_eventlog_end(&history, &other);
    (void)sx_event_history_forget(&history, &all);
    cr_assert_eq(history.bytes, 0);
    end();
}

/* Memory is bounded whatever nobody reads: the oldest goes, held or not, from every log. */
Test(eventlog, is_bounded_in_bytes)
{
    uint64_t oldest, newest;

    begin(64, 20000);
    for (int i = 0; i < 1000; i++) {
        struct sx_event_block *block = block_of(-1, PMIX_RANGE_NAMESPACE);

        job.newest++;
        other.newest++;
        sx_eventlog_add(&history, &job, block, job.newest, job.newest);
        sx_eventlog_add(&history, &other, block, other.newest, other.newest);
        sx_event_block_release(block);
        cr_assert_leq(history.bytes, 20000);
    }
    const size_t count = kept(&job, 0, &oldest, &newest);

    cr_assert_gt(count, 10);
    cr_assert_eq(newest, 1000);
    cr_assert_eq(oldest, 1001 - count);
    cr_assert_eq(history.crowded_out, 1000 - count);
    cr_assert_eq(kept(&other, 0, &oldest, &newest), count);
    sx_eventlog_seed(&history, &other); /* nothing without a job: nothing happens */
    cr_assert_eq(other.newest, 1000);
    end();
}

Test(eventlog, keeps_nothing_when_notified_so)
{
    uint64_t oldest, newest;

    begin(0, 0);
    log_add(&job, -1, PMIX_RANGE_GLOBAL);
    log_add(&job, -1, PMIX_RANGE_NAMESPACE);
    struct sx_event_block *block = block_of(-1, PMIX_RANGE_GLOBAL);

    sx_event_history_keep(&history, block);
    sx_event_block_release(block);
    cr_assert_eq(kept(&job, 0, &oldest, &newest), 0);
    end();
}

/* The end of a namespace touches none of the events that it kept: they go in pieces.  Others live. */
Test(eventlog, ends_at_once_and_is_forgotten_in_pieces)
{
    enum { MANY = 10 };
    size_t left = MANY / 2;

    begin(MANY, SX_EVENTLOG_BYTES_DEFAULT);
    for (int i = 0; i < MANY; i++) {
        struct sx_event_block *const block = block_of(-1 - i, PMIX_RANGE_LOCAL);

        block->is_job = i % 2 == 0; /* half of them is held */
        sx_eventlog_add(&history, &job, block, ++job.newest, 1);
        if (i == 0) {
            sx_eventlog_add(&history, &other, block, ++other.newest, 1);
        }
        sx_event_block_release(block);
    }
    const uint64_t all = history.bytes;

    sx_eventlog_end(&history, &job);
    cr_expect_eq(history.bytes, all);
    cr_expect_eq(job.held_count + job.loose_count, 0);
    sx_eventlog_add(&history, &job, SX_LIST_ENTRY(history.blocks.next, struct sx_event_block, link),
                    ++job.newest, 1); /* of another namespace, in the same place */
    cr_expect(!sx_event_history_forget(&history, &left));
    cr_expect_eq(left, 0);
    cr_expect_lt(history.bytes, all);
    cr_expect_gt(history.bytes, all / 4);
    left = SIZE_MAX;
    cr_expect(sx_event_history_forget(&history, &left));
    cr_expect_eq(SIZE_MAX - left, MANY / 2 + 1, "each once, and the log's own part");
    cr_expect_eq(job.held_count, 1);
    cr_expect_eq(other.held_count, 1);
    end();
}

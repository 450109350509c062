/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store_test.c - what one thread sees of a store: put, find, replace, withdraw, renew. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "shmem/store_layout.h"
#include "store_util.h"

Test(store, a_value_is_found_by_realm_row_and_key)
{
    static const struct {
        enum sx_realm realm;
        uint32_t row;
        const char *key;
        uint64_t number;
    } rows[] = {
        { SX_REALM_JOB, SX_ROW_JOB, "size", 1 },
        { SX_REALM_JOB, 0, "size", 2 },
        { SX_REALM_JOB, 63, "size", 3 },
        { SX_REALM_JOB, 7, "size", 4 },
        { SX_REALM_NODE, 0, "size", 5 },
        { SX_REALM_NODE, SX_ROW_JOB, "size", 6 },
        { SX_REALM_APP, 0, "size", 7 },
        { SX_REALM_SESSION, 41, "size", 8 },
        { SX_REALM_JOB, 0, "siz", 9 },
        { SX_REALM_JOB, 0, "sizes", 10 },
        { SX_REALM_JOB, 5, "sixteen bytes ..", 11 },
        { SX_REALM_JOB, 5, "fifteen bytes .", 12 },
    };
    struct sx_store_writer writer;
    struct sx_store reader;

    test_store_create(&writer, 64, 1 << 20, false);
    test_attach(&reader, &writer);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_assert_eq(test_number(&reader, rows[i].realm, rows[i].row, rows[i].key), UINT64_MAX);
        cr_assert_eq(test_put_number(&writer, rows[i].realm, rows[i].row, rows[i].key,
                                     rows[i].number),
                     PMIX_SUCCESS);
    }
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(test_number(&reader, rows[i].realm, rows[i].row, rows[i].key), rows[i].number,
                     "%zu", i);
    }
    cr_expect_eq(test_number(&reader, SX_REALM_JOB, 1, "size"), UINT64_MAX);
    cr_expect_eq(test_number(&reader, SX_REALM_JOB, 64, "size"), UINT64_MAX);
    cr_expect_eq(test_number(&reader, SX_REALM_JOB, SX_ROW_JOB, "other"), UINT64_MAX);
    sx_store_detach(&reader);
    sx_store_destroy(&writer);
}

Test(store, a_value_comes_back_as_it_was_put)
{
    struct sx_store_writer writer;
    pmix_value_t in = { .type = PMIX_STRING }, out;
    struct sx_item item;
    char text[4000];

    test_text(text, sizeof(text), 5);
    in.data.string = text;
    test_store_create(&writer, 2, 0, true);
    cr_assert_eq(sx_store_put(&writer, SX_REALM_JOB, 1, "text", PMIX_REMOTE, &in), PMIX_SUCCESS);
    cr_assert_eq(sx_store_get(&writer.view, SX_REALM_JOB, 1, "text", &out), PMIX_SUCCESS);
    cr_expect_eq(out.type, PMIX_STRING);
    cr_expect_str_eq(out.data.string, text);
    free(out.data.string);
    cr_assert_eq(sx_store_find(&writer.view, SX_REALM_JOB, 1, "text", &item), PMIX_SUCCESS);
    cr_expect_eq(sx_item_scope(&item), PMIX_REMOTE);
    cr_expect_eq((uintptr_t)item.body % 8, 0);

    in = (pmix_value_t){ .type = PMIX_UINT16, .data.uint16 = 77 };
    cr_assert_eq(sx_store_put(&writer, SX_REALM_JOB, 0, "n", PMIX_LOCAL, &in), PMIX_SUCCESS);
    cr_assert_eq(sx_store_get(&writer.view, SX_REALM_JOB, 0, "n", &out), PMIX_SUCCESS);
    cr_expect_eq(out.type, PMIX_UINT16);
    cr_expect_eq(out.data.uint16, 77);
    cr_expect_eq(sx_store_get(&writer.view, SX_REALM_JOB, 1, "n", &out), PMIX_ERR_NOT_FOUND);
    sx_store_destroy(&writer);
}

Test(store, keys_from_1_to_511_bytes_and_no_others)
{
    static const struct {
        size_t len;
        pmix_status_t want;
    } rows[] = {
        { 0, PMIX_ERR_BAD_PARAM },   { 1, PMIX_SUCCESS },   { 15, PMIX_SUCCESS },
        { 16, PMIX_SUCCESS },        { 510, PMIX_SUCCESS }, { 511, PMIX_SUCCESS },
        { 512, PMIX_ERR_BAD_PARAM },
    };
    struct sx_store_writer writer;

    test_store_create(&writer, 2, 0, true);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char *const key = malloc(rows[i].len + 1);
        memset(key, 'k', rows[i].len);
        key[rows[i].len] = '\0';
        cr_expect_eq(test_put_number(&writer, SX_REALM_JOB, 0, key, i), rows[i].want, "%zu",
                     rows[i].len);
        cr_expect_eq(test_number(&writer.view, SX_REALM_JOB, 0, key),
                     rows[i].want == PMIX_SUCCESS ? i : UINT64_MAX);
        cr_expect_eq(sx_store_unset(&writer, SX_REALM_JOB, 1, key),
                     rows[i].want == PMIX_SUCCESS ? PMIX_ERR_NOT_FOUND : PMIX_ERR_BAD_PARAM);
        free(key);
    }
    /* A pmix_key_t without its NUL: the sanitizers see to it that nothing behind it is read. */
    char *const unterminated = malloc(512);
    memset(unterminated, 'u', 512);
    cr_expect_eq(test_put_number(&writer, SX_REALM_JOB, 0, unterminated, 1), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(test_number(&writer.view, SX_REALM_JOB, 0, unterminated), UINT64_MAX);
    cr_expect_eq(sx_store_column(&writer.view, SX_REALM_JOB, unterminated, 512), 0);
    free(unterminated);
    cr_expect_eq(sx_store_put_flat(&writer, SX_REALM_JOB, 0, NULL, PMIX_GLOBAL,
                                   &(struct sx_cell){ .type = PMIX_BOOL }, NULL),
                 PMIX_ERR_BAD_PARAM);
    sx_store_destroy(&writer);
}

Test(store, put_refuses_what_no_cell_can_hold)
{
    static const struct {
        const char *why;
        struct sx_cell cell;
        const char *body;
        uint32_t row;
        pmix_scope_t scope;
    } rows[] = {
        { "no type", { .type = PMIX_UNDEF }, NULL, 0, 0 },
        { "the type of moved cells", { .type = SX_CELL_MOVED }, NULL, 0, 0 },
        { "a length without bytes", { .type = PMIX_STRING, .len = 4 }, NULL, 0, 0 },
        { "row too high", { .type = PMIX_BOOL }, NULL, SX_STORE_ROW_MAX, 0 },
        { "an undefined rank", { .type = PMIX_BOOL }, NULL, PMIX_RANK_UNDEF, 0 },
        { "scope out of its bits", { .type = PMIX_BOOL }, NULL, 0, 16 },
    };
    struct sx_store_writer writer;

    test_store_create(&writer, 2, 0, true);
    const uint64_t before = writer.heap.next_off;
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(sx_store_put_flat(&writer, SX_REALM_JOB, rows[i].row, "key", rows[i].scope,
                                       &rows[i].cell, rows[i].body),
                     PMIX_ERR_BAD_PARAM, "%s", rows[i].why);
    }
    cr_expect_eq(writer.heap.next_off, before);
    sx_store_destroy(&writer);

    const struct sx_store_options many = { .nspace = "j", .row_count = SX_STORE_ROW_MAX + 1 };
    cr_expect_eq(sx_store_create(&writer, &many), PMIX_ERR_BAD_PARAM);
    sx_store_destroy(&writer);
}

Test(store, a_null_store_has_nothing)
{
    const struct sx_store null = SX_STORE_NULL;
    struct sx_item item;

    cr_expect_eq(sx_store_find(&null, SX_REALM_JOB, 0, "k", &item), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(sx_store_read(&null, 4096, 0, &item), PMIX_ERR_NOT_FOUND);
    cr_expect_eq(sx_store_column(&null, SX_REALM_JOB, "k", 1), 0);
    sx_store_each(&null, SX_REALM_JOB, 0, NULL, NULL);
}

Test(store, an_equal_value_changes_nothing)
{
    struct sx_store_writer writer;

    test_store_create(&writer, 4, 0, true);
    for (uint32_t row = 0; row < 4; row++) {
        cr_assert_eq(test_put_text(&writer, row, "text", 40, row), PMIX_SUCCESS);
        cr_assert_eq(test_put_number(&writer, SX_REALM_JOB, row, "number", row), PMIX_SUCCESS);
    }
    const uint64_t before = writer.heap.next_off;
    for (uint32_t row = 0; row < 4; row++) {
        cr_assert_eq(test_put_text(&writer, row, "text", 40, row), PMIX_SUCCESS);
        cr_assert_eq(test_put_number(&writer, SX_REALM_JOB, row, "number", row), PMIX_SUCCESS);
    }
    cr_expect_eq(writer.heap.next_off, before);
    cr_expect_eq(writer.garbage_bytes, 0);
    /* A value of the same bytes in another scope is another value. */
    const struct sx_cell cell = { .type = PMIX_UINT64, .bits = 1 };
    cr_assert_eq(sx_store_put_flat(&writer, SX_REALM_JOB, 1, "number", PMIX_LOCAL, &cell, NULL),
                 PMIX_SUCCESS);
    cr_expect_gt(writer.heap.next_off, before);
    sx_store_destroy(&writer);
}

Test(store, a_changed_value_replaces_the_old_one_whose_bytes_stay)
{
    struct sx_store_writer writer;
    struct sx_item item[5];

    test_store_create(&writer, 4, 0, true);
    for (uint64_t n = 0; n < SX_COUNT(item); n++) {
        for (uint32_t row = 0; row < 4; row++) {
            cr_assert_eq(test_put_text(&writer, row, "text", 30 + 7 * n, 10 * row + n),
                         PMIX_SUCCESS);
        }
        cr_assert_eq(sx_store_find(&writer.view, SX_REALM_JOB, 2, "text", &item[n]), PMIX_SUCCESS);
    }
    for (uint64_t n = 0; n < SX_COUNT(item); n++) {
        cr_expect_eq(test_text_number(&item[n]), 20 + n, "who holds an old pointer keeps it");
    }
    for (uint32_t row = 0; row < 4; row++) {
        cr_expect_eq(test_text_at(&writer.view, row, "text"), 10 * row + 4);
    }
    cr_expect_gt(writer.garbage_bytes, 0);
    cr_expect_eq(writer.live_bytes + writer.garbage_bytes, writer.heap.next_off);
    sx_store_destroy(&writer);
}

Test(store, a_withdrawn_value_is_gone_and_can_come_again)
{
    struct sx_store_writer writer;

    test_store_create(&writer, 4, 0, true);
    for (uint32_t row = 0; row < 4; row++) {
        cr_expect_eq(sx_store_unset(&writer, SX_REALM_JOB, row, "text"), PMIX_ERR_NOT_FOUND);
    }
    for (unsigned round = 0; round < 3; round++) {
        for (uint32_t row = 0; row < 4; row++) {
            cr_assert_eq(test_put_text(&writer, row, "text", 30, row), PMIX_SUCCESS);
            cr_expect_eq(test_text_at(&writer.view, row, "text"), row);
            cr_assert_eq(sx_store_unset(&writer, SX_REALM_JOB, row, "text"), PMIX_SUCCESS);
            cr_expect_eq(test_text_at(&writer.view, row, "text"), UINT64_MAX);
            cr_expect_eq(sx_store_unset(&writer, SX_REALM_JOB, row, "text"), PMIX_ERR_NOT_FOUND);
        }
    }
    sx_store_destroy(&writer);
}

/* Another scope costs the same for a long value as for a short one. */
Test(store, a_value_withdrawn_from_others_keeps_its_body)
{
    enum { BYTES = 1 << 20 };
    static char bytes[BYTES];
    const pmix_value_t value = { .type = PMIX_BYTE_OBJECT,
                                 .data.bo = { .bytes = bytes, .size = BYTES } };
    struct sx_store_writer writer;
    struct sx_item item;

    memset(bytes, 'b', BYTES);
    test_store_create(&writer, 4, 16 << 20, true);
    for (uint32_t row = 0; row < 3; row++) {
        cr_assert_eq(sx_store_put(&writer, SX_REALM_JOB, row, "long", PMIX_GLOBAL, &value),
                     PMIX_SUCCESS);
    }
    for (uint32_t row = 0; row < 3; row++) {
        const uint64_t before = writer.heap.next_off;

        cr_assert_eq(sx_store_withdraw(&writer, SX_REALM_JOB, row, "long", PMIX_REMOTE),
                     PMIX_SUCCESS);
        cr_expect_leq(writer.heap.next_off - before, sizeof(struct sx_cell));
        cr_expect_eq(writer.live_bytes + writer.garbage_bytes, writer.heap.next_off);
        cr_expect_lt(writer.garbage_bytes, BYTES);
    }
    for (unsigned renewed = 0; renewed < 2; renewed++) {
        for (uint32_t row = 0; row < 3; row++) {
            cr_assert_eq(sx_store_find(&writer.view, SX_REALM_JOB, row, "long", &item),
                         PMIX_SUCCESS);
            cr_expect_eq(sx_item_scope(&item), PMIX_LOCAL);
            cr_assert_eq(item.cell.len, BYTES);
            cr_expect_eq(memcmp(item.body, bytes, BYTES), 0);
        }
        cr_assert_eq(sx_store_renew(&writer), PMIX_SUCCESS);
    }
    cr_assert_eq(sx_store_withdraw(&writer, SX_REALM_JOB, 1, "long", PMIX_LOCAL), PMIX_SUCCESS);
    cr_expect_eq(sx_store_find(&writer.view, SX_REALM_JOB, 1, "long", &item), PMIX_ERR_NOT_FOUND);
    sx_store_destroy(&writer);
}

/* One key that one rank alone has must not cost a chunk. */
Test(store, a_single_row_costs_one_column_and_its_body)
{
    struct sx_store_writer writer;

    test_store_create(&writer, 4096, 0, true);
    const uint64_t before = writer.heap.next_off;
    cr_assert_eq(test_put_number(&writer, SX_REALM_JOB, 4000, "single", 1), PMIX_SUCCESS);
    cr_expect_leq(writer.heap.next_off - before, 128);
    cr_assert_eq(test_put_number(&writer, SX_REALM_JOB, 4001, "single", 2), PMIX_SUCCESS);
    cr_expect_leq(writer.heap.next_off - before, 128 + 4096 / 256 * 8 + 4096 + 64);
    cr_expect_eq(test_number(&writer.view, SX_REALM_JOB, 4000, "single"), 1);
    cr_expect_eq(test_number(&writer.view, SX_REALM_JOB, 4001, "single"), 2);
    sx_store_destroy(&writer);
}

Test(store, a_hundred_thousand_keys)
{
    enum { KEYS = 100000 };
    struct sx_store_writer writer;
    struct sx_store reader;
    char key[32];

    test_store_create(&writer, 4, 64 << 20, false);
    test_attach(&reader, &writer);
    for (uint64_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "key.%" PRIu64, i);
        cr_assert_eq(test_put_number(&writer, SX_REALM_JOB, (uint32_t)(i % 4), key, i),
                     PMIX_SUCCESS);
    }
    cr_assert_eq(writer.generation, 1);
    for (uint64_t i = 0; i < KEYS; i++) {
        snprintf(key, sizeof(key), "key.%" PRIu64, i);
        cr_assert_eq(test_number(&reader, SX_REALM_JOB, (uint32_t)(i % 4), key), i);
        cr_assert_eq(test_number(&reader, SX_REALM_JOB, (uint32_t)((i + 1) % 4), key), UINT64_MAX);
    }
    sx_store_detach(&reader);
    sx_store_destroy(&writer);
}

/* ---- larger dictionaries --------------------------------------------------------------------- */

#define MOVED_MAX 32u           /* slots of a dictionary that a new key moves */
#define BACKED_MAX (512u << 10) /* bytes of memory that it takes */
#define SLOTS_AT_ONCE 4096u     /* of a dictionary that is moved at once */

static uint64_t dictionary_of(const struct sx_store_writer *writer)
{
    return atomic_load(&sx_writer_store(writer)->dictionary);
}

static uint64_t slots_of(uint64_t word)
{
    return UINT64_C(1) << (word & SX_DICTIONARY_SHIFT_MASK);
}

static const char *key_of(unsigned number)
{
    static char key[32];

    snprintf(key, sizeof(key), "key.%u", number);
    return key;
}

static void put_key(struct sx_store_writer *writer, unsigned number)
{
    cr_assert_eq(test_put_number(writer, SX_REALM_JOB, SX_ROW_JOB, key_of(number), number),
                 PMIX_SUCCESS);
}

static void expect_keys(const struct sx_store_writer *writer, unsigned count, unsigned step)
{
    struct sx_item item;

    for (unsigned i = 0; i < count; i += step) {
        cr_assert_eq(test_number(&writer->view, SX_REALM_JOB, SX_ROW_JOB, key_of(i)), i, "%u", i);
    }
    cr_assert_eq(sx_store_find(&writer->view, SX_REALM_JOB, SX_ROW_JOB, key_of(count), &item),
                 PMIX_ERR_NOT_FOUND);
}

/* Readers use the old one until the new one is complete, and nothing is missing meanwhile. */
Test(store, a_larger_dictionary_is_filled_in_steps)
{
    enum { KEYS = 70000 };
    struct sx_store_writer writer;
    unsigned begun = 0, shown = 0;

    test_store_create(&writer, 1, 64 << 20, false);
    for (unsigned i = 0; i < KEYS; i++) {
        const struct sx_store_larger larger = writer.larger;
        const uint64_t word = dictionary_of(&writer);
        const uint64_t backed = writer.view.seg.backed_bytes;

        put_key(&writer, i);
        if (slots_of(word) <= SLOTS_AT_ONCE) {
            cr_assert_eq(writer.larger.word, 0, "a small one is moved at once");
            continue;
        }
        cr_assert_leq(writer.view.seg.backed_bytes - backed, BACKED_MAX, "%u", i);
        cr_assert_leq(2 * (uint64_t)(i + 1), slots_of(dictionary_of(&writer)), "%u", i);
        if (dictionary_of(&writer) != word) {
            cr_assert_eq(dictionary_of(&writer), larger.word, "%u: it was filled before", i);
            cr_assert_leq(slots_of(word) - larger.moved, MOVED_MAX, "%u", i);
            expect_keys(&writer, i + 1, 1);
            shown++;
        } else if (writer.larger.word != 0) {
            cr_assert_leq(writer.larger.moved - larger.moved, MOVED_MAX, "%u", i);
            expect_keys(&writer, i + 1, i / 8);
            begun += larger.word == 0;
        }
    }
    cr_expect_eq(writer.generation, 1);
    cr_expect_eq(begun, 5);
    cr_expect_eq(shown, 5, "of 131072 slots");
    expect_keys(&writer, KEYS, 1);
    sx_store_destroy(&writer);
}

/* Put keys until a larger dictionary is half filled.  Return: their number. */
static unsigned half_fill(struct sx_store_writer *writer)
{
    unsigned count = 0;

    while (writer->larger.word == 0 || writer->larger.moved < slots_of(dictionary_of(writer)) / 2) {
        put_key(writer, count++);
    }
    return count;
}

Test(store, keys_change_and_go_while_the_dictionary_grows)
{
    struct sx_store_writer writer;
    struct sx_item item;

    test_store_create(&writer, 1, 64 << 20, false);
    const unsigned count = half_fill(&writer);

    for (unsigned i = 0; i < count; i += 2) {
        cr_assert_eq(sx_store_unset(&writer, SX_REALM_JOB, SX_ROW_JOB, key_of(i)), PMIX_SUCCESS);
    }
    cr_expect_neq(writer.larger.word, 0);
    for (unsigned i = 0; i < count; i += 4) {
        put_key(&writer, i);
    }
    cr_expect_neq(writer.larger.word, 0, "these have their slots");
    for (unsigned i = count; writer.larger.word != 0; i++) {
        put_key(&writer, i);
    }
    for (unsigned i = 0; i < count; i++) {
        const pmix_status_t rc = sx_store_find(&writer.view, SX_REALM_JOB, SX_ROW_JOB, key_of(i),
                                               &item);

        cr_assert_eq(rc, i % 4 == 2 ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS, "%u", i);
    }
    sx_store_destroy(&writer);
}

/* The next generation has its own; what was filled of the old one goes with it. */
Test(store, a_renewal_ends_the_growth_of_a_dictionary)
{
    struct sx_store_writer writer;

    test_store_create(&writer, 1, 64 << 20, false);
    const unsigned count = half_fill(&writer);

    cr_assert_eq(sx_store_renew(&writer), PMIX_SUCCESS);
    cr_expect_eq(writer.larger.word, 0);
    expect_keys(&writer, count, 1);
    for (unsigned i = count; i < 4 * count; i++) {
        put_key(&writer, i);
    }
    expect_keys(&writer, 4 * count, 1);
    sx_store_destroy(&writer);
}

static off_t taken_max; /* bytes of memory that were taken at once */
static off_t taken_sum;
static unsigned granted = UINT_MAX; /* so often there is some */

int fallocate(int fd, int mode, off_t offset, off_t len)
{
    if (granted == 0) {
        errno = ENOSPC;
        return -1;
    }
    granted -= granted != UINT_MAX;
    taken_max = len > taken_max ? len : taken_max;
    taken_sum += len;
    return (int)syscall(SYS_fallocate, fd, mode, offset, len);
}

/* Neither for a larger dictionary nor for the next generation's. */
Test(store, memory_for_many_keys_is_taken_in_steps)
{
    enum { KEYS = 150000, LIVE_MIN = 1 << 20 };
    struct sx_store_writer writer;
    unsigned renewed = 0;

    test_store_create(&writer, 1, 1 << 20, false);
    for (unsigned i = 0; i < KEYS; i++) {
        const uint64_t generation = writer.generation;
        const bool is_long = writer.live_bytes > LIVE_MIN; /* a short one is renewed at once */

        taken_max = 0;
        put_key(&writer, i);
        cr_assert(!is_long || taken_max <= BACKED_MAX, "%u: %ld bytes", i, (long)taken_max);
        renewed += is_long && writer.generation != generation;
    }
    cr_expect_geq(renewed, 1);
    expect_keys(&writer, KEYS, 1);
    sx_store_destroy(&writer);
}

#define TURN_PUTS 64u /* there may be as many in one turn of a server */
#define TURN_BYTES (UINT64_C(2) << 20)

/* Short puts that together take no more than some steps of memory, until there is another
 * generation. */
static void turns_expect(struct sx_store_writer *writer, unsigned first, unsigned puts_max)
{
    const uint64_t generation = writer->generation;

    for (unsigned i = 0; i < puts_max && writer->generation == generation; i += TURN_PUTS) {
        const uint64_t copied = writer->copied_bytes;

        taken_sum = 0;
        for (unsigned j = 0; j < TURN_PUTS && writer->generation == generation; j++) {
            put_key(writer, first + i + j);
        }
        cr_assert_leq((uint64_t)taken_sum, TURN_BYTES, "puts from %u on: %" PRIu64 " bytes", i,
                      (uint64_t)taken_sum);
        cr_assert_leq(writer->copied_bytes - copied, TURN_PUTS * SX_STORE_COPY_MIN_BYTES);
    }
    cr_expect_eq(writer->generation, generation + 1);
}

Test(store, many_puts_of_a_turn_take_no_more_than_one_step_of_a_dictionary)
{
    enum { KEYS = 130000 };
    struct sx_store_writer writer;
    unsigned count = 0;

    test_store_create(&writer, 1, 1 << 20, false);
    while (count < KEYS || writer.renewal != NULL) {
        put_key(&writer, count++);
    }
    while (writer.renewal == NULL) {
        put_key(&writer, count++);
    }
    turns_expect(&writer, count, KEYS);
    sx_store_destroy(&writer);
}

Test(store, many_puts_of_a_turn_copy_no_more_than_one_long_value)
{
    static char bytes[SX_STORE_LONG_BYTES];
    const struct sx_cell cell = { .type = PMIX_BYTE_OBJECT, .len = sizeof(bytes) };
    struct sx_store_writer writer;

    test_store_create(&writer, 1, 64 << 20, false);
    for (uint32_t i = 0; writer.renewal == NULL; i++) {
        char key[16];

        cr_assert_leq(i, 64);
        snprintf(key, sizeof(key), "long.%u", i);
        cr_assert_eq(sx_store_put_flat(&writer, SX_REALM_JOB, 0, key, PMIX_GLOBAL, &cell, bytes),
                     PMIX_SUCCESS);
    }
    turns_expect(&writer, 0, 64 * TURN_PUTS * 8);
    sx_store_destroy(&writer);
}

/* Memory is out at any step of a renewal, and comes back.  What was put stays, and the next put is
 * stored or refused. */
Test(store, memory_that_is_out_in_a_step_loses_nothing)
{
    enum { KEYS = 20000, MORE = 4000 };

    for (unsigned steps = 0; steps < 10; steps++) {
        struct sx_store_writer writer;
        unsigned count = 0;
        pmix_status_t rc;

        test_store_create(&writer, 1, 1 << 20, false);
        while (count < KEYS || writer.renewal == NULL) {
            put_key(&writer, count++);
        }
        granted = steps;
        do {
            rc = test_put_number(&writer, SX_REALM_JOB, SX_ROW_JOB, key_of(count), count);
            count += rc == PMIX_SUCCESS;
        } while (rc == PMIX_SUCCESS);
        cr_assert_eq(rc, PMIX_ERR_OUT_OF_RESOURCE);
        expect_keys(&writer, count, 1);
        granted = UINT_MAX;
        for (unsigned i = 0; i < MORE; i++) {
            put_key(&writer, count++);
        }
        expect_keys(&writer, count, 1);
        sx_store_destroy(&writer);
    }
}

Test(store, a_million_cells)
{
    enum { ROWS = 25600, KEYS = 40 };
    struct sx_store_writer writer;
    struct sx_store reader;
    char key[32];

    test_store_create(&writer, ROWS, 0, false);
    for (uint64_t k = 0; k < KEYS; k++) {
        snprintf(key, sizeof(key), "key.%" PRIu64, k);
        for (uint32_t row = 0; row < ROWS; row++) {
            cr_assert_eq(test_put_number(&writer, SX_REALM_JOB, row, key, k * ROWS + row),
                         PMIX_SUCCESS);
        }
    }
    /* Once with the cells as they were put, once as the renewal has copied them. */
    for (unsigned round = 0; round < 2; round++) {
        test_attach(&reader, &writer);
        for (uint64_t k = 0; k < KEYS; k++) {
            snprintf(key, sizeof(key), "key.%" PRIu64, k);
            const sx_column column = sx_store_column(&reader, SX_REALM_JOB, key, strlen(key));
            cr_assert_neq(column, 0);
            for (uint32_t row = 0; row < ROWS; row++) {
                struct sx_item item;
                cr_assert_eq(sx_store_read(&reader, column, row, &item), PMIX_SUCCESS);
                cr_assert_eq(item.cell.bits, k * ROWS + row);
            }
        }
        sx_store_detach(&reader);
        cr_assert_eq(sx_store_renew(&writer), PMIX_SUCCESS);
    }
    sx_store_destroy(&writer);
}

struct test_count {
    unsigned calls, stop_at;
    uint64_t sum;
};

static bool test_count_each(void *arg, const char *key, const struct sx_item *item)
{
    struct test_count *const count = arg;

    cr_expect_eq(strncmp(key, "each.", 5), 0, "%s", key);
    count->sum += item->cell.bits;
    return ++count->calls != count->stop_at;
}

Test(store, each_visits_every_key_of_a_row_once)
{
    struct sx_store_writer writer;
    struct test_count count = { 0 };
    char key[32];

    test_store_create(&writer, 4, 0, true);
    for (unsigned i = 0; i < 500; i++) {
        snprintf(key, sizeof(key), "each.%u", i);
        cr_assert_eq(test_put_number(&writer, SX_REALM_JOB, i % 2, key, i), PMIX_SUCCESS);
        snprintf(key, sizeof(key), "node.%u", i);
        cr_assert_eq(test_put_number(&writer, SX_REALM_NODE, 0, key, i), PMIX_SUCCESS);
    }
    cr_assert_eq(sx_store_unset(&writer, SX_REALM_JOB, 0, "each.100"), PMIX_SUCCESS);
    sx_store_each(&writer.view, SX_REALM_JOB, 0, test_count_each, &count);
    cr_expect_eq(count.calls, 249);
    cr_expect_eq(count.sum, 249u * 250u - 100);
    count = (struct test_count){ .stop_at = 3 };
    sx_store_each(&writer.view, SX_REALM_JOB, 1, test_count_each, &count);
    cr_expect_eq(count.calls, 3, "false stops it");
    count = (struct test_count){ 0 };
    sx_store_each(&writer.view, SX_REALM_JOB, SX_ROW_JOB, test_count_each, &count);
    cr_expect_eq(count.calls, 0);
    sx_store_destroy(&writer);
}

Test(store, a_segment_reads_the_same_at_any_address)
{
    struct sx_store_writer writer;
    struct sx_store readers[3];

    test_store_create(&writer, 300, 1 << 20, false);
    for (size_t i = 0; i < SX_COUNT(readers); i++) {
        test_attach(&readers[i], &writer);
        for (size_t j = 0; j < i; j++) {
            cr_assert_neq(readers[i].seg.base, readers[j].seg.base);
        }
    }
    for (uint32_t row = 0; row < 300; row++) {
        cr_assert_eq(test_put_text(&writer, row, "text", 24 + row, row), PMIX_SUCCESS);
        cr_assert_eq(test_put_text(&writer, row, "text", 25 + row, row), PMIX_SUCCESS);
    }
    for (size_t i = 0; i < SX_COUNT(readers); i++) {
        for (uint32_t row = 0; row < 300; row++) {
            cr_expect_eq(test_text_at(&readers[i], row, "text"), row);
        }
        sx_store_detach(&readers[i]);
    }
    sx_store_destroy(&writer);
}

Test(store, a_row_beyond_the_directories_renews_the_store)
{
    struct sx_store_writer writer;

    test_store_create(&writer, 4, 1 << 20, false);
    cr_assert_eq(test_put_number(&writer, SX_REALM_NODE, 100000, "far", 1), PMIX_SUCCESS);
    cr_expect_eq(writer.generation, 1, "a single row has no directory");
    for (uint32_t row = 0; row < 4; row++) {
        cr_assert_eq(test_put_number(&writer, SX_REALM_JOB, row, "key", row), PMIX_SUCCESS);
    }
    cr_expect_eq(writer.generation, 1);
    cr_assert_eq(test_put_number(&writer, SX_REALM_JOB, 4, "key", 4), PMIX_SUCCESS);
    cr_expect_eq(writer.generation, 2);
    cr_expect_eq(writer.row_count, 8);
    cr_assert_eq(test_put_number(&writer, SX_REALM_JOB, 99999, "key", 99999), PMIX_SUCCESS);
    cr_expect_eq(writer.generation, 3);
    for (uint32_t row = 0; row < 5; row++) {
        cr_expect_eq(test_number(&writer.view, SX_REALM_JOB, row, "key"), row);
    }
    cr_expect_eq(test_number(&writer.view, SX_REALM_JOB, 99999, "key"), 99999);
    cr_expect_eq(test_number(&writer.view, SX_REALM_NODE, 100000, "far"), 1);
    cr_assert_eq(test_put_number(&writer, SX_REALM_JOB, SX_STORE_ROW_MAX - 1, "key", 5),
                 PMIX_SUCCESS);
    cr_expect_eq(test_number(&writer.view, SX_REALM_JOB, SX_STORE_ROW_MAX - 1, "key"), 5);
    sx_store_destroy(&writer);
}

/* Rows without a chunk are passed over, and the single row among them is not. */
Test(store, the_next_row_is_found_beyond_those_that_have_none)
{
    static const uint32_t rows[] = { 70000, 3, 5, 256, 40000, 65535 }; /* the first is the single */
    static const uint32_t sorted[] = { 3, 5, 256, 40000, 65535, 70000 };
    struct sx_store_writer writer;
    uint32_t row = 0;

    test_store_create(&writer, 1 << 17, 1 << 20, false);
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_assert_eq(test_put_number(&writer, SX_REALM_JOB, rows[i], "key", i), PMIX_SUCCESS);
    }
    const sx_column column = sx_store_column(&writer.view, SX_REALM_JOB, "key", 3);

    for (size_t i = 0; i < SX_COUNT(sorted); i++) {
        cr_assert_eq(sx_store_row_next(&writer.view, column, row, &row), PMIX_SUCCESS);
        cr_expect_eq(row++, sorted[i], "%zu", i);
    }
    cr_expect_eq(sx_store_row_next(&writer.view, column, row, &row), PMIX_ERR_NOT_FOUND);
    cr_assert_eq(test_put_number(&writer, SX_REALM_NODE, 40000, "single", 1), PMIX_SUCCESS);
    row = 0;
    cr_assert_eq(sx_store_row_next(&writer.view,
                                   sx_store_column(&writer.view, SX_REALM_NODE, "single", 6), row,
                                   &row),
                 PMIX_SUCCESS);
    cr_expect_eq(row, 40000);
    sx_store_destroy(&writer);
}

Test(store, a_renewed_store_has_all_values_no_garbage_and_names_its_successor)
{
    struct sx_store_writer writer;
    struct sx_store old, new;

    test_store_create(&writer, 8, 1 << 20, false);
    test_attach(&old, &writer);
    for (uint64_t n = 0; n < 20; n++) {
        for (uint32_t row = 0; row < 8; row++) {
            cr_assert_eq(test_put_text(&writer, row, "text", 100, n * 8 + row), PMIX_SUCCESS);
        }
        cr_assert_eq(test_put_text(&writer, SX_ROW_JOB, "job", 50, n), PMIX_SUCCESS);
    }
    cr_assert_eq(test_put_text(&writer, 3, "dead", 50, 1), PMIX_SUCCESS);
    cr_assert_eq(sx_store_unset(&writer, SX_REALM_JOB, 3, "dead"), PMIX_SUCCESS);
    cr_assert_eq(sx_store_unset(&writer, SX_REALM_JOB, 0, "text"), PMIX_SUCCESS);
    cr_assert_eq(sx_store_successor(&old), 0);
    cr_assert_eq(sx_store_renew(&writer), PMIX_SUCCESS);
    cr_expect_eq(writer.generation, 2);
    cr_expect_eq(writer.garbage_bytes, 0);
    cr_expect_eq(sx_store_successor(&old), 2);
    test_attach(&new, &writer);
    cr_expect_eq(sx_segment_header(&new.seg)->generation, 2);
    cr_expect_eq(sx_store_successor(&new), 0);
    for (uint32_t row = 1; row < 8; row++) {
        cr_expect_eq(test_text_at(&new, row, "text"), 19 * 8 + row);
        cr_expect_eq(test_text_at(&old, row, "text"), 19 * 8 + row, "the old one stays readable");
    }
    cr_expect_eq(test_text_at(&new, 0, "text"), UINT64_MAX);
    cr_expect_eq(test_text_at(&new, SX_ROW_JOB, "job"), 19);
    cr_expect_eq(sx_store_column(&new, SX_REALM_JOB, "dead", 4), 0, "a dead column is dropped");
    sx_store_detach(&old);
    sx_store_detach(&new);
    sx_store_destroy(&writer);
}

/* Said here once more, so that neither becomes what it was by accident. */
#define TEST_BLOB_BYTES (32u << 10)
#define TEST_GARBAGE_BYTES (UINT64_C(4) << 20)
#define TEST_SIZE_BYTES(rows) ((UINT64_C(16) << 20) + (rows)*UINT64_C(4096))

static void test_put_blob(struct sx_store_writer *writer, uint32_t row, int n)
{
    static uint8_t blob[TEST_BLOB_BYTES];
    const struct sx_cell cell = { .type = PMIX_BYTE_OBJECT, .len = sizeof(blob) };

    memset(blob, n, sizeof(blob));
    memcpy(blob, &n, sizeof(n));
    cr_assert_eq(sx_store_put_flat(writer, SX_REALM_JOB, row, "blob", PMIX_GLOBAL, &cell, blob),
                 PMIX_SUCCESS);
}

/* Each renewal costs every reader a message and a mapping. */
Test(store, renewals_are_rare)
{
    struct sx_store_writer writer;
    const int puts = 8000;

    test_store_create(&writer, 2, 0, false);
    for (int n = 0; n < puts; n++) {
        test_put_blob(&writer, 0, n);
        cr_assert_leq(writer.garbage_bytes, TEST_GARBAGE_BYTES + 2 * TEST_BLOB_BYTES);
    }
    cr_expect_gt(writer.generation, 1, "garbage is left behind");
    cr_expect_leq(writer.generation, 1 + puts * TEST_BLOB_BYTES / TEST_GARBAGE_BYTES);
    sx_store_destroy(&writer);
}

Test(store, garbage_has_to_outgrow_what_lives)
{
    enum { LIVE = 400 }; /* some 12 MiB */
    struct sx_store_writer writer;
    uint64_t generation;

    test_store_create(&writer, LIVE, 64 << 20, false);
    for (uint32_t row = 0; row < LIVE; row++) {
        test_put_blob(&writer, row, 0);
    }
    generation = writer.generation;
    for (int n = 1; writer.generation == generation; n++) {
        /* While the next generation is copied there comes some more. */
        cr_assert_leq(writer.garbage_bytes,
                      writer.live_bytes + writer.live_bytes / 3 + 2 * TEST_BLOB_BYTES);
        test_put_blob(&writer, 0, n);
        cr_assert_leq(n, LIVE + LIVE / 3 + 10);
        cr_assert(n >= LIVE - 10 || writer.generation == generation, "already after %d", n);
    }
    sx_store_destroy(&writer);
}

/* All of it is mapped by each reader. */
Test(store, a_store_is_no_larger_than_it_needs)
{
    enum { ROWS = 2000 };
    const uint64_t first = TEST_SIZE_BYTES(ROWS);
    struct sx_store_writer writer;

    test_store_create(&writer, ROWS, 0, false);
    cr_expect_leq(writer.view.seg.size_bytes, first);
    for (uint32_t row = 0; row < ROWS; row++) { /* 62 MiB */
        test_put_blob(&writer, row, 0);
        cr_assert(writer.view.seg.size_bytes <= first ||
                  writer.view.seg.size_bytes <=
                      4 * (writer.heap.next_off + 8 * TEST_BLOB_BYTES) + 8192);
    }
    cr_expect_leq(writer.generation, 3, "each growth is a copy of everything");
    for (uint32_t row = 1; row < ROWS; row++) {
        cr_assert_eq(sx_store_unset(&writer, SX_REALM_JOB, row, "blob"), PMIX_SUCCESS);
    }
    cr_expect_leq(writer.view.seg.size_bytes, first, "what has gone makes it small again");
    sx_store_destroy(&writer);
}

Test(store, a_large_job_has_room_from_the_beginning)
{
    struct sx_store_writer writer;

    test_store_create(&writer, 10000, 0, false);
    cr_expect_geq(writer.view.seg.size_bytes, UINT64_C(40) << 20);
    sx_store_destroy(&writer);
    test_store_create(&writer, SX_STORE_ROW_MAX, 0, false);
    cr_expect_leq(writer.view.seg.size_bytes, UINT64_C(256) << 20);
    sx_store_destroy(&writer);
}

Test(store, a_store_says_that_it_has_ended)
{
    struct sx_store_writer writer;
    struct sx_store old, new;
    const struct sx_store_options again = { .nspace = "job.7", .generation = 3 };

    test_store_create(&writer, 2, 0, false);
    test_put_blob(&writer, 0, 1);
    test_attach(&old, &writer);
    cr_assert_eq(sx_store_renew(&writer), PMIX_SUCCESS);
    test_attach(&new, &writer);
    sx_store_end(&writer);
    sx_store_destroy(&writer);
    cr_expect_eq(sx_store_successor(&old), 2);
    cr_expect_eq(sx_store_successor(&new), SX_SEGMENT_ENDED);
    sx_store_detach(&old);
    sx_store_detach(&new);

    cr_assert_eq(sx_store_create(&writer, &again), PMIX_SUCCESS);
    cr_expect_eq(writer.generation, 3);
    cr_expect_eq(sx_segment_header(&writer.view.seg)->generation, 3);
    cr_assert_eq(sx_store_renew(&writer), PMIX_SUCCESS);
    cr_expect_eq(sx_segment_header(&writer.view.seg)->generation, 4);
    sx_store_destroy(&writer);
}

Test(store, a_full_store_grows)
{
    struct sx_store_writer writer;
    char key[32];

    test_store_create(&writer, 2, 64 << 10, false);
    for (uint64_t i = 0; i < 5000; i++) {
        snprintf(key, sizeof(key), "key.%" PRIu64, i);
        cr_assert_eq(test_put_text(&writer, (uint32_t)(i % 2), key, 200, i), PMIX_SUCCESS);
    }
    cr_expect_gt(writer.generation, 1);
    cr_expect_geq(writer.view.seg.size_bytes, 1 << 20);
    for (uint64_t i = 0; i < 5000; i++) {
        snprintf(key, sizeof(key), "key.%" PRIu64, i);
        cr_assert_eq(test_text_at(&writer.view, (uint32_t)(i % 2), key), i);
    }
    sx_store_destroy(&writer);
}

Test(store, a_private_store_keeps_its_old_generations_until_destroy)
{
    struct sx_store_writer writer;
    struct sx_store views[8];
    size_t count = 0;
    int fd;

    test_store_create(&writer, 2, 64 << 10, true);
    cr_expect_eq(sx_segment_share(&writer.view.seg, &fd), PMIX_ERR_NOT_SUPPORTED);
    for (uint64_t n = 0; count < SX_COUNT(views); n++) {
        cr_assert_lt(n, 1000000);
        cr_assert_eq(test_put_text(&writer, 0, "text", 1000, n), PMIX_SUCCESS);
        if (writer.generation > count) {
            views[count++] = writer.view;
        }
    }
    for (size_t i = 0; i < SX_COUNT(views); i++) {
        cr_expect_neq(test_text_at(&views[i], 0, "text"), UINT64_MAX);
        cr_expect_eq(sx_store_successor(&views[i]), i + 1 < SX_COUNT(views) ? i + 2 : 0);
    }
    sx_store_destroy(&writer);
    sx_store_destroy(&writer);
}

/* A long random walk, compared with a plain table. */
Test(store, behaves_as_a_table_would)
{
    enum { KEYS = 37, ROWS = 70, STEPS = 60000 };
    static uint64_t model[KEYS][ROWS + 1];
    struct sx_store_writer writer;
    struct sx_store reader;
    uint64_t generation = 0;
    char key[32];

    srand(42);
    memset(model, 0xff, sizeof(model));
    test_store_create(&writer, 3, 64 << 10, false);
    reader = SX_STORE_NULL;
    for (unsigned step = 0; step < STEPS; step++) {
        const unsigned k = (unsigned)rand() % KEYS, r = (unsigned)rand() % (ROWS + 1);
        const uint32_t row = r == ROWS ? SX_ROW_JOB : r;
        snprintf(key, sizeof(key), "key.%u", k);
        if (generation != writer.generation) {
            sx_store_detach(&reader);
            test_attach(&reader, &writer);
            generation = writer.generation;
        }
        cr_assert_eq(test_text_at(&reader, row, key), model[k][r], "step %u", step);
        if (rand() % 4 == 0) {
            cr_assert_eq(sx_store_unset(&writer, SX_REALM_JOB, row, key),
                         model[k][r] == UINT64_MAX ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS);
            model[k][r] = UINT64_MAX;
        } else {
            model[k][r] = (uint64_t)rand() % 1000;
            cr_assert_eq(test_put_text(&writer, row, key, 24 + model[k][r] % 90, model[k][r]),
                         PMIX_SUCCESS);
        }
        if (generation == writer.generation) {
            cr_assert_eq(test_text_at(&reader, row, key), model[k][r], "step %u", step);
        }
    }
    cr_expect_gt(writer.generation, 3);
    sx_store_detach(&reader);
    sx_store_destroy(&writer);
}

/* ---- store bytes -----------------------------------------------------------------------------
 *
 * What a value of each rank costs: at most 1.5 times its bytes, and 32.
 *
 * A column with its key and slots, some 200 bytes, is shared by the ranks: hence 16 of them. */

#define KEYS 50u

/* Bytes of the store when each of @rank_count ranks has put @KEYS values of @size bytes. */
static uint64_t bytes_taken(uint32_t rank_count, uint32_t size)
{
    const struct sx_cell cell = { .type = PMIX_BYTE_OBJECT, .len = size };
    const struct sx_cell number = { .type = PMIX_UINT64, .bits = 7 };
    uint8_t *const bytes = calloc(1, size);
    struct sx_store_writer writer;
    char key[32];

    cr_assert_not_null(bytes);
    test_store_create(&writer, rank_count, UINT64_C(256) << 20, true);
    for (unsigned k = 0; k < KEYS; k++) {
        snprintf(key, sizeof(key), "btl.address.%u", k);
        for (uint32_t rank = 0; rank < rank_count; rank++) {
            cr_assert_eq(sx_store_put_flat(&writer, SX_REALM_JOB, rank, key, PMIX_GLOBAL,
                                           size == 8 ? &number : &cell, bytes),
                         PMIX_SUCCESS);
        }
    }
    const uint64_t taken = writer.heap.next_off;
    sx_store_destroy(&writer);
    free(bytes);
    return taken;
}

Test(store_bytes, per_rank_and_key_are_bounded)
{
    static const uint32_t ranks[] = { 16, 64, 1000 }, sizes[] = { 8, 20, 64, 1000, 4096 };

    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
            const double each = (double)bytes_taken(ranks[i], sizes[j]) / ((double)ranks[i] * KEYS);

            cr_expect_leq(each, 1.5 * sizes[j] + 32, "%u ranks, %u bytes: %.1f", ranks[i], sizes[j],
                          each);
        }
    }
}

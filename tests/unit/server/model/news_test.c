/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* news_test.c - what a client has put since the last fence: added, arrived, dropped. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "server/model/blob.h"

#define SMALL 56u /* with its length 64 bytes */
#define LARGE ((size_t)3 << 20)

static char *message(size_t size, char what)
{
    char *const bytes = malloc(size);

    cr_assert_not_null(bytes);
    memset(bytes, what, size);
    return bytes;
}

static void add(struct sx_news *news, size_t size, char what)
{
    char *const bytes = message(size, what);

    cr_assert_eq(sx_news_add(news, bytes, size), PMIX_SUCCESS);
    free(bytes);
}

/* Expect a message of @size times @what at the position @at.  Return: the position behind it. */
static uint64_t expect(const struct sx_news *news, uint64_t at, size_t size, char what)
{
    const char *const bytes = sx_news_at(news, at);
    char *const wanted = message(size, what);
    uint64_t length;

    memcpy(&length, bytes, sizeof(length));
    cr_expect_eq(length, size);
    cr_expect_eq(memcmp(bytes + sizeof(length), wanted, size), 0, "the message of %c", what);
    free(wanted);
    return at + sizeof(length) + size;
}

Test(news, that_have_arrived_leave_the_others_where_they_are)
{
    struct sx_news news = { .begin = 0 };

    add(&news, SMALL, 'a');
    const uint64_t sent = sx_news_end(&news);

    add(&news, SMALL, 'b');
    const char *const at = sx_news_at(&news, sent);

    sx_news_arrived(&news, sent);
    cr_expect_eq(sx_news_at(&news, news.gone), at, "nothing was moved");
    cr_expect_eq(expect(&news, sent, SMALL, 'b'), sx_news_end(&news));
    sx_news_arrived(&news, sent);
    sx_news_arrived(&news, sent - 1);
    cr_expect_eq(news.gone, sent, "they arrive once");
    sx_news_drop(&news);
    cr_expect_eq(news.gone, sent + 64);
    cr_expect_null(news.pages.at);
}

Test(news, that_have_arrived_give_their_memory_back)
{
    struct sx_news news = { .begin = 0 };
    uint64_t sent = 0;

    for (unsigned i = 0; i < 4; i++) {
        sent = i == 3 ? sx_news_end(&news) : sent;
        add(&news, LARGE, (char)('a' + i));
    }
    const size_t before = news.pages.size;

    sx_news_arrived(&news, sent);
    cr_expect_leq(news.pages.size, before - 2 * LARGE);
    cr_expect_eq(expect(&news, sent, LARGE, 'd'), sx_news_end(&news));
    add(&news, LARGE, 'e');
    (void)expect(&news, expect(&news, sent, LARGE, 'd'), LARGE, 'e');
    sx_news_arrived(&news, sx_news_end(&news));
    cr_expect_eq(news.pages.size, 0);
    add(&news, SMALL, 'f');
    (void)expect(&news, news.gone, SMALL, 'f');
    sx_news_drop(&news);
}

/* As long as the last ones are few, the pages do not grow. */
Test(news, use_the_room_of_those_that_have_arrived)
{
    struct sx_news news = { .begin = 0 };

    add(&news, SMALL, '0');
    const size_t size = news.pages.size;

    for (unsigned i = 1; i < 1000; i++) {
        const uint64_t sent = sx_news_end(&news);

        add(&news, SMALL, (char)i);
        sx_news_arrived(&news, sent);
        (void)expect(&news, news.gone, SMALL, (char)i);
    }
    cr_expect_eq(news.pages.size, size);
    sx_news_drop(&news);
}

/* What happens while a message is copied: others are added (with a move to the front, too), and
 * all before it arrive. */
Test(news, are_added_in_steps_whatever_happens_meanwhile)
{
    enum { NOTHING, ADDED, MOVED, ARRIVED, DROPPED, WAYS };
    char *const long_one = message(10 * SMALL, 'z');

    for (unsigned way = NOTHING; way < WAYS; way++) {
        struct sx_news news = { .begin = 0 };
        struct sx_news_copy copy = { .copied = 0 };
        size_t left = SMALL;
        unsigned steps = 1;

        for (unsigned i = 0; i < 6; i++) {
            add(&news, SMALL, (char)('a' + i));
        }
        sx_news_arrived(&news, way == MOVED ? 6 * 64 : 64);
        cr_expect_eq(sx_news_add_step(&news, &copy, long_one, 10 * SMALL, &left),
                     PMIX_ERR_WOULD_BLOCK);
        cr_expect_eq(left, 0);
        for (unsigned i = 0; (way == ADDED && i < 1) || (way == MOVED && i < 30); i++) {
            add(&news, SMALL, (char)i);
            sx_news_arrived(&news, way == MOVED ? sx_news_end(&news) - 64 : 0);
        }
        if (way == ARRIVED) {
            sx_news_arrived(&news, sx_news_end(&news));
        }
        if (way == DROPPED) {
            sx_news_drop(&news);
        }
        for (left = SMALL;
             sx_news_add_step(&news, &copy, long_one, 10 * SMALL, &left) == PMIX_ERR_WOULD_BLOCK;
             left = SMALL) {
            cr_assert_lt(steps++, 20u);
        }
        cr_expect(way == ADDED || way == MOVED || way == DROPPED || steps == 9, "%u", steps);
        const uint64_t before = sx_news_end(&news);

        if (way == ARRIVED) { /* once more: it does not count yet */
            sx_news_arrived(&news, before);
        }
        sx_news_count(&news, &copy);
        cr_expect_eq(sx_news_end(&news), before + 8 + 10 * SMALL);
        sx_news_count(&news, &copy);
        cr_expect_eq(sx_news_end(&news), before + 8 + 10 * SMALL, "once");
        (void)expect(&news, sx_news_end(&news) - 8 - 10 * SMALL, 10 * SMALL, 'z');
        sx_news_drop(&news);
    }
    free(long_one);
}

Test(news, of_which_all_are_dropped_do_not_count_the_one_that_was_copied)
{
    struct sx_news news = { .begin = 0 };
    struct sx_news_copy copy = { .copied = 0 };
    char bytes[SMALL] = { 0 };
    size_t left = SMALL;

    add(&news, SMALL, 'a');
    cr_assert_eq(sx_news_add_step(&news, &copy, bytes, SMALL, &left), PMIX_SUCCESS);
    sx_news_drop(&news);
    sx_news_count(&news, &copy);
    cr_expect_eq(sx_news_end(&news), 64);
    cr_expect_eq(news.gone, 64);
}

#define REFERENCE_BYTES (sizeof(uint64_t) + sizeof(struct sx_news_reference))

Test(news, refer_once_to_a_key_that_is_put_again)
{
    struct sx_news news = { .begin = 0 };

    cr_assert_eq(sx_news_refer(&news, "long"), PMIX_SUCCESS);
    cr_assert_eq(sx_news_refer(&news, "long"), PMIX_SUCCESS);
    cr_expect_eq(sx_news_end(&news), REFERENCE_BYTES);
    sx_news_arrived(&news, sx_news_end(&news));
    cr_assert_eq(sx_news_refer(&news, "long"), PMIX_SUCCESS);
    cr_expect_eq(sx_news_end(&news), 2 * REFERENCE_BYTES, "it was put after that");
    sx_news_drop(&news);
}

/* Return: the position of the newer one, of the reference of this number. */
static uint64_t newer(const struct sx_news *news, unsigned number)
{
    const void *const at = sx_news_at(news, number * REFERENCE_BYTES);

    return ((const struct sx_news_reference *)(const void *)((const uint64_t *)at + 1))->newer;
}

Test(news, have_the_newer_one_of_each_reference)
{
    static const char *const keys[] = { "a", "b", "c", "b", "a", "b", "c" };
    static const uint64_t wanted[SX_COUNT(keys)] = { 4, 3, 6, 5, 0, 0, 0 };
    struct sx_news news = { .begin = 0 };

    for (unsigned i = 0; i < SX_COUNT(keys); i++) {
        cr_assert_eq(sx_news_refer(&news, keys[i]), PMIX_SUCCESS);
        if (i == 3) { /* the first two go */
            cr_expect_eq(newer(&news, 0), 0);
            cr_expect_eq(newer(&news, 1), 3 * REFERENCE_BYTES);
            sx_news_arrived(&news, 2 * REFERENCE_BYTES);
        }
    }
    for (unsigned i = 2; i < SX_COUNT(keys); i++) {
        cr_expect_eq(newer(&news, i), wanted[i] * REFERENCE_BYTES, "%u", i);
    }
    sx_news_drop(&news);
}

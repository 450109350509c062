/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_words_test.c - what a rank gives is found, and there is an end to it. */
#include "launch/pmi/pmi1_words.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(run_pmi1_words, the_last_value_counts)
{
    struct sx_run_pmi1_words words;

    sx_run_pmi1_words_init(&words, 2);
    cr_expect_null(sx_run_pmi1_words_get(&words, "key"));
    cr_expect(sx_run_pmi1_words_put(&words, 0, "key", "first"));
    cr_expect(sx_run_pmi1_words_put(&words, 1, "key", "second"));
    cr_expect_str_eq(sx_run_pmi1_words_get(&words, "key"), "second");
    cr_expect_eq(words.used[0], 0);
    sx_run_pmi1_words_deinit(&words);
    sx_run_pmi1_words_deinit(&words);
}

Test(run_pmi1_words, a_rank_that_has_filled_its_room_leaves_the_others_theirs)
{
    struct sx_run_pmi1_words words;
    char key[32], value[1024];
    int count = 0;

    memset(value, 'v', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    sx_run_pmi1_words_init(&words, 2);
    do {
        snprintf(key, sizeof(key), "key-%d", count++);
    } while (count < 2048 && sx_run_pmi1_words_put(&words, 0, key, value));
    cr_expect_lt(count, 1024);
    cr_expect_leq(words.used[0], SX_RUN_PMI1_RANK_BYTES_MAX);
    cr_expect(sx_run_pmi1_words_put(&words, 0, "key-0", value), "in place of its own");
    cr_expect(sx_run_pmi1_words_put(&words, 1, key, value), "of another rank");
    sx_run_pmi1_words_deinit(&words);
}

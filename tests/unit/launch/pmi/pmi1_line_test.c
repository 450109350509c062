/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_line_test.c - lines of PMI-1 are cut into words, and garbage is none. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "launch/pmi/pmi1_line.h"

static const struct {
    const char *why, *text;
    size_t count; /* 0: refused */
    const char *key, *value;
} rows[] = {
    { "a command alone", "cmd=get_maxes", 1, "cmd", "get_maxes" },
    { "words", "cmd=put kvsname=a key=k value=v", 4, "value", "v" },
    { "blanks around", "  cmd=init   pmi_version=1 ", 2, "pmi_version", "1" },
    { "an empty value", "cmd=put value= key=k", 3, "value", "" },
    { "a value with equals signs", "cmd=put value=a=b==", 2, "value", "a=b==" },
    { "a blank behind a backslash", "cmd=put value=a\\ b key=k", 3, "value", "a\\ b" },
    { "a backslash at the end", "cmd=put value=a\\", 2, "value", "a\\" },
    { "a message of several words", "cmd=abort exitcode=1 message=it is over", 3, "message",
      "it is over" },
    { "a message that is not printable", "cmd=abort exitcode=1 message=it\ris \x1bover", 3,
      "message", "it?is ?over" },
    { "the first of two", "cmd=a key=1 key=2", 3, "key", "1" },
    { "nothing", "", 0, NULL, NULL },
    { "blanks alone", "   ", 0, NULL, NULL },
    { "no equals sign", "hello", 0, NULL, NULL },
    { "a word without one", "cmd=put hello", 0, NULL, NULL },
    { "no key", "=init", 0, NULL, NULL },
    { "a control character", "cmd=\x1b[2J", 0, NULL, NULL },
    { "too many words", "a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1 k=1 l=1 m=1 n=1 o=1 p=1 q=1", 0,
      NULL, NULL },
};

Test(run_pmi1_line, cuts_words_and_refuses_garbage)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        char text[256];
        struct sx_run_pmi1_line line;

        snprintf(text, sizeof(text), "%s", rows[i].text);
        const bool taken = sx_run_pmi1_line_parse(&line, text);

        cr_expect_eq(taken, rows[i].count > 0, "%s", rows[i].why);
        if (taken && rows[i].count > 0) {
            cr_expect_eq(line.count, rows[i].count, "%s", rows[i].why);
            cr_assert_not_null(sx_run_pmi1_line_get(&line, rows[i].key), "%s", rows[i].why);
            cr_expect_str_eq(sx_run_pmi1_line_get(&line, rows[i].key), rows[i].value, "%s",
                             rows[i].why);
            cr_expect_null(sx_run_pmi1_line_get(&line, "other"), "%s", rows[i].why);
        }
    }
}

/* ---- pmi1 words test ------------------------------------------------------------------------- */

/* What a rank gives is found, and there is an end to it. */

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

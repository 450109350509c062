/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* options_test.c - every row of every verb is whole, and what a refusal says to try is taken.  How
 * command lines are refused is in tests/system/run/answers.tsv. */
#include "launch/common/options.h"
#include "launch/serve/serve.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"
#include "launch/ask/options.h"

static const struct sx_verb *const verbs[] = {
    &sx_run_verb,   &sx_events_verb, &sx_events_inject_verb, &sx_get_verb,   &sx_ctl_verb,
    &sx_log_verb,   &sx_ls_verb,     &sx_mem_verb,           &sx_bench_verb, &sx_gateway_verb,
    &sx_top_verb,   &sx_doctor_verb, &sx_query_verb,         &sx_wrap_verb,  &sx_completion_verb,
    &sx_stack_verb, &sx_trace_verb,  &sx_serve_verb,
};

/* Large enough for what any verb is asked, as a whole and for a part. */
static _Alignas(max_align_t) char wishes[SX_COUNT(verbs)][2][1 << 16];

Test(options, every_row_says_what_it_wants_and_has_an_example)
{
    for (size_t i = 0; i < SX_COUNT(verbs); i++) {
        for (size_t k = 0; k < verbs[i]->option_count; k++) {
            const struct sx_option *const row = &verbs[i]->options[k];

            if (row->name == NULL || row->name[0] != '-') {
                cr_expect(row->name == NULL ||
                          (row->set != NULL ? row->wants != NULL : row->help != NULL));
                continue;
            }
            cr_expect(row->help != NULL || row->wants != NULL, "%s %s", verbs[i]->name, row->name);
            cr_expect_eq(row->value != NULL, row->wants != NULL && row->example != NULL, "%s %s",
                         verbs[i]->name, row->name);
        }
    }
}

/* As a shell has it: blanks between quotes belong to the word.  Return: NULL behind the last. */
static char *word_next(char **rest)
{
    const bool quoted = *rest != NULL && **rest == '\'';

    *rest += quoted;
    return strsep(rest, quoted ? "'" : " ");
}

Test(options, what_is_said_to_try_is_taken)
{
    for (size_t i = 0; i < SX_COUNT(verbs); i++) {
        for (size_t k = 0; k < verbs[i]->option_count; k++) {
            const struct sx_option *const row = &verbs[i]->options[k];
            char line[256], *words[16] = { NULL }, **at = words, *rest = line, *word;
            size_t count = 0;

            if (row->name == NULL || row->name[0] != '-') {
                continue;
            }
            const char *const example = row->example == NULL ? "" : row->example;

            if (strcmp(example, "--help") == 0) {
                continue; /* which every verb takes, and ends with */
            }

            snprintf(line, sizeof(line), "%s %s %s%s", verbs[i]->try_begin + strlen(verbs[i]->name),
                     example[0] == '-' ? "" : row->name, example, verbs[i]->try_end);
            while ((word = word_next(&rest)) != NULL) {
                if (word[0] != '\0') {
                    words[count++] = word;
                }
            }
            memset(wishes[i], 0, sizeof(wishes[i]));
            cr_expect_eq(sx_options_take(verbs[i], wishes[i][0], wishes[i][1], &at),
                         SX_OPTIONS_TAKEN, "%s %s", verbs[i]->name, row->name);
        }
    }
}

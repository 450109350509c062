/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_line.h - one line of PMI-1, as a rank writes it.
 *
 *     cmd=put kvsname=JOB key=NAME value=WORD      a command and its words
 *     mcmd=spawn                                   a command whose words have a line each ...
 *     nprocs=2
 *     endcmd                                       ... up to here
 *
 * One blank or more separates words.  A value ends at a blank, unless a backslash stands before it;
 * the value of "message" takes the rest of the line. */
#ifndef SX_LAUNCH_PMI_PMI1_LINE_H
#define SX_LAUNCH_PMI_PMI1_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SX_RUN_PMI1_LINE_MAX 4096u /* without its end */
#define SX_RUN_PMI1_WORDS_MAX 16u

struct sx_run_pmi1_word {
    const char *key, *value;
};

struct sx_run_pmi1_line {
    struct sx_run_pmi1_word words[SX_RUN_PMI1_WORDS_MAX];
    size_t count;
};

/* Cut @text, one line without its end, into words that point into it.  Return: false when the line
 * is empty, has too many words, a word that is not KEY=VALUE, or a character that is not printable
 * outside of its message. */
bool sx_run_pmi1_line_parse(struct sx_run_pmi1_line *line, char *text);

/* Return: the value of the first word with @key, or NULL. */
const char *sx_run_pmi1_line_get(const struct sx_run_pmi1_line *line, const char *key);

#endif

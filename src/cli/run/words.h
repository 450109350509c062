/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* words.h - what a word that the command does not know was meant to be. */
#ifndef SX_CLI_RUN_WORDS_H
#define SX_CLI_RUN_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define SX_RUN_WORD_MAX 64 /* longer words are not compared for likeness */

/* Of the @count words of @list the one that @word is most likely to be, or NULL. */
const char *sx_run_suggest(const char *word, const char *const *list, size_t count);

/* Whether the first @len bytes of @word are the option @name.  Long ones may have a single dash, as
 * for mpirun. */
bool sx_run_words_name(const char *name, const char *word, size_t len);

/* The option of ours that users of mpirun and srun mean by @option, or NULL. */
const char *sx_run_words_habit(const char *option);

/* What to say of @option of mpirun or srun that has none of ours in its place, behind its name; or
 * NULL. */
const char *sx_run_words_answer(const char *option);

#endif

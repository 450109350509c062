/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* run_words.h - what a word that the command does not know was meant to be. */
#ifndef SX_CLI_RUN_WORDS_H
#define SX_CLI_RUN_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define SX_RUN_WORD_MAX 64 /* longer words are not compared for likeness */

/* Of the @count words of @list the one that @word is most likely to be, or NULL. */
const char *sx_run_suggest(const char *word, const char *const *list, size_t count);

/* The option of ours that users of mpirun and srun mean by @option, or NULL. */
const char *sx_run_words_habit(const char *option);

/* Whether @option of another launcher names nodes or deals ranks out to them. */
bool sx_run_words_means_nodes(const char *option);

#endif

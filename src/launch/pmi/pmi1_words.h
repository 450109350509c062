/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_words.h - pairs of texts that ranks have given: what a job's ranks put for each other.
 *
 * A pair belongs to the rank that gave it last, and each rank has room for so many bytes. */
#ifndef SX_LAUNCH_PMI_PMI1_WORDS_H
#define SX_LAUNCH_PMI_PMI1_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

#define SX_RUN_PMI1_KEY_MAX_BYTES 64 /* with their ends; these are what MPICH's own launcher says */
#define SX_RUN_PMI1_VALUE_MAX_BYTES 1024
#define SX_RUN_PMI1_RANK_BYTES_MAX (1u << 20) /* of pairs of one rank, with what they cost */

/* Zeroed is empty, for no rank. */
struct sx_run_pmi1_words {
    struct sx_table table;
    uint64_t seed;
    size_t *used; /* by rank, bytes */
};

void sx_run_pmi1_words_init(struct sx_run_pmi1_words *words, uint32_t rank_count);
void sx_run_pmi1_words_deinit(
    struct sx_run_pmi1_words *words); /* safe on a zeroed one, and twice */

/* In place of a former value.  Return: false when @rank has no room for it. */
bool sx_run_pmi1_words_put(struct sx_run_pmi1_words *words, uint32_t rank, const char *key,
                           const char *value);
/* Return: the value, until the next call that changes one; or NULL. */
const char *sx_run_pmi1_words_get(const struct sx_run_pmi1_words *words, const char *key);

#endif

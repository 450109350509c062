/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* pmi1_words.h - pairs of texts that the ranks of a job have put for each other.
 *
 * A pair belongs to the rank that put it last, and the bytes of each rank are bounded. */
#ifndef SX_LAUNCH_PMI_PMI1_WORDS_H
#define SX_LAUNCH_PMI_PMI1_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

#define SX_RUN_PMI1_KEY_MAX_BYTES 64 /* with the end; MPICH's own launcher has the same limits */
#define SX_RUN_PMI1_VALUE_MAX_BYTES 1024
#define SX_RUN_PMI1_RANK_BYTES_MAX (1u << 20) /* of pairs of one rank, with their cost */

/* A zeroed table is empty, and for no rank. */
struct sx_run_pmi1_words {
    struct sx_table table;
    uint64_t seed;
    size_t *used; /* bytes of each rank */
};

void sx_run_pmi1_words_init(struct sx_run_pmi1_words *words, uint32_t rank_count);
void sx_run_pmi1_words_deinit(
    struct sx_run_pmi1_words *words); /* safe on a zeroed one, and twice */

/* Store a pair, in place of a former value.  Return: false when @rank has no room for it. */
bool sx_run_pmi1_words_put(struct sx_run_pmi1_words *words, uint32_t rank, const char *key,
                           const char *value);
/* Return: the value, valid until the next call that changes one; or NULL. */
const char *sx_run_pmi1_words_get(const struct sx_run_pmi1_words *words, const char *key);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* results.h - the newest ends of a client's collectives, for a client that the ring has lapped.
 *
 * A client reads the ring in its order.  So the ends that it has not read are the newest, and no
 * more than it has operations under way.  Each arrival contains that number, and as many ends are
 * kept. */
#ifndef SX_SERVER_MODEL_RESULTS_H
#define SX_SERVER_MODEL_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sx_result {
    uint32_t op;
    int32_t status;
    uint64_t subject; /* ring/record.h */
};

/* A circle; zeroed is empty. */
struct sx_results {
    struct sx_result *all;
    size_t capacity; /* a power of two, or 0 */
    uint64_t count;  /* that there ever were */
};

void sx_results_clear(struct sx_results *results);

/* Keep @count at least.  Return: false when memory is out. */
bool sx_results_reserve(struct sx_results *results, size_t count);
void sx_results_keep(struct sx_results *results, struct sx_result result);

/* How many are there, and the one at @index, from the oldest. */
size_t sx_results_count(const struct sx_results *results);
struct sx_result sx_results_at(const struct sx_results *results, size_t index);

#endif

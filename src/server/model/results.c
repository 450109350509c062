/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* results.c - a circular buffer that grows. */
#include "server/model/nspace.h"

#include <stdlib.h>

#define FIRST 16u

void sx_results_clear(struct sx_results *results)
{
    free(results->all);
    *results = (struct sx_results){ .all = NULL };
}

bool sx_results_reserve(struct sx_results *results, size_t count)
{
    size_t capacity = results->capacity == 0 ? FIRST : results->capacity;

    if (results->capacity >= count && results->capacity > 0) {
        return true;
    }
    const size_t kept = sx_results_count(results);

    while (capacity < count) {
        capacity *= 2;
    }
    struct sx_result *const all = malloc(capacity * sizeof(*all));

    if (all == NULL) {
        return false;
    }
    for (size_t i = 0; i < kept; i++) {
        all[i] = sx_results_at(results, i);
    }
    free(results->all);
    *results = (struct sx_results){ .all = all, .capacity = capacity, .count = kept };
    return true;
}

void sx_results_keep(struct sx_results *results, struct sx_result result)
{
    if (results->capacity > 0) {
        results->all[results->count++ & (results->capacity - 1)] = result;
    }
}

size_t sx_results_count(const struct sx_results *results)
{
    return results->count < results->capacity ? (size_t)results->count : results->capacity;
}

struct sx_result sx_results_at(const struct sx_results *results, size_t index)
{
    const uint64_t oldest = results->count - sx_results_count(results);

    return results->all[(oldest + index) & (results->capacity - 1)];
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store_bytes_test.c - what a value of each rank costs: at most 1.5 times its bytes, and 32.
 *
 * A column with its key and slots, some 200 bytes, is shared by the ranks: hence 16 of them. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "store_util.h"

#define KEYS 50u

/* Bytes of the store when each of @rank_count ranks has put @KEYS values of @size bytes. */
static uint64_t bytes_taken(uint32_t rank_count, uint32_t size)
{
    const struct sx_cell cell = { .type = PMIX_BYTE_OBJECT, .len = size };
    const struct sx_cell number = { .type = PMIX_UINT64, .bits = 7 };
    uint8_t *const bytes = calloc(1, size);
    struct sx_store_writer writer;
    char key[32];

    cr_assert_not_null(bytes);
    test_store_create(&writer, rank_count, UINT64_C(256) << 20, true);
    for (unsigned k = 0; k < KEYS; k++) {
        snprintf(key, sizeof(key), "btl.address.%u", k);
        for (uint32_t rank = 0; rank < rank_count; rank++) {
            cr_assert_eq(sx_store_put_flat(&writer, SX_REALM_JOB, rank, key, PMIX_GLOBAL,
                                           size == 8 ? &number : &cell, bytes),
                         PMIX_SUCCESS);
        }
    }
    const uint64_t taken = writer.heap.next_off;
    sx_store_destroy(&writer);
    free(bytes);
    return taken;
}

Test(store_bytes, per_rank_and_key_are_bounded)
{
    static const uint32_t ranks[] = { 16, 64, 1000 }, sizes[] = { 8, 20, 64, 1000, 4096 };

    for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
        for (size_t j = 0; j < sizeof(sizes) / sizeof(sizes[0]); j++) {
            const double each = (double)bytes_taken(ranks[i], sizes[j]) / ((double)ranks[i] * KEYS);

            cr_expect_leq(each, 1.5 * sizes[j] + 32, "%u ranks, %u bytes: %.1f", ranks[i], sizes[j],
                          each);
        }
    }
}

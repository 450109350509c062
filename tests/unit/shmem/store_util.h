/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* store_util.h - values by number, for the tests of the store: easy to make, easy to judge. */
#ifndef SX_TEST_STORE_UTIL_H
#define SX_TEST_STORE_UTIL_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "shmem/store.h"

#define TEST_TEXT_MAX 1536

static inline void test_store_create(struct sx_store_writer *writer, uint32_t row_count,
                                     uint64_t reserve_bytes, bool private_memory)
{
    const struct sx_store_options options = { .nspace = "job.7",
                                              .row_count = row_count,
                                              .reserve_bytes = reserve_bytes,
                                              .private_memory = private_memory };

    cr_assert_eq(sx_store_create(writer, &options), PMIX_SUCCESS);
}

/* Text number @n: its number and then bytes that follow from it, so that a mixture of two texts
 * is noticed.  @len counts the NUL and is at least 24. */
static inline void test_text(char *text, size_t len, uint64_t n)
{
    const int head = snprintf(text, len, "%" PRIu64 ".", n);

    memset(text + head, 'a' + (int)(n % 26), len - (size_t)head - 1);
    text[len - 1] = '\0';
}

/* Return: the number of a whole text, UINT64_MAX for anything else. */
static inline uint64_t test_text_number(const struct sx_item *item)
{
    char want[TEST_TEXT_MAX];
    uint64_t n;

    if (item->cell.type != PMIX_STRING || item->cell.len < 24 || item->cell.len > sizeof(want) ||
        memchr(item->body, '\0', item->cell.len) == NULL ||
        sscanf(item->body, "%" SCNu64, &n) != 1) {
        return UINT64_MAX;
    }
    test_text(want, item->cell.len, n);
    return memcmp(want, item->body, item->cell.len) == 0 ? n : UINT64_MAX;
}

static inline pmix_status_t test_put_text(struct sx_store_writer *writer, uint32_t row,
                                          const char *key, size_t len, uint64_t n)
{
    char text[TEST_TEXT_MAX];
    const struct sx_cell cell = { .type = PMIX_STRING, .len = (uint32_t)len };

    test_text(text, len, n);
    return sx_store_put_flat(writer, SX_REALM_JOB, row, key, PMIX_GLOBAL, &cell, text);
}

static inline pmix_status_t test_put_number(struct sx_store_writer *writer, enum sx_realm realm,
                                            uint32_t row, const char *key, uint64_t n)
{
    const struct sx_cell cell = { .type = PMIX_UINT64, .bits = n };

    return sx_store_put_flat(writer, realm, row, key, PMIX_GLOBAL, &cell, NULL);
}

/* Return: the number stored, UINT64_MAX when there is none. */
static inline uint64_t test_number(const struct sx_store *store, enum sx_realm realm, uint32_t row,
                                   const char *key)
{
    struct sx_item item;

    if (sx_store_find(store, realm, row, key, &item) != PMIX_SUCCESS ||
        item.cell.type != PMIX_UINT64) {
        return UINT64_MAX;
    }
    return item.cell.bits;
}

static inline uint64_t test_text_at(const struct sx_store *store, uint32_t row, const char *key)
{
    struct sx_item item;

    if (sx_store_find(store, SX_REALM_JOB, row, key, &item) != PMIX_SUCCESS) {
        return UINT64_MAX;
    }
    return test_text_number(&item);
}

/* Attach what @writer shares now. */
static inline void test_attach(struct sx_store *store, const struct sx_store_writer *writer)
{
    int fd = -1;

    cr_assert_eq(sx_segment_share(&writer->view.seg, &fd), PMIX_SUCCESS);
    cr_assert_eq(sx_store_attach(store, fd), PMIX_SUCCESS);
    close(fd);
}

#endif

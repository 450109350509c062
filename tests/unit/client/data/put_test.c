/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* put_test.c - the list of values not committed yet, byte by byte as the server will read it. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/value/value.h"
#include "client/data/data.h"
#include "ring/record.h"

static void append_string(struct sx_puts *puts, const char *key, const char *text)
{
    const pmix_value_t value = { .type = PMIX_STRING, .data.string = (char *)(uintptr_t)text };
    const void *body;
    struct sx_cell cell;

    cr_assert_eq(sx_puts_append(puts, PMIX_GLOBAL, key, strlen(key), &value, &cell, &body),
                 PMIX_SUCCESS);
    cr_expect_eq(cell.type, PMIX_STRING);
    cr_expect_eq(cell.len, strlen(text) + 1);
    cr_expect_str_eq(body, text);
}

Test(put, messages_stand_back_to_back)
{
    struct sx_puts puts = { 0 };
    struct sx_lane_put put;
    uint64_t len;

    append_string(&puts, "k", "value");
    append_string(&puts, "a longer key", "");
    memcpy(&len, puts.bytes, sizeof(len));
    cr_expect_eq(len, sizeof(put) + 8 + 8);
    memcpy(&put, puts.bytes + 8, sizeof(put));
    cr_expect_eq(put.key_len, 1);
    cr_expect_eq(put.scope, PMIX_GLOBAL);
    cr_expect_eq(put.cell.len, 6u);
    cr_expect_eq(memcmp(puts.bytes + 8 + sizeof(put), "k\0\0\0\0\0\0\0value\0\0\0", 16), 0);
    memcpy(&len, puts.bytes + 8 + len, sizeof(len));
    cr_expect_eq(len, sizeof(put) + 16 + 8);
    cr_expect_eq(puts.used_bytes, 8 + sizeof(put) + 16 + 8 + len);
    sx_puts_deinit(&puts);
}

Test(put, the_list_grows_and_survives_a_refused_value)
{
    pmix_value_t pointer = { .type = PMIX_POINTER, .data.ptr = &pointer };
    struct sx_puts puts = { 0 };
    struct sx_cell cell;
    const void *body;
    char key[32];

    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof(key), "key.%d", i);
        append_string(&puts, key, "some text that takes room");
    }
    const size_t before = puts.used_bytes;
    cr_expect_neq(sx_puts_append(&puts, PMIX_LOCAL, "p", 1, &pointer, &cell, &body), PMIX_SUCCESS);
    cr_expect_eq(puts.used_bytes, before);
    cr_expect_geq(puts.size_bytes, before);
    sx_puts_deinit(&puts);
    sx_puts_deinit(&puts);
}

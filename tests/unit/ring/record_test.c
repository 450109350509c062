/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* record_test.c - a process is read only where all of it is there. */
#include <criterion/criterion.h>
#include <string.h>

#include <pmix_common.h>

#include "base/util.h"
#include "ring/record.h"

static struct {
    uint32_t rank, name_len;
    char name[512];
} bytes = { .rank = 7 };

static size_t read_named(const char *name, uint32_t name_len, size_t left)
{
    struct sx_proc_ref proc;

    memset(bytes.name, 0, sizeof(bytes.name));
    memcpy(bytes.name, name, strlen(name));
    bytes.name_len = name_len;
    const size_t size = sx_proc_ref_read(&bytes, left, &proc);

    if (size != 0) {
        cr_expect_eq(proc.rank, 7);
        cr_expect_eq(proc.name_len, name_len);
        cr_expect_eq(proc.name, bytes.name);
    }
    return size;
}

Test(record, a_process_is_read_where_all_of_it_is_there)
{
    static const struct {
        const char *why, *name;
        uint32_t name_len;
        size_t left, want;
    } rows[] = {
        { "shortest", "a", 1, 16, 16 },
        { "no padding needed", "abcdefgh", 8, 16, 16 },
        { "more behind it", "abc", 3, 64, 16 },
        { "no bytes", "a", 1, 0, 0 },
        { "half a head", "a", 1, 7, 0 },
        { "no room for the name", "a", 1, 8, 0 },
        { "no room for the padding", "a", 1, 15, 0 },
        { "no name", "", 0, 16, 0 },
        { "a NUL in the name", "ab", 3, 16, 0 },
        { "a name past the bytes", "abcdefghi", 9, 16, 0 },
        { "a length that wraps when padded", "a", UINT32_MAX, 520, 0 },
    };

    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        cr_expect_eq(read_named(rows[i].name, rows[i].name_len, rows[i].left), rows[i].want, "%s",
                     rows[i].why);
    }
}

Test(record, a_name_has_at_most_what_a_namespace_may_have)
{
    char name[PMIX_MAX_NSLEN + 2] = { 0 };

    memset(name, 'n', PMIX_MAX_NSLEN);
    cr_expect_eq(read_named(name, PMIX_MAX_NSLEN, sizeof(bytes)),
                 8 + sx_align_up(PMIX_MAX_NSLEN, 8));
    name[PMIX_MAX_NSLEN] = 'n';
    cr_expect_eq(read_named(name, PMIX_MAX_NSLEN + 1, sizeof(bytes)), 0);
}

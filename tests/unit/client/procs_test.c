/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* wire_test.c - process lists as they travel. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "client/link/process.h"
#include "client/link/procs.h"

Test(wire, procs_are_padded_to_eight)
{
    const pmix_proc_t procs[2] = { { .nspace = "job", .rank = 5 },
                                   { .nspace = "exactly8", .rank = PMIX_RANK_WILDCARD } };
    uint8_t bytes[64];
    uint32_t head[2];
    size_t size;

    cr_assert_eq(sx_wire_procs_size(procs, 2, &size), PMIX_SUCCESS);
    cr_assert_eq(size, 32u);
    cr_assert_eq(sx_wire_procs_write(bytes, procs, 2), bytes + size);
    memcpy(head, bytes, sizeof(head));
    cr_expect_eq(head[0], 5u);
    cr_expect_eq(head[1], 3u);
    cr_expect_eq(memcmp(bytes + 8, "job\0\0\0\0\0", 8), 0);
    memcpy(head, bytes + 16, sizeof(head));
    cr_expect_eq(head[0], PMIX_RANK_WILDCARD);
    cr_expect_eq(head[1], 8u);
    cr_expect_eq(memcmp(bytes + 24, "exactly8", 8), 0);
}

Test(wire, names_that_are_none_are_refused)
{
    pmix_proc_t empty = { .rank = 1 }, endless;
    size_t size;

    memset(&endless, 'n', sizeof(endless));
    cr_expect_eq(sx_wire_procs_size(NULL, 1, &size), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_wire_procs_size(&empty, 1, &size), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_wire_procs_size(&endless, 1, &size), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_wire_procs_size(&empty, SX_PROCS_MAX + 1u, &size), PMIX_ERR_BAD_PARAM);
    cr_expect_eq(sx_wire_procs_size(NULL, 0, &size), PMIX_SUCCESS);
    cr_expect_eq(size, 0u);
}

Test(wire, an_empty_namespace_is_our_own)
{
    const pmix_proc_t procs[2] = { { .nspace = "", .rank = 1 }, { .nspace = "ours", .rank = 1 } };
    uint8_t bytes[64];
    size_t size;

    strcpy(sx_process.self.nspace, "ours");
    cr_assert_eq(sx_wire_procs_size(procs, 2, &size), PMIX_SUCCESS);
    cr_assert_eq(size, 32u);
    cr_assert_eq(sx_wire_procs_write(bytes, procs, 2), bytes + size);
    cr_expect_eq(memcmp(bytes, bytes + 16, 16), 0);

    const pmix_proc_t mixed[3] = { { .nspace = "", .rank = 1 },
                                   { .nspace = "a", .rank = 0 },
                                   { .nspace = "ours", .rank = 1 } };
    pmix_proc_t *copy;
    size_t count = 3;
    const pmix_proc_t *const sorted = sx_wire_procs_sorted(mixed, &count, &copy);

    cr_assert_eq(count, 2u, "one of them stands twice");
    cr_expect_str_eq(sorted[0].nspace, "a");
    cr_expect_str_eq(sorted[1].nspace, "ours");
    free(copy);
}

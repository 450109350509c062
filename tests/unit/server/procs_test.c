/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* procs_test.c - a process list of a client is taken as a whole, or refused and not moved past. */
#include "server/model/procs.h"

#include <stdlib.h>

#include "proc_list.h"

Test(procs, reads_a_list_and_moves_behind_it)
{
    struct proc_list list = { .size = 0 };
    const char *at = list.bytes;
    pmix_proc_t *procs = NULL;

    proc_list_add(&list, 7, "eight!!!");
    proc_list_add(&list, PMIX_RANK_WILDCARD, "job");
    size_t left = list.size + 24;

    cr_assert_eq(sx_procs_read(&at, &left, 2, &procs), PMIX_SUCCESS);
    cr_expect_eq(at, list.bytes + list.size);
    cr_expect_eq(left, 24);
    cr_expect_str_eq(procs[0].nspace, "eight!!!");
    cr_expect_eq(procs[0].rank, 7);
    cr_expect_str_eq(procs[1].nspace, "job");
    cr_expect_eq(procs[1].rank, PMIX_RANK_WILDCARD);
    free(procs);
}

Test(procs, reads_a_name_as_long_as_there_are)
{
    struct proc_list list = { .size = 0 };
    char name[PMIX_MAX_NSLEN + 1] = { 0 };
    const char *at = list.bytes;
    pmix_proc_t *procs = NULL;

    memset(name, 'n', PMIX_MAX_NSLEN);
    proc_list_add(&list, 0, name);
    size_t left = list.size;

    cr_assert_eq(sx_procs_read(&at, &left, 1, &procs), PMIX_SUCCESS);
    cr_expect_str_eq(procs[0].nspace, name);
    free(procs);
}

/* A list of two processes, of which something is changed. */
static const struct {
    const char *why;
    uint32_t count, length; /* of the second name */
    size_t size;
    pmix_status_t want;
} rows[] = {
    { "as it was written", 2, 3, 32, PMIX_SUCCESS },
    { "of nothing", 0, 3, 0, PMIX_SUCCESS },
    { "one more than there is room for", 3, 3, 32, PMIX_ERR_BAD_PARAM },
    { "more than a list may have", SX_PROCS_MAX + 1, 3, SIZE_MAX, PMIX_ERR_BAD_PARAM },
    { "without a name", 2, 0, 32, PMIX_ERR_BAD_PARAM },
    { "a name that ends outside", 2, 9, 32, PMIX_ERR_BAD_PARAM },
    { "a name longer than there are", 2, PMIX_MAX_NSLEN + 1, 4096, PMIX_ERR_BAD_PARAM },
    { "a length that would wrap around", 2, UINT32_MAX, 32, PMIX_ERR_BAD_PARAM },
    { "a name with an end in its middle", 2, 4, 32, PMIX_ERR_BAD_PARAM },
    { "one byte short", 2, 3, 31, PMIX_ERR_BAD_PARAM },
};

Test(procs, refuses_what_is_no_list)
{
    for (size_t i = 0; i < SX_COUNT(rows); i++) {
        struct proc_list list = { .size = 0 };
        const char *at = list.bytes;
        size_t left = rows[i].size;
        pmix_proc_t *procs = NULL;

        proc_list_add(&list, 0, "job");
        proc_list_add(&list, 1, "job");
        memcpy(list.bytes + 16 + sizeof(uint32_t), &rows[i].length, sizeof(uint32_t));
        cr_expect_eq(sx_procs_read(&at, &left, rows[i].count, &procs), rows[i].want, "%s",
                     rows[i].why);
        if (rows[i].want != PMIX_SUCCESS) {
            cr_expect_eq(at, list.bytes, "%s: moved", rows[i].why);
            cr_expect_eq(left, rows[i].size, "%s: moved", rows[i].why);
            cr_expect_null(procs, "%s", rows[i].why);
        }
        free(procs);
    }
}

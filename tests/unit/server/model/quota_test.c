/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The shmix authors */
/* quota_test.c - nobody takes all of a table, and who takes much leaves some. */
#include "server/model/quota.h"

#include <criterion/criterion.h>

#include <pmix.h>

#include "unit/control/engines.h"

#define ROWS 1000u
#define BYTES 100000u

static struct sx_quota quota;
static struct sx_quota_row rows[2 * ROWS];
static size_t count;

static void begin(void)
{
    sx_quota_init(&quota, "things", ROWS, BYTES, 1);
    count = 0;
    (void)test_capture_stderr();
}

static void end(void)
{
    for (size_t i = 0; i < count; i++) {
        sx_quota_give_back(&quota, &rows[i]);
    }
    cr_expect_eq(quota.has.all[SX_QUOTA_ROWS], 0);
    cr_expect_eq(quota.has.all[SX_QUOTA_BYTES], 0);
    cr_expect_eq(quota.has.lasting[SX_QUOTA_ROWS], 0);
    cr_expect_eq(quota.accounts.count, 0);
    sx_quota_deinit(&quota);
}

TestSuite(quota, .init = begin, .fini = end);

/* Rank @rank of user @uid takes as many rows of @bytes as it gets, at most @most.  Return: so many.
 */
static size_t take(uid_t uid, pmix_rank_t rank, bool is_lasting, uint64_t bytes, size_t most)
{
    struct sx_quota_owner owner = { .uid = uid };
    const size_t before = count;

    PMIx_Load_procid(&owner.proc, "job", rank);
    while (count - before < most &&
           sx_quota_take(&quota, uid == (uid_t)-1 ? NULL : &owner, is_lasting, bytes,
                         &rows[count]) == PMIX_SUCCESS) {
        count++;
    }
    return count - before;
}

#define HOST ((uid_t)-1)

Test(quota, leaves_a_tenth_to_other_processes_and_users)
{
    cr_expect_eq(take(1, 0, false, 1, ROWS), 810, "nine tenths of nine tenths");
    cr_expect_eq(take(1, 1, false, 1, ROWS), 81, "another process of the user");
    cr_expect_eq(take(1, 0, false, 1, ROWS), 0);
    for (pmix_rank_t rank = 2; rank < 50; rank++) {
        (void)take(1, rank, false, 1, ROWS);
    }
    cr_expect_leq(quota.has.all[SX_QUOTA_ROWS], 900, "a user that is alone");
    cr_expect_geq(quota.has.all[SX_QUOTA_ROWS], 895);
    cr_expect_geq(take(2, 0, false, 1, ROWS), 80);
    cr_expect_geq(take(2, 1, false, 1, ROWS), 7);
    cr_expect_gt(take(3, 0, false, 1, ROWS), 0);
}

Test(quota, is_for_root_and_the_host_to_the_end)
{
    cr_expect_eq(take(1, 0, false, 1, ROWS), 810);
    cr_expect_eq(take(0, 0, false, 1, ROWS), 171, "one process of root");
    cr_expect_gt(take(0, 1, false, 1, ROWS), 0);
    cr_expect_gt(take(HOST, 0, false, 1, ROWS), 0);
    cr_expect_eq(quota.has.all[SX_QUOTA_ROWS], ROWS);
    cr_expect_eq(take(HOST, 0, false, 1, ROWS), 0);
    cr_expect_eq(take(0, 2, false, 1, ROWS), 0);
}

Test(quota, of_what_outlives_its_process_is_smaller)
{
    cr_expect_eq(take(1, 0, true, 1, ROWS), 405);
    cr_expect_eq(take(2, 0, true, 1, ROWS), 76, "of what is left of one half");
    cr_expect_gt(take(2, 0, false, 1, ROWS), 200);
}

Test(quota, counts_bytes_by_the_same_rule)
{
    cr_expect_eq(take(1, 0, false, BYTES, 1), 0);
    cr_expect_eq(take(1, 0, false, BYTES / 100, ROWS), 81);
    cr_expect_eq(take(2, 0, false, BYTES / 100, ROWS), 15);
    cr_expect_eq(take(HOST, 0, false, BYTES, 2), 2, "a host bounds its own memory");
    cr_expect_eq(sx_quota_resize(&quota, &rows[0], BYTES), PMIX_ERR_OUT_OF_RESOURCE);
    cr_expect_eq(rows[0].bytes, BYTES / 100, "as it was");
    cr_expect_eq(sx_quota_resize(&quota, &rows[0], 1), PMIX_SUCCESS);
}

Test(quota, says_that_one_is_too_large)
{
    const int log = test_capture_stderr();

    cr_expect_eq(take(1, 0, false, BYTES + 1, 1), 0);
    cr_expect_eq(test_count_lines(log, "things: one of 100001 bytes is larger than all may be "
                                       "together, 100000 bytes"),
                 1);
}

Test(quota, is_given_back)
{
    const size_t most = take(1, 0, false, 1, ROWS);

    for (size_t i = 0; i < most; i++) {
        sx_quota_give_back(&quota, &rows[i]);
        sx_quota_give_back(&quota, &rows[i]); /* safe twice */
    }
    cr_expect_eq(quota.accounts.count, 0);
    count = 0;
    cr_expect_eq(take(2, 0, false, 1, ROWS), most);
}

Test(quota, lets_who_has_little_have_a_row_as_long_as_there_is_one)
{
    uid_t uid = 1;

    sx_quota_deinit(&quota);
    sx_quota_init(&quota, "things", 2 * ROWS - 1, BYTES, 1); /* little: 1 */
    for (; take(uid, 0, false, 0, ROWS * 2) > 1; uid++) {
    }
    for (uid++; take(uid, 0, false, 0, 2) > 0; uid++) {
    }
    cr_expect_eq(quota.has.all[SX_QUOTA_ROWS], 2 * ROWS - 1, "%lu",
                 (unsigned long)quota.has.all[SX_QUOTA_ROWS]);
}
